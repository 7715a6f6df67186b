// Package jsonfn holds the functions of JSON documents (Reference Manual 14.17). Package jsondoc reads and writes the documents.
package jsonfn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// operands are the operands of one row.
type operands struct {
	c      *expr.Context
	name   string
	values []types.Value
	paths  map[string]jsondoc.Path

	lastText string // the path that was asked for last
	lastPath jsondoc.Path
}

// null says whether one of the operands from..to-1 is NULL.
func (a *operands) null(from, to int) bool {
	return slices.ContainsFunc(a.values[from:to], func(v types.Value) bool { return v.Null })
}

// isJSON says whether operand i is a value of type JSON.
func (a *operands) isJSON(i int) bool { return a.values[i].Type.Kind == types.KindJSON }

// doc reads operand i as a document.
func (a *operands) doc(i int) (*jsondoc.Value, error) {
	if t := a.values[i].Type; !t.IsString() {
		return nil, sqlerr.New(codeWrongType, sqlerr.User, "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.", i+1, a.name)
	}
	if a.isJSON(i) {
		return jsondoc.Reread(a.c, a.values[i].S, a.name, i+1)
	}
	return jsondoc.Parse(a.c, a.values[i].S, a.name, i+1)
}

const codeWrongType sqlerr.Code = 3146

// path reads operand i as a path.
func (a *operands) path(i int) (jsondoc.Path, error) {
	s := a.values[i].Text()
	if s == a.lastText && a.lastPath != nil {
		return a.lastPath, nil
	}
	p, have := a.paths[s]
	if !have {
		var err error
		if p, err = jsondoc.ParsePath(s); err != nil {
			return nil, err
		}
		a.paths[strings.Clone(s)] = p
	}
	a.lastText, a.lastPath = strings.Clone(s), p
	return p, nil
}

// plainPath reads operand i as a path that finds one value at most.
func (a *operands) plainPath(i int) (jsondoc.Path, error) {
	p, err := a.path(i)
	if err == nil && p.Wild() {
		err = sqlerr.New(jsondoc.CodeWildcard, sqlerr.User, "In this situation, path expressions may not contain the * and ** tokens or an array range.")
	}
	return p, err
}

// at returns what operand i, a path without wildcards, finds in a document; nil: nothing.
func (a *operands) at(doc *jsondoc.Value, i int) (found *jsondoc.Value, err error) {
	p, err := a.plainPath(i)
	if err != nil {
		return nil, err
	}
	p.Seek(doc, func(v *jsondoc.Value) { found = v })
	return found, nil
}

// forward reads what operand i, a path that can be followed while a document is read, finds in operand 0, of which nothing else becomes a tree. ok
// is false where the whole document has to be read, or to be refused; nil: nothing is found.
func (a *operands) forward(i int) (found *jsondoc.Value, ok bool, err error) {
	if !a.values[0].Type.IsString() {
		return nil, false, nil
	}
	p, err := a.path(i)
	if err != nil || !p.Forward() {
		return nil, false, nil // the document's error comes first
	}
	part, valid := jsondoc.Find(a.c, a.values[0].S, p)
	switch {
	case !valid:
		return nil, false, nil
	case part == "":
		return nil, true, nil
	}
	r := jsondoc.NewReader(a.c, part)
	r.Exact = a.isJSON(0)
	found, err = r.Value(0)
	return found, found != nil, err
}

// function makes a function whose value follows from each row's operands by itself: nil for NULL, a *jsondoc.Value, a string, which is
// short or part of an operand, what writes one, or an int64.
func function(name, syntax, doc string, least, most int, result types.Type, f func(a *operands) (any, error)) *expr.Function {
	return &expr.Function{
		Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: least, MaxArgs: most, Nulls: expr.NullCustom,
		Resolve: func(args []expr.Expr) (expr.Signature, error) {
			sig := expr.Signature{Args: make([]types.Type, len(args)), Result: result, Nullable: true}
			for i, a := range args {
				if _, stored := a.(*expr.Column); stored && a.Type().Kind == types.KindBool {
					sig.Args[i] = types.Int64 // a column that is TINYINT(1) holds numbers, a comparison gives true or false
				}
			}
			return sig, nil
		},
		Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			a := &operands{c: c, name: name, values: make([]types.Value, len(args)), paths: map[string]jsondoc.Path{}}
			var varying []int // the operands that rows have values of their own of
			for j, v := range args {
				if v.Const && n > 0 {
					a.set(j, v, 0)
				} else {
					varying = append(varying, j)
				}
			}
			for _, i := range expr.Positions(sel, n) {
				for _, j := range varying {
					a.set(j, args[j], int(i))
				}
				if err := a.store(out, int(i), n, f); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// set takes an operand from row i.
func (a *operands) set(j int, v *column.Vector, i int) {
	a.values[j] = v.Value(i)
	a.values[j].Type = v.Type
	a.values[j].Null = v.IsNull(i)
}

// store stores the value of a row. Its tree is counted while it is written.
func (a *operands) store(out *column.Vector, i, n int, f func(a *operands) (any, error)) error {
	var made int // bytes of the value's string
	err := a.c.While(func() error {
		value, err := f(a)
		if err != nil {
			return err
		}
		var write func(b *interrupt.Builder)
		switch x := value.(type) {
		case *jsondoc.Value:
			write = x.Write
		case func(b *interrupt.Builder):
			write = x
		case string:
			out.Str[i], made = x, len(x)
			return nil
		case int64:
			out.I64[i] = x
			return nil
		default:
			out.SetNull(i, n)
			return nil
		}
		b := a.c.Builder()
		write(b)
		if out.Str[i], err = a.c.Built(b); err != nil {
			return err
		}
		if made = len(out.Str[i]); jsondoc.TooDeep(out.Str[i]) {
			return jsondoc.TooDeepError()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.c.Hold(made)
}

const category = expr.CategoryJSON

// Functions returns the functions of this chapter.
func Functions() []*expr.Function {
	return slices.Concat(documentFunctions(), searchFunctions(), valueFunctions())
}

// documentFunctions make, read and change documents.
func documentFunctions() []*expr.Function {
	return []*expr.Function{
		quickly(quickExtract, function("json_extract", "JSON_EXTRACT(doc, path, ...), column->path", "What the path finds; of several paths, or one with *, ** or a range, an array of all that they find. column->>path is JSON_UNQUOTE(column->path).",
			2, -1, types.JSON, evalExtract)),
		quickly(quickUnquote, function("json_unquote", "JSON_UNQUOTE(s)", "The text of a JSON string; anything else as it is.", 1, 1, types.Text, evalUnquote)),
		function("json_quote", "JSON_QUOTE(s)", "A string as a JSON string.", 1, 1, types.Text, func(a *operands) (any, error) {
			if a.null(0, 1) {
				return nil, nil
			}
			return func(b *interrupt.Builder) { jsondoc.WriteString(b, a.values[0].Text()) }, nil
		}),
		quickly(quickPart(1, tellValid), function("json_valid", "JSON_VALID(s)", "Whether a string is a JSON document.", 1, 1, types.Int64, func(a *operands) (any, error) {
			if a.null(0, 1) {
				return nil, nil
			}
			if !a.values[0].Type.IsString() {
				return int64(0), nil
			}
			why, _, err := jsondoc.Problem(a.c, a.values[0].S)
			if err != nil {
				return nil, err
			}
			if why == "" && jsondoc.TooDeep(a.values[0].S) {
				return nil, jsondoc.TooDeepError()
			}
			return int64(expr.BoolToInt(why == "")), nil
		})),
		quickly(quickPart(1, tellType), function("json_type", "JSON_TYPE(doc)", "The type of a value: OBJECT, ARRAY, STRING, INTEGER, UNSIGNED INTEGER, DOUBLE, DECIMAL, BOOLEAN or NULL; dates and times are strings.", 1, 1, types.Varchar(20),
			onDocument(func(_ *operands, doc *jsondoc.Value) (any, error) { return jsondoc.KindNames[doc.Kind], nil }))),
		quickly(quickPart(1, tellLength), function("json_length", "JSON_LENGTH(doc [, path])", "The number of members of an object or elements of an array; 1 for a scalar.", 1, 2, types.Int64,
			onDocument(func(_ *operands, doc *jsondoc.Value) (any, error) {
				if doc.Kind == jsondoc.Array || doc.Kind == jsondoc.Object {
					return int64(len(doc.Items)), nil
				}
				return int64(1), nil
			}))),
		function("json_depth", "JSON_DEPTH(doc)", "The depth of a document: 1 for a scalar or what is empty.", 1, 1, types.Int64,
			onDocument(func(_ *operands, doc *jsondoc.Value) (any, error) { return depthOf(doc), nil })),
		function("json_storage_size", "JSON_STORAGE_SIZE(doc)", "The bytes that a document takes in a column: those of its text (MySQL: of a binary form).", 1, 1, types.Int64,
			onDocument(func(a *operands, _ *jsondoc.Value) (any, error) { return int64(len(a.values[0].Text())), nil })),
		function("json_storage_free", "JSON_STORAGE_FREE(doc)", "The bytes that changes of a document in place have left unused: 0, as documents are written anew.", 1, 1, types.Int64,
			onDocument(func(*operands, *jsondoc.Value) (any, error) { return int64(0), nil })),
		function("json_keys", "JSON_KEYS(doc [, path])", "The keys of an object as an array; NULL for what is none.", 1, 2, types.JSON,
			onDocument(func(_ *operands, doc *jsondoc.Value) (any, error) {
				if doc.Kind != jsondoc.Object {
					return nil, nil
				}
				out := &jsondoc.Value{Kind: jsondoc.Array}
				for _, k := range doc.Keys {
					out.Items = append(out.Items, &jsondoc.Value{Kind: jsondoc.String, Text: k})
				}
				return out, nil
			})),
		quickly(quickContains, function("json_contains", "JSON_CONTAINS(doc, candidate [, path])", "Whether the candidate is in the document, or in what the path finds there.", 2, 3, types.Int64, evalContains)),
		quickly(quickContainsPath, function("json_contains_path", "JSON_CONTAINS_PATH(doc, 'one' | 'all', path, ...)", "Whether one of the paths, or all, find something.", 3, -1, types.Int64, evalContainsPath)),
		function("json_array", "JSON_ARRAY([a, ...])", "An array of the values.", 0, -1, types.JSON, func(a *operands) (any, error) {
			out := &jsondoc.Value{Kind: jsondoc.Array}
			for i, v := range a.values {
				item, err := jsondoc.Of(a.c, v, a.name, i+1)
				if err != nil {
					return nil, err
				}
				out.Items = append(out.Items, item)
			}
			return out, nil
		}),
		function("json_object", "JSON_OBJECT([key, value, ...])", "An object of keys and values.", 0, -1, types.JSON, evalObject),
		function("json_set", "JSON_SET(doc, path, value, ...)", "The document with values put where the paths say, in place of those there.", 3, -1, types.JSON, modify(true, true)),
		function("json_insert", "JSON_INSERT(doc, path, value, ...)", "The document with values put where the paths find nothing.", 3, -1, types.JSON, modify(true, false)),
		function("json_replace", "JSON_REPLACE(doc, path, value, ...)", "The document with the values that the paths find replaced.", 3, -1, types.JSON, modify(false, true)),
		function("json_remove", "JSON_REMOVE(doc, path, ...)", "The document without what the paths find.", 2, -1, types.JSON, evalRemove),
		function("json_array_append", "JSON_ARRAY_APPEND(doc, path, value, ...)", "The document with values added to the ends of the arrays that the paths find.", 3, -1, types.JSON, evalAppend),
		function("json_merge_patch", "JSON_MERGE_PATCH(doc, doc, ...)", "The documents merged by RFC 7396: later members replace earlier ones, null removes.", 2, -1, types.JSON, mergeDocs(mergePatch)),
		function("json_merge_preserve", "JSON_MERGE_PRESERVE(doc, doc, ...)", "The documents merged, nothing being lost: what has one key becomes an array.", 2, -1, types.JSON, mergeDocs(preserve)),
	}
}

// onDocument makes an evaluation of a document, or of what the path in a second operand finds in it.
func onDocument(f func(a *operands, doc *jsondoc.Value) (any, error)) func(*operands) (any, error) {
	return func(a *operands) (any, error) {
		if a.null(0, len(a.values)) {
			return nil, nil
		}
		doc, err := a.docAt(1)
		if doc == nil || err != nil {
			return nil, err
		}
		return f(a, doc)
	}
}

// docAt reads operand 0, or what the path in operand i finds in it if there is such an operand; nil: nothing.
func (a *operands) docAt(i int) (*jsondoc.Value, error) {
	if len(a.values) <= i {
		return a.doc(0)
	}
	if found, ok, err := a.forward(i); ok || err != nil {
		return found, err
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	return a.at(doc, i)
}

func depthOf(v *jsondoc.Value) int64 {
	deepest := int64(0)
	for _, item := range v.Items {
		deepest = max(deepest, depthOf(item))
	}
	return deepest + 1
}

func evalExtract(a *operands) (any, error) {
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
	found := &jsondoc.Value{Kind: jsondoc.Array}
	several := len(a.values) > 2
	for i := 1; i < len(a.values); i++ {
		p, err := a.path(i)
		if err != nil {
			return nil, err
		}
		several = several || p.Wild()
		p.Seek(doc, func(v *jsondoc.Value) { found.Items = append(found.Items, v) })
	}
	switch {
	case len(found.Items) == 0:
		return nil, nil
	case several:
		return found, nil
	}
	return found.Items[0], nil
}

// extractForward is evalExtract of one path that can be followed while the document is read, of which only what is found becomes a
// tree.
func (a *operands) extractForward() (v any, done bool, err error) {
	text := a.values[0].S
	if len(a.values) != 2 || !a.values[0].Type.IsString() {
		return nil, false, nil
	}
	p, err := a.path(1)
	if err != nil || !p.Forward() {
		return nil, false, nil // the document's error comes first
	}
	r := jsondoc.NewReader(a.c, text)
	found, ok := r.Seek(p, 0)
	switch {
	case r.Err() != nil:
		return nil, false, r.Err()
	case !ok || !r.Ended():
		return nil, false, nil
	case found == "":
		return nil, true, nil
	case jsondoc.IsWritten(found):
		return found, true, nil
	}
	r = jsondoc.NewReader(a.c, found)
	r.Exact = a.isJSON(0)
	item, err := r.Value(0)
	return item, item != nil, err
}

func evalUnquote(a *operands) (any, error) {
	v := a.values[0]
	if v.Null {
		return nil, nil
	}
	s := v.Text()
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s, nil
	}
	if r := jsondoc.NewReader(a.c, s); r.IsPlainString() {
		return s[1 : len(s)-1], nil
	}
	doc, err := jsondoc.Parse(a.c, s, a.name, 1)
	if err != nil {
		return nil, err
	}
	return doc.Text, nil
}

func evalContains(a *operands) (any, error) {
	if a.null(0, len(a.values)) {
		return nil, nil
	}
	doc, docErr := a.docAt(2)
	if docErr != nil { // the document's error comes first, then the candidate's, then the path's
		if _, err := a.doc(0); err != nil {
			return nil, err
		}
	}
	candidate, err := a.doc(1)
	if err = cmp.Or(err, docErr); err != nil || doc == nil {
		return nil, err
	}
	return int64(expr.BoolToInt(jsondoc.Contains(doc, candidate))), nil
}

// all reads the argument that is 'one' or 'all'.
func (a *operands) all(i int) (bool, error) {
	all, ok := isAll(a.values[i].Text())
	if !ok {
		return false, sqlerr.New(jsondoc.CodeOneAll, sqlerr.User, "The oneOrAll argument to %s may take these values: 'one' or 'all'.", a.name)
	}
	return all, nil
}

// isAll says whether a text is 'all'; ok is false if it is not 'one' either.
func isAll(text string) (all, ok bool) {
	all = strings.EqualFold(text, "all")
	return all, all || strings.EqualFold(text, "one")
}

func evalContainsPath(a *operands) (any, error) {
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
		p.Seek(doc, func(*jsondoc.Value) { found = true })
		if found != all {
			return int64(expr.BoolToInt(found)), nil
		}
	}
	return int64(expr.BoolToInt(all)), nil
}

func evalObject(a *operands) (any, error) {
	if len(a.values)%2 != 0 {
		return nil, sqlerr.WrongParamCount(a.name)
	}
	out := &jsondoc.Value{Kind: jsondoc.Object}
	for i := 0; i < len(a.values); i += 2 {
		if a.values[i].Null {
			return nil, sqlerr.New(jsondoc.CodeNullKey, sqlerr.User, "JSON documents may not contain NULL member names.")
		}
		item, err := jsondoc.Of(a.c, a.values[i+1], a.name, i+2)
		if err != nil {
			return nil, err
		}
		out.Set(strings.Clone(a.values[i].Text()), item)
	}
	return out, nil
}
