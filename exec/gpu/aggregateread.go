package gpu

import (
	"fmt"
	"math"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// openGroups writes the loop over an aggregation's groups.
func (k *kernel) openGroups(s *scope, src *physical.SinkScan, p *physical.Aggregate) (*scope, error) {
	f := k.prog.aggs[p]
	if f == nil {
		return nil, refuse("what it reads was computed on the CPU")
	}
	k.line("// groups: %s", f.shape)
	k.maxRows = k.prog.groups(f)
	occupied := ""
	switch f.shape {
	case denseGroups:
		if f.seenAt >= 0 {
			occupied = fmt.Sprintf("%s[row] != 0", k.pointer("const u8", aggWord{p, f.seenAt}))
		} else {
			occupied = fmt.Sprintf("%s[row] != 0", k.pointer("const u64", aggWord{p, f.accs[f.taken].at}))
		}
	case packedGroups, wordGroups:
		occupied = fmt.Sprintf("%s[row] != empty_key", k.pointer("const u64", aggKeysWord{p}))
	case keyedGroups:
		occupied = fmt.Sprintf("%s[row] != slot_empty", k.pointer("const u32", aggKeysWord{p}))
	}
	k.openRows(func(q *query) int64 { return q.groups[p].size() }, occupied)
	for i, c := range src.Cols {
		if err := k.bindGroup(s, f, c, src.Ins[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// bindGroup makes a column of an aggregation known: a key or an aggregate's value.
func (k *kernel) bindGroup(s *scope, f *aggForm, c *expr.Column, in expr.ColumnID) error {
	for i, g := range f.p.Groups {
		if g.Col.ID != in {
			continue
		}
		stored := &f.form.cols[i]
		like := stored.like
		like.text = ""
		k.noteRange(c.ID, stored.within, stored.known)
		s.bindLazy(c.ID, like, func() (value, error) { return k.groupKey(f, i), nil })
		return nil
	}
	for i := range f.p.Aggs {
		it := &f.p.Aggs[i]
		if it.Col.ID != in {
			continue
		}
		like := value{class: form.ClassOf(it.Col.Typ), typ: it.Col.Typ, null: "null"}
		if acc := f.accs[f.items[i].acc]; acc.like.class == form.Code && acc.op != accCount {
			like.class, like.dict = form.Code, acc.like.dict
		}
		switch acc := f.accs[f.items[i].acc]; acc.op {
		case accCount:
			n := k.prog.bound(f.p)
			k.noteRange(c.ID, form.Interval{Lo: 0, Hi: int64(n)}, n < mostRows)
		case accMin, accMax:
			k.noteRange(c.ID, acc.within, acc.known)
		}
		if t := it.Col.Typ; t.Phys() == types.PhysFloat64 && !isVariance(it.Fn.Kind) && f.accs[f.items[i].acc].op == accSum {
			return refuse("a sum of exact numbers as a DOUBLE runs on the CPU only")
		}
		s.bindLazy(c.ID, like, func() (value, error) { return k.groupValue(f, i) })
		return nil
	}
	return refuse("column %s is not stored", c)
}

// groupKey reads key i of group number row.
func (k *kernel) groupKey(f *aggForm, i int) value {
	v := f.form.cols[i].like
	nullable := v.null != ""
	key := f.keys
	digit := ""
	switch f.shape {
	case denseGroups:
		word := "u64"
		if f.places <= math.MaxUint32 { // a division of 64 bits is a hundred instructions, and so is the rest
			word = "u32"
		}
		digit = fmt.Sprintf("(%[1]s)row / (%[1]s)%[2]s %% (%[1]s)%[3]s", word, k.literal(key[i].stride), k.literal(key[i].digits))
	case packedGroups:
		digit = fmt.Sprintf("%s[row] >> %s", k.pointer("const u64", aggKeysWord{f.p}), k.literal(uint64(key[i].shift)))
		if i < len(key)-1 {
			digit = fmt.Sprintf("(%s) & %s", digit, k.literal(1<<(key[i+1].shift-key[i].shift)-1))
		}
	case wordGroups:
		name := k.name("key")
		k.line("const u64 %s = row == (i64)%s + 1 ? empty_key : %s[row];", name, k.word(aggMaskWord{f.p}), k.pointer("const u64", aggKeysWord{f.p}))
		v.text = "(i64)" + name
		if v.class == form.Float {
			v.text = "as_f64(" + name + ")"
		}
		if nullable {
			v.null = fmt.Sprintf("row == (i64)%s + 2", k.word(aggMaskWord{f.p}))
		}
		return k.define(v, "key")
	default:
		v.text = fmt.Sprintf("%s[row]", k.pointer("const "+v.class.CName(), aggWord{f.p, f.keyAt + 2*i}))
		if nullable {
			v.null = fmt.Sprintf("!%s[row]", k.pointer("const u8", aggWord{f.p, f.keyAt + 2*i + 1}))
		}
		return k.define(v, "key")
	}
	name := k.name("d")
	k.line("const u64 %s = %s;", name, digit)
	less := ""
	if nullable {
		v.null = name + " == 0"
		less = " - 1"
	}
	if v.class == form.Code {
		v.text = "(u32)(" + name + less + ")"
		if nullable {
			v.text = fmt.Sprintf("%s ? (u32)(%s - 1) : 0u", name, name)
		}
	} else {
		v.text = fmt.Sprintf("(i64)(%s%s + %s)", name, less, k.literal(uint64(key[i].min)))
	}
	return k.define(v, "key")
}

// groupValue computes aggregate i of group number row from its accumulators, as exec/cpu does.
func (k *kernel) groupValue(f *aggForm, i int) (value, error) {
	it := &f.p.Aggs[i]
	acc := f.accs[f.items[i].acc]
	typ := it.Col.Typ
	at := func(a *accForm, n int) string {
		return fmt.Sprintf("%s[row]", k.pointer("const "+f.arrays[a.at+n].elem, aggWord{f.p, a.at + n}))
	}
	v := value{class: form.ClassOf(typ), typ: typ}
	count := ""
	if n := f.items[i].count; n >= 0 {
		count = k.name("n")
		k.line("const i64 %s = (i64)%s; // of values", count, at(f.accs[n], 0))
		v.null = count + " == 0"
	}
	if isVariance(it.Fn.Kind) {
		return k.varianceValue(f, i, v, count)
	}
	switch acc.op {
	case accCount:
		v.text = "(i64)" + at(acc, 0)
	case accSum:
		return k.sumValue(f, i, v, count)
	case accFloatSum:
		v.text = fmt.Sprintf("exact_sum(%s)", k.floatSum(f, acc))
		if it.Fn.Kind == expr.AggAvg {
			v.text += fmt.Sprintf(" / (f64)(%s == 0 ? 1 : %s)", count, count)
		}
		v = k.define(v, "sum")
		k.raiseIf(fmt.Sprintf("sum_overflowed(%s, %s)", v.text, k.limbs(f, acc)), errOutOfRange, it.Args[0])
		if typ.Phys() != types.PhysFloat64 {
			return v, refuse("%s of doubles as an exact number runs on the CPU only", it.Fn.Name)
		}
		return v, nil
	case accMin, accMax:
		v.text = at(acc, 0)
		switch {
		case acc.like.class == form.Float:
			v.text = "of_order(" + v.text + ")"
		case acc.like.typ.Phys() == types.PhysUint64:
			v.text = "(i64)((u64)" + v.text + " ^ (1ull << 63))"
		}
	case accBitAnd, accBitOr, accBitXor:
		v.text = "(i64)" + at(acc, 0)
	default:
		v.class, v.dict = acc.like.class, acc.like.dict
		v.text = at(acc, 0)
		v.null = "!" + at(acc, 1)
	}
	return k.define(v, "value"), nil
}

// sumValue computes a sum or an average of exact numbers.
func (k *kernel) sumValue(f *aggForm, i int, v value, count string) (value, error) {
	it := &f.p.Aggs[i]
	acc := f.accs[f.items[i].acc]
	typ := it.Col.Typ
	sum := k.name("sum")
	k.line("i128 %s = %s;", sum, k.sumText(f, acc))
	from, to := fractionOf(it.Args[0].Type()), fractionOf(typ)
	if to < from {
		return v, refuse("%s of fewer digits than its argument runs on the CPU only", it.Fn.Name)
	}
	ok := k.name("fits")
	k.line("bool %s = true;", ok)
	if it.Fn.Kind == expr.AggAvg {
		cut := to > from && to%9 == 0
		k.line("%s = average(%s, %s, %d, %v, &%s);", sum, sum, count, to-from, cut, ok)
	} else if to > from {
		k.line("%s = times_power(%s, %d, &%s);", sum, sum, to-from, ok)
	}
	if typ.Kind == types.KindDecimal {
		k.line("%s = %s && has_digits<%d>(%s);", ok, ok, typ.Precision, sum)
	}
	switch typ.Phys() {
	case types.PhysInt64:
		k.line("%s = %s && %s == (i64)%s;", ok, ok, sum, sum)
		v.text = "(i64)" + sum
	case types.PhysUint64:
		k.line("%s = %s && %s == (i128)(u64)%s;", ok, ok, sum, sum)
		v.text = "(i64)" + sum
	default:
		v.text = sum
	}
	k.raiseIf("!"+ok, errOutOfRange, it.Args[0])
	return k.define(v, "value"), nil
}
