package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Type is what the generator knows of an expression's type: enough to keep values in range.
type Type struct {
	Kind   Kind
	Digits int // numbers: at most so many digits before the point; strings: at most so many characters
	Scale  int // decimals
}

// Column of a table.
type Column struct {
	Name    string
	Decl    string
	Type    Type
	NotNull bool
	Unique  bool // alone a key: what changes it keeps values apart, or means to meet them
}

// Table is a table with its rows, every value as an SQL literal.
type Table struct {
	Name    string
	Columns []Column
	Keys    []string // PRIMARY KEY and UNIQUE clauses
	Rows    [][]string
}

// Schema is what one round of the fuzzer works on.
type Schema struct {
	Tables []*Table
}

// Statements make the schema in an empty database.
func (s *Schema) Statements() []string {
	var all []string
	for _, t := range s.Tables {
		all = append(all, t.create())
		for first := 0; first < len(t.Rows); first += 500 {
			all = append(all, t.insert(t.Rows[first:min(first+500, len(t.Rows))]))
		}
	}
	return all
}

func (t *Table) create() string {
	var parts []string
	for _, c := range t.Columns {
		decl := c.Name + " " + c.Decl
		if c.NotNull {
			decl += " NOT NULL"
		}
		parts = append(parts, decl)
	}
	return fmt.Sprintf("CREATE TABLE %s(%s)", t.Name, strings.Join(append(parts, t.Keys...), ", "))
}

func (t *Table) insert(rows [][]string) string {
	tuples := make([]string, len(rows))
	for i, r := range rows {
		tuples[i] = "(" + strings.Join(r, ", ") + ")"
	}
	return fmt.Sprintf("INSERT INTO %s VALUES %s", t.Name, strings.Join(tuples, ", "))
}

// column finds a column that there is.
func (t *Table) column(name string) Column {
	return t.Columns[slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })]
}

// addSpecial puts NaN, infinities and -0 into some of the rows of DOUBLE columns, as literals that a column of doubles takes.
func (s *Schema) addSpecial(r *rand.Rand) {
	for _, t := range s.Tables {
		for j, c := range t.Columns {
			if c.Decl != "DOUBLE" {
				continue
			}
			often := pick(r, []int{2, 5, 20, 200})
			for _, row := range t.Rows {
				if row[j] != "NULL" && r.IntN(often) == 0 {
					row[j] = pick(r, []string{"'NaN'", "'NaN'", "'Infinity'", "'-Infinity'", "-0e0", "0e0"})
				}
			}
		}
	}
}

func (s *Schema) clone() *Schema {
	c := &Schema{}
	for _, t := range s.Tables {
		u := *t
		u.Rows = append([][]string(nil), t.Rows...)
		c.Tables = append(c.Tables, &u)
	}
	return c
}

type columnType struct {
	decl string
	typ  Type
}

// columnTypes are the types that columns are made of. Integers of 19 digits take part in comparisons, keys and
// aggregates, never in sums and products, which would leave the range in an order that engines are free to choose.
var columnTypes = []columnType{
	{"INT", Type{Int, 10, 0}}, {"INT", Type{Int, 10, 0}}, {"INT", Type{Int, 10, 0}},
	{"TINYINT", Type{Int, 3, 0}}, {"SMALLINT", Type{Int, 5, 0}}, {"BIGINT", Type{Int, 19, 0}},
	{"INT UNSIGNED", Type{Uint, 10, 0}}, {"TINYINT UNSIGNED", Type{Uint, 3, 0}}, {"BIGINT UNSIGNED", Type{Uint, 20, 0}},
	{"DECIMAL(8,2)", Type{Dec, 6, 2}}, {"DECIMAL(5,3)", Type{Dec, 2, 3}}, {"DECIMAL(15,0)", Type{Dec, 15, 0}},
	{"DOUBLE", Type{Dbl, 6, 0}}, {"VARCHAR(12)", Type{Str, 12, 0}}, {"VARCHAR(3)", Type{Str, 3, 0}}, {"VARCHAR(40)", Type{Str, 40, 0}},
	{"DATE", Type{Date, 0, 0}}, {"DATE", Type{Date, 0, 0}}, {"DATETIME", Type{DateTime, 0, 0}},
}

// moreTypes are those of MySQL that other dialects lack or understand otherwise.
var moreTypes = []columnType{
	{"MEDIUMINT", Type{Int, 7, 0}}, {"FLOAT", Type{Dbl, 6, 0}}, {"CHAR(5)", Type{Str, 5, 0}}, {"TEXT", Type{Str, 40, 0}},
	{"TIME", Type{Time, 0, 0}}, {"TIME", Type{Time, 0, 0}},
}

var (
	shortWords = []string{"", "a", "A", "b", "ab", "B ", "abc", "x", "%", "_", "10", "9", " b", "ü"}
	longWords  = []string{"hello", "Hello", "hello world", "a_b%c", "xxxxx", "grün", "2020-01-01", "1.5", "ab ab"}
	days       = []string{"2020-02-29", "2020-01-31", "2019-12-31", "2020-01-01", "1999-12-31", "2000-01-01", "1970-01-01", "2021-06-15", "1995-03-15", "1969-12-31"}
	times      = []string{"00:00:00", "23:59:59", "12:30:45", "06:00:00"}
	spans      = []string{"00:00:00", "23:59:59", "12:30:45", "06:00:00", "-01:00:00", "100:00:00", "00:00:09"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// literal draws a value of a type. Values repeat: joins and groups shall find partners.
func literal(r *rand.Rand, t Type) string {
	switch t.Kind {
	case Int:
		switch n := r.IntN(20); {
		case n < 13:
			return fmt.Sprint(r.IntN(10))
		case n < 16:
			return fmt.Sprint(-1 - r.IntN(5))
		case n < 19 || t.Digits < 5:
			return fmt.Sprint(r.IntN(120) - 20)
		case t.Digits == 19:
			return pick(r, []string{"9223372036854775807", "-9223372036854775808", "9007199254740993", "-4294967297"})
		case t.Digits == 10:
			return pick(r, []string{"2147483647", "-2147483648", "100000", "65536"})
		}
		return pick(r, []string{"32767", "-32768", "1000"})
	case Uint:
		switch n := r.IntN(20); {
		case n < 14:
			return fmt.Sprint(r.IntN(10))
		case n < 19 || t.Digits < 5:
			return fmt.Sprint(r.IntN(200))
		case t.Digits == 20:
			return pick(r, []string{"18446744073709551615", "9223372036854775808", "9223372036854775807"})
		}
		return pick(r, []string{"4294967295", "2147483648"})
	case Dec:
		limit := 1
		for range min(t.Digits, 3) {
			limit *= 10
		}
		whole := r.IntN(min(limit, 12))
		if r.IntN(6) == 0 {
			whole = r.IntN(limit)
		}
		text := fmt.Sprint(whole)
		if t.Digits > 15 && r.IntN(3) == 0 {
			for len(text) < r.IntN(t.Digits) {
				text += fmt.Sprint(r.IntN(10))
			}
		}
		if t.Scale > 0 {
			fraction := pick(r, []string{"000", "500", "250", "100", "990", "010", "330", "750"})
			text += "." + (fraction + "0070000009")[:t.Scale]
		}
		if r.IntN(4) == 0 {
			text = "-" + text
		}
		return text
	case Dbl:
		// Sums of quarters are exact in any order, so that results do not depend on it.
		return fmt.Sprintf("%ge0", float64(r.IntN(80)-20)/4)
	case Str:
		word := pick(r, shortWords)
		if t.Digits > 10 && r.IntN(3) == 0 {
			word = pick(r, longWords)
		}
		return "'" + word + "'"
	case Date:
		return "DATE '" + pick(r, days) + "'"
	case DateTime:
		return "TIMESTAMP '" + pick(r, days) + " " + pick(r, times) + "'"
	case Time:
		return "TIME '" + pick(r, spans) + "'"
	}
	return pick(r, []string{"TRUE", "FALSE"})
}

// bigSchemas is the percentage of rounds on big tables.
const bigSchemas = 5

// newSchema draws tables and rows. Every table has a column k, an integer; most have a key id: they are what USING
// and NATURAL joins meet on.
//
// A big schema fills several row groups and makes parallel operators run in parallel.
func newSchema(r *rand.Rand, big bool, types []columnType) *Schema {
	s := &Schema{}
	for i := range 2 + r.IntN(3) {
		t := &Table{Name: fmt.Sprintf("t%d", i)}
		rows := 0
		switch n := r.IntN(20); {
		case n < 1:
		case n < 4:
			rows = 1 + r.IntN(4)
		case n < 15:
			rows = 5 + r.IntN(30)
		case n < 19 || i > 0:
			rows = 60 + r.IntN(200)
		default:
			rows = 2000 + r.IntN(5000)
		}
		if big && i < 2 {
			rows = 3000 + r.IntN(30000)
		}
		if big || r.IntN(4) > 0 {
			t.Columns = append(t.Columns, Column{Name: "id", Decl: "INT", Type: Type{Int, 6, 0}, NotNull: true, Unique: true})
			t.Keys = append(t.Keys, pick(r, []string{"PRIMARY KEY (id)", "PRIMARY KEY (id)", "UNIQUE KEY (id)"}))
		}
		if len(t.Columns) > 0 && !big && r.IntN(5) == 0 {
			t.Columns = append(t.Columns, Column{Name: "u", Decl: "INT", Type: Type{Int, 6, 0}, Unique: true})
			t.Keys = append(t.Keys, "UNIQUE KEY (u)")
		}
		k := pick(r, types[:5])
		t.Columns = append(t.Columns, Column{Name: "k", Decl: k.decl, Type: k.typ, NotNull: r.IntN(5) == 0})
		for j := range 2 + r.IntN(5) {
			c := pick(r, types)
			t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("%c%d", 'a'+i, j), Decl: c.decl, Type: c.typ, NotNull: r.IntN(6) == 0})
		}
		nulls := make([]int, len(t.Columns))
		constant := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			nulls[j] = pick(r, []int{0, 10, 10, 30, 90})
			if r.IntN(15) == 0 {
				constant[j] = literal(r, c.Type)
			}
		}
		id := r.IntN(5)
		for range rows {
			row := make([]string, len(t.Columns))
			for j, c := range t.Columns {
				switch {
				case c.Name == "id":
					row[j] = fmt.Sprint(id)
				case c.Unique:
					row[j] = "NULL"
					if id%2 == 1 {
						row[j] = fmt.Sprint(id / 2)
					}
				case !c.NotNull && r.IntN(100) < nulls[j]:
					row[j] = "NULL"
				case constant[j] != "" && r.IntN(10) > 0:
					row[j] = constant[j]
				default:
					row[j] = literal(r, c.Type)
				}
			}
			id += 1 + r.IntN(2)*r.IntN(3)
			t.Rows = append(t.Rows, row)
		}
		r.Shuffle(len(t.Rows), func(a, b int) { t.Rows[a], t.Rows[b] = t.Rows[b], t.Rows[a] })
		s.Tables = append(s.Tables, t)
	}
	return s
}
