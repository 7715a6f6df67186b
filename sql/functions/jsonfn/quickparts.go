package jsonfn

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
)

// Functions that tell something of a part of a document need its text, and no tree.

// teller computes a function's value of row i for the text of a part, without space around it, and says how many bytes of strings it made. ok is false if it does not know
// the value.
type teller func(out *column.Vector, i int, part string) (made int, ok bool)

// quickPart makes a quick of tell. The part is what the path in operand at finds, or the document itself if there is no such operand.
func quickPart(at int, tell teller) quick {
	return func(c *expr.Context, out *column.Vector, args []*column.Vector, sel, left []int32, n int) (others []int32, made int) {
		var path jsondoc.Path
		if at < len(args) {
			var ok bool
			if path, ok = constantPath(args[at]); !ok {
				return sel, 0
			}
		}
		if !args[0].Type.IsString() {
			return sel, 0
		}
		docs := expr.Strings(args[0])
		for _, i := range sel {
			if args[0].IsNull(int(i)) {
				out.SetNull(int(i), n)
				continue
			}
			found, ok := jsondoc.Find(c, docs.At(int(i)), path)
			if ok && found == "" {
				out.SetNull(int(i), n)
				continue
			}
			bytes := 0
			if ok {
				bytes, ok = tell(out, int(i), found)
			}
			if !ok {
				left = append(left, i)
			}
			made += bytes
		}
		return left, made
	}
}

// constantPath reads an operand that is the same path for all rows, and can be followed while a document is read.
func constantPath(v *column.Vector) (path jsondoc.Path, ok bool) {
	if !v.Type.IsString() || !v.Const || v.IsNull(0) {
		return nil, false
	}
	path, err := jsondoc.ParsePath(v.StringAt(0))
	return path, err == nil && path.Forward()
}

// tellLength is JSON_LENGTH.
func tellLength(out *column.Vector, i int, part string) (made int, ok bool) {
	length, ok := jsondoc.Length(part)
	out.I64[i] = int64(length)
	return 0, ok
}

// tellType is JSON_TYPE of what is no number, or a short integer.
func tellType(out *column.Vector, i int, part string) (made int, ok bool) {
	kind, ok := jsondoc.KindOf(part)
	if ok {
		out.Str[i] = jsondoc.KindNames[kind]
	}
	return 0, ok
}

// tellValid is JSON_VALID of a document, which has been read.
func tellValid(out *column.Vector, i int, _ string) (made int, ok bool) {
	out.I64[i] = 1
	return 0, true
}

// quickContainsPath is evalContainsPath of paths that are the same for all rows.
func quickContainsPath(c *expr.Context, out *column.Vector, args []*column.Vector, sel, left []int32, n int) (others []int32, made int) {
	if !args[0].Type.IsString() || !args[1].Const || args[1].IsNull(0) {
		return sel, 0
	}
	all, ok := isAll(args[1].Value(0).Text())
	if !ok {
		return sel, 0
	}
	paths := make([]jsondoc.Path, len(args)-2)
	for k := range paths {
		if paths[k], ok = constantPath(args[k+2]); !ok {
			return sel, 0
		}
	}
	docs := expr.Strings(args[0])
rows:
	for _, i := range sel {
		if args[0].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		result := all
		for _, path := range paths {
			found, ok := jsondoc.Find(c, docs.At(int(i)), path)
			if !ok {
				left = append(left, i)
				continue rows
			}
			if (found != "") != all {
				result = !all
				break
			}
		}
		out.I64[i] = int64(expr.BoolToInt(result))
	}
	return left, 0
}

// quickContains is evalContains of one scalar for all rows, a string without escapes or a short integer.
func quickContains(c *expr.Context, out *column.Vector, args []*column.Vector, sel, left []int32, n int) (others []int32, made int) {
	v := args[1]
	if !v.Type.IsString() || !v.Const || v.IsNull(0) {
		return sel, 0
	}
	candidate, ok := jsondoc.Find(c, v.StringAt(0), nil)
	if !ok || !jsondoc.IsWritten(candidate) {
		return sel, 0
	}
	tell := func(out *column.Vector, i int, part string) (made int, ok bool) {
		found, ok := jsondoc.ContainsScalar(part, candidate)
		out.I64[i] = int64(expr.BoolToInt(found))
		return 0, ok
	}
	return quickPart(2, tell)(c, out, args, sel, left, n)
}
