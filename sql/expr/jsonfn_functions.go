package expr

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Functions of JSON documents (Reference Manual 14.17). A document is a text; what these give is in MySQL's normal form.

// jsonArgs are the operands of one row.
type jsonArgs struct {
	c      *Context
	name   string
	values []types.Value
	paths  map[string]jsonPath
}

// null says whether one of the operands from..to-1 is NULL.
func (a *jsonArgs) null(from, to int) bool {
	return slices.ContainsFunc(a.values[from:to], func(v types.Value) bool { return v.Null })
}

// doc reads operand i as a document.
func (a *jsonArgs) doc(i int) (*jsonValue, error) {
	if t := a.values[i].Type; !t.IsString() {
		return nil, sqlerr.New(codeJSONWrongType, sqlerr.User, "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", i+1, a.name)
	}
	return a.c.parseJSON(a.values[i].S, a.name, i+1)
}

const codeJSONWrongType sqlerr.Code = 3146

// path reads operand i as a path.
func (a *jsonArgs) path(i int) (jsonPath, error) {
	s := a.values[i].Text()
	if p, have := a.paths[s]; have {
		return p, nil
	}
	p, err := parseJSONPath(s)
	if err == nil {
		a.paths[strings.Clone(s)] = p
	}
	return p, err
}

// plainPath reads operand i as a path that finds one value at most.
func (a *jsonArgs) plainPath(i int) (jsonPath, error) {
	p, err := a.path(i)
	if err == nil && p.wild() {
		err = sqlerr.New(codeJSONWild, sqlerr.User, "In this situation, path expressions may not contain the * and ** tokens or an array range.")
	}
	return p, err
}

// at returns what operand i, a path without wildcards, finds in a document; nil: nothing.
func (a *jsonArgs) at(doc *jsonValue, i int) (found *jsonValue, err error) {
	p, err := a.plainPath(i)
	if err != nil {
		return nil, err
	}
	p.seek(doc, func(v *jsonValue) { found = v })
	return found, nil
}

// jsonFunction makes a function whose value follows from each row's operands by itself: nil for NULL, a *jsonValue, a string or an
// int64.
func jsonFunction(name, syntax, doc string, least, most int, result types.Type, f func(a *jsonArgs) (any, error)) *Function {
	return &Function{
		Name: name, Category: jsonCategory, Syntax: syntax, Doc: doc, MinArgs: least, MaxArgs: most, Nulls: NullCustom,
		Resolve: func(args []Expr) (Signature, error) {
			sig := Signature{Args: make([]types.Type, len(args)), Result: result, Nullable: true}
			for i, a := range args {
				if _, stored := a.(*Column); stored && a.Type().Kind == types.KindBool {
					sig.Args[i] = types.Int64 // a column that is TINYINT(1) holds numbers, a comparison gives true or false
				}
			}
			return sig, nil
		},
		Eval: func(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			a := &jsonArgs{c: c, name: name, values: make([]types.Value, len(args)), paths: map[string]jsonPath{}}
			for _, i := range positions(sel, n) {
				for j, v := range args {
					a.values[j] = v.Value(int(i))
					a.values[j].Type = v.Type
					a.values[j].Null = v.IsNull(int(i))
				}
				var value any
				err := c.while(func() (err error) {
					value, err = f(a)
					return err
				})
				if err != nil {
					return err
				}
				switch x := value.(type) {
				case *jsonValue:
					if out.Str[i] = x.String(); jsonTooDeep(out.Str[i]) {
						return errJSONTooDeep()
					}
				case string:
					out.Str[i] = x
				case int64:
					out.I64[i] = x
				default:
					out.SetNull(int(i), n)
					continue
				}
				if result.IsString() {
					if err := c.made(out.Str[i]); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

const jsonCategory = "JSON functions"

// jsonChapter returns the JSON functions (Reference Manual 14.17).
func jsonChapter() []*Function {
	return slices.Concat(jsonFunctions(), jsonSearchFunctions(), jsonValueFunctions())
}

// jsonFunctions make, read and change documents.
func jsonFunctions() []*Function {
	return []*Function{
		jsonFunction("json_extract", "JSON_EXTRACT(doc, path, ...), column->path", "What the path finds; of several paths, or one with *, ** or a range, an array of all that they find. column->>path is JSON_UNQUOTE(column->path).",
			2, -1, types.JSON, evalJSONExtract),
		jsonFunction("json_unquote", "JSON_UNQUOTE(s)", "The text of a JSON string; anything else as it is.", 1, 1, types.Text, evalJSONUnquote),
		jsonFunction("json_quote", "JSON_QUOTE(s)", "A text as a JSON string.", 1, 1, types.Text, func(a *jsonArgs) (any, error) {
			if a.null(0, 1) {
				return nil, nil
			}
			return (&jsonValue{kind: jsonString, text: a.values[0].Text()}).String(), nil
		}),
		jsonFunction("json_valid", "JSON_VALID(s)", "Whether a text is a JSON document.", 1, 1, types.Int64, func(a *jsonArgs) (any, error) {
			if a.null(0, 1) {
				return nil, nil
			}
			if !a.values[0].Type.IsString() {
				return int64(0), nil
			}
			why, _, err := a.c.jsonProblem(a.values[0].S)
			if err != nil {
				return nil, err
			}
			if why == "" && jsonTooDeep(a.values[0].S) {
				return nil, errJSONTooDeep()
			}
			return int64(boolToInt(why == "")), nil
		}),
		jsonFunction("json_type", "JSON_TYPE(doc)", "The type of a value: OBJECT, ARRAY, STRING, INTEGER, UNSIGNED INTEGER, DOUBLE, DECIMAL, BOOLEAN or NULL; dates and times are strings.", 1, 1, types.Varchar(20),
			onJSON(func(_ *jsonArgs, doc *jsonValue) (any, error) { return jsonNames[doc.kind], nil })),
		jsonFunction("json_length", "JSON_LENGTH(doc [, path])", "The number of members of an object or elements of an array; 1 for a scalar.", 1, 2, types.Int64,
			onJSON(func(_ *jsonArgs, doc *jsonValue) (any, error) {
				if doc.kind == jsonArray || doc.kind == jsonObject {
					return int64(len(doc.items)), nil
				}
				return int64(1), nil
			})),
		jsonFunction("json_depth", "JSON_DEPTH(doc)", "The depth of a document: 1 for a scalar or what is empty.", 1, 1, types.Int64,
			onJSON(func(_ *jsonArgs, doc *jsonValue) (any, error) { return depthOfJSON(doc), nil })),
		jsonFunction("json_storage_size", "JSON_STORAGE_SIZE(doc)", "The bytes that a document takes in a column: those of its text (MySQL: of a binary form).", 1, 1, types.Int64,
			onJSON(func(a *jsonArgs, _ *jsonValue) (any, error) { return int64(len(a.values[0].Text())), nil })),
		jsonFunction("json_storage_free", "JSON_STORAGE_FREE(doc)", "The bytes that changes of a document in place have left unused: 0, as documents are written anew.", 1, 1, types.Int64,
			onJSON(func(*jsonArgs, *jsonValue) (any, error) { return int64(0), nil })),
		jsonFunction("json_keys", "JSON_KEYS(doc [, path])", "The keys of an object as an array; NULL for what is none.", 1, 2, types.JSON,
			onJSON(func(_ *jsonArgs, doc *jsonValue) (any, error) {
				if doc.kind != jsonObject {
					return nil, nil
				}
				out := &jsonValue{kind: jsonArray}
				for _, k := range doc.keys {
					out.items = append(out.items, &jsonValue{kind: jsonString, text: k})
				}
				return out, nil
			})),
		jsonFunction("json_contains", "JSON_CONTAINS(doc, candidate [, path])", "Whether the candidate is in the document, or in what the path finds there.", 2, 3, types.Int64, evalJSONContains),
		jsonFunction("json_contains_path", "JSON_CONTAINS_PATH(doc, 'one' | 'all', path, ...)", "Whether one of the paths, or all, find something.", 3, -1, types.Int64, evalJSONContainsPath),
		jsonFunction("json_array", "JSON_ARRAY([a, ...])", "An array of the values.", 0, -1, types.JSON, func(a *jsonArgs) (any, error) {
			out := &jsonValue{kind: jsonArray}
			for i, v := range a.values {
				item, err := a.c.jsonOf(v, a.name, i+1)
				if err != nil {
					return nil, err
				}
				out.items = append(out.items, item)
			}
			return out, nil
		}),
		jsonFunction("json_object", "JSON_OBJECT([key, value, ...])", "An object of keys and values.", 0, -1, types.JSON, evalJSONObject),
		jsonFunction("json_set", "JSON_SET(doc, path, value, ...)", "The document with values put where the paths say, in place of those there.", 3, -1, types.JSON, modifyJSON(true, true)),
		jsonFunction("json_insert", "JSON_INSERT(doc, path, value, ...)", "The document with values put where the paths find nothing.", 3, -1, types.JSON, modifyJSON(true, false)),
		jsonFunction("json_replace", "JSON_REPLACE(doc, path, value, ...)", "The document with the values that the paths find replaced.", 3, -1, types.JSON, modifyJSON(false, true)),
		jsonFunction("json_remove", "JSON_REMOVE(doc, path, ...)", "The document without what the paths find.", 2, -1, types.JSON, evalJSONRemove),
		jsonFunction("json_array_append", "JSON_ARRAY_APPEND(doc, path, value, ...)", "The document with values added to the ends of the arrays that the paths find.", 3, -1, types.JSON, evalJSONAppend),
		jsonFunction("json_merge_patch", "JSON_MERGE_PATCH(doc, doc, ...)", "The documents merged by RFC 7396: later members replace earlier ones, null removes.", 2, -1, types.JSON, mergeDocs(patchJSON)),
		jsonFunction("json_merge_preserve", "JSON_MERGE_PRESERVE(doc, doc, ...)", "The documents merged, nothing being lost: what has one key becomes an array.", 2, -1, types.JSON, mergeDocs(preserveJSON)),
	}
}

// onJSON makes an evaluation of a document, or of what the path in a second operand finds in it.
func onJSON(f func(a *jsonArgs, doc *jsonValue) (any, error)) func(*jsonArgs) (any, error) {
	return func(a *jsonArgs) (any, error) {
		if a.null(0, len(a.values)) {
			return nil, nil
		}
		doc, err := a.doc(0)
		if err == nil && len(a.values) > 1 {
			if doc, err = a.at(doc, 1); doc == nil {
				return nil, err
			}
		}
		if err != nil {
			return nil, err
		}
		return f(a, doc)
	}
}

func depthOfJSON(v *jsonValue) int64 {
	deepest := int64(0)
	for _, item := range v.items {
		deepest = max(deepest, depthOfJSON(item))
	}
	return deepest + 1
}

func evalJSONExtract(a *jsonArgs) (any, error) {
	if a.null(0, len(a.values)) {
		return nil, nil
	}
	if v, done, err := a.extractForward(); done || err != nil {
		return v, err
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	found := &jsonValue{kind: jsonArray}
	several := len(a.values) > 2
	for i := 1; i < len(a.values); i++ {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		several = several || p.wild()
		p.seek(doc, func(v *jsonValue) { found.items = append(found.items, v) })
	}
	switch {
	case len(found.items) == 0:
		return nil, nil
	case several:
		return found, nil
	}
	return found.items[0], nil
}

// extractForward is evalJSONExtract of one path that can be followed while the document is read, of which only what is found becomes a
// tree.
func (a *jsonArgs) extractForward() (v any, done bool, err error) {
	text := a.values[0].S
	if len(a.values) != 2 || !a.values[0].Type.IsString() || len(text) >= jsonReadBytes {
		return nil, false, nil
	}
	p, err := a.path(1)
	if err != nil || !p.forward() {
		return nil, false, nil // the document's error comes first
	}
	r := jsonReader{c: a.c, s: text}
	found, ok := r.seek(p, 0)
	switch {
	case !ok || !r.ended():
		return nil, false, nil
	case found == "":
		return nil, true, nil
	}
	r = jsonReader{c: a.c, s: found}
	item, err := r.value(0)
	return item, item != nil, err
}

func evalJSONUnquote(a *jsonArgs) (any, error) {
	v := a.values[0]
	if v.Null {
		return nil, nil
	}
	s := v.Text()
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s, nil
	}
	doc, err := a.c.parseJSON(s, a.name, 1)
	if err != nil {
		return nil, err
	}
	return doc.text, nil
}

func evalJSONContains(a *jsonArgs) (any, error) {
	if a.null(0, len(a.values)) {
		return nil, nil
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	candidate, err := a.doc(1)
	if err == nil && len(a.values) > 2 {
		if doc, err = a.at(doc, 2); doc == nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return int64(boolToInt(containsJSON(doc, candidate))), nil
}

// all reads the argument that is 'one' or 'all'.
func (a *jsonArgs) all(i int) (bool, error) {
	text := a.values[i].Text()
	all := strings.EqualFold(text, "all")
	if !all && !strings.EqualFold(text, "one") {
		return false, sqlerr.New(codeJSONOneAll, sqlerr.User, "The oneOrAll argument to %s may take these values: 'one' or 'all'.", a.name)
	}
	return all, nil
}

func evalJSONContainsPath(a *jsonArgs) (any, error) {
	if a.null(0, len(a.values)) {
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
	for i := 2; i < len(a.values); i++ {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		found := false
		p.seek(doc, func(*jsonValue) { found = true })
		if found != all {
			return int64(boolToInt(found)), nil
		}
	}
	return int64(boolToInt(all)), nil
}

func evalJSONObject(a *jsonArgs) (any, error) {
	if len(a.values)%2 != 0 {
		return nil, sqlerr.WrongParamCount(a.name)
	}
	out := &jsonValue{kind: jsonObject}
	for i := 0; i < len(a.values); i += 2 {
		if a.values[i].Null {
			return nil, sqlerr.New(codeJSONNullKey, sqlerr.User, "JSON documents may not contain NULL member names.")
		}
		item, err := a.c.jsonOf(a.values[i+1], a.name, i+2)
		if err != nil {
			return nil, err
		}
		out.set(strings.Clone(a.values[i].Text()), item)
	}
	return out, nil
}
