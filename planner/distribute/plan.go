package distribute

import (
	"errors"
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Plan derives how a plan runs at so many places. d is nil if it should run at one, and reason says why. The plan stays as it is.
func Plan(plan *physical.Plan, places int, t Tuning) (d *Distributed, reason string) {
	if reason := undistributable(plan, places, t); reason != "" {
		return nil, reason
	}
	var x *planner
	skip := map[int]bool{}
	for again := true; again; {
		copied, origins := copyPlan(plan)
		x = newPlanner(copied, places, t)
		x.uncovered, x.origins = skip, origins
		var not uncovered
		err := x.run()
		if again = errors.As(err, &not); again {
			skip[not.id] = true
		} else if err != nil {
			return nil, err.Error()
		}
	}
	if !slices.ContainsFunc(x.done, func(s *stream) bool { return s.lay == spread }) {
		return nil, fmt.Sprintf("no table that it scans has %d rows, the fewest that are divided between GPUs", t.SliceRows)
	}
	d = x.finish()
	if err := physical.Check(d.Plan); err != nil {
		return nil, sqlerr.Bug("the plan for %d places: %v", places, err).Error()
	}
	return d, ""
}

// undistributable says why a plan runs at one place, whatever its pipelines are; "" if nothing does.
func undistributable(plan *physical.Plan, places int, t Tuning) string {
	if places < 2 {
		return "there is only one GPU"
	}
	if plan.Recursive() {
		return "WITH RECURSIVE runs in rounds, on one GPU"
	}
	rows := int64(0)
	var volatile expr.Expr
	for _, p := range plan.Pipelines {
		if scan, ok := p.Source.(*physical.TableScan); ok {
			rows += scan.Table.Rows()
		}
		eachExpr(p, func(e expr.Expr) {
			if volatile == nil && (expr.IsVolatile(e) || expr.IsSequence(e)) {
				volatile = e
			}
		})
	}
	if volatile != nil {
		return fmt.Sprintf("%s has another value at each call, so its calls must not be repeated or reordered", volatile)
	}
	if rows < t.MinRows {
		return fmt.Sprintf("it scans %d rows; several GPUs are worth it from %d on", rows, t.MinRows)
	}
	return ""
}

// lay is how the rows of a stream lie while the plan is made.
type lay uint8

const (
	one    lay = iota // all at place 0
	common            // the same at every place that runs the pipeline; which do follows from who reads it
	spread            // each place has rows of its own
)

// stream is a pipeline that is being made.
type stream struct {
	p      *physical.Pipeline
	lay    lay
	reason string
	homes  []home   // of spread rows
	keyed  bool     // they had some when the pipeline began
	slices *slicing // the rows are slices of a scan, and none has moved
	rows   float64  // about how many there are at all places together; 0: nobody has estimated it
}

// stored is what can be read of a sink of the plan.
type stored struct {
	sink   physical.Sink // that has it
	lay    lay
	reason string
	homes  []home
	rows   float64
	// values computes columns from those of the sink; nil: all are there.
	values map[expr.ColumnID]expr.Expr
}

// planner makes a plan for several places, pipeline by pipeline. A sink is settled when the last pipeline that ends in it is there.
type planner struct {
	t         Tuning
	places    int
	plan      *physical.Plan // a copy
	alloc     expr.Allocator
	done      []*stream
	ends      map[physical.Sink][]*stream
	left      map[physical.Sink]int // pipelines that have still to come
	stored    map[physical.Sink]*stored
	exchanges map[physical.Sink]Exchange
	sliced    map[*physical.TableScan]*slicing
	builds    map[*physical.Build]*build
	uncovered map[int]bool // builds, by their ids, whose tables' slices follow no others
	origins   map[physical.Sink]physical.Sink
}

func newPlanner(plan *physical.Plan, places int, t Tuning) *planner {
	x := &planner{
		t: t, places: places, plan: plan,
		ends: map[physical.Sink][]*stream{}, left: map[physical.Sink]int{}, stored: map[physical.Sink]*stored{},
		exchanges: map[physical.Sink]Exchange{}, sliced: map[*physical.TableScan]*slicing{},
		builds: map[*physical.Build]*build{},
	}
	last := expr.ColumnID(0)
	see := func(cols []*expr.Column) {
		for _, c := range cols {
			last = max(last, c.ID)
		}
	}
	for _, p := range plan.Pipelines {
		x.left[p.Sink]++
		if b, ok := p.Sink.(*physical.Build); ok && x.builds[b] == nil {
			x.builds[b] = &build{id: len(x.builds)}
		}
		probed := map[*physical.Build]bool{}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok && !probed[t.Build] {
				x.builds[t.Build].reads++
				probed[t.Build] = true
			}
		}
		for i := range len(p.Transforms) + 1 {
			see(p.AliveBefore(i))
		}
		see(physical.SinkColumns(p.Sink))
	}
	x.alloc = expr.AllocatorAfter(last)
	return x
}

// run makes all pipelines.
func (x *planner) run() error {
	for _, p := range x.plan.Pipelines {
		if err := x.pipeline(p); err != nil {
			return err
		}
	}
	return nil
}

// pipeline makes what a pipeline of the plan becomes.
func (x *planner) pipeline(p *physical.Pipeline) error {
	s, err := x.open(p.Source)
	if err != nil {
		return err
	}
	for i, t := range p.Transforms {
		if s, err = x.transform(s, t, func() logical.ColSet { return needs(p.Transforms[i:], p.Sink) }); err != nil {
			return err
		}
	}
	x.end(s, p.Sink, p.EstRows)
	if x.left[p.Sink]--; x.left[p.Sink] == 0 {
		return x.settle(p.Sink)
	}
	return nil
}

// end has a stream end in a sink.
func (x *planner) end(s *stream, sink physical.Sink, rows float64) {
	s.p.Sink, s.p.EstRows = sink, rows
	x.done = append(x.done, s)
	x.ends[sink] = append(x.ends[sink], s)
}

// open begins a stream.
func (x *planner) open(src physical.Source) (*stream, error) {
	s := &stream{p: &physical.Pipeline{Source: src}}
	switch src := src.(type) {
	case *physical.TableScan:
		x.scan(s, src)
	case *physical.SinkScan:
		x.read(s, src)
	case *physical.ValuesScan:
		s.lay, s.reason, s.rows = common, "the rows are constants", float64(len(src.Rows))
	case *physical.UnmatchedScan:
		x.unmatched(s, src)
	default:
		return nil, sqlerr.Bug("no places for a %T", src)
	}
	return s, nil
}

// read begins a stream over what a sink has.
func (x *planner) read(s *stream, src *physical.SinkScan) {
	from := x.stored[src.From]
	src.From = from.sink
	s.lay, s.reason, s.rows = from.lay, from.reason, from.rows
	cols, ids := src.Cols, src.Ins
	if from.values != nil {
		x.compute(s, src, from.values)
	}
	s.homes = mapHomes(from.homes, func(id expr.ColumnID) (out []expr.ColumnID) {
		for i, in := range ids {
			if in == id {
				out = append(out, cols[i].ID)
			}
		}
		return out
	})
	s.keyed = len(s.homes) > 0
}

// transform adds a transform to a stream. needed are the columns that it and what stands behind it read.
func (x *planner) transform(s *stream, t physical.Transform, needed func() logical.ColSet) (*stream, error) {
	switch t := t.(type) {
	case *physical.Filter:
	case *physical.Limit:
		s = x.limit(s, t, needed)
	case *physical.Project:
		s.homes = project(s.homes, t)
	case *physical.Repeat:
		s.homes = keep(s.homes, t.Keep)
	case *physical.Unnest:
		s.homes = keep(s.homes, t.Keep)
		if t.EstRows > 0 {
			s.rows = t.EstRows
		}
	case *physical.Probe:
		var err error
		if s, err = x.probe(s, t, needed); err != nil {
			return nil, err
		}
	default:
		return nil, sqlerr.Bug("no places for a %T", t)
	}
	s.p.Transforms = append(s.p.Transforms, t)
	return s, nil
}

// limit prepares a stream for a limit.
func (x *planner) limit(s *stream, t *physical.Limit, needed func() logical.ColSet) *stream {
	if t.Count != logical.NoLimit {
		s.rows = min(s.rows, float64(t.Count+t.Offset))
	}
	if s.lay == spread {
		if t.Count != logical.NoLimit {
			s.p.Transforms = append(s.p.Transforms, &physical.Limit{Count: t.Count + t.Offset})
		}
		return x.exchange(s, needed(), Exchange{Kind: Gather, Reason: "LIMIT counts the rows of all GPUs"})
	}
	if s.lay == common {
		s.lay, s.reason = one, "LIMIT passes whichever rows come first, which differ between GPUs"
	}
	return s
}

// exchange stores the rows of a stream that is not common and moves them. It returns the stream that reads them.
func (x *planner) exchange(s *stream, needed logical.ColSet, e Exchange) *stream {
	if s.lay == common {
		s.lay = one
	}
	alive := s.p.AliveBefore(len(s.p.Transforms))
	cols := slices.DeleteFunc(slices.Clone(alive), func(c *expr.Column) bool { return !needed.Has(c.ID) })
	if len(cols) == 0 && len(alive) > 0 { // rows that are only counted
		cols = alive[:1]
	}
	m := &physical.Materialize{Cols: cols}
	x.end(s, m, s.rows)
	return x.exchanged(m, s, e)
}

// exchanged moves the rows of a sink, in which the stream s ends, and reads them.
func (x *planner) exchanged(m *physical.Materialize, s *stream, e Exchange) *stream {
	x.exchanges[m] = e
	next := &stream{rows: s.rows, reason: e.Reason}
	scan := &physical.SinkScan{From: m, Cols: m.Cols}
	for _, c := range m.Cols {
		scan.Ins = append(scan.Ins, c.ID)
	}
	next.p = &physical.Pipeline{Source: scan}
	switch e.Kind {
	case Gather:
		next.lay = one
	case Broadcast:
		next.lay = common
	case Repartition:
		next.lay = spread
		var h home
		for _, id := range e.Keys {
			at := slices.IndexFunc(m.Cols, func(c *expr.Column) bool { return c.ID == id })
			h.by.hash += hashOf(m.Cols[at].Typ)
			h.cols = append(h.cols, []expr.ColumnID{id})
		}
		next.homes, next.keyed = []home{h}, true
	}
	return next
}

// settle decides what becomes of a sink, once every stream that ends in it is there.
func (x *planner) settle(sink physical.Sink) error {
	all := x.ends[sink]
	switch sink := sink.(type) {
	case *physical.Aggregate:
		x.aggregate(sink, all)
	case *physical.Materialize:
		x.keep(sink, all)
	case *physical.Sort:
		x.sort(sink, all)
	case *physical.Result:
		for _, s := range all {
			if s.lay == spread {
				x.moveBefore(sink, s, Exchange{Kind: Gather, Reason: "the first GPU gives the result"})
			}
			lower(s, "the first GPU gives the result")
		}
	case *physical.Window:
		x.window(sink, all)
	case *physical.Build: // its first probe decides
	default:
		return sqlerr.Bug("no places for a %T", sink)
	}
	return nil
}

// moveBefore has the rows of a stream that has come to a sink move before they get there.
func (x *planner) moveBefore(sink physical.Sink, s *stream, e Exchange) *stream {
	x.detach(sink, s)
	rows := s.p.EstRows
	next := x.exchange(s, sinkNeeds(sink), e)
	x.end(next, sink, rows)
	return next
}

// detach takes a stream away from the sink that it has come to.
func (x *planner) detach(sink physical.Sink, s *stream) {
	is := func(o *stream) bool { return o == s }
	x.ends[sink] = slices.DeleteFunc(slices.Clone(x.ends[sink]), is)
	x.done = slices.DeleteFunc(x.done, is)
}

// lower has place 0 alone run a stream that every place could.
func lower(s *stream, reason string) {
	if s.lay == common {
		s.lay, s.reason = one, reason
	}
}

// together is how rows lie that come to one sink by several streams; common ones are then lowered where others are not common.
func together(all []*stream) lay {
	any := func(l lay) bool { return slices.ContainsFunc(all, func(s *stream) bool { return s.lay == l }) }
	switch {
	case any(spread):
		for _, s := range all {
			lower(s, "other GPUs have other rows of what it adds to")
		}
		return spread
	case any(one):
		for _, s := range all {
			lower(s, "the first GPU has the other rows of what it adds to")
		}
		return one
	}
	return common
}

// reasonOf is the reason of the first stream that lies so.
func reasonOf(all []*stream, l lay) string {
	for _, s := range all {
		if s.lay == l {
			return s.reason
		}
	}
	return ""
}

// rowsOf is about how many rows streams bring to their sink. Lowering gives each stream of a union the rows of all.
func rowsOf(all []*stream) float64 {
	sum, same := 0.0, true
	for _, s := range all {
		sum += s.p.EstRows
		same = same && s.p.EstRows == all[0].p.EstRows
	}
	if same {
		return all[0].p.EstRows
	}
	return sum
}

// keep settles rows that are stored as they come.
func (x *planner) keep(m *physical.Materialize, all []*stream) {
	st := &stored{sink: m, lay: together(all), rows: rowsOf(all)}
	st.reason = reasonOf(all, st.lay)
	if st.lay == spread {
		st.homes = shared(all)
	}
	x.stored[m] = st
}

// sort settles rows that are brought into order.
func (x *planner) sort(sink *physical.Sort, all []*stream) {
	st := &stored{sink: sink, rows: rowsOf(all)}
	x.stored[sink] = st
	most := int64(-1)
	if sink.Count != logical.NoLimit {
		most = sink.Count + sink.Offset
		st.rows = min(st.rows, float64(sink.Count))
	}
	switch together(all) {
	case common:
		st.lay, st.reason = common, reasonOf(all, common)
		if most >= 0 {
			for _, s := range all {
				lower(s, "which of equal rows are the first differs between GPUs")
			}
			st.lay, st.reason = one, "which of equal rows are the first differs between GPUs"
		}
		return
	case one:
		st.reason = reasonOf(all, one)
		return
	}
	st.reason = "the first GPU has the rows in order"
	if most < 0 || most > x.t.TopRows {
		for _, s := range all {
			if s.lay == spread {
				x.moveBefore(sink, s, Exchange{Kind: Gather, Reason: "ORDER BY sorts the rows of all GPUs together"})
			}
		}
		return
	}
	needed := sinkNeeds(sink)
	top := &physical.Sort{Keys: sink.Keys, Count: most, Cols: slices.DeleteFunc(all[0].p.AliveBefore(len(all[0].p.Transforms)), func(c *expr.Column) bool { return !needed.Has(c.ID) })}
	for _, s := range all {
		x.detach(sink, s)
		x.end(s, top, s.p.EstRows)
	}
	x.stored[top] = &stored{sink: top, lay: spread, reason: "each GPU has the first rows of its own", rows: min(rowsOf(all), float64(most)*float64(x.places))}
	s := x.reread(top)
	s = x.exchange(s, needed, Exchange{Kind: Gather, Reason: "the first rows of all are among the first of each GPU"})
	x.end(s, sink, s.rows)
}

// reread reads all that a sink of the new plan has stored.
func (x *planner) reread(sink physical.Sink) *stream {
	cols := physical.SinkColumns(sink)
	scan := &physical.SinkScan{From: sink, Cols: cols}
	for _, c := range cols {
		scan.Ins = append(scan.Ins, c.ID)
	}
	s := &stream{p: &physical.Pipeline{Source: scan}}
	x.read(s, scan)
	return s
}
