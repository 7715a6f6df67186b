package groupby

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// OutlineSource decides what the source gives that reads an aggregation's groups.
func (all Forms) OutlineSource(o *kernel.Outline, src *physical.SinkScan, p *physical.Aggregate) error {
	f := all[p]
	if f == nil {
		return kernel.RefuseHostInput()
	}
	rows := o.Pipelines.Bound(p)
	o.MaxRows = f.most(rows)
	for i, c := range src.Cols {
		item := f.item(src.Ins[i])
		if item < 0 {
			return codegen.Refuse("no earlier pipeline on the GPU stored column %s", c)
		}
		if err := f.check(item); err != nil {
			return err
		}
		o.Forms.Bind(c.ID, f.columnOf(item, rows), false)
	}
	return nil
}

// Open writes the loop over an aggregation's groups.
func (all Forms) Open(of *kernel.Kernel, s *codegen.Scope, src *physical.SinkScan, p *physical.Aggregate) {
	k, f := &reader{of}, all[p]
	k.Line("// groups: %s", f.Shape)
	occupied := ""
	if x := f.Occupied(); x.Array != nil {
		occupied = fmt.Sprintf("%s[row] != %s", k.Pointer(fmt.Sprintf("const u%d", 8*x.Unit), x.Array), f.Shape.free())
	}
	k.OpenRows(kernel.Rows{Groups: p}, occupied)
	for i, c := range src.Cols {
		item := f.item(src.Ins[i])
		s.BindLazy(c.ID, f.columnOf(item, kernel.Unbounded).Value(), func() codegen.Value { return k.value(f, item) })
	}
}

// item is the number of a column of an aggregation: keys come first, then aggregates. -1: there is none.
func (f *Form) item(in expr.ColumnID) int {
	for i, g := range f.Aggregate.Groups {
		if g.Col.ID == in {
			return i
		}
	}
	for i := range f.Aggregate.Aggs {
		if f.Aggregate.Aggs[i].Col.ID == in {
			return len(f.Aggregate.Groups) + i
		}
	}
	return -1
}

// check refuses an aggregate whose value is not computed from its accumulators here.
func (f *Form) check(item int) error {
	i := item - len(f.Aggregate.Groups)
	if i < 0 {
		return nil
	}
	it, acc := &f.Aggregate.Aggs[i], f.Accs[f.items[i].acc]
	isDouble := it.Col.Typ.Phys() == types.PhysFloat64
	switch {
	case isVariance(it.Fn.Kind):
	case acc.op == accSum && isDouble:
		return codegen.Refuse("a sum of integers or decimals as a DOUBLE runs on the CPU only")
	case acc.op == accSum && codegen.ScaleOf(it.Col.Typ) < codegen.ScaleOf(it.Args[0].Type()):
		return codegen.Refuse("%s with fewer digits than its argument runs on the CPU only", it.Fn.Name)
	case acc.op == accFloatSum && !isDouble:
		return codegen.Refuse("%s of doubles with an exact result runs on the CPU only", it.Fn.Name)
	}
	return nil
}

// columnOf is the form of a column of an aggregation to which so many rows come at most.
func (f *Form) columnOf(item int, rows float64) codegen.Form {
	i := item - len(f.Aggregate.Groups)
	if i < 0 {
		return f.form.Cols[item].Form
	}
	typ, acc := f.Aggregate.Aggs[i].Col.Typ, f.Accs[f.items[i].acc]
	v := codegen.Form{Class: form.ClassOf(typ), Typ: typ, IsNullable: f.items[i].count >= 0}
	switch acc.op {
	case accCount:
		v.Within, v.Known = form.Interval{Lo: 0, Hi: int64(rows)}, rows < mostRows
	case accMin, accMax:
		v.Within, v.Known = acc.like.Within, acc.like.Known
	case accAny, accSingle, accLeast, accMost:
		v.Class, v.Dict, v.IsNullable = acc.like.Class, acc.like.Dict, true
	}
	return v
}

// value reads a column of group number row.
func (k *reader) value(f *Form, item int) codegen.Value {
	if keys := len(f.Aggregate.Groups); item >= keys {
		return k.groupValue(f, item-keys)
	}
	return k.groupKey(f, item)
}

// groupKey reads key i of group number row.
func (k *reader) groupKey(f *Form, i int) codegen.Value {
	v := f.form.Cols[i].Form.Value()
	nullable := v.Null != ""
	key := f.keys
	digit := ""
	switch f.Shape {
	case DenseGroups:
		word := "u64"
		if f.Slots <= math.MaxUint32 { // a division of 64 bits is a hundred instructions, and so is the rest
			word = "u32"
		}
		digit = fmt.Sprintf("(%[1]s)row / (%[1]s)%[2]s %% (%[1]s)%[3]s", word, k.Literal(key[i].stride), k.Literal(key[i].digits))
	case PackedGroups:
		digit = fmt.Sprintf("%s[row] >> %s", k.Pointer("const u64", GroupKeys{f.Aggregate}), k.Literal(uint64(key[i].shift)))
		if i < len(key)-1 {
			digit = fmt.Sprintf("(%s) & %s", digit, k.Literal(1<<(key[i+1].shift-key[i].shift)-1))
		}
	case wordGroups:
		name := k.Name("key")
		k.Line("const u64 %s = row == (i64)%s + 1 ? empty_key : %s[row];", name, k.Word(GroupMask{f.Aggregate}), k.Pointer("const u64", GroupKeys{f.Aggregate}))
		v.Text = "(i64)" + name
		if v.Class == form.Float {
			v.Text = "as_f64(" + name + ")"
		}
		if nullable {
			v.Null = fmt.Sprintf("row == (i64)%s + 2", k.Word(GroupMask{f.Aggregate}))
		}
		return k.Define(v, "key")
	default:
		v.Text = fmt.Sprintf("%s[row]", k.Pointer("const "+v.Class.CName(), GroupArray{f.Aggregate, f.keyAt + 2*i}))
		if nullable {
			v.Null = fmt.Sprintf("!%s[row]", k.Pointer("const u8", GroupArray{f.Aggregate, f.keyAt + 2*i + 1}))
		}
		return k.Define(v, "key")
	}
	name := k.Name("d")
	k.Line("const u64 %s = %s;", name, digit)
	less := ""
	if nullable {
		v.Null = name + " == 0"
		less = " - 1"
	}
	if v.Class == form.Code {
		v.Text = "(u32)(" + name + less + ")"
		if nullable {
			v.Text = fmt.Sprintf("%s ? (u32)(%s - 1) : 0u", name, name)
		}
	} else {
		v.Text = fmt.Sprintf("(i64)(%s%s + %s)", name, less, k.Literal(uint64(key[i].min)))
	}
	return k.Define(v, "key")
}

// groupValue computes aggregate i of group number row from its accumulators, as exec/cpu does.
func (k *reader) groupValue(f *Form, i int) codegen.Value {
	it := &f.Aggregate.Aggs[i]
	acc := f.Accs[f.items[i].acc]
	typ := it.Col.Typ
	at := func(a *Accumulator, n int) string {
		return fmt.Sprintf("%s[row]", k.Pointer("const "+f.Arrays[a.At+n].elem, GroupArray{f.Aggregate, a.At + n}))
	}
	v := codegen.Value{Class: form.ClassOf(typ), Typ: typ}
	count := ""
	if n := f.items[i].count; n >= 0 {
		count = k.Name("n")
		k.Line("const i64 %s = (i64)%s; // of values", count, at(f.Accs[n], 0))
		v.Null = count + " == 0"
	}
	if isVariance(it.Fn.Kind) {
		return k.varianceValue(f, i, v, count)
	}
	switch acc.op {
	case accCount:
		v.Text = "(i64)" + at(acc, 0)
	case accSum:
		return k.sumValue(f, i, v, count)
	case accFloatSum:
		v.Text = fmt.Sprintf("exact_sum(%s)", k.floatSum(f, acc))
		if it.Fn.Kind == expr.AggAvg {
			v.Text += fmt.Sprintf(" / (f64)(%s == 0 ? 1 : %s)", count, count)
		}
		v = k.Define(v, "sum")
		k.RaiseIf(fmt.Sprintf("sum_overflowed(%s, %s)", v.Text, k.limbs(f, acc)), codegen.CodeOutOfRange, it.Args[0])
		return v
	case accMin, accMax:
		v.Text = at(acc, 0)
		switch {
		case acc.like.Class == form.Float:
			v.Text = "of_order(" + v.Text + ")"
		case acc.like.Typ.Phys() == types.PhysUint64:
			v.Text = "(i64)((u64)" + v.Text + " ^ (1ull << 63))"
		}
	case accBitAnd, accBitOr, accBitXor:
		v.Text = "(i64)" + at(acc, 0)
	default:
		v.Class, v.Dict = acc.like.Class, acc.like.Dict
		v.Text = at(acc, 0)
		v.Null = "!" + at(acc, 1)
	}
	return k.Define(v, "value")
}

// sumValue computes a sum or an average of exact numbers.
func (k *reader) sumValue(f *Form, i int, v codegen.Value, count string) codegen.Value {
	it := &f.Aggregate.Aggs[i]
	acc := f.Accs[f.items[i].acc]
	typ := it.Col.Typ
	sum := k.Name("sum")
	k.Line("i128 %s = %s;", sum, k.sumText(f, acc))
	from, to := codegen.ScaleOf(it.Args[0].Type()), codegen.ScaleOf(typ)
	ok := k.Name("fits")
	k.Line("bool %s = true;", ok)
	if it.Fn.Kind == expr.AggAvg {
		cut := to > from && to%9 == 0
		k.Line("%s = average(%s, %s, %d, %v, &%s);", sum, sum, count, to-from, cut, ok)
	} else if to > from {
		k.Line("%s = times_power(%s, %d, &%s);", sum, sum, to-from, ok)
	}
	if typ.Kind == types.KindDecimal {
		has := "has_digits"
		if f.hasMany() {
			has = "has_digits_apart"
		}
		k.Line("%s = %s && %s<%d>(%s);", ok, ok, has, typ.Precision, sum)
	}
	switch typ.Phys() {
	case types.PhysInt64:
		k.Line("%s = %s && %s == (i64)%s;", ok, ok, sum, sum)
		v.Text = "(i64)" + sum
	case types.PhysUint64:
		k.Line("%s = %s && %s == (i128)(u64)%s;", ok, ok, sum, sum)
		v.Text = "(i64)" + sum
	default:
		v.Text = sum
	}
	k.RaiseIf("!"+ok, codegen.CodeOutOfRange, it.Args[0])
	return k.Define(v, "value")
}

// reader writes the kernel of a pipeline that reads groups.
type reader struct{ *kernel.Kernel }

// sumText is the C++ of an exact sum of group number row, an i128.
func (k *reader) sumText(f *Form, acc *Accumulator) string {
	if acc.narrow {
		return fmt.Sprintf("(i64)%s[row]", k.Pointer("const u64", GroupArray{f.Aggregate, acc.At}))
	}
	return k.wideText(f, acc.At)
}

// wideText is the C++ of the i128 whose words group number row has in array number at and in the next one.
func (k *reader) wideText(f *Form, at int) string {
	return fmt.Sprintf("as_i128(%s[row], %s[row])", k.Pointer("const u64", GroupArray{f.Aggregate, at}), k.Pointer("const u64", GroupArray{f.Aggregate, at + 1}))
}

// floatSum is the C++ of the arguments that say what a sum of doubles, or of their squares, is in group number row: its limbs, what fitted the window, and that.
func (k *reader) floatSum(f *Form, acc *Accumulator) string {
	fitted := k.wideText(f, acc.At+1)
	if acc.op == accFloatSquares {
		fitted += ", " + k.wideText(f, acc.At+3)
	}
	return fmt.Sprintf("%s, %s, *%s", k.limbs(f, acc), fitted, k.Pointer("const u32", kernel.CounterWord{Of: windowOf{acc}}))
}

// limbs is the C++ of where a sum of doubles of group number row has its limbs.
func (k *reader) limbs(f *Form, acc *Accumulator) string {
	return fmt.Sprintf("%s + %d * row", k.Pointer("const i64", GroupArray{f.Aggregate, acc.At}), ExactWords)
}

// varianceValue computes aggregate i, a variance or standard deviation.
func (k *reader) varianceValue(f *Form, i int, v codegen.Value, count string) codegen.Value {
	it, out := &f.Aggregate.Aggs[i], f.items[i]
	divisor := count
	if it.Fn.Kind == expr.AggVarSamp || it.Fn.Kind == expr.AggStddevSamp {
		divisor = k.Name("n")
		k.Line("const i64 %s = %s - 1;", divisor, count)
		v.Null = divisor + " <= 0"
	}
	fits, x := k.Name("fits"), k.Name("x")
	k.Line("bool %s = true;", fits)
	k.Line("f64 %s = 0;", x)
	sum, squares := f.Accs[out.acc], f.Accs[out.squares]
	k.Open("if (%s > 0) {", divisor)
	if sum.op == accFloatSum {
		k.Line("%s = exact_variance(%s, %s, %s, %s, &%s);", x, k.floatSum(f, sum), k.floatSum(f, squares), count, divisor, fits)
	} else {
		k.Line("%s = variance(%s, %s, %s, %s, &%s);", x, k.sumText(f, sum), k.sumText(f, squares), count, divisor, fits)
		if scale := codegen.ScaleOf(sum.arg.Type()); scale > 0 {
			k.Line("%s /= 1e%d;", x, 2*scale)
		}
	}
	k.Close()
	k.RaiseIf("!"+fits, codegen.CodeOnCPU, it.Args[0])
	v.Text = x
	if it.Fn.Kind == expr.AggStddevPop || it.Fn.Kind == expr.AggStddevSamp {
		v.Text = "math_sqrt(" + x + ")"
	}
	return k.Define(v, "value")
}
