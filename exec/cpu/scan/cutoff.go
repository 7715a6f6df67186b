package scan

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// TopN is a worker's part of a top-N.
type TopN interface {
	// LastKept returns the first key of the last row that it keeps so far, as a constant, and how often that has changed; nil: it keeps all rows so far.
	LastKept() (key *column.Vector, version int)
}

// NewCutoff returns what lets a scan drop rows for a top-N whose first key is a table column.
func NewCutoff(t *Table, sort TopN, ordinal int, desc bool) *Cutoff {
	return &Cutoff{t: t, sort: sort, ordinal: ordinal, desc: desc}
}

// Cutoff lets a scan drop the rows that come after the last one that a top-N keeps so far: by zone maps whole vectors, else by a
// test of encoded values. Equal ones stay.
type Cutoff struct {
	t       *Table
	sort    TopN
	ordinal int
	desc    bool

	// The test that is made for a group, and the cutoff that it is of.
	group   *scanGroup
	version int
	test    *encoding.Test // nil: all pass
}

// pass narrows sel (nil: all) of the n rows of a group from from on; out is where it may store.
func (c *Cutoff) pass(g *scanGroup, from, n int, sel, out []int32) []int32 {
	key, version := c.sort.LastKept()
	if key == nil {
		return sel
	}
	if c.group != g || c.version != version {
		c.group, c.version, c.test = g, version, nil
		chunk, value := g.rows.Columns[c.ordinal], key.Value(0)
		if value.Null || !c.desc && chunk.Valid != nil || !c.t.comparable(c.ordinal, value) {
			return sel // NULLs come first in ascending order
		}
		op := encoding.LE
		if c.desc {
			op = encoding.GE
		}
		if test := encoding.CompileTest(chunk, encoding.Comparison(op, value)); test.Outcome() != encoding.All {
			c.test = test
		}
	}
	switch {
	case c.test == nil:
		return sel
	case c.test.Outcome() == encoding.None:
		return out[:0]
	}
	return c.test.Select(from, n, sel, out)
}
