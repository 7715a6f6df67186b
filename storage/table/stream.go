package table

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// Stream is where the rows of a row group are that is not in memory. It is used by several goroutines.
type Stream interface {
	// Open returns a reader of some columns. The context's meter (see WithMeter) follows its memory.
	Open(ctx context.Context, w *Wanted) (StreamReader, error)
}

// Wanted says what a scan wants of a row group, columns by their ordinals.
type Wanted struct {
	Tested     []int // of all rows
	Late       []int // perhaps of some rows only; none of them is in Tested
	Conditions []Condition
}

// Condition is one that all rows have to meet which are wanted. Readers may use it to leave rows out, and need not.
type Condition struct {
	Ordinal   int
	Predicate *encoding.Predicate
}

// StreamReader reads the rows of a row group in order, part by part. It is used by one goroutine.
type StreamReader interface {
	// Next returns the next rows, with the columns that were asked for, nil for the others; nil: there are no more. They are good until the next call: who
	// keeps their strings copies them. A [LateReader] leaves out the late columns, too.
	Next() (*RowGroup, error)
	// Bytes returns how many bytes of files were read.
	Bytes() int64
	// Close gives back what the reader holds.
	Close()
}

// LateReader is a StreamReader that decodes late columns for those rows only that are wanted.
type LateReader interface {
	StreamReader
	// Gather stores a late column of the last row group's rows from .. from+n-1 at positions 0 .. n-1 of dst, as [encoding.Chunk.Gather] does: at least those of
	// sel (nil: all). It is called at most once for the same rows, in ascending order. What it stores is good until it is called again for the column.
	Gather(dst *column.Vector, ordinal, from, n int, sel []int32) error
}

// NewStreamed returns a version of row groups that are not in memory, with rows rows, or about so many. Only scans read it, and nobody writes it.
func NewStreamed(schema *Schema, groups []*RowGroup, rows int64) *Version {
	v := New(schema)
	for _, g := range groups {
		v.addGroup(g, nil)
	}
	v.rows = rows
	v.outline = &outline{unread: make([]bool, len(schema.Columns)), estimates: make([]*ColumnStats, len(schema.Columns))}
	for i := range v.outline.unread {
		v.outline.unread[i] = true
	}
	return v
}
