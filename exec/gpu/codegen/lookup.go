package codegen

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Expressions over a dictionary column. Whatever such an expression is made of, its value follows from the code, so the CPU's
// evaluator computes it once for each string of the dictionary, and a kernel looks it up.

// maxLookup is how many strings a dictionary may have for that.
const maxLookup = 4 << 20

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
	if like.Class != form.Code || like.Dict == nil || like.Dict.Len() > maxLookup {
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
	x, err := sc.column(c)
	if err != nil {
		return Value{}, false, err
	}
	if v, ok := t.equalsCode(e, x); ok {
		return v, true, nil
	}
	l, err := t.Lookups.of(e, c, x.Dict, x.Null != "", t.Ctx)
	if err != nil {
		return Value{}, false, nil // perhaps its parts can be computed
	}
	return t.read(l, e, x), true, nil
}

// neverFails says whether e is made of comparisons, LIKE and parts of texts alone.
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

// equalsCode is `column = 'text'` and `column <> 'text'`, which compare codes; a text that the dictionary lacks has a code that no row has.
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

// lookup is an expression's value for each code of a dictionary and, if the column can be NULL, for NULL behind them.
type lookup struct {
	entries  int // of the dictionary
	typ      types.Type
	class    form.Class
	dict     *column.Dictionary // of codes that it gives
	values   *Table             // by code: bits of a BOOL in 32-bit words, or values of the class
	nulls    *Table             // bits: NULL; nil: none is, but perhaps that of NULL
	nullNull bool               // NULL gives NULL
	failed   *Table             // bits: an error or a warning, which the CPU words; nil: none
}

// read writes what looks a value up for a column's value x.
func (t *Text) read(l *lookup, e expr.Expr, x Value) Value {
	index := x.Text
	if x.Null != "" {
		index = t.Name("k")
		t.Line("const u32 %s = %s ? (u32)%s : %s;", index, x.Null, t.Literal(uint64(l.entries)), x.Text)
	}
	if l.failed != nil {
		t.RaiseIf(t.bit(l.failed, l.entries, index), CodeOnCPU, e)
	}
	null := ""
	switch {
	case l.nulls != nil:
		null = t.named(t.bit(l.nulls, l.entries, index))
	case l.nullNull:
		null = x.Null
	}
	if l.typ.Kind == types.KindBool && l.class == form.Int {
		return t.truthValue(t.bit(l.values, l.entries, index), null) // bits of NULLs are 0
	}
	v := Value{Class: l.class, Typ: l.typ, Dict: l.dict, Null: null}
	v.Text = t.Name("x")
	t.Line("const %s %s = %s[%s];", l.class.CName(), v.Text, t.address(l.values, l.class.CName()), index)
	return v
}

// bit is C++ for the bit at an index of a table of bits.
func (t *Text) bit(bits *Table, entries int, index string) string {
	if entries < maxBits {
		word := make([]byte, 8)
		copy(word, bits.Data)
		return "(" + t.Literal(binary.LittleEndian.Uint64(word)) + " >> " + index + " & 1)"
	}
	return fmt.Sprintf("bit_at(%s, %s)", t.address(bits, "u32"), index)
}

// makeLookup evaluates e, which reads column c alone, over all strings of a dictionary.
func makeLookup(e expr.Expr, c *expr.Column, values []string, nullable bool, ctx *expr.Context) (*lookup, error) {
	n := len(values)
	all := &column.Vector{Type: c.Typ, Str: values}
	if nullable {
		all.Str = append(values[:n:n], "")
		all.Valid = column.NewBitmap(n+1, true)
		all.Valid.Clear(n)
	}
	program, err := expr.Compile(e, map[expr.ColumnID]int{c.ID: 0})
	if err != nil {
		return nil, err
	}
	b := &lookupBuilder{lookup: lookup{entries: n, typ: e.Type(), class: form.ClassOf(e.Type())}, e: e, program: program, n: len(all.Str)}
	b.ctx, b.warnings = evaluationContext(ctx)
	for from := 0; from < b.n; from += lookupChunk {
		if err := ctx.Interrupted(); err != nil {
			return nil, err
		}
		if err := b.run(all, from, min(from+lookupChunk, b.n)); err != nil {
			return nil, err
		}
	}
	return b.finish(nullable), nil
}

// lookupChunk is how many strings are evaluated at once.
const lookupChunk = 1 << 14

// maxFailed is how many strings may raise errors or warnings before a kernel is not worth its while.
const maxFailed = 1000

type lookupBuilder struct {
	lookup
	e        expr.Expr
	program  *expr.Program
	ctx      *expr.Context
	warnings *sqlerr.Warnings
	n        int // with NULL
	data     []byte
	null     []bool
	bad      []bool // as long as null, or shorter
	failures int
}

// run evaluates strings from..to-1. Where some of them fail it looks for them by halves.
func (b *lookupBuilder) run(all *column.Vector, from, to int) error {
	part := &column.Vector{Type: all.Type, Str: all.Str[from:to], Valid: all.Valid.Slice(from, to-from)}
	b.warnings.Reset()
	v, err := b.program.Eval(b.ctx, &column.Batch{N: to - from, Cols: []*column.Vector{part}})
	if err == nil && b.warnings.Count() == 0 {
		for i := range to - from {
			b.add(v.Value(i))
		}
		return nil
	}
	if ended(err) {
		return err
	}
	if to-from == 1 {
		if b.failures++; b.failures > maxFailed {
			return Refuse("%s gives errors or warnings for many strings of its dictionary, so it runs on the CPU", b.e)
		}
		b.bad = append(b.bad, make([]bool, len(b.null)-len(b.bad))...)
		b.bad = append(b.bad, true)
		b.add(types.NullOf(b.typ))
		return nil
	}
	half := (from + to) / 2
	if err := b.run(all, from, half); err != nil {
		return err
	}
	return b.run(all, half, to)
}

// add appends the value of the next entry.
func (b *lookupBuilder) add(v types.Value) {
	b.null = append(b.null, v.Null)
	switch {
	case b.typ.Kind == types.KindBool:
		i := len(b.null) - 1
		for len(b.data) <= i/8 {
			b.data = append(b.data, 0)
		}
		if !v.Null && v.I != 0 {
			b.data[i/8] |= 1 << (i % 8)
		}
	case b.class == form.View:
		if b.dict == nil {
			b.dict = column.NewDictionary()
		}
		code := b.dict.Add(v.S)
		b.data = binary.LittleEndian.AppendUint32(b.data, code)
	case b.class == form.Float:
		b.data = binary.LittleEndian.AppendUint64(b.data, math.Float64bits(v.F))
	case b.class == form.Wide:
		b.data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b.data, v.D.Lo), uint64(v.D.Hi))
	default:
		b.data = binary.LittleEndian.AppendUint64(b.data, uint64(v.I))
	}
}

func (b *lookupBuilder) finish(nullable bool) *lookup {
	if b.class == form.View {
		b.class = form.Code
		if b.dict == nil {
			b.dict = column.NewDictionary()
		}
	}
	if b.n == 0 { // all rows are NULL, and have code 0
		b.add(types.NullOf(b.typ))
		b.nullNull = true
	}
	for len(b.data)%16 != 0 {
		b.data = append(b.data, 0)
	}
	b.values = &Table{Data: b.data, Kept: true}
	entries := b.null
	if nullable {
		entries = b.null[:b.n-1]
		b.nullNull = b.null[b.n-1]
	}
	if slices.Contains(entries, true) {
		b.nulls = bitTable(b.null)
	}
	if b.failures > 0 {
		b.failed = bitTable(append(b.bad, make([]bool, len(b.null)-len(b.bad))...))
	}
	l := b.lookup
	return &l
}

// bitTable packs flags.
func bitTable(flags []bool) *Table {
	data := make([]byte, (len(flags)+128)/128*16)
	for i, f := range flags {
		if f {
			data[i/8] |= 1 << (i % 8)
		}
	}
	return &Table{Data: data, Kept: true}
}
