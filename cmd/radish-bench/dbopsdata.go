package main

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/radish-sql/radish/sql/types"
)

// The tables of the "database-like ops" benchmark (H2O.ai's db-benchmark, continued by DuckDB Labs), with K = 100 rows a group on average.
const (
	dbopsK      = 100
	dbopsFew    = 100         // values of id1, id2, id4 and id5 of g
	dbopsMicros = 100 * micro // the largest double: 100, in steps of 10^-6
)

// dbopsLeast and dbopsMost bound the rows of g and x: id1 .. id3 of x go up to 1.1 times as many, and are 32-bit integers.
const (
	dbopsLeast = 1000
	dbopsMost  = 1_900_000_000
)

// Ordinals of columns.
const (
	gID1 = iota
	gID2
	gID3
	gID4
	gID5
	gID6
	gV1
	gV2
	gV3
)

const (
	xID1 = iota
	xID2
	xID3
	xID5
	xID6
	xV1
)

// joinedTable is one of small, medium and big, which x is joined with.
type joinedTable struct {
	name string
	rows int64
	ids  [3]*permutation // id1, id2, id3 less 1
	v2   func(row int64) int64
}

// value is the v2 of the row whose id number i is key.
func (t *joinedTable) value(i int, key int64) int64 { return t.v2(t.ids[i].inverse(key - 1)) }

// dbopsData is the tables at one number of rows.
type dbopsData struct {
	rows   int64
	g, x   *drawnTable
	joined [3]joinedTable
}

// idText writes the text of an id as in x.
func idText(b []byte, n int64) []byte { return strconv.AppendInt(append(b, "id"...), n, 10) }

// idText10 writes the text of an id with ten digits.
func idText10(b []byte, n int64) []byte { return padded(append(b, "id"...), n, 10) }

func newDBOpsData(rows int64) *dbopsData {
	salt := uint64(0xDB0)
	next := func() uint64 { salt++; return salt }
	few := make([]string, dbopsFew)
	for i := range few {
		few[i] = fmt.Sprintf("id%03d", i+1)
	}
	groups := dbopsGroups(rows)
	integer := func(name string, most int64) drawnColumn {
		return drawnColumn{name: name, typ: types.Int32, draw: drawnFrom(next(), 1, most)}
	}
	double := func(name string) drawnColumn {
		return drawnColumn{name: name, typ: types.Double, draw: drawnFrom(next(), 0, dbopsMicros)}
	}
	word := func(name string) drawnColumn {
		return drawnColumn{name: name, typ: types.Varchar(5), draw: drawn(next(), dbopsFew), words: few}
	}
	text := func(name string, same int) drawnColumn {
		return drawnColumn{name: name, typ: types.Varchar(12), same: same, text: idText}
	}
	d := &dbopsData{rows: rows}
	d.g = &drawnTable{name: "g", rows: rows, columns: []drawnColumn{
		word("id1"), word("id2"), {name: "id3", typ: types.Varchar(12), draw: drawnFrom(next(), 1, groups), text: idText10},
		integer("id4", dbopsFew), integer("id5", dbopsFew), integer("id6", groups), integer("v1", 5), integer("v2", 15), double("v3"),
	}}
	d.x = &drawnTable{name: "x", rows: rows, columns: []drawnColumn{
		integer("id1", rows*11/10/1_000_000+1), integer("id2", max(rows*11/10/1000, 1)), integer("id3", rows*11/10), text("id5", xID2), text("id6", xID3), double("v1"),
	}}
	for i, size := range []struct {
		name string
		part int64
	}{{"small", 1_000_000}, {"medium", 1000}, {"big", 1}} {
		t := joinedTable{name: size.name, rows: max(rows/size.part, 1), v2: drawnFrom(next(), 0, dbopsMicros)}
		for c := range t.ids {
			t.ids[c] = newPermutation(next(), t.rows)
		}
		d.joined[i] = t
	}
	return d
}

// dbopsGroups is the number of values of id3 and id6 of g.
func dbopsGroups(rows int64) int64 { return max(rows/dbopsK, 1) }

// table describes the table as x's are.
func (t *joinedTable) table() *drawnTable {
	d := &drawnTable{name: t.name, rows: t.rows}
	for c, p := range t.ids {
		d.columns = append(d.columns, drawnColumn{name: "id" + strconv.Itoa(c+1), typ: types.Int32, draw: func(row int64) int64 { return 1 + p.of(row) }})
	}
	d.columns = append(d.columns,
		drawnColumn{name: "id5", typ: types.Varchar(12), same: xID2, text: idText},
		drawnColumn{name: "id6", typ: types.Varchar(12), same: xID3, text: idText},
		drawnColumn{name: "v2", typ: types.Double, draw: t.v2})
	return d
}

// tables are all tables.
func (d *dbopsData) tables() []*drawnTable {
	out := []*drawnTable{d.g, d.x}
	for i := range d.joined {
		out = append(out, d.joined[i].table())
	}
	return out
}

// create makes the tables in a database, in the place of earlier ones. totals, where they are asked for, add up the rows meanwhile.
func (d *dbopsData) create(ctx context.Context, db *database, totals *dbopsTotals) error {
	d.g.watch, d.x.watch = nil, nil
	if totals != nil {
		d.g.watch, d.x.watch = totals.addG, totals.addX
	}
	for _, t := range d.tables() {
		if err := t.create(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// dbopsTables makes the tables g, x, small, medium and big, in the place of earlier ones.
func dbopsTables(ctx context.Context, db *database, rows int64) error {
	return newDBOpsData(rows).create(ctx, db, nil)
}

// countBits counts the members of a set.
func countBits(set []uint64) int64 {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}
