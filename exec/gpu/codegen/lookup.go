package codegen

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Expressions over a dictionary column. Whatever such an expression is made of, its value follows from the code, so the CPU's
// evaluator computes it once for each string of the dictionary, and a kernel looks it up.

// maxBits is how large a table of bits may be to be a parameter.
const maxBits = 64

// coded returns the one column that e reads, if its values are codes and e is more than the column; nil otherwise.
func (t *Text) coded(e expr.Expr, sc *Scope) *expr.Column {
	var found *expr.Column
	good := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch x := e.(type) {
		case *expr.Column:
			good = good && (found == nil || found.ID == x.ID)
			found = x
		case *expr.Call:
			good = good && !x.Fn.Volatile
		case *expr.Subquery:
			good = false
		}
		return good
	})
	if !good || found == nil || e == expr.Expr(found) {
		return nil
	}
	b, ok := sc.find(found.ID)
	if !ok {
		return nil
	}
	like := b.value
	if b.load != nil {
		like = b.like
	}
	if like.Class != form.Code || like.Dict == nil || !t.Lookups.HasTables(like.Dict) {
		return nil
	}
	return found
}

// lookUp computes an expression over a dictionary column; ok is false if e is none, or cannot be computed so.
func (t *Text) lookUp(e expr.Expr, sc *Scope) (v Value, ok bool, err error) {
	c := t.coded(e, sc)
	if c == nil {
		return Value{}, false, nil
	}
	x, err := t.column(c, sc)
	if err != nil {
		return Value{}, false, err
	}
	if v, ok := t.equalsCode(e, x); ok {
		return v, true, nil
	}
	l, err := t.Lookups.Of(e, c, x.Dict, x.Null != "", t.Ctx)
	if err != nil {
		return Value{}, false, nil // perhaps its parts can be computed
	}
	return t.read(l, e, x), true, nil
}

// neverFails says whether e is made of comparisons, LIKE and parts of strings alone.
func neverFails(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(e expr.Expr) bool {
		switch x := e.(type) {
		case *expr.Column, *expr.Const, *expr.Compare, *expr.In, *expr.And, *expr.Or, *expr.Not, *expr.IsNull, *expr.Case:
		case *expr.Cast:
			ok = ok && expr.SameValues(x.Arg.Type(), x.To)
		case *expr.Call:
			switch x.Fn.Name {
			case "like", "substring", "left", "right", "length", "char_length", "locate", "instr", "trim", "ltrim", "rtrim", "upper", "lower",
				"concat", "coalesce", "ifnull", "nullif", "if", "isnull":
			default:
				ok = false
			}
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// equalsCode is `column = 'text'` and `column <> 'text'`, which compare codes; a string that the dictionary lacks has a code that no row has.
func (t *Text) equalsCode(e expr.Expr, x Value) (Value, bool) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ && c.Op != expr.NE {
		return Value{}, false
	}
	k, ok := c.Right.(*expr.Const)
	other := c.Left
	if !ok {
		k, ok = c.Left.(*expr.Const)
		other = c.Right
	}
	if _, isColumn := other.(*expr.Column); !ok || !isColumn || k.Value.Null || !k.Value.Type.IsString() {
		return Value{}, false
	}
	code, ok := x.Dict.Lookup(k.Value.S)
	if !ok {
		code = math.MaxUint32
	}
	return t.truthValue("("+x.Text+" "+opTexts[c.Op]+" (u32)"+t.Literal(uint64(code))+")"+NotNull(x.Null), x.Null), true
}

// read writes what looks a value up for a column's value x.
func (t *Text) read(l *lookup.Table, e expr.Expr, x Value) Value {
	index := x.Text
	if x.Null != "" {
		index = t.Name("k")
		t.Line("const u32 %s = %s ? (u32)%s : %s;", index, x.Null, t.Literal(uint64(l.Entries)), x.Text)
	}
	if l.Failed != nil {
		t.RaiseIf(t.bit(l.Failed, l.Entries, index), CodeOnCPU, e)
	}
	null := ""
	switch {
	case l.Nulls != nil:
		null = t.named(t.bit(l.Nulls, l.Entries, index))
	case l.NullGivesNull:
		null = x.Null
	}
	if l.Typ.Kind == types.KindBool && l.Class == form.Int {
		return t.truthValue(t.bit(l.Values, l.Entries, index), null) // bits of NULLs are 0
	}
	v := Value{Class: l.Class, Typ: l.Typ, Dict: l.Dict, Null: null}
	v.Text = t.Name("x")
	t.Line("const %s %s = %s[%s];", l.Class.CName(), v.Text, t.address(l.Values, l.Class.CName()), index)
	return v
}

// bit is C++ for the bit at an index of a table of bits.
func (t *Text) bit(bits *lookup.Data, entries int, index string) string {
	if entries < maxBits {
		word := make([]byte, 8)
		copy(word, bits.Bytes)
		return "(" + t.Literal(binary.LittleEndian.Uint64(word)) + " >> " + index + " & 1)"
	}
	return fmt.Sprintf("bit_at(%s, %s)", t.address(bits, "u32"), index)
}

// view returns a string as an address and a length, looking codes up in their dictionary.
func (t *Text) view(v Value) Value {
	if v.Class != form.Code {
		return v
	}
	if v.Null == "true" || v.Dict == nil {
		return NullOf(form.View, v.Typ)
	}
	data, offsets := t.Lookups.Strings(v.Dict)
	out := v
	out.Class, out.Dict = form.View, nil
	out.Text = fmt.Sprintf("dictionary_string(%s, %s, %s)", t.address(data, "u8"), t.address(offsets, "i64"), v.Text)
	return t.Define(out, "s")
}
