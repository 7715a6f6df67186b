package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/encoding"
)

// Pieces are the pieces of an uncompressed text in a file, each of whole records. They can be read in any order and several at once. A piece has the records
// that begin in its range of BlockSize bytes.
type Pieces struct {
	name  string
	file  io.ReaderAt
	size  int64
	quote byte // what a line end inside is no record's end; 0: there are none
	block int64
	marks []mark
}

// mark is what one range of bytes adds to the text before a later one. Whoever needs it first counts it.
type mark struct {
	once   sync.Once
	quotes int
	lines  int
	err    error
}

// OpenPieces returns the pieces of an open file of size bytes. The caller closes the file when nobody reads them any more.
func OpenPieces(name string, file io.ReaderAt, size int64, quote byte) *Pieces {
	p := &Pieces{name: name, file: file, size: size, quote: quote, block: int64(BlockSize)}
	p.marks = make([]mark, CountPieces(size))
	return p
}

// MarkBytes is how much memory each of [Pieces] takes before it is read.
const MarkBytes = int64(unsafe.Sizeof(mark{}))

// CountPieces returns how many pieces a text of size bytes has.
func CountPieces(size int64) int { return int((size + int64(BlockSize) - 1) / int64(BlockSize)) }

// Count returns how many pieces there are.
func (p *Pieces) Count() int { return len(p.marks) }

// Read returns a piece as a block, whose text lies in buf if that is large enough, and how many bytes were read for it. grow is asked for the memory of a text that does not fit buf.
// A piece in which no record begins is empty. Whoever reads piece i after the pieces before it reads no byte twice but those of one record.
func (p *Pieces) Read(i int, buf []byte, grow func(bytes int) error) (b Block, read int64, err error) {
	from := int64(i) * p.block
	own := int(min(p.block, p.size-from))
	text := slicesOf(buf, own)
	counted := true
	p.marks[i].once.Do(func() { // whoever needs the mark waits for this read instead of reading the range, too
		counted = false
		if p.marks[i].err = p.readAt(text, from); p.marks[i].err == nil {
			p.marks[i].count(text, p.quote)
		}
	})
	if err = p.marks[i].err; err == nil && counted {
		err = p.readAt(text, from)
	}
	if err != nil {
		return b, 0, err
	}
	quotes, lines := 0, 1
	for k := range i {
		m := &p.marks[k]
		m.once.Do(func() { p.countRange(k, m) })
		if m.err != nil {
			return b, 0, m.err
		}
		quotes += m.quotes
		lines += m.lines
	}
	start, before := 0, mark{} // of the range that belongs to the piece before
	if i > 0 {
		var last [1]byte
		if err := p.readAt(last[:], from-1); err != nil {
			return b, 0, err
		}
		if last[0] != '\n' || quotes%2 != 0 {
			end := recordEnd(text, p.quote, quotes)
			if end < 0 {
				return Block{Source: p.name, Line: lines}, int64(own), nil
			}
			before.count(text[:end], p.quote)
			lines += before.lines
			start = end
		}
	}
	if start == own { // the record that begins here is the next piece's
		return Block{Source: p.name, Line: lines}, int64(own), nil
	}
	// The last record may end behind the range. Where no quote is open, the text from start on begins outside of one.
	inside := (quotes + p.marks[i].quotes) % 2
	if text[own-1] != '\n' || inside != 0 {
		end, err := p.findEnd(from+int64(own), inside, maxRecord-int64(own-start))
		if err != nil {
			return b, 0, err
		}
		if end < 0 {
			return b, 0, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "'%s', line %d: a record of more than %d bytes%s", p.name, lines, maxRecord, openQuote(p.quote))
		}
		whole := int(end - from)
		if whole > cap(text) {
			if err := grow(whole); err != nil {
				return b, 0, err
			}
			text = append(make([]byte, 0, whole), text...)
		}
		if text = text[:whole]; whole > own {
			if err := p.readAt(text[own:], from+int64(own)); err != nil {
				return b, 0, err
			}
		}
	}
	read = int64(len(text))
	b = Block{Source: p.name, Text: text[start:len(text):len(text)], Line: lines, First: i == 0}
	b.Lines = p.marks[i].lines - before.lines + bytes.Count(text[own:], []byte{'\n'})
	if i == 0 {
		b.Text = bytes.TrimPrefix(b.Text, byteOrderMark)
		b.skipEmptyLines()
		b.Lines = bytes.Count(b.Text, []byte{'\n'})
	}
	return b, read, nil
}

// Parts reads the rows of a block part by part.
type Parts interface {
	// Next returns the next rows, at most limit, column by column; 0 rows: there are no more. If old is not nil it has what was returned before and nobody reads any
	// more: its memory is used again, and strings are copied. Else they may point into the block.
	Next(limit int, old []encoding.Data) (rows int, columns []encoding.Data, err error)
}

// findEnd returns where the record ends that goes on at an offset of the file, inside quotes if inside is 1; -1: it has more than limit bytes from there on. Its memory
// can then be taken at once, without copies.
func (p *Pieces) findEnd(at int64, inside int, limit int64) (end int64, err error) {
	var buf [tailSize]byte
	for begin := at; at < p.size; {
		if at-begin > limit {
			return -1, nil
		}
		tail := buf[:min(int64(len(buf)), p.size-at)]
		if err := p.readAt(tail, at); err != nil {
			return 0, err
		}
		if stop := recordEnd(tail, p.quote, inside); stop >= 0 {
			return at + int64(stop), nil
		}
		inside = (inside + countQuotes(tail, p.quote)) % 2
		at += int64(len(tail))
	}
	return p.size, nil
}

// tailSize is how much is read at once of the record that goes on behind a piece's range.
const tailSize = 16 << 10

func slicesOf(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n, n+tailSize)
	}
	return buf[:n]
}

func openQuote(quote byte) string {
	if quote == 0 {
		return ""
	}
	return ": a quote may not be closed"
}

// recordEnd returns where the first record that ends in text ends, -1 if none does. So many quotes stand before the text.
func recordEnd(text []byte, quote byte, quotes int) int {
	for at := 0; ; {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return -1
		}
		end += at + 1
		if quotes += countQuotes(text[at:end], quote); quotes%2 == 0 {
			return end
		}
		at = end
	}
}

func countQuotes(text []byte, quote byte) int {
	if quote == 0 {
		return 0
	}
	return bytes.Count(text, []byte{quote})
}

func (m *mark) count(text []byte, quote byte) {
	m.quotes += countQuotes(text, quote)
	m.lines += bytes.Count(text, []byte{'\n'})
}

// countRange counts a range that nobody has read yet.
func (p *Pieces) countRange(i int, m *mark) {
	var buf [64 << 10]byte
	from := int64(i) * p.block
	for end := min(from+p.block, p.size); from < end; {
		part := buf[:min(int64(len(buf)), end-from)]
		if m.err = p.readAt(part, from); m.err != nil {
			return
		}
		m.count(part, p.quote)
		from += int64(len(part))
	}
}

func (p *Pieces) readAt(text []byte, at int64) error {
	n, err := p.file.ReadAt(text, at)
	switch {
	case n == len(text):
		return nil
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("it has become shorter while it was read")
	}
	return Source{Name: p.name}.failed(err)
}
