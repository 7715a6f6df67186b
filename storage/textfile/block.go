package textfile

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// BlockSize is about how much text is parsed at once. It is a variable for tests.
var BlockSize = 4 << 20

// shortText is how much is read of a text at first: one that ends there needs no memory of a block's size.
const shortText = 32 << 10

// maxRecord bounds a record, so that a quote that is never closed does not pull a whole file into memory.
const maxRecord = 256 << 20

// Block is a piece of text that begins and ends with a record. Its memory is not used again: strings may point into it.
type Block struct {
	Source string // the text's name
	Number int    // the text's index among those of [Each]
	Text   []byte
	Line   int // of the first record, from 1
	Lines  int // that end in it
	// First says that the text's first record is in it.
	First bool
	// Last says that the text ends with it; the last block of a text may lack it, if nothing follows.
	Last bool

	counted int64 // bytes of its memory that the context's meter knows
}

// Errorf returns an error at an offset of the block.
func (b *Block) Errorf(offset int, format string, args ...any) error {
	before := b.Text[:offset]
	line := b.Line + bytes.Count(before, []byte{'\n'})
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	e := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, format, args...)
	e.Message = "'" + b.Source + "', " + sqlerr.Position{Line: line, Column: column}.String() + ": " + e.Message
	return e
}

// CheckUTF8 returns an error for text that is not UTF-8.
func (b *Block) CheckUTF8() error {
	if utf8.Valid(b.Text) {
		return nil
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(b.Text[i:])
		if r == utf8.RuneError && size == 1 {
			return sqlerr.From(b.Errorf(i, "byte 0x%02x is not UTF-8; expected the file in UTF-8", b.Text[i])).
				WithHint("convert the file, or name its encoding: read_csv('...', encoding = 'latin-1')")
		}
		i += size
	}
}

// cutter cuts a text into blocks.
type cutter struct {
	source Source
	in     io.Reader
	quote  byte   // what a record's end inside is not one; 0: there are none
	rest   []byte // what was read beyond the last block
	line   int
	first  bool
	ended  bool
	held   *table.Scratch // counts blocks that a long record makes larger than others
	// alone is called before a block becomes larger than others, to wait until those before it have gone; nil: they have. Its error ends cutting.
	alone func() error
}

func newCutter(source Source, in io.Reader, quote byte, held *table.Scratch) *cutter {
	return &cutter{source: source, in: in, quote: quote, line: 1, first: true, held: held}
}

// large returns the bytes of a block's memory if it is larger than blocks of ordinary records are, else 0.
func large(bytes int) int64 {
	if bytes <= BlockSize {
		return 0
	}
	return int64(bytes)
}

// next returns the next block, io.EOF after the last. Its memory counts until the caller calls free.
func (c *cutter) next() (b Block, err error) {
	if c.ended && len(c.rest) == 0 {
		return Block{}, io.EOF
	}
	size := max(BlockSize, 2*len(c.rest))
	counted := large(size)
	if err := c.mayBe(size); err != nil {
		return Block{}, err
	}
	if err := c.held.Add(counted); err != nil {
		return Block{}, err
	}
	defer func() {
		if b.counted = counted; err != nil {
			c.held.Free(counted)
		}
	}()
	least := size
	if c.first {
		least = min(size, shortText)
	}
	text := make([]byte, least)
	n := copy(text, c.rest)
	c.rest = nil
	for !c.ended {
		m, err := io.ReadFull(c.in, text[n:])
		n += m
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			c.ended = true
			break
		} else if err != nil {
			return Block{}, c.source.failed(err)
		}
		if n < size {
			text = longer(text, size)
			continue
		}
		if end := c.lastRecordEnd(text[:n]); end > 0 {
			c.rest = text[end:n]
			return c.block(text[:end:end]), nil
		}
		if n >= maxRecord {
			return Block{}, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User,
				"'%s', line %d: a record of more than %d bytes%s", c.source.Name, c.line, maxRecord, openQuote(c.quote))
		}
		size *= 2
		if err := c.mayBe(size); err != nil {
			return Block{}, err
		}
		if err := c.held.Add(large(size)); err != nil {
			return Block{}, err
		}
		text = longer(text, size)
		c.held.Free(counted)
		counted = large(size)
	}
	c.rest = nil
	if n == 0 {
		return Block{}, io.EOF
	}
	if n < len(text)/2 { // strings of the rows may keep the memory
		text = bytes.Clone(text[:n])
	}
	b = c.block(text[:n:n])
	b.Last = true
	return b, nil
}

// longer returns a copy of a text that has so many bytes.
func longer(text []byte, size int) []byte {
	out := make([]byte, size)
	copy(out, text)
	return out
}

// mayBe waits until a block may have a size.
func (c *cutter) mayBe(size int) error {
	if large(size) == 0 || c.alone == nil {
		return nil
	}
	return c.alone()
}

// block makes a block of text. Before the text's first record it passes over a byte order mark and empty lines.
func (c *cutter) block(text []byte) Block {
	lines := bytes.Count(text, []byte{'\n'})
	b := Block{Source: c.source.Name, Text: text, Line: c.line, Lines: lines}
	if c.first {
		if c.line == 1 {
			b.Text = bytes.TrimPrefix(text, byteOrderMark)
		}
		b.skipEmptyLines()
		b.First = len(b.Text) > 0
		c.first = !b.First
	}
	c.line += lines
	return b
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// skipEmptyLines passes over empty lines at the start.
func (b *Block) skipEmptyLines() {
	for bytes.HasPrefix(b.Text, []byte("\n")) || bytes.HasPrefix(b.Text, []byte("\r\n")) {
		b.Text = b.Text[bytes.IndexByte(b.Text, '\n')+1:]
		b.Line++
	}
}

// lastRecordEnd returns where the last record that ends in text ends, 0 if none does. Text begins with a record, so a
// line end is inside a field exactly if an odd number of quotes stands before it.
func (c *cutter) lastRecordEnd(text []byte) int {
	end := bytes.LastIndexByte(text, '\n')
	if c.quote == 0 {
		return end + 1
	}
	quote := []byte{c.quote}
	for quotes := bytes.Count(text[:end+1], quote); end >= 0; {
		if quotes%2 == 0 {
			return end + 1
		}
		before := bytes.LastIndexByte(text[:end], '\n')
		quotes -= bytes.Count(text[before+1:end], quote)
		end = before
	}
	return 0
}
