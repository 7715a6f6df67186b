package expr

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions that look for values in JSON documents, and JSON_PRETTY (Reference Manual 14.17.3 to 14.17.8).

// jsonSearchFunctions look for values.
func jsonSearchFunctions() []*Function {
	return []*Function{
		jsonFunction("json_search", "JSON_SEARCH(doc, 'one' | 'all', pattern [, escape [, path, ...]])", "The path of a string that is LIKE the pattern, or an array of all of them; NULL if there is none.",
			3, -1, types.JSON, evalJSONSearch),
		jsonFunction("json_overlaps", "JSON_OVERLAPS(doc, doc)", "Whether two arrays have an element in common, two objects a key with its value; a scalar counts as an array of itself.", 2, 2, types.Int64,
			func(a *jsonArgs) (any, error) {
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
				return int64(boolToInt(overlapJSON(x, y))), nil
			}),
		jsonFunction("json_memberof", "value MEMBER OF(array)", "Whether a value is an element of an array, or a document itself that is none.", 2, 2, types.Int64, evalMemberOf),
		jsonFunction("json_pretty", "JSON_PRETTY(doc)", "The document with a line for each member and element, indented by two spaces.", 1, 1, types.Text,
			onJSON(func(_ *jsonArgs, doc *jsonValue) (any, error) {
				var b strings.Builder
				prettyJSON(&b, doc, "\n")
				return b.String(), nil
			})),
		jsonFunction("json_array_insert", "JSON_ARRAY_INSERT(doc, path, value, ...)", "The document with values put into arrays, before the elements that the paths name.", 3, -1, types.JSON, evalJSONArrayInsert),
	}
}

func evalMemberOf(a *jsonArgs) (any, error) {
	if a.null(0, 2) {
		return nil, nil
	}
	value, err := a.c.jsonOf(a.values[0], a.name, 1)
	if err != nil {
		return nil, err
	}
	doc, err := a.doc(1)
	if err != nil {
		return nil, err
	}
	items := doc.items
	if doc.kind != jsonArray {
		items = []*jsonValue{doc}
	}
	return int64(boolToInt(slices.ContainsFunc(items, func(x *jsonValue) bool { return equalJSON(x, value) }))), nil
}

func overlapJSON(a, b *jsonValue) bool {
	if a.kind == jsonObject && b.kind == jsonObject {
		for i, key := range a.keys {
			if at, have := b.find(key); have && equalJSON(a.items[i], b.items[at]) {
				return true
			}
		}
		return false
	}
	elements := func(v *jsonValue) []*jsonValue {
		if v.kind == jsonArray {
			return v.items
		}
		return []*jsonValue{v}
	}
	for _, x := range elements(a) {
		if slices.ContainsFunc(elements(b), func(y *jsonValue) bool { return equalJSON(x, y) }) {
			return true
		}
	}
	return false
}

// prettyJSON writes a document over several lines; line is a line's end and the indentation of the next.
func prettyJSON(b *strings.Builder, v *jsonValue, line string) {
	if len(v.items) == 0 {
		v.write(b)
		return
	}
	open, end := "[", "]"
	if v.kind == jsonObject {
		open, end = "{", "}"
	}
	b.WriteString(open)
	inner := line + "  "
	for i, item := range v.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(inner)
		if v.kind == jsonObject {
			writeJSONString(b, v.keys[i])
			b.WriteString(": ")
		}
		prettyJSON(b, item, inner)
	}
	b.WriteString(line)
	b.WriteString(end)
}

// codeJSONNoCell is MySQL's ER_INVALID_JSON_PATH_ARRAY_CELL.
const codeJSONNoCell sqlerr.Code = 3165

func evalJSONArrayInsert(a *jsonArgs) (any, error) {
	for i := 1; i < len(a.values) && !a.values[i].Null; i += 2 {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		if len(p) == 0 || p[len(p)-1].kind != legCell {
			return nil, sqlerr.New(codeJSONNoCell, sqlerr.User, "A path expression is not a path to a cell in an array.")
		}
	}
	return a.eachChange(func(doc *jsonValue, p jsonPath, value *jsonValue) *jsonValue {
		last := p[len(p)-1]
		p[:len(p)-1].seek(doc, func(v *jsonValue) {
			if v.kind == jsonArray {
				at := min(max(last.from.in(len(v.items)), 0), len(v.items))
				v.items = slices.Insert(v.items, at, value)
			}
		})
		return doc
	})
}

func evalJSONSearch(a *jsonArgs) (any, error) {
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
	pattern := compileLike(a.values[2].Text(), escape, true, false)
	var found []string
	look := func(path string, v *jsonValue) {
		if v.kind == jsonString && pattern.match(v.text) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	if len(a.values) < 5 {
		eachJSON("$", doc, look)
	}
	for i := 4; i < len(a.values); i++ {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		p.locate("$", doc, func(path string, v *jsonValue) { eachJSON(path, v, look) })
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case !all || len(found) == 1:
		return &jsonValue{kind: jsonString, text: found[0]}, nil
	}
	out := &jsonValue{kind: jsonArray}
	for _, path := range found {
		out.items = append(out.items, &jsonValue{kind: jsonString, text: path})
	}
	return out, nil
}

// eachJSON calls f with a value and all that are in it, and their paths.
func eachJSON(path string, v *jsonValue, f func(path string, v *jsonValue)) {
	f(path, v)
	for i, item := range v.items {
		eachJSON(path+v.step(i), item, f)
	}
}

// step is the leg of a path that leads to item i.
func (v *jsonValue) step(i int) string {
	if v.kind == jsonArray {
		return "[" + strconv.Itoa(i) + "]"
	}
	key := v.keys[i]
	plain := key != ""
	for j, c := range key {
		plain = plain && (c == '_' || c == '$' || unicode.IsLetter(c) || j > 0 && unicode.IsDigit(c))
	}
	if plain {
		return "." + key
	}
	var b strings.Builder
	b.WriteByte('.')
	writeJSONString(&b, key)
	return b.String()
}

// locate calls f with each value that the path finds in v, which lies at a path of its own.
func (p jsonPath) locate(at string, v *jsonValue, f func(path string, v *jsonValue)) {
	if len(p) == 0 {
		f(at, v)
		return
	}
	p[:1].seek(v, func(found *jsonValue) {
		if p[0].kind != legEllipsis {
			p[1:].locate(v.pathTo(at, found), found, f)
		}
	})
	if p[0].kind == legEllipsis {
		eachJSON(at, v, func(path string, x *jsonValue) { p[1:].locate(path, x, f) })
	}
}

// pathTo is the path of v, or of the item of v that found is.
func (v *jsonValue) pathTo(at string, found *jsonValue) string {
	if i := slices.Index(v.items, found); i >= 0 {
		return at + v.step(i)
	}
	return at
}
