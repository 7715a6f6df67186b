package csv

import (
	"bytes"
	"errors"
	"io"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// blockSize is about how much text is parsed at once. It is a variable for tests.
var blockSize = 4 << 20

// maxRecord bounds a record, so that a quote that is never closed does not pull a whole file into memory.
const maxRecord = 256 << 20

// block is a piece of text that begins and ends with a record. Its memory is not used again: strings may point into it.
type block struct {
	text []byte
	line int // of the first record, from 1
	ends int // of lines in it
	// first says that the text's first record is in it.
	first bool
}

// cutter cuts a text into blocks.
type cutter struct {
	source Source
	in     io.Reader
	opts   Options
	rest   []byte // what was read beyond the last block
	line   int
	first  bool
	ended  bool
}

func newCutter(source Source, in io.Reader, opts Options) *cutter {
	return &cutter{source: source, in: in, opts: opts, line: 1, first: true}
}

// next returns the next block, io.EOF after the last.
func (c *cutter) next() (block, error) {
	text := make([]byte, max(blockSize, 2*len(c.rest)))
	n := copy(text, c.rest)
	for !c.ended {
		m, err := io.ReadFull(c.in, text[n:])
		n += m
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			c.ended = true
			break
		} else if err != nil {
			return block{}, c.source.failed(err)
		}
		if end := c.lastRecordEnd(text[:n]); end > 0 {
			c.rest = text[end:n]
			return c.block(text[:end:end]), nil
		}
		if n >= maxRecord {
			return block{}, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User,
				"'%s', line %d: a record of more than %d bytes: a quote may not be closed", c.source.Name, c.line, maxRecord)
		}
		text = append(text, make([]byte, len(text))...)
	}
	c.rest = nil
	if n == 0 {
		return block{}, io.EOF
	}
	return c.block(text[:n:n]), nil
}

// block makes a block of text. Before the text's first record it passes over a byte order mark and empty lines.
func (c *cutter) block(text []byte) block {
	lines := bytes.Count(text, []byte{'\n'})
	b := block{text: text, line: c.line, ends: lines}
	if c.first {
		if c.line == 1 {
			b.text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		for bytes.HasPrefix(b.text, []byte("\n")) || bytes.HasPrefix(b.text, []byte("\r\n")) {
			b.text = b.text[bytes.IndexByte(b.text, '\n')+1:]
			b.line++
		}
		b.first = len(b.text) > 0
		c.first = !b.first
	}
	c.line += lines
	return b
}

// lastRecordEnd returns where the last record that ends in text ends, 0 if none does. Text begins with a record, so a
// line end is inside a field exactly if an odd number of quotes stands before it.
func (c *cutter) lastRecordEnd(text []byte) int {
	end := bytes.LastIndexByte(text, '\n')
	if c.opts.NoQuote {
		return end + 1
	}
	quote := []byte{c.opts.quote()}
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
