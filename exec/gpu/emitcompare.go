package gpu

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// compareValue is a comparison as a BOOL.
func (t *kernelText) compareValue(x *expr.Compare, sc *scope) (value, error) {
	l, r, err := t.operands(x, sc)
	if err != nil {
		return value{}, err
	}
	if x.Op == expr.NSEQ {
		text, err := t.comparison(expr.EQ, l, r)
		if err != nil {
			return value{}, err
		}
		ln, rn := nullText(l), nullText(r)
		switch {
		case l.null == "" && r.null == "":
		case l.null == "true" || r.null == "true":
			text = ln + " & " + rn
		default:
			text = "(" + text + notNull(l.null) + notNull(r.null) + ")" + " | (" + ln + " & " + rn + ")"
		}
		return t.truthValue(text, ""), nil
	}
	null := t.anyNull([]value{l, r})
	if null == "true" {
		return nullOf(form.Int, types.Bool), nil
	}
	text, err := t.comparison(x.Op, l, r)
	if err != nil {
		return value{}, err
	}
	return t.truthValue(text+notNull(null), null), nil
}

// compare is choose for comparisons other than <=>.
func (t *kernelText) compare(x *expr.Compare, want bool, sc *scope) (string, error) {
	l, r, err := t.operands(x, sc)
	if err != nil {
		return "", err
	}
	if l.null == "true" || r.null == "true" {
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
	if l.null != "" {
		null = notNull(l.null)
	}
	if r.null != "" && r.null != l.null {
		null += notNull(r.null)
	}
	if null == "" {
		return text, nil
	}
	return "(" + text + null + ")", nil
}

func (t *kernelText) operands(x *expr.Compare, sc *scope) (l, r value, err error) {
	if l, err = t.emit(x.Left, sc); err != nil {
		return
	}
	if r, err = t.emit(x.Right, sc); err != nil {
		return
	}
	// A bare NULL has no class of its own.
	if l.typ.Kind == types.KindNull {
		l = nullOf(r.class, r.typ)
		l.dict = r.dict
	} else if r.typ.Kind == types.KindNull {
		r = nullOf(l.class, l.typ)
		r.dict = l.dict
	}
	return
}

var opTexts = [...]string{expr.EQ: "==", expr.NE: "!=", expr.LT: "<", expr.LE: "<=", expr.GT: ">", expr.GE: ">="}

// comparison is C++ for `l op r`, NULLs left aside, in parentheses.
func (t *kernelText) comparison(op expr.Op, l, r value) (string, error) {
	sign := opTexts[op]
	switch {
	case l.class == form.Code && r.class == form.Code && l.dict == r.dict && (op == expr.EQ || op == expr.NE):
		return "(" + l.text + " " + sign + " " + r.text + ")", nil
	case l.typ.IsString() && r.typ.IsString():
		a, b := t.view(l), t.view(r)
		switch op {
		case expr.EQ:
			return "equal_views(" + a.text + ", " + b.text + ")", nil
		case expr.NE:
			return "!equal_views(" + a.text + ", " + b.text + ")", nil
		}
		return "(compare_views(" + a.text + ", " + b.text + ") " + sign + " 0)", nil
	case l.class == form.Float && r.class == form.Float:
		return compareFloats(op, l.text, r.text), nil
	case !isExact(l) || !isExact(r):
		return "", refuse("comparing %s with %s runs on the CPU only", l.typ, r.typ)
	}
	if a, b := scaleOf(l.typ), scaleOf(r.typ); a != b {
		return fmt.Sprintf("(compare_decimal(%s, %d, %s, %d) %s 0)", wide(l), a, wide(r), b, sign), nil
	}
	if l.class == form.Wide || r.class == form.Wide {
		return "(" + wide(l) + " " + sign + " " + wide(r) + ")", nil
	}
	if l.typ.Phys() == types.PhysUint64 && op != expr.EQ && op != expr.NE {
		return "((u64)" + l.text + " " + sign + " (u64)" + r.text + ")", nil
	}
	return "(" + l.text + " " + sign + " " + r.text + ")", nil
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

// isExact says whether a value is an integer in registers: form.Int or form.Wide.
func isExact(v value) bool { return v.class == form.Int || v.class == form.Wide }

// scaleOf is the number of digits behind the point of t's values.
func scaleOf(t types.Type) int {
	if t.Kind == types.KindDecimal {
		return int(t.Scale)
	}
	return 0
}

// wide is an exact value as an i128.
func wide(v value) string {
	switch {
	case v.class == form.Wide:
		return v.text
	case v.typ.Phys() == types.PhysUint64:
		return "(i128)(u64)" + v.text
	}
	return "(i128)" + v.text
}

// inValue is IN over constants.
func (t *kernelText) inValue(x *expr.In, sc *scope) (value, error) {
	v, err := t.emit(x.Arg, sc)
	if err != nil {
		return value{}, err
	}
	if v.null == "true" {
		return nullOf(form.Int, types.Bool), nil
	}
	text, err := t.member(v, x.List)
	if err != nil {
		return value{}, err
	}
	b := t.truthValue(text+notNull(v.null), v.null)
	if x.HasNull { // what is not in the list may still be the NULL in it
		b.null = t.named("!" + b.truth)
	}
	return b, nil
}

// fewMembers is how long a list may be to be compared with one after the other.
const fewMembers = 4

// maxBitmap is how wide a range of integers a bitmap may span: 8 KiB of bits.
const maxBitmap = 1 << 16

// member is C++ for "v is in the list", in parentheses or a call.
func (t *kernelText) member(v value, list []types.Value) (string, error) {
	switch {
	case v.typ.IsString():
		return t.memberString(t.view(v), list), nil
	case v.class == form.Float:
		return sortedMembers(t, v.text, "f64", list, func(x types.Value) float64 { return x.F }, func(b []byte, f float64) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		}, types.CompareFloats), nil
	case v.class == form.Wide:
		return sortedMembers(t, v.text, "i128", list, types.Value.Unscaled, func(b []byte, d types.Int128) []byte {
			return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, d.Lo), uint64(d.Hi))
		}, types.Int128.Cmp), nil
	case v.class != form.Int:
		return "", refuse("IN over %s runs on the CPU only", v.typ)
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
		base, bits := t.literal(uint64(ints[0])), t.literal(uint64(len(words))*8)
		return fmt.Sprintf("in_bitmap(%s, (i64)%s, %s, %s)", v.text, base, bits, t.address(&table{data: words}, "u64")), nil
	}
	return sortedMembers(t, v.text, "i64", list, func(x types.Value) int64 { return x.I }, func(b []byte, i int64) []byte {
		return binary.LittleEndian.AppendUint64(b, uint64(i))
	}, cmp.Compare[int64]), nil
}

// sortedMembers compares with each element of a short list and searches a long one.
func sortedMembers[T any](t *kernelText, x, elem string, list []types.Value, of func(types.Value) T, put func([]byte, T) []byte, order func(a, b T) int) string {
	if len(list) == 0 {
		return "false"
	}
	if len(list) <= fewMembers {
		var parts []string
		for _, v := range list {
			member := t.constant(as(v, elem)).text
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
	n := t.literal(uint64(len(items)))
	return fmt.Sprintf("in_sorted<%s>(%s, %s, (i64)%s)", elem, x, t.address(&table{data: data}, elem), n)
}

// as returns a constant of the class that the C++ type names: a DECIMAL of few digits among those of many, a short string's number.
func as(v types.Value, elem string) types.Value {
	if elem == "u64" {
		return types.IntValue(int64(shortString(v)))
	}
	if elem == "i128" && v.Type.Phys() != types.PhysInt128 {
		return types.DecimalValue(types.Decimal(types.MaxDecimalPrecision, scaleOf(v.Type)), v.Unscaled())
	}
	return v
}

// maxShort is the size of strings that short_string makes numbers of.
const maxShort = 7

func (t *kernelText) memberString(v value, list []types.Value) string {
	if !slices.ContainsFunc(list, func(x types.Value) bool { return len(x.S) > maxShort }) && len(list) > 0 {
		name := t.name("k")
		t.line("const u64 %s = short_string(%s);", name, v.text)
		return sortedMembers(t, name, "u64", list, shortString, binary.LittleEndian.AppendUint64, cmp.Compare[uint64])
	}
	if len(list) <= fewMembers {
		parts := []string{}
		for _, x := range list {
			parts = append(parts, "equal_views("+v.text+", "+t.constant(x).text+")")
		}
		if len(parts) == 0 {
			return "false"
		}
		return "(" + strings.Join(parts, " || ") + ")"
	}
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = x.S
	}
	slices.Sort(texts)
	data, offsets := packStrings(texts)
	n := t.literal(uint64(len(texts)))
	return fmt.Sprintf("in_sorted_strings(%s, %s, %s, (i64)%s)", v.text, t.address(&table{data: data}, "u8"),
		t.address(&table{data: offsets}, "i64"), n)
}

// shortString is short_string of a literal.
func shortString(x types.Value) uint64 {
	n := uint64(len(x.S))
	for i := range len(x.S) {
		n |= uint64(x.S[i]) << (8 * (i + 1))
	}
	return n
}

// packStrings lays strings end to end, and their offsets, one more than there are strings, as 64-bit words.
func packStrings(texts []string) (data, offsets []byte) {
	var b bytes.Buffer
	for _, s := range texts {
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(b.Len()))
		b.WriteString(s)
	}
	return b.Bytes(), binary.LittleEndian.AppendUint64(offsets, uint64(b.Len()))
}
