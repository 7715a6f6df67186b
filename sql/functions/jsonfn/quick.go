package jsonfn

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
)

// quick computes what needs no tree, for the positions of sel whose operands are all that simple, and appends the others to left. made is how
// many bytes the strings have.
type quick func(c *expr.Context, out *column.Vector, args []*column.Vector, sel, left []int32, n int) (others []int32, made int)

// quickly makes a function try q first.
func quickly(q quick, f *expr.Function) *expr.Function {
	eval := f.Eval
	f.Eval = func(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		var left []int32
		made := 0
		err := c.While(func() error { // what reading a document takes is gone behind it
			left, made = q(c, out, args, expr.Positions(sel, n), nil, n)
			return nil
		})
		if err == nil {
			err = c.Hold(made)
		}
		if err != nil || len(left) == 0 {
			return err
		}
		return eval(c, call, out, args, left, n)
	}
	return f
}

// quickExtract is evalExtract of one path, the same for all rows, that can be followed while the document is read, where it finds nothing or
// what is written as it stands.
func quickExtract(c *expr.Context, out *column.Vector, args []*column.Vector, sel, left []int32, n int) (others []int32, made int) {
	if len(args) != 2 {
		return sel, 0
	}
	return quickPart(1, tellWritten)(c, out, args, sel, left, n)
}

// tellWritten is the part itself, if it is written as it stands.
func tellWritten(out *column.Vector, i int, part string) (made int, ok bool) {
	if !jsondoc.IsWritten(part) {
		return 0, false
	}
	out.Str[i] = part
	return len(part), true
}

// quickUnquote is evalUnquote of what is no string, or one without escapes.
func quickUnquote(c *expr.Context, out *column.Vector, args []*column.Vector, sel, left []int32, n int) (others []int32, made int) {
	if !args[0].Type.IsString() {
		return sel, 0
	}
	texts := expr.Strings(args[0])
	for _, i := range sel {
		if args[0].IsNull(int(i)) {
			out.SetNull(int(i), n)
			continue
		}
		s := texts.At(int(i))
		if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
			if r := jsondoc.NewReader(c, s); !r.IsPlainString() {
				left = append(left, i)
				continue
			}
			s = s[1 : len(s)-1]
		}
		out.Str[i] = s
		made += len(s)
	}
	return left, made
}
