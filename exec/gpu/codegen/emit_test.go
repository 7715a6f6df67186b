package codegen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Expressions in kernels, row by row against sql/expr's evaluator: values, NULLs, errors and warnings.

// exprTest is a table of random rows, on the host and on a device.
type exprTest struct {
	t      *testing.T
	r      *rand.Rand
	device *gpukernels.Device // nil: nothing runs on one
	stream *gpukernels.Stream
	owned  []gpukernels.Ptr
	cache  *lookup.Answers
	tables map[*lookup.Data]gpukernels.Ptr

	compileOnly bool
	library     *gpukernels.Library

	cols []*expr.Column
	n    int
	// What was compared: errors and warnings for the CPU, NULLs, other values.
	failed, nulls, values int
	vecs                  []*column.Vector
	data                  []gpukernels.Ptr // by column: values of its class
	null                  []gpukernels.Ptr // by column: a byte a row
}

func newExprTest(t *testing.T, seed uint64, device *gpukernels.Device, n int) *exprTest {
	s, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x := &exprTest{t: t, r: rand.New(rand.NewPCG(seed, 1)), device: device, stream: s, n: n, cache: lookup.New(64 << 20).Answers(),
		tables: map[*lookup.Data]gpukernels.Ptr{}}
	t.Cleanup(func() {
		for _, p := range x.owned {
			if err := s.Free(p); err != nil {
				t.Error(err)
			}
		}
		s.Close()
	})
	return x
}

func (x *exprTest) alloc(bytes int) gpukernels.Ptr {
	p, err := x.stream.Alloc(int64(max(bytes, 16)))
	if err != nil {
		x.t.Fatal(err)
	}
	x.owned = append(x.owned, p)
	return p
}

func (x *exprTest) upload(b []byte) gpukernels.Ptr {
	if x.device == nil {
		return 0
	}
	p := x.alloc(len(b))
	if len(b) > 0 {
		if err := x.stream.Upload(p, b); err != nil {
			x.t.Fatal(err)
		}
	}
	return p
}

// column adds a column. Strings are codes of a dictionary or lie as they are.
func (x *exprTest) column(name string, typ types.Type, nullable, coded bool, value func(i int) types.Value) *expr.Column {
	c := &expr.Column{ID: expr.ColumnID(len(x.cols) + 1), Name: name, Typ: typ, Null: nullable}
	v := column.New(typ, x.n)
	if coded {
		v.ReserveCodes(column.NewDictionary("never used"), x.n)
	}
	nulls := make([]byte, x.n)
	for i := range x.n {
		val := value(i)
		if coded {
			v.Codes[i] = v.Dict.Add(val.S)
		} else {
			v.Set(i, x.n, val)
		}
		if nullable && (val.Null || x.r.IntN(6) == 0) {
			nulls[i] = 1
			if v.Valid == nil {
				v.Valid = column.NewBitmap(x.n, true)
			}
			v.Valid.Clear(i) // its slot keeps what it held
		}
	}
	var data []byte
	switch {
	case coded:
		data = gpukernels.Bytes(v.Codes)
	case typ.Phys() == types.PhysFloat64:
		data = gpukernels.Bytes(v.F64)
	case typ.Phys() == types.PhysInt128:
		for _, d := range v.I128 {
			data = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, d.Lo), uint64(d.Hi))
		}
	case typ.IsString():
		bytes, offsets := lookup.PackStrings(v.Str)
		at := x.upload(bytes)
		for i := range x.n {
			from := binary.LittleEndian.Uint64(offsets[8*i:])
			data = binary.LittleEndian.AppendUint64(data, uint64(at)+from)
			data = binary.LittleEndian.AppendUint64(data, binary.LittleEndian.Uint64(offsets[8*i+8:])-from)
		}
	default:
		data = gpukernels.Bytes(v.I64)
	}
	x.cols, x.vecs = append(x.cols, c), append(x.vecs, v)
	x.data, x.null = append(x.data, x.upload(data)), append(x.null, x.upload(nulls))
	return c
}

// The words that the test binds.
type (
	testColumn struct{ i int }
	testNulls  struct{ i int }
	testRows   struct{}
	testOut    struct{ what string }
)

// kernel writes a kernel that computes one expression for every row.
func (x *exprTest) kernel(name string, e expr.Expr, ctx *expr.Context) (*Text, Value, error) {
	t := NewText(ctx, x.cache)
	key := func(k any) string { return t.Param(Param{Key: k}) }
	t.Line("if (global_thread() != 0) return;")
	t.Line("Error* error = as_pointer<Error>(p.w[0]);")
	t.Open("for (i64 row = 0; row < (i64)%s; row++) {", key(testRows{}))
	t.Open("{")
	sc := NewScope()
	for i, c := range x.cols {
		v := Value{Class: form.ClassOf(c.Typ), Typ: c.Typ, Dict: x.vecs[i].Dict}
		if v.Dict != nil {
			v.Class = form.Code
		}
		load := func() Value {
			v.Text = fmt.Sprintf("as_pointer<const %s>(%s)[row]", v.Class.CName(), key(testColumn{i}))
			if c.Null {
				v.Null = "(as_pointer<const u8>(" + key(testNulls{i}) + ")[row] != 0)"
			}
			return t.Define(v, "v")
		}
		like := v
		if c.Null {
			like.Null = "?"
		}
		if i%2 == 0 {
			sc.BindLazy(c.ID, like, load)
			continue
		}
		sc.Bind(c.ID, load())
	}
	v, err := t.Emit(e, sc)
	x.checkForm(e, v, err, ctx)
	if err != nil {
		return nil, v, err
	}
	t.Line("as_pointer<%s>(%s)[row] = %s;", v.Class.CName(), key(testOut{"value"}), v.Text)
	t.Line("as_pointer<u8>(%s)[row] = %s;", key(testOut{"null"}), nullText(v))
	if e.Type().Kind == types.KindBool {
		for _, want := range []bool{true, false} {
			inner := NewScope()
			inner.up, sc.done = &Scope{cols: sc.cols}, nil
			t.Open("{")
			c, err := t.choose(e, want, inner)
			if err != nil {
				return nil, v, err
			}
			t.Line("as_pointer<u8>(%s)[row] = %s;", key(testOut{fmt.Sprint(want)}), c)
			t.Close()
		}
	}
	t.Close()
	t.Line("as_pointer<u32>(%s)[row] = (u32)error->first;", key(testOut{"code"}))
	t.Line("error->first = 0;")
	t.Line("u64 warnings = 0;")
	for i := range t.Sites {
		t.Line("warnings += as_pointer<u64>(%s)[%d];", key(WarningsWord{}), i)
		t.Line("as_pointer<u64>(%s)[%d] = 0;", key(WarningsWord{}), i)
	}
	t.Line("as_pointer<u64>(%s)[row] = warnings;", key(testOut{"warnings"}))
	t.Close()
	return t, v, nil
}

// checkForm sees whether the form of an expression, found without writing any text, is that of the value v that was written, or is refused for the same reason.
func (x *exprTest) checkForm(e expr.Expr, v Value, refused error, ctx *expr.Context) {
	forms := NewForms(ctx, x.cache, Ranges{})
	for i, c := range x.cols {
		f := Form{Class: form.ClassOf(c.Typ), Typ: c.Typ, Dict: x.vecs[i].Dict, IsNullable: c.Null}
		if f.Dict != nil {
			f.Class = form.Code
		}
		forms.Bind(c.ID, f, i%2 == 1)
	}
	f, err := forms.Of(e)
	if fmt.Sprint(err) != fmt.Sprint(refused) {
		x.t.Errorf("%s: the form is refused with %v, the value with %v", e, err, refused)
	}
	if err != nil {
		return
	}
	if f.Class != v.Class || f.Typ != v.Typ || f.Dict != v.Dict || f.IsNullable != (v.Null != "") {
		x.t.Errorf("%s has form %+v, but value %+v", e, f, v)
	}
}

// textBytesInTests is the memory for the strings that a kernel makes of a test's rows.
const textBytesInTests = 1 << 20

// check compares expressions and returns the reasons of those that kernels cannot be made for.
func (x *exprTest) check(exprs []expr.Expr) (refused []string) {
	x.t.Helper()
	ctx := plantest.Context()
	source := ""
	type made struct {
		e    expr.Expr
		name string
		text *Text
		v    Value
	}
	var kernels []made
	for i, e := range exprs {
		name := fmt.Sprintf("k%d", i)
		text, v, err := x.kernel(name, e, ctx)
		var no *Unsupported
		if errors.As(err, &no) {
			refused = append(refused, no.Reason)
			continue
		}
		if err != nil {
			x.t.Fatalf("%s: %v", e, err)
		}
		source += text.Source(name, len(text.Params))
		kernels = append(kernels, made{e, name, text, v})
	}
	source = gpukernels.Includes(source) + source
	if os.Getenv("RADISH_TEST_SOURCE") != "" {
		x.t.Log(source)
	}
	var options []string
	if x.device.Info().Emulated() {
		options = append(options, "-O0") // compiling takes longer than running
	}
	if x.compileOnly {
		if x.t.Failed() {
			return refused
		}
		if _, err := x.library.Compile(90, source); err != nil {
			x.t.Error(err)
		}
		return refused
	}
	m, _, err := x.device.Load(context.Background(), source, options...)
	if err != nil {
		x.t.Fatal(err)
	}
	defer m.Release()
	for _, k := range kernels {
		f, err := m.Function(k.name)
		if err != nil {
			x.t.Fatal(err)
		}
		outs := map[string][]byte{}
		at := map[string]gpukernels.Ptr{}
		for what, width := range map[string]int{"value": 16, "null": 1, "true": 1, "false": 1, "code": 4, "warnings": 8} {
			outs[what] = make([]byte, width*x.n)
			at[what] = x.alloc(width * x.n)
		}
		errorAt, warningsAt := x.alloc(16), x.alloc(8*len(k.text.Sites)+8)
		texts, stringsUsed := x.alloc(textBytesInTests), x.alloc(16)
		for _, p := range []gpukernels.Ptr{errorAt, warningsAt, stringsUsed} {
			if err := x.stream.Fill(p, 0, 8, 2); err != nil {
				x.t.Fatal(err)
			}
		}
		if n := int64(len(k.text.Sites)); n > 0 {
			if err := x.stream.Fill(warningsAt, 0, 8, n); err != nil {
				x.t.Fatal(err)
			}
		}
		params := make([]uint64, len(k.text.Params))
		for i, s := range k.text.Params {
			switch {
			case s.Table != nil:
				p, ok := x.tables[s.Table]
				if !ok {
					p = x.upload(s.Table.Bytes)
					x.tables[s.Table] = p
				}
				params[i] = uint64(p)
			case s.Key == nil:
				params[i] = s.Word
			default:
				switch key := s.Key.(type) {
				case ErrorWord:
					params[i] = uint64(errorAt)
				case StringWord:
					params[i] = [...]uint64{uint64(texts), textBytesInTests, uint64(stringsUsed)}[key]
				case WarningsWord:
					params[i] = uint64(warningsAt)
				case testRows:
					params[i] = uint64(x.n)
				case testColumn:
					params[i] = uint64(x.data[key.i])
				case testNulls:
					params[i] = uint64(x.null[key.i])
				case testOut:
					params[i] = uint64(at[key.what])
				}
			}
		}
		if err := x.stream.Launch(f, 1, x.device.Block(256), 0, params); err != nil {
			x.t.Fatalf("%s: %v", k.e, err)
		}
		for what, b := range outs {
			if err := x.stream.Download(context.Background(), b, at[what]); err != nil {
				x.t.Fatalf("%s: %v", k.e, err)
			}
		}
		for what := range outs {
			if err := x.stream.Free(at[what]); err != nil {
				x.t.Fatal(err)
			}
			x.owned = slices.DeleteFunc(x.owned, func(p gpukernels.Ptr) bool { return p == at[what] })
		}
		if !x.compare(k.e, k.v, outs) {
			x.t.Logf("the kernel:\n%s", k.text.Source(k.name, len(k.text.Params)))
			return refused
		}
	}
	return refused
}

// compare checks what a kernel gave against the evaluator, each row on its own.
func (x *exprTest) compare(e expr.Expr, v Value, outs map[string][]byte) bool {
	x.t.Helper()
	slots := map[expr.ColumnID]int{}
	for i, c := range x.cols {
		slots[c.ID] = i
	}
	program, err := expr.Compile(e, slots)
	if err != nil {
		x.t.Errorf("%s: %v", e, err)
		return false
	}
	ctx := plantest.Context()
	for i := range x.n {
		row := func() string {
			var b strings.Builder
			for k, c := range x.cols {
				used := false
				expr.Columns(e, func(id expr.ColumnID) { used = used || id == c.ID })
				if used {
					fmt.Fprintf(&b, " %s=%s", c.Name, show(x.vecs[k].Value(i)))
				}
			}
			return b.String()
		}
		ctx.Warnings = &sqlerr.Warnings{}
		batch := &column.Batch{N: x.n, Sel: []int32{int32(i)}, Cols: x.vecs}
		got, err := program.Eval(ctx, batch)
		code := Code(binary.LittleEndian.Uint32(outs["code"][4*i:]))
		warned := binary.LittleEndian.Uint64(outs["warnings"][8*i:])
		if err != nil || ctx.Warnings.Count() > 0 && code == CodeOnCPU {
			if code == 0 {
				x.t.Errorf("%s, row %d%s: no error; the CPU's: %v", e, i, row(), err)
				return false
			}
			x.failed++
			continue
		}
		if code != 0 {
			x.t.Errorf("%s, row %d%s: error %d; the CPU gives %s", e, i, row(), code, show(got.Value(i)))
			return false
		}
		want := got.Value(i)
		bools := e.Type().Kind == types.KindBool
		if (warned > 0) != (ctx.Warnings.Count() > 0) || !bools && int64(warned) != ctx.Warnings.Count() {
			x.t.Errorf("%s, row %d%s: %d warnings; the CPU gives %d", e, i, row(), warned, ctx.Warnings.Count())
			return false
		}
		if want.Null {
			x.nulls++
		} else {
			x.values++
		}
		have := x.read(e.Type(), v, outs, i)
		if !sameResult(have, want, e.Type()) {
			x.t.Errorf("%s (%s), row %d%s: %s; the CPU gives %s", e, e.Type(), i, row(), show(have), show(want))
			return false
		}
		if bools && ((outs["true"][i] != 0) != (!want.Null && want.I != 0) || (outs["false"][i] != 0) != (!want.Null && want.I == 0)) {
			x.t.Errorf("%s, row %d%s: is TRUE %d, is FALSE %d; the CPU gives %s", e, i, row(), outs["true"][i], outs["false"][i], show(want))
			return false
		}
	}
	return true
}

// read returns what a kernel stored for a row.
func (x *exprTest) read(typ types.Type, v Value, outs map[string][]byte, i int) types.Value {
	out := types.Value{Type: typ, Null: outs["null"][i] != 0}
	if out.Null {
		return out
	}
	word := func(k int) uint64 { return binary.LittleEndian.Uint64(outs["value"][8*k:]) }
	switch v.Class {
	case form.Float:
		out.F = math.Float64frombits(word(i))
	case form.Wide:
		out.D = types.Int128{Hi: int64(word(2*i + 1)), Lo: word(2 * i)}
	case form.Code:
		out.S = v.Dict.Value(binary.LittleEndian.Uint32(outs["value"][4*i:]))
	case form.View:
		b := make([]byte, word(2*i+1))
		if len(b) > 0 {
			if err := x.stream.Download(context.Background(), b, gpukernels.Ptr(word(2*i))); err != nil {
				x.t.Fatal(err)
			}
		}
		out.S = string(b)
	default:
		out.I = int64(word(i))
	}
	return out
}

func sameResult(a, b types.Value, typ types.Type) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	switch typ.Phys() {
	case types.PhysFloat64:
		return a.F == b.F || math.Abs(a.F-b.F) <= 1e-9*math.Abs(b.F)
	case types.PhysInt128:
		if b.Type.Phys() != types.PhysInt128 { // an arm of a CASE that was narrowed
			b.D = types.Int128FromInt64(b.I)
		}
		return a.D == b.D
	case types.PhysString:
		return a.S == b.S
	}
	return a.I == b.I
}

func show(v types.Value) string {
	if v.Null {
		return "NULL"
	}
	if v.Type.IsString() {
		return strconv.Quote(v.S)
	}
	return v.Text()
}

// must is for building expressions.
func must(e expr.Expr, err error) expr.Expr {
	if err != nil {
		panic(err)
	}
	return e
}

func call(name string, args ...expr.Expr) expr.Expr { return must(expr.NewCall(name, args...)) }

func TestEmitRandom(t *testing.T) {
	seed := gputest.Seed(t)
	gputest.Each(t, func(t *testing.T, d *gpukernels.Device) {
		x := newExprTest(t, seed, d, 60)
		g := newExprGenerator(x)
		rounds := 100
		if testing.Short() {
			rounds = 60
		}
		var exprs []expr.Expr
		for range rounds {
			exprs = append(exprs, g.any(3))
		}
		var refused []string
		for part := range slices.Chunk(exprs, 50) {
			refused = append(refused, x.check(part)...)
			if t.Failed() {
				return
			}
		}
		t.Logf("%d of %d expressions were refused; %d values, %d NULLs, %d errors", len(refused), rounds, x.values, x.nulls, x.failed)
		if len(refused) > rounds/3 {
			t.Errorf("too many were refused: %q", refused)
		}
	})
}

// What the kernels call compiles for a GPU, whether there is one or not.
func TestEmitCompilesForCUDA(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	seed := gputest.Seed(t)
	x := newExprTest(t, seed, gputest.Emulated(t), 10)
	x.compileOnly, x.library = true, lib
	g := newExprGenerator(x)
	exprs := functionCases(x, 1)
	for range 20 {
		exprs = append(exprs, g.any(3))
	}
	for part := range slices.Chunk(exprs, 60) {
		x.check(part)
	}
}
