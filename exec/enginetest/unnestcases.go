package enginetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/jsontable"
	"github.com/radish-sql/radish/sql/types"
)

// unnestCases read documents that are arrays of integers, strings, NULLs and arrays of integers, as
//
//	JSON_TABLE(doc, '$[*]' COLUMNS (n FOR ORDINALITY, v BIGINT PATH '$', s TEXT PATH '$', NESTED PATH '$[*]' COLUMNS (m FOR ORDINALITY, w BIGINT PATH '$')))
//
// does, which the reference decodes by encoding/json.
func unnestCases() []Case {
	constants := func(name string, outer bool, sizes ...int) Case {
		return Case{Name: "unnest " + name, Ordered: true, Plan: func(g *Gen) *physical.Plan {
			v := &physical.ValuesScan{Cols: []*expr.Column{g.Alloc.New("", "a", types.Int64, false), g.Alloc.New("", "doc", types.Text, true)}}
			for i, n := range sizes {
				doc := types.StringValue(g.document(n))
				doc.Null = n < 0
				doc.Type = types.Text
				v.Rows = append(v.Rows, []expr.Expr{&expr.Const{Value: types.IntValue(int64(i))}, &expr.Const{Value: doc}})
			}
			return g.unnest(v, v.Cols[1], v.Cols[0], outer)
		}}
	}
	columns := func(outer bool) Case {
		return Case{Name: fmt.Sprintf("unnest columns, outer %v", outer), Plan: func(g *Gen) *physical.Plan {
			s, c := g.Scan(g.Table(min(g.Size, 5000), 10))
			some := &expr.Case{Typ: types.Text}
			for k := range 8 { // NULL for the other keys
				doc := types.StringValue(g.document(k / 2))
				doc.Type = types.Text
				some.Whens = append(some.Whens, expr.When{Cond: compareTo(expr.EQ, c[colKey], types.IntValue(int64(k))), Then: &expr.Const{Value: doc}})
			}
			return g.unnest(s, some, c[colString], outer)
		}}
	}
	return []Case{
		constants("constants", false, 0, 1, 2, -1, 2047, 2048, 2049, 0, 70000, 3),
		constants("constants, outer", true, 0, -1, 1, 5000, 0, -1),
		columns(false), columns(true),
	}
}

// document writes an array of n values.
func (g *Gen) document(n int) string {
	var parts []string
	for i := range n {
		switch g.R.IntN(8) {
		case 0:
			parts = append(parts, "null")
		case 1:
			parts = append(parts, fmt.Sprintf("%q", fmt.Sprint("text ", i)))
		case 2:
			parts = append(parts, "[]")
		case 3:
			parts = append(parts, fmt.Sprintf("[%d, null, %d]", i, g.R.IntN(100)))
		default:
			parts = append(parts, fmt.Sprint(g.R.IntN(1000)-500))
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// unnest reads the documents of a source's rows.
func (g *Gen) unnest(source physical.Source, doc expr.Expr, beside *expr.Column, outer bool) *physical.Plan {
	path := func(s string) jsondoc.Path {
		p, err := jsondoc.ParsePath(s)
		if err != nil {
			panic(err)
		}
		return p
	}
	value := func(name string, t types.Type) jsontable.Column {
		null := jsontable.Response{Default: types.NullOf(t)}
		return jsontable.Column{Name: name, Type: t, Path: path("$"), Empty: null, Error: null}
	}
	table := &jsontable.Table{Name: "j", Columns: []jsontable.Column{
		{Name: "n", Type: types.Uint32, Kind: jsontable.Ordinality}, value("v", types.Int64), value("s", types.Text),
		{Name: "m", Type: types.Uint32, Kind: jsontable.Ordinality}, value("w", types.Int64),
	}}
	table.Rows = jsontable.Level{Path: path("$[*]"), To: 5, Own: []int{0, 1, 2}, Nested: []jsontable.Level{{Path: path("$[*]"), From: 3, To: 5, Own: []int{3, 4}}}}
	t := &physical.Unnest{Doc: doc, Table: table, Outer: outer}
	out := []*expr.Column{beside}
	for i, c := range table.Columns {
		t.Cols, t.Ordinals = append(t.Cols, g.Alloc.New("j", c.Name, c.Type, true)), append(t.Ordinals, i)
	}
	return g.Result(source, append(out, t.Cols...), t)
}

// unnest is the reference for the documents above.
func (f *reference) unnest(r, out *rel, t *physical.Unnest) {
	out.at = map[expr.ColumnID]int{}
	for id, at := range r.at {
		out.at[id] = at
	}
	for _, c := range t.Cols {
		out.add(c.ID)
	}
	for _, x := range r.rows {
		some := false
		add := func(values map[int]types.Value) {
			y := make(row, len(out.at))
			copy(y, x)
			for i, c := range t.Cols {
				v, ok := values[t.Ordinals[i]]
				if !ok {
					v = types.NullOf(c.Typ)
				}
				v.Type = c.Typ
				y[out.at[c.ID]] = v
			}
			out.rows, some = append(out.rows, y), true
		}
		var elements []any
		if doc := r.eval(t.Doc, x); !doc.Null {
			if err := json.Unmarshal([]byte(doc.S), &elements); err != nil {
				panic(err)
			}
		}
		for i, e := range elements {
			values := map[int]types.Value{0: types.IntValue(int64(i + 1))}
			switch e := e.(type) {
			case float64:
				values[1], values[2] = types.IntValue(int64(e)), types.StringValue(fmt.Sprint(int64(e)))
			case string:
				values[2] = types.StringValue(e)
			case []any:
				for k, inner := range e {
					values[3] = types.IntValue(int64(k + 1))
					if delete(values, 4); inner != nil {
						values[4] = types.IntValue(int64(inner.(float64)))
					}
					add(values)
				}
				if len(e) > 0 {
					continue
				}
			}
			add(values)
		}
		if !some && t.Outer {
			add(nil)
		}
	}
}
