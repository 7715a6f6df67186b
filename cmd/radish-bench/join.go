package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/radish-sql/radish/sql/types"
)

// runJoin is the command join: R(k, p) joined with S(k, q), both of 2^n rows, by keys of many kinds. Every total is one that was computed while the rows were made.
func runJoin(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("join", flag.ContinueOnError)
	var set besideSettings
	set.register(fs)
	least := fs.Int("least", 16, "the smallest tables have 2^least rows")
	most := fs.Int("most", 22, "the largest tables have 2^most rows")
	step := fs.Int("step", 1, "how far the exponents lie apart")
	strings := fs.Int("most-strings", 22, "the largest tables with keys of strings have 2^most-strings rows")
	large := fs.Int("large", 0, "join tables of 2^large rows instead, for a device: unique, sort-merge, dense, wide, broadcast, small, small dense, zipf, four, eighth, half, left, semi, anti, full, two columns, wide keys, strings, stored, inserted, multiply, zipf both; --cases has whole names then")
	explain := fs.Bool("explain", false, "with --large, print EXPLAIN ANALYZE, and of what stores a result the calls of the GPU's library")
	sorted := fs.Bool("sorted", false, "with --large, sort and merge both sides of all joins for which there are kernels")
	curves := fs.String("curves", "", "draw how joins on a device depend on sizes, shares, skew, keys and values into this folder: a table, and an SVG for each curve of build, dense, ratio, share, matches, zipf, zipf-both, keys, values, one-pass, two-passes; --cases chooses, --large is the exponent of the larger tables (25)")
	seconds := fs.Int("seconds", 0, "with --curves, begin no further curve after so many seconds; 0: draw all")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if *curves != "" && *large == 0 {
		*large = 25
	}
	switch {
	case *large != 0 && (*large < 6 || *large > 30):
		return wrongUsage(fs, "--large %d: an exponent from 6 to 30", *large)
	case *least < 4 || *most > 26 || *least > *most || *step < 1:
		return wrongUsage(fs, "--least %d --most %d --step %d: exponents from 4 to 26", *least, *most, *step)
	case set.runs < 1:
		return wrongUsage(fs, "--runs %d: a time needs a run", set.runs)
	}
	if *curves != "" {
		return runJoinCurves(ctx, &set, *large, *curves, *seconds, out)
	}
	if *large != 0 {
		return runLargeJoins(ctx, &set, *large, *explain, *sorted, out)
	}
	b, err := openBeside(ctx, &set)
	if err != nil {
		return err
	}
	defer b.close()
	b.title = fmt.Sprintf("R(k, p) joined with S(k, q), 2^%d to 2^%d rows each", *least, *most)
	fmt.Fprintf(out, "%s, %d threads each, the fastest of %d runs\n\n", b.title, b.db.threads, b.runs)
	if err := set.profile.start(); err != nil {
		return err
	}
	for _, kind := range joinKinds {
		for bits := *least; bits <= *most; bits += *step {
			if kind.strings && bits > *strings {
				break
			}
			if err := b.join(ctx, out, &set, &kind, bits); err != nil {
				return err
			}
		}
	}
	if err := set.profile.stop(); err != nil {
		return err
	}
	if err := writeReport(b, out, set.markdown); err != nil {
		return err
	}
	return b.failed()
}

// join runs the cases of one kind of keys and one size that the flags choose.
func (b *beside) join(ctx context.Context, out io.Writer, set *besideSettings, kind *joinKind, bits int) error {
	data := newJoinData(kind, int64(1)<<bits)
	var picked []besideCase
	for _, c := range data.cases(bits) {
		if c.matches(set.cases) {
			picked = append(picked, c)
		}
	}
	if len(picked) == 0 {
		return nil
	}
	tables := []*drawnTable{data.r, data.s}
	if err := b.load(ctx, tables, set.compress); err != nil {
		return err
	}
	data.total(picked)
	if err := b.run(ctx, out, picked); err != nil {
		return err
	}
	if err := b.both(ctx, "DROP TABLE IF EXISTS o"); err != nil {
		return err
	}
	return b.drop(ctx, tables)
}

// joinKind is a kind of keys. Each key has a number. S has those below its number of rows, in no order.
type joinKind struct {
	name    string
	strings bool
	copies  int64                                      // rows of S with one key; 0: one
	times   int64                                      // R draws from so many times the keys of S; 0: R has each key of S once
	zipf    bool                                       // R draws them by Zipf's law
	columns func(draw func(int64) int64) []drawnColumn // of the key with the numbers that draw gives
}

// joinColumn is a key of one column.
func joinColumn(typ types.Type, key func(number int64) int64) func(draw func(int64) int64) []drawnColumn {
	return func(draw func(int64) int64) []drawnColumn {
		return []drawnColumn{{name: "k1", typ: typ, draw: func(row int64) int64 { return key(draw(row)) }}}
	}
}

func joinString(length int, text func(b []byte, n int64) []byte) func(draw func(int64) int64) []drawnColumn {
	return func(draw func(int64) int64) []drawnColumn {
		return []drawnColumn{{name: "k1", typ: types.Varchar(length), draw: draw, text: text}}
	}
}

func plainKey(n int64) int64 { return n }
func spread32(n int64) int64 { return int64(int32(mix32(uint32(n)))) }
func spread64(n int64) int64 { return int64(splitMix(uint64(n))) }

func text8(b []byte, n int64) []byte  { return fmt.Appendf(b, "%08x", mix32(uint32(n))) }
func text16(b []byte, n int64) []byte { return fmt.Appendf(b, "%016x", splitMix(uint64(n))) }
func text40(b []byte, n int64) []byte {
	return fmt.Appendf(b, "warehouse/europe/parts/%016x!", splitMix(uint64(n)))
}

var joinKinds = []joinKind{
	{name: "int32 dense", columns: joinColumn(types.Int32, plainKey)},
	{name: "int32 spread", columns: joinColumn(types.Int32, spread32)},
	{name: "int64 spread", columns: joinColumn(types.Int64, spread64)},
	{name: "int32 Zipf 1.0", zipf: true, columns: joinColumn(types.Int32, spread32)},
	{name: "int64 four rows a key", copies: 4, times: 1, columns: joinColumn(types.Int64, spread64)},
	{name: "int32 dense, 1 in 16", times: 16, columns: joinColumn(types.Int32, plainKey)},
	{name: "int64 spread, 1 in 16", times: 16, columns: joinColumn(types.Int64, spread64)},
	{name: "string of 8", strings: true, columns: joinString(8, text8)},
	{name: "string of 16", strings: true, columns: joinString(16, text16)},
	{name: "string of 40", strings: true, columns: joinString(40, text40)},
	{name: "string of 16, 1 in 16", strings: true, times: 16, columns: joinString(16, text16)},
	{name: "two integers", columns: func(draw func(int64) int64) []drawnColumn {
		return []drawnColumn{
			{name: "k1", typ: types.Int32, draw: func(row int64) int64 { return draw(row) % 1000 }},
			{name: "k2", typ: types.Int64, draw: func(row int64) int64 { return spread64(draw(row) / 1000) }},
		}
	}},
	{name: "an integer and a string", strings: true, columns: func(draw func(int64) int64) []drawnColumn {
		return []drawnColumn{
			{name: "k1", typ: types.Int32, draw: func(row int64) int64 { return draw(row) % 1000 }},
			{name: "k2", typ: types.Varchar(16), draw: func(row int64) int64 { return draw(row) / 1000 }, text: text16},
		}
	}},
	{name: "three keys", strings: true, columns: func(draw func(int64) int64) []drawnColumn {
		return []drawnColumn{
			{name: "k1", typ: types.Int32, draw: func(row int64) int64 { return draw(row) % 100 }},
			{name: "k2", typ: types.Varchar(8), draw: func(row int64) int64 { return draw(row) / 100 % 1000 }, text: text8},
			{name: "k3", typ: types.Int64, draw: func(row int64) int64 { return spread64(draw(row) / 100_000) }},
		}
	}},
}

// joinData are the tables of one kind of keys.
type joinData struct {
	kind             *joinKind
	rows             int64
	r, s             *drawnTable
	rKey, sKey, p, q func(row int64) int64
}

func newJoinData(kind *joinKind, rows int64) *joinData {
	d := &joinData{kind: kind, rows: rows}
	salt := gridSalt(0x701)
	copies := max(kind.copies, 1)
	shuffled := newPermutation(salt.next(), rows)
	d.sKey = func(row int64) int64 { return shuffled.of(row) / copies }
	switch {
	case kind.zipf:
		d.rKey = groupData{rows: rows, groups: rows, spread: zipfKeys}.generator()
	case kind.times > 0:
		d.rKey = drawn(salt.next(), kind.times*rows/copies)
	default:
		d.rKey = newPermutation(salt.next(), rows).of
	}
	d.p, d.q = drawn(salt.next(), 1000), drawn(salt.next(), 1000)
	d.r = d.table("r", d.rKey, "p", d.p)
	d.s = d.table("s", d.sKey, "q", d.q)
	return d
}

// table makes a table of keys and a value.
func (d *joinData) table(name string, key func(int64) int64, value string, draw func(int64) int64) *drawnTable {
	columns := append(d.kind.columns(key), drawnColumn{name: value, typ: types.Int32, draw: draw})
	return &drawnTable{name: name, rows: d.rows, columns: columns}
}

// cases are the two statements: summed, and stored.
func (d *joinData) cases(bits int) []besideCase {
	on := "r.k1 = s.k1"
	for i := 2; i < len(d.r.columns); i++ {
		on += fmt.Sprintf(" AND r.k%d = s.k%d", i, i)
	}
	const totals = "SELECT COUNT(*), SUM(p), SUM(q), SUM(p * q) FROM "
	name := fmt.Sprintf("2^%d, %s", bits, d.kind.name)
	return []besideCase{
		{group: "summed", name: name, rows: d.rows, sql: totals + "r JOIN s ON " + on},
		{group: "stored", name: name, rows: d.rows, setup: []string{"DROP TABLE IF EXISTS o"},
			sql: "CREATE TABLE o AS SELECT r.k1, p, q FROM r JOIN s ON " + on, check: totals + "o"},
	}
}

// total gives the cases the totals of the join.
func (d *joinData) total(cases []besideCase) {
	type sums struct{ count, sum int64 }
	keys := make([]sums, d.rows)
	for row := range d.rows {
		k := &keys[d.sKey(row)]
		k.count++
		k.sum += d.q(row)
	}
	want := make([]int64, 4) // rows, p, q, p * q
	for row := range d.rows {
		k := d.rKey(row)
		if k >= d.rows {
			continue
		}
		p := d.p(row)
		want[0] += keys[k].count
		want[1] += p * keys[k].count
		want[2] += keys[k].sum
		want[3] += p * keys[k].sum
	}
	for i := range cases {
		cases[i].want = want
	}
}
