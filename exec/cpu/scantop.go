package cpu

import (
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/encoding"
)

// topCutoff lets a scan drop the rows that come after the last one that a top-N keeps so far: by zone maps whole vectors, else by a
// test of encoded values. Equal ones stay.
type topCutoff struct {
	t       *tableScan
	sort    *sortLocal
	ordinal int
	desc    bool

	// The test that is made for a group, and the cutoff that it is of.
	group   *scanGroup
	version int
	test    *encoding.Test // nil: all pass
}

// cutoffFor returns what a worker's scan asks of its top-N, or nil if that does not sort by a column of the scan first, or a step between
// them may fail, change or repeat rows: which rows it sees must not depend on how workers take turns.
func (pl *pipeline) cutoffFor(sink localSink) *topCutoff {
	x, ok := sink.(*sortLocal)
	if !ok || x.s.top <= 0 || pl.scan == nil || pl.serial {
		return nil
	}
	for _, k := range x.s.p.Keys {
		if _, ok := k.Expr.(*expr.Column); !ok {
			return nil
		}
	}
	for _, t := range pl.p.Transforms {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				if _, ok := it.Expr.(*expr.Column); !ok {
					return nil
				}
			}
		case *physical.Probe:
			for _, k := range t.Keys {
				if _, ok := k.(*expr.Column); !ok {
					return nil
				}
			}
			if len(t.Residual) > 0 || t.Build.KeepUnmatched || t.Kind == logical.SingleJoin {
				return nil
			}
		default:
			return nil
		}
	}
	first := x.s.p.Keys[0]
	ordinal := pl.scan.ordinal(first.Expr.(*expr.Column).ID)
	if ordinal < 0 {
		return nil
	}
	return &topCutoff{t: pl.scan, sort: x, ordinal: ordinal, desc: first.Desc}
}

// pass narrows sel (nil: all) of the n rows of a group from from on; out is where it may store.
func (c *topCutoff) pass(g *scanGroup, from, n int, sel, out []int32) []int32 {
	if c.sort.cutoff == nil {
		return sel
	}
	if c.group != g || c.version != c.sort.compacted {
		c.group, c.version, c.test = g, c.sort.compacted, nil
		chunk, value := g.rows.Columns[c.ordinal], c.sort.cutoff[0].Value(0)
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
