package main

import (
	"context"
	"fmt"
	"strconv"

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

// gridSalt draws each column for itself.
type gridSalt uint64

func (s *gridSalt) next() uint64 {
	*s++
	return uint64(*s)
}

// gridText writes the text of a key that is not dictionary-coded, in no order of the numbers.
func gridText(b []byte, n int64) []byte {
	return padded(append(b, 'k'), int64(splitMix(uint64(n))>>16), 15)
}

// gridSpread is a 64-bit key for each number.
func gridSpread(draw func(row int64) int64) func(row int64) int64 {
	return func(row int64) int64 { return int64(splitMix(uint64(draw(row)))) }
}

func gridWords(n int64) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = string(padded([]byte{'w'}, int64(i), 5))
	}
	return words
}

func gridScanned(rows int64) *drawnTable {
	salt := gridSalt(0x5CA0)
	words := gridWords(scanWords)
	t := &drawnTable{name: "scanned", rows: rows}
	for c := range 4 {
		add := func(prefix string, col drawnColumn, n int64) {
			col.name, col.draw = prefix+strconv.Itoa(c+1), drawn(salt.next(), n)
			t.columns = append(t.columns, col)
		}
		add("i", drawnColumn{typ: types.Int32}, scanNumbers)
		add("d", drawnColumn{typ: types.Decimal(12, 2)}, scanNumbers)
		add("f", drawnColumn{typ: types.Double}, scanNumbers)
		add("s", drawnColumn{typ: types.Varchar(6), words: words}, scanWords)
		add("r", drawnColumn{typ: types.Varchar(12), text: func(b []byte, n int64) []byte {
			// The number, so that texts sort as numbers do, and some digits more.
			return padded(padded(append(b, 'r'), n, 6), int64(splitMix(uint64(n))>>1%100_000), 5)
		}}, scanNumbers)
	}
	return t
}

func gridGrouped(rows int64) *drawnTable {
	salt := gridSalt(0x6A0)
	t := &drawnTable{name: "grouped", rows: rows}
	add := func(name string, typ types.Type, draw func(int64) int64) {
		t.columns = append(t.columns, drawnColumn{name: name, typ: typ, draw: draw})
	}
	for _, size := range gridSizes {
		n := size.groups(rows)
		add("k"+size.suffix, types.Int32, drawn(salt.next(), n))
		add("w"+size.suffix, types.Int64, gridSpread(drawn(salt.next(), n)))
		if size.suffix == "q" {
			continue
		}
		coded := min(n, codedMost)
		t.columns = append(t.columns, drawnColumn{name: "s" + size.suffix, typ: types.Varchar(6), draw: drawn(salt.next(), coded), words: gridWords(coded)})
	}
	for _, size := range gridSizes[2:] { // fewer strings would be dictionary-coded
		t.columns = append(t.columns, drawnColumn{name: "r" + size.suffix, typ: types.Varchar(16), draw: drawn(salt.next(), size.groups(rows)), text: gridText})
	}
	// Pairs of these, and of k1, k3 and p100, are the keys of two integers.
	add("p2", types.Int32, drawn(salt.next(), 2))
	add("p5", types.Int32, drawn(salt.next(), 5))
	add("p100", types.Int32, drawn(salt.next(), 100))
	add("pq", types.Int32, drawn(salt.next(), rows/1000))
	for c := range 4 {
		add("v"+strconv.Itoa(c+1), types.Int32, drawnFrom(salt.next(), 1, 2000))
	}
	return t
}

// gridKeys adds columns of keys in three forms, with the same numbers: dense integers, spread ones and strings.
func gridKeys(t *drawnTable, suffix string, draw func(row int64) int64) {
	at := len(t.columns)
	t.columns = append(t.columns,
		drawnColumn{name: "i" + suffix, typ: types.Int32, draw: draw},
		drawnColumn{name: "w" + suffix, typ: types.Int64, draw: gridSpread(draw)},
		drawnColumn{name: "s" + suffix, typ: types.Varchar(16), same: at, text: gridText})
}

func gridJoined(rows int64) []*drawnTable {
	salt := gridSalt(0x1010)
	probing := &drawnTable{name: "probing", rows: rows}
	tables := []*drawnTable{probing}
	for _, build := range gridBuilds {
		n := build.rows(rows)
		for _, share := range gridShares {
			gridKeys(probing, build.suffix+share.suffix, drawn(salt.next(), n*share.in))
		}
		b := &drawnTable{name: "build" + build.suffix, rows: n}
		gridKeys(b, "", newPermutation(salt.next(), n).of)
		b.columns = append(b.columns, drawnColumn{name: "b", typ: types.Int32, draw: drawnFrom(salt.next(), 1, 2000)})
		tables = append(tables, b)
	}
	probing.columns = append(probing.columns, drawnColumn{name: "v", typ: types.Int32, draw: drawnFrom(salt.next(), 1, 2000)})
	return tables
}

// gridDrawn are all tables.
func gridDrawn(rows int64) []*drawnTable {
	return append([]*drawnTable{gridScanned(rows), gridGrouped(rows)}, gridJoined(rows)...)
}

// gridTables makes the tables of gridQuestions, in the place of earlier ones.
func gridTables(ctx context.Context, db *database, rows int64) error {
	if rows < gridLeast || rows > gridMost {
		return fmt.Errorf("the grid's tables have %d to %d rows, not %d", gridLeast, gridMost, rows)
	}
	for _, t := range gridDrawn(rows) {
		if err := t.create(ctx, db); err != nil {
			return err
		}
	}
	return nil
}
