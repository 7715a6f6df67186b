package codegen

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// compareValue is a comparison as a BOOL.
func (t *Text) compareValue(x *expr.Compare, sc *Scope) (Value, error) {
	l, r, err := t.operands(x, sc)
	if err != nil {
		return Value{}, err
	}
	if x.Op == expr.NSEQ {
		text, err := t.comparison(expr.EQ, l, r)
		if err != nil {
			return Value{}, err
		}
		ln, rn := nullText(l), nullText(r)
		switch {
		case l.Null == "" && r.Null == "":
		case l.Null == "true" || r.Null == "true":
			text = ln + " & " + rn
		default:
			text = "(" + text + NotNull(l.Null) + NotNull(r.Null) + ")" + " | (" + ln + " & " + rn + ")"
		}
		return t.truthValue(text, ""), nil
	}
	null := t.anyNull([]Value{l, r})
	if null == "true" {
		return NullOf(form.Int, types.Bool), nil
	}
	text, err := t.comparison(x.Op, l, r)
	if err != nil {
		return Value{}, err
	}
	return t.truthValue(text+NotNull(null), null), nil
}

// compare is choose for comparisons other than <=>.
func (t *Text) compare(x *expr.Compare, want bool, sc *Scope) (string, error) {
	l, r, err := t.operands(x, sc)
	if err != nil {
		return "", err
	}
	if l.Null == "true" || r.Null == "true" {
		return "false", nil
	}
	op := x.Op
	if !want {
		op, _ = op.Negate()
	}
	text, err := t.comparison(op, l, r)
	if err != nil {
		return "", err
	}
	null := ""
	if l.Null != "" {
		null = NotNull(l.Null)
	}
	if r.Null != "" && r.Null != l.Null {
		null += NotNull(r.Null)
	}
	if null == "" {
		return text, nil
	}
	return "(" + text + null + ")", nil
}

func (t *Text) operands(x *expr.Compare, sc *Scope) (l, r Value, err error) {
	if l, err = t.Emit(x.Left, sc); err != nil {
		return
	}
	if r, err = t.Emit(x.Right, sc); err != nil {
		return
	}
	// A bare NULL has no class of its own.
	if l.Typ.Kind == types.KindNull {
		l = NullOf(r.Class, r.Typ)
		l.Dict = r.Dict
	} else if r.Typ.Kind == types.KindNull {
		r = NullOf(l.Class, l.Typ)
		r.Dict = l.Dict
	}
	return
}

// comparison is C++ for `l op r`, NULLs left aside, in parentheses.
func (t *Text) comparison(op expr.Op, l, r Value) (string, error) {
	sign := opTexts[op]
	switch {
	case l.Class == form.Code && r.Class == form.Code && l.Dict == r.Dict && (op == expr.EQ || op == expr.NE):
		return "(" + l.Text + " " + sign + " " + r.Text + ")", nil
	case l.Typ.IsString() && r.Typ.IsString():
		a, b := t.view(l), t.view(r)
		switch op {
		case expr.EQ:
			return "equal_views(" + a.Text + ", " + b.Text + ")", nil
		case expr.NE:
			return "!equal_views(" + a.Text + ", " + b.Text + ")", nil
		}
		return "(compare_views(" + a.Text + ", " + b.Text + ") " + sign + " 0)", nil
	case l.Class == form.Float && r.Class == form.Float:
		return compareFloats(op, l.Text, r.Text), nil
	case !isExact(l) || !isExact(r):
		return "", Refuse("comparing %s with %s runs on the CPU only", l.Typ, r.Typ)
	}
	if a, b := ScaleOf(l.Typ), ScaleOf(r.Typ); a != b {
		return fmt.Sprintf("(compare_decimal(%s, %d, %s, %d) %s 0)", wide(l), a, wide(r), b, sign), nil
	}
	if l.Class == form.Wide || r.Class == form.Wide {
		return "(" + wide(l) + " " + sign + " " + wide(r) + ")", nil
	}
	if l.Typ.Phys() == types.PhysUint64 && op != expr.EQ && op != expr.NE {
		return "((u64)" + l.Text + " " + sign + " (u64)" + r.Text + ")", nil
	}
	return "(" + l.Text + " " + sign + " " + r.Text + ")", nil
}

// compareFloats is C++ for `l op r` of doubles, in the order of types.CompareFloats.
func compareFloats(op expr.Op, l, r string) string {
	switch op {
	case expr.EQ:
		return "float_eq(" + l + ", " + r + ")"
	case expr.NE:
		return "!float_eq(" + l + ", " + r + ")"
	case expr.LT:
		return "float_lt(" + l + ", " + r + ")"
	case expr.GT:
		return "float_lt(" + r + ", " + l + ")"
	case expr.LE:
		return "!float_lt(" + r + ", " + l + ")"
	}
	return "!float_lt(" + l + ", " + r + ")"
}

// inValue is IN over constants.
func (t *Text) inValue(x *expr.In, sc *Scope) (Value, error) {
	v, err := t.Emit(x.Arg, sc)
	if err != nil {
		return Value{}, err
	}
	if v.Null == "true" {
		return NullOf(form.Int, types.Bool), nil
	}
	text, err := t.member(v, x.List)
	if err != nil {
		return Value{}, err
	}
	b := t.truthValue(text+NotNull(v.Null), v.Null)
	if x.HasNull { // what is not in the list may still be the NULL in it
		b.Null = t.named("!" + b.truth)
	}
	return b, nil
}

// fewMembers is how long a list may be to be compared with one after the other.
const fewMembers = 4

// maxBitmap is how wide a range of integers a bitmap may span: 8 KiB of bits.
const maxBitmap = 1 << 16

// member is C++ for "v is in the list", in parentheses or a call.
func (t *Text) member(v Value, list []types.Value) (string, error) {
	switch {
	case t.silent && v.Class != form.Code:
		return "member", nil
	case v.Typ.IsString():
		return t.memberString(t.view(v), list), nil
	case v.Class == form.Float:
		return sortedMembers(t, v.Text, "f64", list, func(x types.Value) float64 { return x.F }, func(b []byte, f float64) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		}, types.CompareFloats), nil
	case v.Class == form.Wide:
		return sortedMembers(t, v.Text, "i128", list, types.Value.Unscaled, func(b []byte, d types.Int128) []byte {
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, d.Lo), uint64(d.Hi))
		}, types.Int128.Cmp), nil
	case v.Class != form.Int:
		return "", Refuse("IN over %s runs on the CPU only", v.Typ)
	}
	ints := make([]int64, len(list))
	for i, x := range list {
		ints[i] = x.I
	}
	slices.Sort(ints)
	ints = slices.Compact(ints)
	if n := len(ints); n > fewMembers && uint64(ints[n-1])-uint64(ints[0]) < maxBitmap {
		words := make([]byte, (uint64(ints[n-1])-uint64(ints[0]))/64*8+8)
		for _, x := range ints {
			d := uint64(x) - uint64(ints[0])
			words[d/8] |= 1 << (d % 8)
		}
		base, bits := t.Literal(uint64(ints[0])), t.Literal(uint64(len(words))*8)
		return fmt.Sprintf("in_bitmap(%s, (i64)%s, %s, %s)", v.Text, base, bits, t.address(&lookup.Data{Bytes: words}, "u64")), nil
	}
	return sortedMembers(t, v.Text, "i64", list, func(x types.Value) int64 { return x.I }, func(b []byte, i int64) []byte {
		return binary.LittleEndian.AppendUint64(b, uint64(i))
	}, cmp.Compare[int64]), nil
}

// sortedMembers compares with each element of a short list and searches a long one.
func sortedMembers[T any](t *Text, x, elem string, list []types.Value, of func(types.Value) T, put func([]byte, T) []byte, order func(a, b T) int) string {
	if len(list) == 0 {
		return "false"
	}
	if len(list) <= fewMembers {
		var parts []string
		for _, v := range list {
			member := t.constant(as(v, elem)).Text
			if elem == "f64" {
				parts = append(parts, compareFloats(expr.EQ, x, member))
				continue
			}
			parts = append(parts, "("+x+" == ("+elem+")"+member+")")
		}
		return "(" + strings.Join(parts, " | ") + ")"
	}
	items := make([]T, len(list))
	for i, v := range list {
		items[i] = of(v)
	}
	slices.SortFunc(items, order)
	var data []byte
	for _, item := range items {
		data = put(data, item)
	}
	n := t.Literal(uint64(len(items)))
	return fmt.Sprintf("in_sorted<%s>(%s, %s, (i64)%s)", elem, x, t.address(&lookup.Data{Bytes: data}, elem), n)
}

// as returns a constant of the class that the C++ type names: a DECIMAL of few digits among those of many, a short string's number.
func as(v types.Value, elem string) types.Value {
	if elem == "u64" {
		return types.IntValue(int64(shortString(v)))
	}
	if elem == "i128" && v.Type.Phys() != types.PhysInt128 {
		return types.DecimalValue(types.Decimal(types.MaxDecimalPrecision, ScaleOf(v.Type)), v.Unscaled())
	}
	return v
}

// maxShort is the size of strings that short_string makes numbers of.
const maxShort = 7

func (t *Text) memberString(v Value, list []types.Value) string {
	if !slices.ContainsFunc(list, func(x types.Value) bool { return len(x.S) > maxShort }) && len(list) > 0 {
		name := t.Name("k")
		t.Line("const u64 %s = short_string(%s);", name, v.Text)
		return sortedMembers(t, name, "u64", list, shortString, binary.LittleEndian.AppendUint64, cmp.Compare[uint64])
	}
	if len(list) <= fewMembers {
		parts := []string{}
		for _, x := range list {
			parts = append(parts, "equal_views("+v.Text+", "+t.constant(x).Text+")")
		}
		if len(parts) == 0 {
			return "false"
		}
		return "(" + strings.Join(parts, " || ") + ")"
	}
	values := make([]string, len(list))
	for i, x := range list {
		values[i] = x.S
	}
	slices.Sort(values)
	data, offsets := lookup.PackStrings(values)
	n := t.Literal(uint64(len(values)))
	return fmt.Sprintf("in_sorted_strings(%s, %s, %s, (i64)%s)", v.Text, t.address(&lookup.Data{Bytes: data}, "u8"),
		t.address(&lookup.Data{Bytes: offsets}, "i64"), n)
}

// shortString is short_string of a literal.
func shortString(x types.Value) uint64 {
	n := uint64(len(x.S))
	for i := range len(x.S) {
		n |= uint64(x.S[i]) << (8 * (i + 1))
	}
	return n
}
