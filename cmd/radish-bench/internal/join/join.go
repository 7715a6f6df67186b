// Package join joins tables of many sizes and kinds of keys: beside DuckDB, large ones on GPUs, and along curves of sizes at which the choice of an algorithm changes.
package join

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/sql/types"
)

// Run is the command join: R(k, p) joined with S(k, q), both of 2^n rows, by keys of many kinds. Every total is one that was computed while the rows were made.
func Run(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("join", flag.ContinueOnError)
	var set beside.Settings
	set.Register(fs)
	least := fs.Int("least", 16, "the smallest tables have 2^least rows")
	most := fs.Int("most", 22, "the largest tables have 2^most rows")
	step := fs.Int("step", 1, "how far the exponents lie apart")
	strings := fs.Int("most-strings", 22, "the largest tables with keys of strings have 2^most-strings rows")
	large := fs.Int("large", 0,
		"join tables of 2^large rows instead, for a device: unique, sort-merge, dense, wide, broadcast, small, small "+
			"dense, zipf, four, eighth, half, left, semi, anti, full, two columns, wide keys, strings, stored, inserted, "+
			"multiply, zipf both; --cases has whole names then")
	explain := fs.Bool("explain", false,
		"with --large, print EXPLAIN ANALYZE of a join that stores nothing, and the calls of the GPU's library")
	sorted := fs.Bool("sorted", false, "with --large, sort and merge both sides of all joins for which there are kernels")
	curves := fs.String("curves", "",
		"draw how joins on a device depend on sizes, shares, skew, keys and values into this folder: a table, and an "+
			"SVG for each curve of build, dense, ratio, share, matches, zipf, zipf-both, keys, values, one-pass, "+
			"two-passes; --cases chooses, --large is the exponent of the larger tables (25)")
	seconds := fs.Int("seconds", 0, "with --curves, begin no further curve after so many seconds; 0: draw all")
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if *curves != "" && *large == 0 {
		*large = 25
	}
	switch {
	case *large != 0 && (*large < 6 || *large > 30):
		return cli.WrongUsage(fs, "--large %d: an exponent from 6 to 30", *large)
	case *least < 4 || *most > 26 || *least > *most || *step < 1:
		return cli.WrongUsage(fs, "--least %d --most %d --step %d: exponents from 4 to 26", *least, *most, *step)
	case set.Runs < 1:
		return cli.WrongUsage(fs, "--runs %d: a time needs a run", set.Runs)
	}
	if *curves != "" {
		return runJoinCurves(ctx, &set, *large, *curves, *seconds, out)
	}
	if *large != 0 {
		return runLargeJoins(ctx, &set, *large, *explain, *sorted, out)
	}
	b, err := beside.Open(ctx, &set)
	if err != nil {
		return err
	}
	defer b.Close()
	b.Title = fmt.Sprintf("R(k, p) joined with S(k, q), 2^%d to 2^%d rows each", *least, *most)
	fmt.Fprintf(out, "%s, %d threads each, the fastest of %d runs\n\n", b.Title, b.DB.Threads, b.Runs)
	if err := set.Profile.Start(); err != nil {
		return err
	}
	for _, kind := range joinKinds {
		for bits := *least; bits <= *most; bits += *step {
			if kind.hasStrings && bits > *strings {
				break
			}
			if err := joinOf(ctx, out, b, &set, &kind, bits); err != nil {
				return err
			}
		}
	}
	if err := set.Profile.Stop(); err != nil {
		return err
	}
	if err := report.Write(b, out, set.Markdown); err != nil {
		return err
	}
	return b.Failed()
}

// joinOf runs the cases of one kind of keys and one size that the flags choose.
func joinOf(ctx context.Context, out io.Writer, b *beside.Comparison, set *beside.Settings, kind *joinKind, bits int) error {
	data := newJoinData(kind, int64(1)<<bits)
	var picked []beside.Case
	for _, c := range data.cases(bits) {
		if c.Matches(set.Cases) {
			picked = append(picked, c)
		}
	}
	if len(picked) == 0 {
		return nil
	}
	tables := []*drawn.Table{data.r, data.s}
	if err := b.Load(ctx, tables, set.Compresses); err != nil {
		return err
	}
	data.total(picked)
	if err := b.Run(ctx, out, picked); err != nil {
		return err
	}
	if err := b.Both(ctx, "DROP TABLE IF EXISTS o"); err != nil {
		return err
	}
	return b.Drop(ctx, tables)
}

// joinKind is a kind of keys. Each key has a number. S has those below its number of rows, in no order.
type joinKind struct {
	name       string
	hasStrings bool
	copies     int64                                       // rows of S with one key; 0: one
	times      int64                                       // R draws from so many times the keys of S; 0: R has each key of S once
	isZipf     bool                                        // R draws them by Zipf's law
	columns    func(draw func(int64) int64) []drawn.Column // of the key with the numbers that draw gives
}

// joinColumn is a key of one column.
func joinColumn(typ types.Type, key func(number int64) int64) func(draw func(int64) int64) []drawn.Column {
	return func(draw func(int64) int64) []drawn.Column {
		return []drawn.Column{{Name: "k1", Typ: typ, Draw: func(row int64) int64 { return key(draw(row)) }}}
	}
}

func joinString(length int, text func(b []byte, n int64) []byte) func(draw func(int64) int64) []drawn.Column {
	return func(draw func(int64) int64) []drawn.Column {
		return []drawn.Column{{Name: "k1", Typ: types.Varchar(length), Draw: draw, Text: text}}
	}
}

func plainKey(n int64) int64 { return n }
func spread32(n int64) int64 { return int64(int32(drawn.Mix32(uint32(n)))) }
func spread64(n int64) int64 { return int64(drawn.SplitMix(uint64(n))) }

func text8(b []byte, n int64) []byte  { return fmt.Appendf(b, "%08x", drawn.Mix32(uint32(n))) }
func text16(b []byte, n int64) []byte { return fmt.Appendf(b, "%016x", drawn.SplitMix(uint64(n))) }
func text40(b []byte, n int64) []byte {
	return fmt.Appendf(b, "warehouse/europe/parts/%016x!", drawn.SplitMix(uint64(n)))
}

var joinKinds = []joinKind{
	{name: "int32 dense", columns: joinColumn(types.Int32, plainKey)},
	{name: "int32 spread", columns: joinColumn(types.Int32, spread32)},
	{name: "int64 spread", columns: joinColumn(types.Int64, spread64)},
	{name: "int32 Zipf 1.0", isZipf: true, columns: joinColumn(types.Int32, spread32)},
	{name: "int64 four rows a key", copies: 4, times: 1, columns: joinColumn(types.Int64, spread64)},
	{name: "int32 dense, 1 in 16", times: 16, columns: joinColumn(types.Int32, plainKey)},
	{name: "int64 spread, 1 in 16", times: 16, columns: joinColumn(types.Int64, spread64)},
	{name: "string of 8", hasStrings: true, columns: joinString(8, text8)},
	{name: "string of 16", hasStrings: true, columns: joinString(16, text16)},
	{name: "string of 40", hasStrings: true, columns: joinString(40, text40)},
	{name: "string of 16, 1 in 16", hasStrings: true, times: 16, columns: joinString(16, text16)},
	{name: "two integers", columns: func(draw func(int64) int64) []drawn.Column {
		return []drawn.Column{
			{Name: "k1", Typ: types.Int32, Draw: func(row int64) int64 { return draw(row) % 1000 }},
			{Name: "k2", Typ: types.Int64, Draw: func(row int64) int64 { return spread64(draw(row) / 1000) }},
		}
	}},
	{name: "an integer and a string", hasStrings: true, columns: func(draw func(int64) int64) []drawn.Column {
		return []drawn.Column{
			{Name: "k1", Typ: types.Int32, Draw: func(row int64) int64 { return draw(row) % 1000 }},
			{Name: "k2", Typ: types.Varchar(16), Draw: func(row int64) int64 { return draw(row) / 1000 }, Text: text16},
		}
	}},
	{name: "three keys", hasStrings: true, columns: func(draw func(int64) int64) []drawn.Column {
		return []drawn.Column{
			{Name: "k1", Typ: types.Int32, Draw: func(row int64) int64 { return draw(row) % 100 }},
			{Name: "k2", Typ: types.Varchar(8), Draw: func(row int64) int64 { return draw(row) / 100 % 1000 }, Text: text8},
			{Name: "k3", Typ: types.Int64, Draw: func(row int64) int64 { return spread64(draw(row) / 100_000) }},
		}
	}},
}

// joinData are the tables of one kind of keys.
type joinData struct {
	kind             *joinKind
	rows             int64
	r, s             *drawn.Table
	rKey, sKey, p, q func(row int64) int64
}

func newJoinData(kind *joinKind, rows int64) *joinData {
	d := &joinData{kind: kind, rows: rows}
	salt := drawn.Salt(0x701)
	copies := max(kind.copies, 1)
	shuffled := drawn.NewPermutation(salt.Next(), rows)
	d.sKey = func(row int64) int64 { return shuffled.Of(row) / copies }
	switch {
	case kind.isZipf:
		d.rKey = drawn.GroupData{Rows: rows, Groups: rows, Spread: drawn.ZipfKeys}.Generator()
	case kind.times > 0:
		d.rKey = drawn.Uniform(salt.Next(), kind.times*rows/copies)
	default:
		d.rKey = drawn.NewPermutation(salt.Next(), rows).Of
	}
	d.p, d.q = drawn.Uniform(salt.Next(), 1000), drawn.Uniform(salt.Next(), 1000)
	d.r = d.table("r", d.rKey, "p", d.p)
	d.s = d.table("s", d.sKey, "q", d.q)
	return d
}

// table makes a table of keys and a value.
func (d *joinData) table(name string, key func(int64) int64, value string, draw func(int64) int64) *drawn.Table {
	columns := append(d.kind.columns(key), drawn.Column{Name: value, Typ: types.Int32, Draw: draw})
	return &drawn.Table{Name: name, Rows: d.rows, Columns: columns}
}

// cases are the two statements: summed, and stored.
func (d *joinData) cases(bits int) []beside.Case {
	on := "r.k1 = s.k1"
	for i := 2; i < len(d.r.Columns); i++ {
		on += fmt.Sprintf(" AND r.k%d = s.k%d", i, i)
	}
	const totals = "SELECT COUNT(*), SUM(p), SUM(q), SUM(p * q) FROM "
	name := fmt.Sprintf("2^%d, %s", bits, d.kind.name)
	return []beside.Case{
		{Group: "summed", Name: name, Rows: d.rows, SQL: totals + "r JOIN s ON " + on},
		{Group: "stored", Name: name, Rows: d.rows, Setup: []string{"DROP TABLE IF EXISTS o"},
			SQL: "CREATE TABLE o AS SELECT r.k1, p, q FROM r JOIN s ON " + on, Check: totals + "o"},
	}
}

// total gives the cases the totals of the join.
func (d *joinData) total(cases []beside.Case) {
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
		cases[i].Want = want
	}
}
