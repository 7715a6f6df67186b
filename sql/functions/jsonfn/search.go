package jsonfn

import (
	"slices"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that look for values in JSON documents, and JSON_PRETTY (Reference Manual 14.17.3 to 14.17.8).

// searchFunctions look for values.
func searchFunctions() []*expr.Function {
	return []*expr.Function{
		function("json_search", "JSON_SEARCH(doc, 'one' | 'all', pattern [, escape [, path, ...]])", "The path of a string that is LIKE the pattern, or an array of all of them; NULL if there is none.",
			3, -1, types.JSON, evalSearch),
		function("json_overlaps", "JSON_OVERLAPS(doc, doc)", "Whether two arrays have an element in common, two objects a key with its value; a scalar counts as an array of itself.", 2, 2, types.Int64,
			func(a *operands) (any, error) {
				if a.null(0, 2) {
					return nil, nil
				}
				x, err := a.doc(0)
				if err != nil {
					return nil, err
				}
				y, err := a.doc(1)
				if err != nil {
					return nil, err
				}
				return int64(expr.BoolToInt(overlap(x, y))), nil
			}),
		function("json_memberof", "value MEMBER OF(array)", "Whether a value is an element of an array, or a document itself that is none.", 2, 2, types.Int64, evalMemberOf),
		function("json_pretty", "JSON_PRETTY(doc)", "The document with a line for each member and element, indented by two spaces.", 1, 1, types.Text,
			onDocument(func(_ *operands, doc *jsondoc.Value) (any, error) {
				return func(b *interrupt.Builder) { pretty(b, doc, "\n") }, nil
			})),
		function("json_array_insert", "JSON_ARRAY_INSERT(doc, path, value, ...)", "The document with values put into arrays, before the elements that the paths name.", 3, -1, types.JSON, evalArrayInsert),
	}
}

func evalMemberOf(a *operands) (any, error) {
	if a.null(0, 2) {
		return nil, nil
	}
	value, err := jsondoc.Of(a.c, a.values[0], a.name, 1)
	if err != nil {
		return nil, err
	}
	doc, err := a.doc(1)
	if err != nil {
		return nil, err
	}
	items := doc.Items
	if doc.Kind != jsondoc.Array {
		items = []*jsondoc.Value{doc}
	}
	return int64(expr.BoolToInt(slices.ContainsFunc(items, func(x *jsondoc.Value) bool { return jsondoc.Equal(x, value) }))), nil
}

func overlap(a, b *jsondoc.Value) bool {
	if a.Kind == jsondoc.Object && b.Kind == jsondoc.Object {
		for i, key := range a.Keys {
			if at, have := b.Find(key); have && jsondoc.Equal(a.Items[i], b.Items[at]) {
				return true
			}
		}
		return false
	}
	elements := func(v *jsondoc.Value) []*jsondoc.Value {
		if v.Kind == jsondoc.Array {
			return v.Items
		}
		return []*jsondoc.Value{v}
	}
	for _, x := range elements(a) {
		if slices.ContainsFunc(elements(b), func(y *jsondoc.Value) bool { return jsondoc.Equal(x, y) }) {
			return true
		}
	}
	return false
}

// pretty writes a document over several lines; line is a line's end and the indentation of the next.
func pretty(b *interrupt.Builder, v *jsondoc.Value, line string) {
	if len(v.Items) == 0 {
		v.Write(b)
		return
	}
	open, end := "[", "]"
	if v.Kind == jsondoc.Object {
		open, end = "{", "}"
	}
	b.WriteString(open)
	inner := line + "  "
	for i, item := range v.Items {
		if i > 0 {
			b.WriteChar(',')
		}
		b.WriteString(inner)
		if v.Kind == jsondoc.Object {
			jsondoc.WriteString(b, v.Keys[i])
			b.WriteString(": ")
		}
		pretty(b, item, inner)
	}
	b.WriteString(line)
	b.WriteString(end)
}

// codeJSONNoCell is MySQL's ER_INVALID_JSON_PATH_ARRAY_CELL.
const codeJSONNoCell sqlerr.Code = 3165

func evalArrayInsert(a *operands) (any, error) {
	for i := 1; i < len(a.values) && !a.values[i].Null; i += 2 {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		if len(p) == 0 || p[len(p)-1].Kind != jsondoc.LegCell {
			return nil, sqlerr.New(codeJSONNoCell, sqlerr.User, "A path expression is not a path to a cell in an array.")
		}
	}
	return a.eachChange(func(doc *jsondoc.Value, p jsondoc.Path, value *jsondoc.Value) *jsondoc.Value {
		last := p[len(p)-1]
		p[:len(p)-1].Seek(doc, func(v *jsondoc.Value) {
			if v.Kind == jsondoc.Array {
				at := min(max(last.From.In(len(v.Items)), 0), len(v.Items))
				v.Items = slices.Insert(v.Items, at, value)
			}
		})
		return doc
	})
}

func evalSearch(a *operands) (any, error) {
	if a.null(0, 3) || len(a.values) > 4 && a.null(4, len(a.values)) {
		return nil, nil
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	all, err := a.all(1)
	if err != nil {
		return nil, err
	}
	escape := '\\'
	if len(a.values) > 3 && !a.values[3].Null {
		s := a.values[3].Text()
		if utf8.RuneCountInString(s) > 1 {
			return nil, sqlerr.WrongArguments("ESCAPE")
		}
		if s != "" {
			escape, _ = utf8.DecodeRuneInString(s)
		}
	}
	pattern, err := a.c.CompileLike(a.values[2].Text(), escape, true, false)
	if err != nil {
		return nil, err
	}
	var found []string
	look := func(path string, v *jsondoc.Value) {
		if v.Kind == jsondoc.String && pattern.Match(v.Text) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	if len(a.values) < 5 {
		jsondoc.Each("$", doc, look)
	}
	for i := 4; i < len(a.values); i++ {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		p.Locate("$", doc, func(path string, v *jsondoc.Value) { jsondoc.Each(path, v, look) })
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case !all || len(found) == 1:
		return &jsondoc.Value{Kind: jsondoc.String, Text: found[0]}, nil
	}
	out := &jsondoc.Value{Kind: jsondoc.Array}
	for _, path := range found {
		out.Items = append(out.Items, &jsondoc.Value{Kind: jsondoc.String, Text: path})
	}
	return out, nil
}
