package exchange

import (
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/results"
	"github.com/radish-sql/radish/gpukernels"
)

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
