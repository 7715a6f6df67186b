package jsontable

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/types"
)

// counter is a statement that counts what is held and may be cancelled.
type counter struct {
	held      int
	cancelled error
}

func (c *counter) Hold(bytes int) error { c.held += bytes; return nil }
func (c *counter) Interrupted() error   { return c.cancelled }

func column(t *testing.T, name string, typ types.Type, kind Kind, path string) Column {
	c := Column{Name: name, Type: typ, Kind: kind, Written: path, Empty: Response{Default: types.NullOf(typ)}, Error: Response{Default: types.NullOf(typ)}}
	if kind != Ordinality {
		c.Path = pathOf(t, path)
	}
	if kind == Exists {
		c.Found, c.Missing = types.Value{Type: typ, I: 1}, types.Value{Type: typ}
	}
	return c
}

func pathOf(t *testing.T, text string) jsondoc.Path {
	p, err := jsondoc.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sample is '$[*]' COLUMNS (n FOR ORDINALITY, NESTED PATH '$.x[*]' COLUMNS (x INT), a INT, NESTED PATH '$.y[*]' COLUMNS (m FOR ORDINALITY, j JSON), e INT EXISTS).
func sample(t *testing.T) *Table {
	table := &Table{Name: "j", Columns: []Column{
		column(t, "n", types.Uint32, Ordinality, ""), column(t, "x", types.Int32, Value, "$"), column(t, "a", types.Int32, Value, "$.a"),
		column(t, "m", types.Uint32, Ordinality, ""), column(t, "j", types.JSON, Value, "$"), column(t, "e", types.Int32, Exists, "$.e"),
	}}
	table.Columns[2].Empty = Response{Default: types.Value{Type: types.Int32, I: -1}, Written: "-1"}
	table.Columns[2].Error = Response{Fails: true, Default: types.NullOf(types.Int32)}
	table.Rows = Level{Path: pathOf(t, "$[*]"), Written: "$[*]", To: 6, Own: []int{0, 2, 5}, Nested: []Level{
		{Path: pathOf(t, "$.x[*]"), Written: "$.x[*]", From: 1, To: 2, Own: []int{1}}, {Path: pathOf(t, "$.y[*]"), Written: "$.y[*]", From: 3, To: 5, Own: []int{3, 4}},
	}}
	return table
}

func TestString(t *testing.T) {
	const want = "'$[*]' COLUMNS (n FOR ORDINALITY, NESTED PATH '$.x[*]' COLUMNS (x INT PATH '$'), a INT PATH '$.a' DEFAULT '-1' ON EMPTY ERROR ON ERROR, " +
		"NESTED PATH '$.y[*]' COLUMNS (m FOR ORDINALITY, j JSON PATH '$'), e INT EXISTS PATH '$.e')"
	if got := sample(t).String(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func rowsOf(t *testing.T, r *Reader, c *counter, doc string) (rows []string, err error) {
	v, err := jsondoc.Parse(c, doc, "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Each(v, func() error {
		parts := make([]string, len(r.Row))
		for i, x := range r.Row {
			if parts[i] = "NULL"; !x.Null {
				parts[i] = x.Text()
			}
		}
		rows = append(rows, strings.Join(parts, "|"))
		return nil
	})
	return rows, err
}

// Columns that nobody asks for are NULL, unless they may fail.
func TestReader(t *testing.T) {
	table := sample(t)
	const doc = `[{"x": [1, "z"], "a": 5, "y": [[7], {}]}, {"e": null}, {"x": 3, "y": [0], "a": 6}]`
	for _, tc := range []struct {
		columns []int
		want    string
	}{
		{[]int{0, 1, 2, 3, 4, 5}, "1|1|5|NULL|NULL|0 1|NULL|5|NULL|NULL|0 1|NULL|5|1|[7]|0 1|NULL|5|2|{}|0 2|NULL|-1|NULL|NULL|1 3|NULL|6|1|0|0"},
		{[]int{4}, "NULL|NULL|5|NULL|NULL|NULL NULL|NULL|5|NULL|NULL|NULL NULL|NULL|5|NULL|[7]|NULL NULL|NULL|5|NULL|{}|NULL NULL|NULL|-1|NULL|NULL|NULL NULL|NULL|6|NULL|0|NULL"},
	} {
		c := &counter{}
		r := NewReader(table, c, types.ConvertContext{}, tc.columns)
		for range 2 { // a document leaves nothing behind
			rows, err := rowsOf(t, r, c, doc)
			if got := strings.Join(rows, " "); err != nil || got != tc.want {
				t.Errorf("%v: %s, %v, want %s", tc.columns, got, err, tc.want)
			}
		}
		if _, err := rowsOf(t, r, c, `[{"a": []}]`); err == nil {
			t.Error("an array is stored in an INT")
		}
		if rows, err := rowsOf(t, r, c, `{"x": 1}`); err != nil || rows != nil {
			t.Errorf("%v, %v of no array", rows, err)
		}
	}
}

// What is made for a row is counted; an error of who takes the rows, or a statement that is cancelled, ends the document.
func TestReaderStops(t *testing.T) {
	c := &counter{}
	r := NewReader(sample(t), c, types.ConvertContext{}, []int{4})
	doc, err := jsondoc.Parse(c, `[{"y": [`+strings.Repeat(`"`+strings.Repeat("x", 10000)+`", `, 100)+`1]}]`, "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	before, rows, enough := c.held, 0, errors.New("enough")
	some, err := r.Each(doc, func() error {
		if rows++; rows == 3 {
			if made := r.Made(); made < 10002 || c.held-before < 3*10002 || c.held-before > 3*made+1000 {
				t.Errorf("%d bytes are held for 3 rows, of which one has %d", c.held-before, made)
			}
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || rows != 3 || !some {
		t.Errorf("%d rows, %v", rows, err)
	}
	rows, c.cancelled = 0, fmt.Errorf("cancelled")
	if _, err := r.Each(doc, func() error { rows++; return nil }); !errors.Is(err, c.cancelled) || rows >= polledRows {
		t.Errorf("%d rows, %v", rows, err)
	}
}
