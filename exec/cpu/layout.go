package cpu

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

type batch = column.Batch

// idSet is a set of column IDs.
type idSet []uint64

func (s *idSet) add(id expr.ColumnID) {
	w := int(id) >> 6
	for len(*s) <= w {
		*s = append(*s, 0)
	}
	(*s)[w] |= 1 << (uint(id) & 63)
}

func (s idSet) has(id expr.ColumnID) bool {
	w := int(id) >> 6
	return w < len(s) && s[w]>>(uint(id)&63)&1 != 0
}

func (s *idSet) addExprs(es ...expr.Expr) {
	for _, e := range es {
		expr.Columns(e, s.add)
	}
}

func (s idSet) clone() idSet { return append(idSet(nil), s...) }

// layout says where the columns of a pipeline lie and until when they are needed.
type layout struct {
	slots map[expr.ColumnID]int
	// needs[i] holds what transform i or anything after it reads; the last entry is what the sink reads.
	needs []idSet
	// uses[i] holds what transform i (or, at the end, the sink) itself reads.
	uses []idSet
}

func (l *layout) slot(id expr.ColumnID) int {
	s, ok := l.slots[id]
	if !ok {
		s = len(l.slots)
		l.slots[id] = s
	}
	return s
}

// lookup returns the slot of a column that must exist.
func (l *layout) lookup(c *expr.Column) (int, error) {
	s, ok := l.slots[c.ID]
	if !ok {
		return 0, sqlerr.Bug("column %s (#%d) is not in the pipeline", c, c.ID)
	}
	return s, nil
}

// pipeline is a physical pipeline made ready to run.
type pipeline struct {
	q       *query
	p       *physical.Pipeline
	layout  layout
	source  source
	sink    sink
	scan    *tableScan // the source, if it is one
	serial  bool       // one worker: a LIMIT takes rows in order, and so does a sequence of random numbers
	static  bool       // morsels are dealt out in turn, so that each worker sees the same rows in every run
	dense   int        // first transform that makes new batches, so that columns cannot be loaded after it
	limits  []*limitState
	workers int
	stats   *pipelineStats // nil: not profiled

	// numbered says that the source's rows are numbered for messages (column.Batch.FirstRow): no other pipeline fills the sink.
	numbered bool
}

// prepare makes a pipeline ready whose dependencies have run.
func (q *query) prepare(p *physical.Pipeline) (*pipeline, error) {
	pl := &pipeline{q: q, p: p, serial: hasSequence(p)}
	pl.layout.slots = make(map[expr.ColumnID]int, 16)
	if err := pl.collectUses(); err != nil {
		return nil, err
	}
	pl.numbered = !slices.ContainsFunc(q.plan.Pipelines, func(other *physical.Pipeline) bool { return other != p && other.Sink == p.Sink })
	src, err := q.source(pl)
	if err != nil {
		return nil, err
	}
	pl.source = src
	var noting []*build
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				pl.layout.slot(it.Col.ID)
			}
		case *physical.Probe:
			if t.Build.KeepUnmatched {
				noting = append(noting, q.builds[t.Build])
			}
			for _, c := range t.Build.Payload {
				pl.layout.slot(c.ID)
			}
			if t.Mark != nil {
				pl.layout.slot(t.Mark.ID)
			}
		case *physical.Limit:
			pl.serial = true
			pl.limits = append(pl.limits, &limitState{skip: t.Offset, left: t.Count, noting: slices.Clip(noting)})
		}
	}
	pl.dense = len(p.Transforms)
	for i, t := range p.Transforms {
		if q.makesBatches(t) {
			pl.dense = i
			break
		}
	}
	if pl.sink, err = q.sink(p.Sink); err != nil {
		return nil, err
	}
	if a, ok := pl.sink.(*aggregate); ok {
		pl.static = a.ordered
	}
	if q.cfg.Profile {
		pl.stats = newPipelineStats(p)
	}
	return pl, nil
}

// makesBatches says whether a transform gives batches whose positions are not those of its input.
func (q *query) makesBatches(t physical.Transform) bool {
	switch t := t.(type) {
	case *physical.Probe:
		b := q.builds[t.Build]
		switch t.Kind {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
			return false
		}
		return !b.aligned()
	case *physical.Repeat:
		return true
	}
	return false
}

func (pl *pipeline) collectUses() error {
	p := pl.p
	n := len(p.Transforms)
	uses := make([]idSet, n+1)
	for i, t := range p.Transforms {
		u := &uses[i]
		switch t := t.(type) {
		case *physical.Filter:
			u.addExprs(t.Preds...)
		case *physical.Project:
			for _, it := range t.Items {
				u.addExprs(it.Expr)
			}
		case *physical.Probe:
			u.addExprs(t.Keys...)
			u.addExprs(t.Residual...)
		case *physical.Repeat:
			u.addExprs(t.Count)
		case *physical.Limit:
		default:
			return sqlerr.Bug("unknown transform %T", t)
		}
	}
	u := &uses[n]
	switch s := p.Sink.(type) {
	case *physical.Build:
		u.addExprs(s.Keys...)
		addColumns(u, s.Payload)
	case *physical.Aggregate:
		for _, g := range s.Groups {
			u.addExprs(g.Expr)
		}
		for _, a := range s.Aggs {
			u.addExprs(a.Args...)
			for _, k := range a.OrderBy {
				u.addExprs(k.Expr)
			}
		}
	case *physical.Sort:
		for _, k := range s.Keys {
			u.addExprs(k.Expr)
		}
		addColumns(u, s.Cols)
	case *physical.Materialize:
		addColumns(u, s.Cols)
	case *physical.Recursion:
		addColumns(u, s.Cols)
	case *physical.Window:
		u.addExprs(s.Exprs()...)
		addColumns(u, s.Cols)
	case *physical.Result:
		for _, id := range s.In {
			u.add(id)
		}
	default:
		return sqlerr.Bug("unknown sink %T", s)
	}
	needs := make([]idSet, n+1)
	needs[n] = uses[n]
	for i := n - 1; i >= 0; i-- {
		needs[i] = needs[i+1].clone()
		for w, x := range uses[i] {
			for len(needs[i]) <= w {
				needs[i] = append(needs[i], 0)
			}
			needs[i][w] |= x
		}
	}
	pl.layout.uses, pl.layout.needs = uses, needs
	return nil
}

func addColumns(s *idSet, cols []*expr.Column) {
	for _, c := range cols {
		s.add(c.ID)
	}
}

// chain builds a worker's operators, from the sink back to the source.
func (pl *pipeline) chain(w *worker) (reader, localSink, error) {
	out, err := pl.sink.local(w, &pl.layout)
	if err != nil {
		return nil, nil, err
	}
	n := len(pl.p.Transforms)
	var scan *scanReader
	if pl.scan != nil {
		scan = pl.scan.newReader(w)
		scan.cutoff = pl.cutoffFor(out)
	}
	var next op = out
	next = pl.stats.wrap(n+1, next)
	next = pl.loads(scan, n, next)
	limit := len(pl.limits)
	for i := n - 1; i >= 0; i-- {
		switch t := pl.p.Transforms[i].(type) {
		case *physical.Filter:
			next, err = newFilter(w, &pl.layout, t.Preds, next)
		case *physical.Project:
			next, err = newProject(w, &pl.layout, t, next)
		case *physical.Probe:
			next, err = pl.newProbe(w, i, t, scan, next)
		case *physical.Limit:
			limit--
			next = &limitOp{state: pl.limits[limit], next: next}
		case *physical.Repeat:
			next, err = pl.newRepeat(w, i, t, scan, next)
		}
		if err != nil {
			return nil, nil, err
		}
		next = pl.stats.wrap(i+1, next)
		next = pl.loads(scan, i, next)
	}

	if scan != nil {
		scan.next = next
		return pl.stats.wrapReader(scan), out, nil
	}
	r, err := pl.source.open(w, next)
	return pl.stats.wrapReader(r), out, err
}

// loads puts a step before stage i that decodes the scan's columns which that stage is the first to read, at the
// positions that are still selected then.
func (pl *pipeline) loads(scan *scanReader, i int, next op) op {
	if scan == nil {
		return next
	}
	var cols []scanColumn
	for _, c := range pl.scan.late {
		if i <= pl.dense && pl.loadStage(c.id) == i {
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 {
		return next
	}
	return &loadOp{scan: scan, cols: cols, next: next}
}

// loadStage returns the first stage that reads a column, or -1.
func (pl *pipeline) loadStage(id expr.ColumnID) int {
	for i, u := range pl.layout.uses {
		if u.has(id) {
			return i
		}
	}
	return -1
}

// lateColumns returns the scan's columns that are first read after transform i, which makes new batches: it has to load
// them for the rows that it lets through.
func (pl *pipeline) lateColumns(i int) []scanColumn {
	if pl.scan == nil || i != pl.dense {
		return nil
	}
	var cols []scanColumn
	for _, c := range pl.scan.late {
		if pl.loadStage(c.id) > i {
			cols = append(cols, c)
		}
	}
	return cols
}

// carried returns the slots that transform i has to carry into the batches that it makes: columns read later, except
// those that it makes itself.
func (pl *pipeline) carried(i int, made ...*expr.Column) []int {
	var own idSet
	addColumns(&own, made)
	var slots []int
	for id, s := range pl.layout.slots {
		if pl.layout.needs[i+1].has(id) && !own.has(id) && pl.madeBefore(i, id) {
			slots = append(slots, s)
		}
	}
	return slots
}

// madeBefore says whether a column exists before transform i.
func (pl *pipeline) madeBefore(i int, id expr.ColumnID) bool {
	if pl.source.gives(id) {
		return true
	}
	for _, t := range pl.p.Transforms[:i] {
		switch t := t.(type) {
		case *physical.Project:
			for _, it := range t.Items {
				if it.Col.ID == id {
					return true
				}
			}
		case *physical.Probe:
			if t.Mark != nil && t.Mark.ID == id {
				return true
			}
			for _, c := range t.Build.Payload {
				if c.ID == id {
					return true
				}
			}
		}
	}
	return false
}
