package shapes

import (
	"fmt"
	"strconv"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
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
	w := drawn.SplitMix(uint64(n))
	b = append(b, shapeFirst[w%16]...)
	b = append(b, ' ')
	b = append(b, shapeLast[w>>4%16]...)
	return strconv.AppendInt(append(b, ' '), n, 10)
}

// shapeURL is an address of some 50 bytes.
func shapeURL(b []byte, n int64) []byte {
	w := drawn.SplitMix(uint64(n) + 7)
	b = strconv.AppendUint(append(b, "https://www.site"...), w%shapeHosts, 10)
	b = append(append(b, ".example.com/"...), shapeParts[w>>20%8]...)
	b = strconv.AppendInt(append(b, '/'), n, 10)
	return strconv.AppendUint(append(b, ".html?ref="...), w>>32%1000, 10)
}

func shapeJSON(b []byte, n int64) []byte {
	w := drawn.SplitMix(uint64(n) + 11)
	b = strconv.AppendInt(append(b, `{"id": `...), n, 10)
	b = append(append(b, `, "user": {"name": "`...), shapeFirst[w%16]...)
	b = strconv.AppendUint(append(b, `", "age": `...), w>>8%90, 10)
	b = append(append(b, `}, "tags": ["`...), shapeParts[w>>16%8]...)
	b = append(append(b, `", "`...), shapeParts[w>>24%8]...)
	b = strconv.AppendUint(append(b, `"], "price": `...), w>>32%1000, 10)
	return append(b, '}')
}

// shapeTables are t, which most statements read, and three that it is joined with.
func shapeTables(rows int64) []*drawn.Table {
	salt := drawn.Salt(0x5A9E)
	words := func(prefix string, n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("%s-%d", prefix, drawn.SplitMix(uint64(i))%1_000_000_000_000)
		}
		return out
	}
	cities := words("city", shapeCities)
	integer := func(name string, draw func(int64) int64) drawn.Column {
		return drawn.Column{Name: name, Typ: types.Int32, Draw: draw}
	}
	text := func(name string, width int, draw func(int64) int64, text func([]byte, int64) []byte) drawn.Column {
		return drawn.Column{Name: name, Typ: types.Varchar(width), Draw: draw, Text: text}
	}
	code := func(b []byte, n int64) []byte {
		return drawn.Padded(append(b, byte('A'+n%26), byte('A'+n/26%26)), n, 6)
	}
	skewed := drawn.GroupData{Rows: rows, Groups: shapeSkewed, Spread: drawn.ZipfKeys}
	firstDay := types.DaysFromCivil(2015, 1, 1)
	names := max(rows/2, 10)
	t := &drawn.Table{Name: "t", Rows: rows, Columns: []drawn.Column{
		integer("id", func(row int64) int64 { return row }),
		integer("k", drawn.NewPermutation(salt.Next(), rows).Of),
		integer("g", drawn.Uniform(salt.Next(), 1000)),
		integer("h", drawn.Uniform(salt.Next(), 100_000)),
		integer("v", drawn.UniformFrom(salt.Next(), -1_000_000, 1_000_000)),
		{Name: "amt", Typ: types.Decimal(12, 2), Draw: drawn.Uniform(salt.Next(), 10_000_000)},
		{Name: "x", Typ: types.Double, Draw: drawn.Uniform(salt.Next(), 1_000_000_000)},
		{Name: "d", Typ: types.Date, Draw: drawn.UniformFrom(salt.Next(), firstDay, firstDay+3652)},
		{Name: "word", Typ: types.Varchar(20), Draw: drawn.Uniform(salt.Next(), shapeWords), Words: words("word", shapeWords)},
		{Name: "city", Typ: types.Varchar(20), Draw: drawn.Uniform(salt.Next(), shapeCities), Words: cities},
		text("code", 8, drawn.Uniform(salt.Next(), shapeCodes), code),
		text("name", 40, drawn.Uniform(salt.Next(), names), shapeName),
		text("url", 100, drawn.Uniform(salt.Next(), rows), shapeURL),
		text("js", 200, drawn.Uniform(salt.Next(), rows), shapeJSON),
		text("skew", 16, skewed.Generator(), func(b []byte, n int64) []byte { return strconv.AppendInt(append(b, "item-"...), n, 10) }),
	}}
	places := &drawn.Table{Name: "places", Rows: shapeCities / 2, Columns: []drawn.Column{
		{Name: "city", Typ: types.Varchar(20), Draw: func(row int64) int64 { return row * 2 }, Words: cities},
		{Name: "region", Typ: types.Varchar(20), Draw: drawn.Uniform(salt.Next(), 20), Words: words("region", 20)},
	}}
	people := &drawn.Table{Name: "people", Rows: names / 4, Columns: []drawn.Column{
		text("name", 40, drawn.NewPermutation(salt.Next(), names).Of, shapeName),
		integer("score", drawn.Uniform(salt.Next(), 100)),
	}}
	codes := &drawn.Table{Name: "codes", Rows: shapeCodes, Columns: []drawn.Column{
		text("code", 8, drawn.NewPermutation(salt.Next(), shapeCodes).Of, code),
		integer("rank1", drawn.Uniform(salt.Next(), 5000)),
	}}
	return []*drawn.Table{t, places, people, codes}
}
