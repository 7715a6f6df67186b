package exchange

import (
	"context"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/exec/gpu/run"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// move is one exchange.
type move struct {
	*Places
	ctx     context.Context
	sink    physical.Sink
	from    []*results.Rows // of each place; nil: it has none
	packed  []strings       // of each place: what its strings lie in
	release []func()        // of each place: frees from
	traffic Traffic
}

// Traffic is what an exchange has moved.
type Traffic struct {
	Rows  int64     // those that stayed at their place included
	Bytes [][]int64 // that went to each place, from each other one
}

// In is the bytes that came to a place from others, Out what others got of it.
func (t *Traffic) In(place int) (bytes int64) {
	for _, n := range t.Bytes[place] {
		bytes += n
	}
	return bytes
}

func (t *Traffic) Out(place int) (bytes int64) {
	for _, from := range t.Bytes {
		bytes += from[place]
	}
	return bytes
}

// count adds bytes that go from one place to another. Each place may count what it gets.
func (t *Traffic) count(to, from int, bytes int64) {
	if from != to {
		t.Bytes[to][from] += bytes
	}
}

// begin waits until all pipelines that end in a sink, and have been launched at their places, have ended.
func (p *Places) begin(ctx context.Context, s physical.Sink) (*move, error) {
	n := len(p.queries)
	x := &move{Places: p, ctx: ctx, sink: s, from: make([]*results.Rows, n), packed: make([]strings, n), release: make([]func(), n), traffic: Traffic{Bytes: make([][]int64, n)}}
	for i := range n {
		x.traffic.Bytes[i] = make([]int64, n)
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	err := p.Each(func(i int, q *run.Query) error {
		if err := q.Settle(ctx); err != nil {
			return err
		}
		if rows := q.Rows(s); rows != nil && rows.Count > 0 {
			x.from[i] = rows
			if !p.canReach {
				return x.pack(i)
			}
		}
		return nil
	})
	for _, rows := range x.from {
		if rows != nil {
			x.traffic.Rows += rows.Count
		}
	}
	return x, err
}

// receive reserves memory for rows at a place.
func (x *move) receive(place int, rows int64) (to *results.Rows, err error) {
	to, x.release[place], err = x.queries[place].Receive(x.sink, rows)
	return to, err
}

// array is what an exchange moves of a column: its items, or a byte for each that says whether there is a value.
type array struct {
	width    int64
	from, to gpukernels.Ptr
}

// arrays are those of two places' rows, which lie in the same way.
func arrays(from, to *results.Rows) (all []array) {
	for c := range to.Columns {
		of, at := &from.Columns[c], &to.Columns[c]
		all = append(all, array{of.Class.Width(), of.Data, at.Data})
		if at.Valid != 0 {
			all = append(all, array{1, of.Valid, at.Valid})
		}
	}
	return all
}

// A stored string is the address of its bytes, and their number. The bytes are a table column's, or were made by the query, and stay where they are until all of its places are closed. Where
// each place can reach the memory of all others, an address is good everywhere. Else the bytes are packed before an exchange, are copied whole to each place that gets
// some of the rows, and the addresses follow. So all strings of a place lie at that place.

// strings are the bytes of a place's strings, packed.
type strings struct {
	at    gpukernels.Ptr // 0: there are none
	bytes int64
}

// pack brings the bytes of all strings of a place's rows together.
func (x *move) pack(place int) error {
	rows, m := x.from[place], x.queries[place].Memory()
	n := rows.Count
	var views, offsets []gpukernels.Ptr
	var begins []int64
	defer func() { m.FreeAll(offsets) }()
	total := int64(0)
	for i := range rows.Columns {
		if rows.Columns[i].Class != form.View {
			continue
		}
		at, err := m.Alloc("rows for other devices", 8*(n+1))
		if err != nil {
			return err
		}
		views, offsets, begins = append(views, rows.Columns[i].Data), append(offsets, at), append(begins, total)
		if err := m.Stream.StringOffsets(rows.Columns[i].Data, at, n); err != nil {
			return err
		}
		bytes := make([]int64, 1)
		if err := m.Fetch(x.ctx, gpukernels.Bytes(bytes), at+gpukernels.Ptr(8*n)); err != nil {
			return err
		}
		total += bytes[0]
	}
	if total == 0 {
		return nil
	}
	packed, err := m.Alloc("rows for other devices", total)
	if err != nil {
		return err
	}
	x.packed[place] = strings{packed, total}
	for i := range views {
		to := packed + gpukernels.Ptr(begins[i])
		if err := m.Stream.StringCopy(views[i], offsets[i], to, n); err != nil {
			return err
		}
		if err := launch(x.ctx, m.Stream, "point_views", blocks(n), uint64(views[i]), uint64(n), uint64(offsets[i]), uint64(to)); err != nil {
			return err
		}
	}
	return m.Stream.Sync(x.ctx) // others read it
}

// fetchStrings has the strings of rows that have come from another place lie at this one: n of them, from row first on.
func (x *move) fetchStrings(place, from int, to *results.Rows, first, n int64) error {
	packed := x.packed[from]
	if packed.at == 0 || n == 0 {
		return nil
	}
	m := x.queries[place].Memory()
	at, err := m.Alloc("strings of other devices", packed.bytes) // until the query is closed
	if err != nil {
		return err
	}
	if place == from {
		err = m.Stream.Copy(at, packed.at, packed.bytes)
	} else {
		err = m.Stream.CopyFrom(at, x.queries[from].Device(), packed.at, packed.bytes)
	}
	if err != nil {
		return err
	}
	x.traffic.count(place, from, packed.bytes)
	for i := range to.Columns {
		if to.Columns[i].Class != form.View {
			continue
		}
		if err := launch(x.ctx, m.Stream, "move_views", blocks(n), uint64(to.Columns[i].Data)+uint64(16*first), uint64(n), uint64(at-packed.at)); err != nil {
			return err
		}
	}
	return nil
}

// blocks is how many blocks have a thread for each of some rows.
func blocks(rows int64) int64 { return (rows + threads - 1) / threads }
