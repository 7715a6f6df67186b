package lookup

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Table is an expression's value for each code of a dictionary and, if the column can be NULL, for NULL behind them.
type Table struct {
	Entries       int // of the dictionary
	Typ           types.Type
	Class         form.Class
	Dict          *column.Dictionary // of codes that it gives
	Values        *Data              // by code: bits of a BOOL in 32-bit words, or values of the class
	Nulls         *Data              // bits: NULL; nil: none is, but perhaps that of NULL
	NullGivesNull bool               // NULL gives NULL
	Failed        *Data              // bits: an error or a warning, which the CPU words; nil: none
}

// table makes an expression's values over the strings of a dictionary column, or returns those that it has. Errors are kept too: they are refusals.
func (c *Cache) table(e expr.Expr, col *expr.Column, d *column.Dictionary, values []string, fingerprint [sha256.Size]byte, isNullable bool, ctx *expr.Context) (*Table, error) {
	key := entryKey{weak.Make(d), len(values), fmt.Sprintf("%x %v", fingerprint, isNullable)}
	return get(c, key, func() (*Table, int, error) {
		l, err := evaluate(e, col, values, isNullable, ctx)
		if err != nil {
			return nil, 0, err
		}
		bytes := len(l.Values.Bytes)
		for _, t := range []*Data{l.Nulls, l.Failed} {
			if t != nil {
				bytes += len(t.Bytes)
			}
		}
		if l.Dict != nil {
			bytes += int(l.Dict.Bytes())
		}
		return l, bytes, nil
	})
}

// fingerprint stands for an expression of one column, and for what of the statement its value may depend on.
func fingerprint(e expr.Expr, ctx *expr.Context) [sha256.Size]byte {
	h := sha256.New()
	mode := types.Value{} // of AES_ENCRYPT
	if ctx.Variables != nil {
		mode, _ = ctx.Variables.SystemVariable("block_encryption_mode")
	}
	fmt.Fprintf(h, "%v %v %v %v %s %s %s", ctx.SQLMode, ctx.Writing, ctx.Location, ctx.Today(), ctx.Session.Database, ctx.Session.User, mode.S)
	writeExpr(h, e)
	return [sha256.Size]byte(h.Sum(nil))
}

func writeExpr(w io.Writer, e expr.Expr) {
	fmt.Fprintf(w, "(%T %v", e, e.Type())
	switch x := e.(type) {
	case *expr.Const:
		writeValue(w, x.Value)
	case *expr.Compare:
		fmt.Fprint(w, x.Op)
	case *expr.In:
		fmt.Fprint(w, len(x.List), x.HasNull)
		for _, v := range x.List {
			writeValue(w, v)
		}
	case *expr.Case:
		fmt.Fprint(w, len(x.Whens), x.Else != nil)
	case *expr.Cast:
		fmt.Fprintf(w, "%v %v %v %q", x.Strict, x.Compared, x.Written, x.Column)
	case *expr.Call:
		fmt.Fprintf(w, "%q %p", x.Fn.Name, x.Fn) // programs add functions, each to a database of its own
	}
	for _, c := range e.Children() {
		writeExpr(w, c)
	}
	fmt.Fprint(w, ")")
}

func writeValue(w io.Writer, v types.Value) {
	fmt.Fprintf(w, "[%v %v %d %b %d %d %q]", v.Type, v.Null, v.I, v.F, v.D.Hi, v.D.Lo, v.S)
}

// maxFailed is how many strings may raise errors or warnings before a kernel is not worth its while.
const maxFailed = 1000

// chunk is how many strings are evaluated at once.
const chunk = 1 << 14

// evaluate evaluates e, which reads column c alone, over all strings of a dictionary.
func evaluate(e expr.Expr, c *expr.Column, values []string, nullable bool, ctx *expr.Context) (*Table, error) {
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
	b := &builder{Table: Table{Entries: n, Typ: e.Type(), Class: form.ClassOf(e.Type())}, e: e, program: program, n: len(all.Str)}
	b.ctx, b.warnings = evaluationContext(ctx)
	for from := 0; from < b.n; from += chunk {
		if err := ctx.Interrupted(); err != nil {
			return nil, err
		}
		if err := b.run(all, from, min(from+chunk, b.n)); err != nil {
			return nil, err
		}
	}
	return b.finish(nullable), nil
}

// evaluationContext is a copy of a statement's context that gathers warnings of its own and refuses side effects.
func evaluationContext(ctx *expr.Context) (*expr.Context, *sqlerr.Warnings) {
	own := *ctx
	warnings := &sqlerr.Warnings{}
	own.Warnings, own.FoldOnly = warnings, true
	return &own, warnings
}

type builder struct {
	Table
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
func (b *builder) run(all *column.Vector, from, to int) error {
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
		if b.failures++; b.failures > maxFailed && from < b.Entries { // NULL does not count
			return fmt.Errorf("%s gives errors or warnings for many strings of its dictionary, so it runs on the CPU", b.e)
		}
		b.bad = append(b.bad, make([]bool, len(b.null)-len(b.bad))...)
		b.bad = append(b.bad, true)
		b.add(types.NullOf(b.Typ))
		return nil
	}
	half := (from + to) / 2
	if err := b.run(all, from, half); err != nil {
		return err
	}
	return b.run(all, half, to)
}

// add appends the value of the next entry.
func (b *builder) add(v types.Value) {
	b.null = append(b.null, v.Null)
	switch {
	case b.Typ.Kind == types.KindBool:
		i := len(b.null) - 1
		for len(b.data) <= i/8 {
			b.data = append(b.data, 0)
		}
		if !v.Null && v.I != 0 {
			b.data[i/8] |= 1 << (i % 8)
		}
	case b.Class == form.View:
		if b.Dict == nil {
			b.Dict = column.NewDictionary()
		}
		code := b.Dict.Add(v.S)
		b.data = binary.LittleEndian.AppendUint32(b.data, code)
	case b.Class == form.Float:
		b.data = binary.LittleEndian.AppendUint64(b.data, math.Float64bits(v.F))
	case b.Class == form.Wide:
		b.data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b.data, v.D.Lo), uint64(v.D.Hi))
	default:
		b.data = binary.LittleEndian.AppendUint64(b.data, uint64(v.I))
	}
}

func (b *builder) finish(nullable bool) *Table {
	if b.Class == form.View {
		b.Class = form.Code
		if b.Dict == nil {
			b.Dict = column.NewDictionary()
		}
	}
	if b.n == 0 { // all rows are NULL, and have code 0
		b.add(types.NullOf(b.Typ))
		b.NullGivesNull = true
	}
	for len(b.data)%16 != 0 {
		b.data = append(b.data, 0)
	}
	b.Values = &Data{Bytes: b.data, Kept: true}
	entries := b.null
	if nullable {
		entries = b.null[:b.n-1]
		b.NullGivesNull = b.null[b.n-1]
	}
	if slices.Contains(entries, true) {
		b.Nulls = bitTable(b.null)
	}
	if b.failures > 0 {
		b.Failed = bitTable(append(b.bad, make([]bool, len(b.null)-len(b.bad))...))
	}
	l := b.Table
	return &l
}

// bitTable packs flags.
func bitTable(flags []bool) *Data {
	data := make([]byte, (len(flags)+128)/128*16)
	for i, f := range flags {
		if f {
			data[i/8] |= 1 << (i % 8)
		}
	}
	return &Data{Bytes: data, Kept: true}
}
