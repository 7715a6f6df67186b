package dbops

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/sql/types"
)

// The tables of the "database-like ops" benchmark (H2O.ai's db-benchmark, continued by DuckDB Labs), with K = 100 rows a group on average.
const (
	dbopsK      = 100
	dbopsFew    = 100               // values of id1, id2, id4 and id5 of g
	dbopsMicros = 100 * drawn.Micro // the largest double: 100, in steps of 10^-6
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
	ids  [3]*drawn.Permutation // id1, id2, id3 less 1
	v2   func(row int64) int64
}

// value is the v2 of the row whose id number i is key.
func (t *joinedTable) value(i int, key int64) int64 { return t.v2(t.ids[i].Inverse(key - 1)) }

// dbopsData is the tables at one number of rows.
type dbopsData struct {
	rows   int64
	g, x   *drawn.Table
	joined [3]joinedTable
}

// idText writes the text of an id as in x.
func idText(b []byte, n int64) []byte { return strconv.AppendInt(append(b, "id"...), n, 10) }

// idText10 writes the text of an id with ten digits.
func idText10(b []byte, n int64) []byte { return drawn.Padded(append(b, "id"...), n, 10) }

func newDBOpsData(rows int64) *dbopsData {
	salt := uint64(0xDB0)
	next := func() uint64 { salt++; return salt }
	few := make([]string, dbopsFew)
	for i := range few {
		few[i] = fmt.Sprintf("id%03d", i+1)
	}
	groups := dbopsGroups(rows)
	integer := func(name string, most int64) drawn.Column {
		return drawn.Column{Name: name, Typ: types.Int32, Draw: drawn.UniformFrom(next(), 1, most)}
	}
	double := func(name string) drawn.Column {
		return drawn.Column{Name: name, Typ: types.Double, Draw: drawn.UniformFrom(next(), 0, dbopsMicros)}
	}
	word := func(name string) drawn.Column {
		return drawn.Column{Name: name, Typ: types.Varchar(5), Draw: drawn.Uniform(next(), dbopsFew), Words: few}
	}
	text := func(name string, same int) drawn.Column {
		return drawn.Column{Name: name, Typ: types.Varchar(12), Same: same, Text: idText}
	}
	d := &dbopsData{rows: rows}
	d.g = &drawn.Table{Name: "g", Rows: rows, Columns: []drawn.Column{
		word("id1"), word("id2"), {Name: "id3", Typ: types.Varchar(12), Draw: drawn.UniformFrom(next(), 1, groups), Text: idText10},
		integer("id4", dbopsFew), integer("id5", dbopsFew), integer("id6", groups), integer("v1", 5), integer("v2", 15), double("v3"),
	}}
	d.x = &drawn.Table{Name: "x", Rows: rows, Columns: []drawn.Column{
		integer("id1", rows*11/10/1_000_000+1), integer("id2", max(rows*11/10/1000, 1)), integer("id3", rows*11/10), text("id5", xID2), text("id6", xID3), double("v1"),
	}}
	for i, size := range []struct {
		name string
		part int64
	}{{"small", 1_000_000}, {"medium", 1000}, {"big", 1}} {
		t := joinedTable{name: size.name, rows: max(rows/size.part, 1), v2: drawn.UniformFrom(next(), 0, dbopsMicros)}
		for c := range t.ids {
			t.ids[c] = drawn.NewPermutation(next(), t.rows)
		}
		d.joined[i] = t
	}
	return d
}

// dbopsGroups is the number of values of id3 and id6 of g.
func dbopsGroups(rows int64) int64 { return max(rows/dbopsK, 1) }

// table describes the table as x's are.
func (t *joinedTable) table() *drawn.Table {
	d := &drawn.Table{Name: t.name, Rows: t.rows}
	for c, p := range t.ids {
		d.Columns = append(d.Columns, drawn.Column{Name: "id" + strconv.Itoa(c+1), Typ: types.Int32, Draw: func(row int64) int64 { return 1 + p.Of(row) }})
	}
	d.Columns = append(d.Columns,
		drawn.Column{Name: "id5", Typ: types.Varchar(12), Same: xID2, Text: idText},
		drawn.Column{Name: "id6", Typ: types.Varchar(12), Same: xID3, Text: idText},
		drawn.Column{Name: "v2", Typ: types.Double, Draw: t.v2})
	return d
}

// tables are all tables.
func (d *dbopsData) tables() []*drawn.Table {
	out := []*drawn.Table{d.g, d.x}
	for i := range d.joined {
		out = append(out, d.joined[i].table())
	}
	return out
}

// create makes the tables in a database, in the place of earlier ones. totals, where they are asked for, add up the rows meanwhile.
func (d *dbopsData) create(ctx context.Context, db *database.DB, totals *dbopsTotals) error {
	d.g.Watch, d.x.Watch = nil, nil
	if totals != nil {
		d.g.Watch, d.x.Watch = totals.addG, totals.addX
	}
	for _, t := range d.tables() {
		if err := t.Create(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// Tables makes the tables g, x, small, medium and big, in the place of earlier ones.
func Tables(ctx context.Context, db *database.DB, rows int64) error {
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
