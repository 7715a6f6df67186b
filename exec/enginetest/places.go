package enginetest

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Places runs plans as planner/distribute divides them, with a backend instead of each of several devices. What a place has to store for others is a plan of its own, over its slices
// of the tables and over the rows that it was given before. So it shows whether a division is right without several devices.
type Places struct {
	Of     Backend
	N      int
	Tuning distribute.Tuning
	// Ran is told of each plan how it was divided; d is nil if it was not. It may be nil.
	Ran func(d *distribute.Distributed, reason string)
}

func (x *Places) Name() string { return fmt.Sprintf("%d places of %s", x.N, x.Of.Name()) }

func (x *Places) Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error) {
	d, reason := distribute.Plan(plan, x.N, x.Tuning)
	if x.Ran != nil {
		x.Ran(d, reason)
	}
	if d == nil {
		return x.Of.Run(ctx, plan)
	}
	r := &placesRun{ctx: ctx, d: d, of: x.Of, given: map[physical.Sink][][][]types.Value{}, slices: map[slice]*table.Version{}, seed: maphash.MakeSeed()}
	for _, p := range d.Plan.Pipelines {
		if _, ok := d.Exchanges[p.Sink]; ok && r.given[p.Sink] == nil {
			if err := r.exchange(p.Sink.(*physical.Materialize)); err != nil {
				return x.Of.Run(ctx, plan) // which words it
			}
		}
	}
	last := d.Plan.Pipelines[len(d.Plan.Pipelines)-1]
	result := r.until(0, last.Sink)
	result.Cols, result.Names, result.Ordered = plan.Cols, plan.Names, plan.Ordered
	rows, err := r.of.Run(ctx, result)
	if err != nil {
		return x.Of.Run(ctx, plan)
	}
	return rows, nil
}

// RunPlaces runs each case once, over a table of some size in row groups of few rows, with one of the backends. Short runs take one case in five:
// places run one after the other, which leaves the race detector little.
func RunPlaces(t *testing.T, seed uint64, backends ...*Places) {
	r := rand.New(rand.NewPCG(seed, 11))
	for k, c := range Cases() {
		size, rows, b, s := []int{1, 3, 100, 100, column.VectorSize + 1}[r.IntN(5)], 1+r.IntN(200), backends[r.IntN(len(backends))], r.Uint64()
		if testing.Short() && (uint64(k)+seed)%5 != 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			g := NewGen(rand.New(rand.NewPCG(s, 7)), size)
			g.GroupRows = rows
			plan := c.Plan(g)
			if err := physical.Check(plan); err != nil {
				t.Fatal(err)
			}
			Check(t, b, c, plan, s)
		})
	}
}

// placesRun is a plan that runs.
type placesRun struct {
	ctx    context.Context
	d      *distribute.Distributed
	of     Backend
	given  map[physical.Sink][][][]types.Value // by place, the rows of a sink that have moved
	slices map[slice]*table.Version
	seed   maphash.Seed
}

type slice struct {
	of   *table.Version
	part table.Slice
}

// exchange runs what fills a sink at each place, and moves the rows.
func (r *placesRun) exchange(m *physical.Materialize) error {
	e := r.d.Exchanges[m]
	given := make([][][]types.Value, r.d.Places)
	for place := range given {
		rows, err := r.rows(place, m)
		if err != nil {
			return err
		}
		for _, row := range rows {
			switch e.Kind {
			case distribute.Gather:
				given[0] = append(given[0], row)
			case distribute.Broadcast:
				for to := range given {
					given[to] = append(given[to], row)
				}
			case distribute.Repartition:
				to := r.owner(m, e.Keys, row)
				given[to] = append(given[to], row)
			}
		}
	}
	r.given[m] = given
	return nil
}

// owner is the place that owns the keys of a row.
func (r *placesRun) owner(m *physical.Materialize, keys []expr.ColumnID, row []types.Value) int {
	var key strings.Builder
	for _, id := range keys {
		v := row[slices.IndexFunc(m.Cols, func(c *expr.Column) bool { return c.ID == id })]
		switch {
		case v.Null:
			key.WriteString("NULL")
		case v.Type.Phys() == types.PhysString:
			fmt.Fprintf(&key, "%q", v.S)
		case v.Type.Phys() == types.PhysFloat64:
			fmt.Fprint(&key, v.F+0) // -0 is 0
		default:
			fmt.Fprint(&key, v.D, v.I)
		}
		key.WriteByte(' ')
	}
	return int(maphash.String(r.seed, key.String()) % uint64(r.d.Places))
}

// rows are what a place stores in a sink.
func (r *placesRun) rows(place int, m *physical.Materialize) (rows [][]types.Value, err error) {
	plan := r.until(place, m)
	if plan == nil {
		return nil, nil
	}
	for _, c := range m.Cols {
		plan.Cols, plan.Names = append(plan.Cols, c), append(plan.Names, c.Name)
	}
	batches, err := r.of.Run(r.ctx, plan)
	for _, b := range batches {
		for i := range b.N {
			row := make([]types.Value, len(b.Cols))
			for k, v := range b.Cols {
				row[k] = v.Value(i)
			}
			rows = append(rows, row)
		}
	}
	return rows, err
}

// until is the plan of what a place does to fill a sink, whose rows are its result; nil if it does nothing for that.
func (r *placesRun) until(place int, sink physical.Sink) *physical.Plan {
	needed := map[*physical.Pipeline]bool{}
	var want func(s physical.Sink)
	var add func(p *physical.Pipeline)
	add = func(p *physical.Pipeline) {
		if needed[p] || place != 0 && !r.d.Spread[p].Spread.Everywhere() {
			return
		}
		needed[p] = true
		_, unmatched := p.Source.(*physical.UnmatchedScan)
		for _, d := range p.Deps {
			if unmatched { // the probes before it as well, wherever they end
				add(d)
			}
			if r.given[d.Sink] == nil {
				want(d.Sink)
			}
		}
	}
	want = func(s physical.Sink) {
		for _, p := range r.d.Plan.Pipelines {
			if p.Sink == s {
				add(p)
			}
		}
	}
	want(sink)
	out := &physical.Plan{Logical: r.d.Plan.Logical}
	copies := map[*physical.Pipeline]*physical.Pipeline{}
	for _, p := range r.d.Plan.Pipelines {
		if !needed[p] {
			continue
		}
		q := *p
		q.ID, q.Deps, q.Source = len(out.Pipelines), nil, r.source(place, p.Source)
		for _, d := range p.Deps {
			if c := copies[d]; c != nil {
				q.Deps = append(q.Deps, c)
			}
		}
		copies[p] = &q
		out.Pipelines = append(out.Pipelines, &q)
	}
	if len(out.Pipelines) == 0 {
		return nil
	}
	if m, ok := sink.(*physical.Materialize); ok {
		read := &physical.SinkScan{From: m, Cols: m.Cols}
		for _, c := range m.Cols {
			read.Ins = append(read.Ins, c.ID)
		}
		out.Pipelines = append(out.Pipelines, &physical.Pipeline{ID: len(out.Pipelines), Source: read, Sink: &physical.Result{In: read.Ins}, Deps: slices.Clone(out.Pipelines)})
	}
	return out
}

// source is what a place reads.
func (r *placesRun) source(place int, s physical.Source) physical.Source {
	switch s := s.(type) {
	case *physical.TableScan:
		if parts := r.d.Parts[s]; parts != nil {
			x := *s
			x.Table = r.slice(s.Table, parts[place])
			return &x
		}
	case *physical.SinkScan:
		rows, ok := r.given[s.From]
		if !ok {
			return s
		}
		x := &physical.ValuesScan{Cols: s.Cols}
		cols := physical.SinkColumns(s.From)
		for _, row := range rows[place] {
			values := make([]expr.Expr, len(s.Cols))
			for i, id := range s.Ins {
				values[i] = &expr.Const{Value: row[slices.IndexFunc(cols, func(c *expr.Column) bool { return c.ID == id })]}
			}
			x.Rows = append(x.Rows, values)
		}
		return x
	}
	return s
}

// slice is a table with the rows of some row groups, under their numbers.
func (r *placesRun) slice(v *table.Version, part table.Slice) *table.Version {
	key := slice{v, part}
	if r.slices[key] == nil {
		var others []int64
		for i, g := range v.Groups() {
			if i < part.From || i >= part.To {
				for at := range g.Rows {
					others = append(others, g.First+int64(at))
				}
			}
		}
		out, _, err := v.Mark(r.ctx, others)
		if err != nil {
			panic(err) // the rows are there
		}
		r.slices[key] = out
	}
	return r.slices[key]
}
