package main

import (
	"fmt"
	"strconv"

	"github.com/radish-sql/radish/sql/types"
)

// Numbers of values of the columns of t.
const (
	shapeWords  = 1000
	shapeCities = 40_000
	shapeCodes  = 200_000
	shapeSkewed = 157_000
	shapeHosts  = 5000
)

var (
	shapeFirst = []string{"Anna", "Bela", "Chen", "Dora", "Emil", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kofi", "Lena", "Mara", "Nils", "Olga", "Pedro"}
	shapeLast  = []string{"Abel", "Bauer", "Costa", "Dvorak", "Eriksen", "Fischer", "Garcia", "Haas", "Ito", "Jansen", "Kowalski", "Lindgren", "Moreau", "Novak", "Okafor", "Petrov"}
	shapeParts = []string{"news", "sports", "culture", "science", "travel", "opinion", "archive", "shop"}
)

// shapeName is a person's name and a number. Numbers below n give n names.
func shapeName(b []byte, n int64) []byte {
	w := splitMix(uint64(n))
	b = append(b, shapeFirst[w%16]...)
	b = append(b, ' ')
	b = append(b, shapeLast[w>>4%16]...)
	return strconv.AppendInt(append(b, ' '), n, 10)
}

// shapeURL is an address of some 50 bytes.
func shapeURL(b []byte, n int64) []byte {
	w := splitMix(uint64(n) + 7)
	b = strconv.AppendUint(append(b, "https://www.site"...), w%shapeHosts, 10)
	b = append(append(b, ".example.com/"...), shapeParts[w>>20%8]...)
	b = strconv.AppendInt(append(b, '/'), n, 10)
	return strconv.AppendUint(append(b, ".html?ref="...), w>>32%1000, 10)
}

func shapeJSON(b []byte, n int64) []byte {
	w := splitMix(uint64(n) + 11)
	b = strconv.AppendInt(append(b, `{"id": `...), n, 10)
	b = append(append(b, `, "user": {"name": "`...), shapeFirst[w%16]...)
	b = strconv.AppendUint(append(b, `", "age": `...), w>>8%90, 10)
	b = append(append(b, `}, "tags": ["`...), shapeParts[w>>16%8]...)
	b = append(append(b, `", "`...), shapeParts[w>>24%8]...)
	b = strconv.AppendUint(append(b, `"], "price": `...), w>>32%1000, 10)
	return append(b, '}')
}

// shapeTables are t, which most statements read, and three that it is joined with.
func shapeTables(rows int64) []*drawnTable {
	salt := gridSalt(0x5A9E)
	words := func(prefix string, n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("%s-%d", prefix, splitMix(uint64(i))%1_000_000_000_000)
		}
		return out
	}
	cities := words("city", shapeCities)
	integer := func(name string, draw func(int64) int64) drawnColumn {
		return drawnColumn{name: name, typ: types.Int32, draw: draw}
	}
	text := func(name string, width int, draw func(int64) int64, text func([]byte, int64) []byte) drawnColumn {
		return drawnColumn{name: name, typ: types.Varchar(width), draw: draw, text: text}
	}
	code := func(b []byte, n int64) []byte {
		return padded(append(b, byte('A'+n%26), byte('A'+n/26%26)), n, 6)
	}
	skewed := groupData{rows: rows, groups: shapeSkewed, spread: zipfKeys}
	firstDay := types.DaysFromCivil(2015, 1, 1)
	names := max(rows/2, 10)
	t := &drawnTable{name: "t", rows: rows, columns: []drawnColumn{
		integer("id", func(row int64) int64 { return row }),
		integer("k", newPermutation(salt.next(), rows).of),
		integer("g", drawn(salt.next(), 1000)),
		integer("h", drawn(salt.next(), 100_000)),
		integer("v", drawnFrom(salt.next(), -1_000_000, 1_000_000)),
		{name: "amt", typ: types.Decimal(12, 2), draw: drawn(salt.next(), 10_000_000)},
		{name: "x", typ: types.Double, draw: drawn(salt.next(), 1_000_000_000)},
		{name: "d", typ: types.Date, draw: drawnFrom(salt.next(), firstDay, firstDay+3652)},
		{name: "word", typ: types.Varchar(20), draw: drawn(salt.next(), shapeWords), words: words("word", shapeWords)},
		{name: "city", typ: types.Varchar(20), draw: drawn(salt.next(), shapeCities), words: cities},
		text("code", 8, drawn(salt.next(), shapeCodes), code),
		text("name", 40, drawn(salt.next(), names), shapeName),
		text("url", 100, drawn(salt.next(), rows), shapeURL),
		text("js", 200, drawn(salt.next(), rows), shapeJSON),
		text("skew", 16, skewed.generator(), func(b []byte, n int64) []byte { return strconv.AppendInt(append(b, "item-"...), n, 10) }),
	}}
	places := &drawnTable{name: "places", rows: shapeCities / 2, columns: []drawnColumn{
		{name: "city", typ: types.Varchar(20), draw: func(row int64) int64 { return row * 2 }, words: cities},
		{name: "region", typ: types.Varchar(20), draw: drawn(salt.next(), 20), words: words("region", 20)},
	}}
	people := &drawnTable{name: "people", rows: names / 4, columns: []drawnColumn{
		text("name", 40, newPermutation(salt.next(), names).of, shapeName),
		integer("score", drawn(salt.next(), 100)),
	}}
	codes := &drawnTable{name: "codes", rows: shapeCodes, columns: []drawnColumn{
		text("code", 8, newPermutation(salt.next(), shapeCodes).of, code),
		integer("rank1", drawn(salt.next(), 5000)),
	}}
	return []*drawnTable{t, places, people, codes}
}
