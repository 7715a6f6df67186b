package arrow18

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// source is a reader of records, of either version.
type source interface {
	Retain()
	Release()
	Next() bool
	Err() error
}

// reader reads the records of a source as those of the other version, of type R with a schema of type S. It retains the source until it is released
// itself.
type reader[S any, R interface{ Release() }] struct {
	source
	schema  S
	convert func() R // the source's record, over the same buffers
	record  R
	open    bool // record is one
	refs    atomic.Int64
}

func newReader[S any, R interface{ Release() }](from source, schema S, convert func() R) *reader[S, R] {
	from.Retain()
	r := &reader[S, R]{source: from, schema: schema, convert: convert}
	r.refs.Store(1)
	return r
}

func (r *reader[S, R]) Retain() { r.refs.Add(1) }

func (r *reader[S, R]) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
		r.source.Release()
	}
}

// drop releases the record.
func (r *reader[S, R]) drop() {
	if r.open {
		r.record.Release()
		var none R
		r.record, r.open = none, false
	}
}

func (r *reader[S, R]) Schema() S { return r.schema }

func (r *reader[S, R]) Next() bool {
	r.drop()
	if r.source.Next() {
		r.record, r.open = r.convert(), true
	}
	return r.open
}

func (r *reader[S, R]) Record() R { return r.record }

// held is the allocator of a buffer that wraps one of the other version: freeing it gives that one back. Who resizes the buffer gets fresh memory.
type held struct {
	memory.Allocator
	buffer interface{ Release() }
}

func (h held) Reallocate(size int, old []byte) []byte {
	fresh := h.Allocate(size)
	copy(fresh, old)
	return fresh
}

func (h held) Free([]byte) { h.buffer.Release() }
