package exchange

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Each row goes to the place that owns its key. A first kernel counts the rows of each tile by owner, which says how many rows each place gets, and where each tile's rows
// go among them. A second kernel stores all columns of a tile's rows: with access to peers in the owner's memory, in runs of neighbouring rows, and else in a buffer for each
// owner, which it copies. So a place has the rows of the first place first, each place's tile by tile.

// owned are a place's rows, by owner.
type owned struct {
	keys         int
	columns      gpukernels.Ptr // that describe the keys
	counts, sums gpukernels.Ptr // by owner and tile
	totals       []uint64       // by owner
	to           []*results.Rows
	memory       []gpukernels.Ptr
}

// Repartition brings each row of a sink to the place that owns its key, which consists of some of the sink's columns. Rows with equal keys come together, NULLs being equal,
// and so do rows of two sinks whose keys have the same types.
func (p *Places) Repartition(ctx context.Context, s physical.Sink, keys []expr.ColumnID) (*Traffic, error) {
	if len(p.queries) > mostPlaces {
		return nil, sqlerr.Bug("a query has %d places, and rows have %d owners at the most", len(p.queries), mostPlaces)
	}
	x, err := p.begin(ctx, s)
	if err != nil {
		return nil, err
	}
	n := len(p.queries)
	of := make([]owned, n)
	err = p.Each(func(i int, _ *run.Query) error { return x.countOwners(i, keys, &of[i]) })
	if err != nil {
		return nil, err
	}
	to := make([]*results.Rows, n)
	firsts := make([][]int64, n) // by owner and place
	err = p.Each(func(i int, q *run.Query) (err error) {
		rows := int64(0)
		for k := range of {
			firsts[i] = append(firsts[i], rows)
			rows += int64(of[k].totals[i])
		}
		if to[i], err = x.receive(i, rows); err != nil {
			return err
		}
		return q.Memory().Stream.Record(p.read[i])
	})
	if err != nil {
		return nil, err
	}
	err = p.Each(func(i int, q *run.Query) error {
		if x.from[i] != nil {
			if err := x.moveRows(i, &of[i], to, firsts); err != nil {
				return err
			}
		}
		return q.Memory().Stream.Record(p.sent[i])
	})
	if err != nil {
		return nil, err
	}
	err = p.Each(func(i int, q *run.Query) error {
		if err := p.wait(i, p.sent); err != nil {
			return err
		}
		for k := range of {
			if x.from[k] == nil {
				continue
			}
			for _, a := range arrays(x.from[k], to[i]) {
				x.traffic.count(i, k, int64(of[k].totals[i])*a.width)
			}
			if p.canReach {
				continue
			}
			if err := x.fetchOwned(i, k, &of[k], to[i], firsts[i][k]); err != nil {
				return err
			}
		}
		return q.Memory().Stream.Record(p.read[i])
	})
	if err != nil {
		return nil, err
	}
	return &x.traffic, p.Each(func(i int, q *run.Query) error {
		if !p.canReach {
			if err := p.wait(i, p.read); err != nil {
				return err
			}
		}
		m := q.Memory()
		m.FreeAll(of[i].memory)
		m.Free(x.packed[i].at)
		x.release[i]()
		return nil
	})
}

// countOwners counts a place's rows by owner and tile.
func (x *move) countOwners(place int, keys []expr.ColumnID, o *owned) error {
	places := int64(len(x.queries))
	o.totals = make([]uint64, places)
	rows := x.from[place]
	if rows == nil {
		return nil
	}
	q := x.queries[place]
	m := q.Memory()
	var words []uint64
	cols := physical.SinkColumns(x.sink)
	for _, id := range keys {
		at := -1
		for i, c := range cols {
			if c.ID == id {
				at = i
			}
		}
		if at < 0 {
			return sqlerr.Bug("rows have no column %d, by which they are to be distributed", id)
		}
		c, strings := &rows.Columns[at], gpukernels.Ptr(0)
		if c.Class == form.Code {
			var err error
			if strings, err = q.Dictionary(x.ctx, c.Dict); err != nil {
				return err
			}
		}
		words = append(words, uint64(c.Data), uint64(c.Valid), uint64(c.Class), uint64(strings))
	}
	tile := int64(q.Device().Block(threads)) * tileItems
	tiles := (rows.Count + tile - 1) / tile
	l := devicemem.Layout{What: "rows for other devices"}
	var totals gpukernels.Ptr
	l.Add(&o.columns, max(int64(8*len(words)), 8))
	l.Add(&o.counts, 4*places*tiles)
	l.Add(&o.sums, 8*(places*tiles+1))
	l.Filled(&totals, places, 8, 0)
	var err error
	if o.memory, err = m.Lay(&l); err != nil {
		return err
	}
	o.keys = len(keys)
	if len(words) > 0 {
		if err := m.Stream.Upload(o.columns, gpukernels.Bytes(words)); err != nil {
			return err
		}
	}
	if err := launch(x.ctx, m.Stream, "count_owners", tiles, uint64(o.columns), uint64(o.keys), uint64(rows.Count), uint64(places), uint64(o.counts), uint64(totals)); err != nil {
		return err
	}
	if err := m.Stream.ExclusiveScan(o.counts, o.sums, places*tiles); err != nil {
		return err
	}
	return m.Fetch(x.ctx, gpukernels.Bytes(o.totals), totals)
}

// moveRows stores a place's rows at their owners, or in buffers for them.
func (x *move) moveRows(place int, o *owned, to []*results.Rows, firsts [][]int64) error {
	rows, m, places := x.from[place], x.queries[place].Memory(), len(x.queries)
	if x.canReach {
		if err := x.wait(place, x.read); err != nil { // for the memory that it stores to
			return err
		}
	}
	first := make([]uint64, places)
	o.to = make([]*results.Rows, places)
	for j := range to {
		o.to[j], first[j] = to[j], uint64(firsts[j][place])
		if !x.canReach && j != place {
			buffer, err := x.buffer(place, j, o)
			if err != nil {
				return err
			}
			o.to[j], first[j] = buffer, 0
		}
	}
	words := first
	all := arrays(rows, o.to[0])
	for a, of := range all {
		words = append(words, uint64(of.width), uint64(of.from))
		for j := range to {
			words = append(words, uint64(arrays(rows, o.to[j])[a].to))
		}
	}
	at, err := m.Alloc("rows for other devices", int64(8*len(words)))
	if err != nil {
		return err
	}
	o.memory = append(o.memory, at)
	if err := m.Stream.Upload(at, gpukernels.Bytes(words)); err != nil {
		return err
	}
	tile := int64(m.Stream.Device().Block(threads)) * tileItems
	return launch(x.ctx, m.Stream, "move_rows", (rows.Count+tile-1)/tile, uint64(o.columns), uint64(o.keys), uint64(rows.Count), uint64(places), uint64(o.sums),
		uint64(at)+uint64(8*places), uint64(len(all)), uint64(at))
}

// buffer takes memory at a place for the rows that another one owns.
func (x *move) buffer(place, owner int, o *owned) (*results.Rows, error) {
	n := max(int64(o.totals[owner]), 1)
	out := &results.Rows{Count: n, Columns: append([]results.Column(nil), x.from[place].Columns...)}
	l := devicemem.Layout{What: "rows for other devices"}
	for i := range out.Columns {
		c := &out.Columns[i]
		l.Add(&c.Data, n*c.Class.Width())
		if c.Valid != 0 {
			l.Add(&c.Valid, n)
		}
	}
	memory, err := x.queries[place].Memory().Lay(&l)
	o.memory = append(o.memory, memory...)
	return out, err
}

// fetchOwned copies the rows that a place owns from another one's buffer, to row first on, and their strings.
func (x *move) fetchOwned(place, from int, o *owned, to *results.Rows, first int64) error {
	n := int64(o.totals[place])
	if n == 0 {
		return nil
	}
	s := x.queries[place].Memory().Stream
	if from != place {
		for _, a := range arrays(o.to[place], to) {
			if err := s.CopyFrom(a.to+gpukernels.Ptr(first*a.width), x.queries[from].Device(), a.from, n*a.width); err != nil {
				return err
			}
		}
	}
	return x.fetchStrings(place, from, to, first, n)
}
