package auto

import (
	"context"
	"fmt"
	"strconv"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/sql/types"
)

// The grid's tables. Each has a number of rows of its own, and columns for one kind of statement:
//
//   - scanned: four columns of each type, drawn alike from 10^6 numbers, or 10^3 words where strings shall be dictionary-coded.
//   - grouped: keys of about 10, 10^3, 10^5 and rows/10 values in several forms, and four values.
//   - probing, and build3, build5 and buildq with 10^3, 10^5 and rows/4 rows: keys of three forms, of which all or a tenth match.

// gridLeast and gridMost bound the rows: keys of rows/1000 values should be several, and those of 2.5 times as many values as rows are 32-bit integers.
const (
	gridLeast = 10_000
	gridMost  = 800_000_000
)

const (
	scanNumbers = 1_000_000 // values of scanned's columns
	scanWords   = 1000      // of those that are dictionary-coded
	codedMost   = 60_000    // groups of strings that are dictionary-coded: a column's dictionary has at most 65,536
)

// gridSizes are the numbers of groups; those of build sides are the second, the third and rows/4.
var gridSizes = []struct {
	suffix string
	groups func(rows int64) int64
}{
	{"1", func(int64) int64 { return 10 }},
	{"3", func(int64) int64 { return 1000 }},
	{"5", func(int64) int64 { return 100_000 }},
	{"q", func(rows int64) int64 { return rows / 10 }},
}

// gridBuilds are the build sides.
var gridBuilds = []struct {
	suffix string
	rows   func(rows int64) int64
}{
	{"3", func(int64) int64 { return 1000 }},
	{"5", func(int64) int64 { return 100_000 }},
	{"q", func(rows int64) int64 { return rows / 4 }},
}

// gridShares are the matching shares of a join's probe side: in so many keys is one of the build side.
var gridShares = []struct {
	suffix string
	in     int64
	text   string
}{
	{"a", 1, "1"},
	{"t", 10, "0.1"},
}

// gridText writes the text of a key that is not dictionary-coded, in no order of the numbers.
func gridText(b []byte, n int64) []byte {
	return drawn.Padded(append(b, 'k'), int64(drawn.SplitMix(uint64(n))>>16), 15)
}

// gridSpread is a 64-bit key for each number.
func gridSpread(draw func(row int64) int64) func(row int64) int64 {
	return func(row int64) int64 { return int64(drawn.SplitMix(uint64(draw(row)))) }
}

func gridWords(n int64) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = string(drawn.Padded([]byte{'w'}, int64(i), 5))
	}
	return words
}

func gridScanned(rows int64) *drawn.Table {
	salt := drawn.Salt(0x5CA0)
	words := gridWords(scanWords)
	t := &drawn.Table{Name: "scanned", Rows: rows}
	for c := range 4 {
		add := func(prefix string, col drawn.Column, n int64) {
			col.Name, col.Draw = prefix+strconv.Itoa(c+1), drawn.Uniform(salt.Next(), n)
			t.Columns = append(t.Columns, col)
		}
		add("i", drawn.Column{Typ: types.Int32}, scanNumbers)
		add("d", drawn.Column{Typ: types.Decimal(12, 2)}, scanNumbers)
		add("f", drawn.Column{Typ: types.Double}, scanNumbers)
		add("s", drawn.Column{Typ: types.Varchar(6), Words: words}, scanWords)
		add("r", drawn.Column{Typ: types.Varchar(12), Text: func(b []byte, n int64) []byte {
			// The number, so that strings sort as numbers do, and some digits more.
			return drawn.Padded(drawn.Padded(append(b, 'r'), n, 6), int64(drawn.SplitMix(uint64(n))>>1%100_000), 5)
		}}, scanNumbers)
	}
	return t
}

func gridGrouped(rows int64) *drawn.Table {
	salt := drawn.Salt(0x6A0)
	t := &drawn.Table{Name: "grouped", Rows: rows}
	add := func(name string, typ types.Type, draw func(int64) int64) {
		t.Columns = append(t.Columns, drawn.Column{Name: name, Typ: typ, Draw: draw})
	}
	for _, size := range gridSizes {
		n := size.groups(rows)
		add("k"+size.suffix, types.Int32, drawn.Uniform(salt.Next(), n))
		add("w"+size.suffix, types.Int64, gridSpread(drawn.Uniform(salt.Next(), n)))
		if size.suffix == "q" {
			continue
		}
		coded := min(n, codedMost)
		t.Columns = append(t.Columns, drawn.Column{Name: "s" + size.suffix, Typ: types.Varchar(6), Draw: drawn.Uniform(salt.Next(), coded), Words: gridWords(coded)})
	}
	for _, size := range gridSizes[2:] { // fewer strings would be dictionary-coded
		t.Columns = append(t.Columns, drawn.Column{Name: "r" + size.suffix, Typ: types.Varchar(16), Draw: drawn.Uniform(salt.Next(), size.groups(rows)), Text: gridText})
	}
	// Pairs of these, and of k1, k3 and p100, are the keys of two integers.
	add("p2", types.Int32, drawn.Uniform(salt.Next(), 2))
	add("p5", types.Int32, drawn.Uniform(salt.Next(), 5))
	add("p100", types.Int32, drawn.Uniform(salt.Next(), 100))
	add("pq", types.Int32, drawn.Uniform(salt.Next(), rows/1000))
	for c := range 4 {
		add("v"+strconv.Itoa(c+1), types.Int32, drawn.UniformFrom(salt.Next(), 1, 2000))
	}
	return t
}

// gridKeys adds columns of keys in three forms, with the same numbers: dense integers, spread ones and strings.
func gridKeys(t *drawn.Table, suffix string, draw func(row int64) int64) {
	at := len(t.Columns)
	t.Columns = append(t.Columns,
		drawn.Column{Name: "i" + suffix, Typ: types.Int32, Draw: draw},
		drawn.Column{Name: "w" + suffix, Typ: types.Int64, Draw: gridSpread(draw)},
		drawn.Column{Name: "s" + suffix, Typ: types.Varchar(16), Same: at, Text: gridText})
}

func gridJoined(rows int64) []*drawn.Table {
	salt := drawn.Salt(0x1010)
	probing := &drawn.Table{Name: "probing", Rows: rows}
	tables := []*drawn.Table{probing}
	for _, build := range gridBuilds {
		n := build.rows(rows)
		for _, share := range gridShares {
			gridKeys(probing, build.suffix+share.suffix, drawn.Uniform(salt.Next(), n*share.in))
		}
		b := &drawn.Table{Name: "build" + build.suffix, Rows: n}
		gridKeys(b, "", drawn.NewPermutation(salt.Next(), n).Of)
		b.Columns = append(b.Columns, drawn.Column{Name: "b", Typ: types.Int32, Draw: drawn.UniformFrom(salt.Next(), 1, 2000)})
		tables = append(tables, b)
	}
	probing.Columns = append(probing.Columns, drawn.Column{Name: "v", Typ: types.Int32, Draw: drawn.UniformFrom(salt.Next(), 1, 2000)})
	return tables
}

// gridDrawn are all tables.
func gridDrawn(rows int64) []*drawn.Table {
	return append([]*drawn.Table{gridScanned(rows), gridGrouped(rows)}, gridJoined(rows)...)
}

// gridTables makes the tables of gridQuestions, in the place of earlier ones.
func gridTables(ctx context.Context, db *database.DB, rows int64) error {
	if rows < gridLeast || rows > gridMost {
		return fmt.Errorf("the grid's tables have %d to %d rows, not %d", gridLeast, gridMost, rows)
	}
	for _, t := range gridDrawn(rows) {
		if err := t.Create(ctx, db); err != nil {
			return err
		}
	}
	return nil
}
