package table

import "context"

// Stream is where the rows of a row group are that is not in memory. It is used by several goroutines.
type Stream interface {
	// Open returns a reader of the columns at ordinals. The context's meter (see WithMeter) follows its memory.
	Open(ctx context.Context, ordinals []int) (StreamReader, error)
}

// StreamReader reads the rows of a row group in order, part by part. It is used by one goroutine.
type StreamReader interface {
	// Next returns the next rows, with the columns that were asked for, nil in the place of others; nil: there are no more. They are good until the next call: who
	// keeps their strings copies them.
	Next() (*RowGroup, error)
	// Bytes returns how many bytes of files were read.
	Bytes() int64
	// Close gives back what the reader holds.
	Close()
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
