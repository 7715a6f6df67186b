package physical

import (
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
)

// Cut returns a plan that gives the same rows, in which pipelines are cut in front of some of their transforms. A pipeline of its own, which ends in a
// Materialize, stores what comes there. The next one reads it. at has the numbers of the transforms, in ascending order; the number of all transforms cuts in
// front of the sink. The plan itself stays as it is.
func (p *Plan) Cut(at map[*Pipeline][]int) *Plan {
	out := *p
	out.Pipelines = nil
	last := map[*Pipeline]*Pipeline{} // what fills the sink of a pipeline of the plan
	for _, x := range p.Pipelines {
		deps := make([]*Pipeline, len(x.Deps))
		for i, d := range x.Deps {
			deps[i] = last[d]
		}
		rest := &Pipeline{Source: x.Source, Transforms: x.Transforms, Sink: x.Sink, Deps: deps, EstRows: x.EstRows}
		from := 0
		for _, to := range at[x] {
			cols := x.AliveBefore(to)
			stored := &Materialize{Cols: cols}
			first := &Pipeline{Source: rest.Source, Transforms: x.Transforms[from:to], Sink: stored, Deps: deps, EstRows: x.RowsBefore(to)}
			out.Pipelines = append(out.Pipelines, first)
			read := &SinkScan{From: stored, Cols: cols}
			for _, c := range cols {
				read.Ins = append(read.Ins, c.ID)
			}
			deps = append(slices.Clone(deps), first)
			rest.Source, rest.Transforms, rest.Deps, from = read, x.Transforms[to:], deps, to
		}
		out.Pipelines = append(out.Pipelines, rest)
		last[x] = rest
	}
	for i, x := range out.Pipelines {
		x.ID = p.Pipelines[0].ID + i
	}
	return &out
}

// RowsBefore is about how many rows come to a transform; 0: nobody has estimated it.
func (p *Pipeline) RowsBefore(at int) float64 {
	if at == len(p.Transforms) && p.EstRows > 0 {
		return p.EstRows
	}
	for i := at - 1; i >= 0; i-- {
		switch t := p.Transforms[i].(type) {
		case *Probe:
			if t.EstRows > 0 {
				return t.EstRows
			}
		case *Unnest:
			if t.EstRows > 0 {
				return t.EstRows
			}
		}
	}
	switch s := p.Source.(type) {
	case *TableScan:
		if s.EstRows > 0 {
			return min(s.EstRows, float64(s.Table.Rows()))
		}
		return float64(s.Table.Rows())
	case *SinkScan:
		switch from := s.From.(type) {
		case *Aggregate:
			return from.EstGroups
		}
		return 0
	}
	return 0
}

// AliveBefore are the columns that are alive in front of a transform.
func (p *Pipeline) AliveBefore(at int) []*expr.Column {
	var cols []*expr.Column // in the order in which they come up
	switch s := p.Source.(type) {
	case *TableScan:
		cols = slices.Clone(s.Cols)
	case *SinkScan:
		cols = slices.Clone(s.Cols)
	case *UnmatchedScan:
		cols = slices.Clone(s.Build.Payload)
		for _, c := range s.Nulls {
			cols = append(cols, nullable(c))
		}
	case *ValuesScan:
		cols = slices.Clone(s.Cols)
	}
	keep := func(ids []expr.ColumnID) {
		cols = slices.DeleteFunc(cols, func(c *expr.Column) bool { return !slices.Contains(ids, c.ID) })
	}
	for _, t := range p.Transforms[:at] {
		switch t := t.(type) {
		case *Project:
			for _, it := range t.Items {
				cols = append(cols, it.Col)
			}
			keep(t.Keep)
		case *Repeat:
			keep(t.Keep)
		case *Unnest:
			cols = append(cols, t.Cols...)
			keep(t.Keep)
		case *Probe:
			for _, c := range t.Build.Payload {
				if t.Kind != logical.InnerJoin {
					c = nullable(c)
				}
				cols = append(cols, c)
			}
			if t.Mark != nil {
				cols = append(cols, t.Mark)
			}
			keep(t.Keep)
		}
	}
	return cols
}

// nullable is a column that may be NULL where a join found no row.
func nullable(c *expr.Column) *expr.Column {
	out := *c
	out.Null = true
	return &out
}
