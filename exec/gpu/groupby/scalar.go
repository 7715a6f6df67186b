package groupby

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/exec/gpu/codegen"
)

// One group is added up in variables of each thread, which a block puts together behind its loop.

var scalar = algorithm{
	name:    "variables of threads",
	applies: func(feed *Feed) bool { return feed.f.Shape == ScalarGroups },
	row:     (*groupText).scalar,
}

// scalar adds to variables of the thread, which are put together behind the loop.
func (a *groupText) scalar(keys, args []codegen.Value) {
	slot := a.slotOf(keys)
	a.eachValue(args, func(i int, acc *Accumulator) { a.scalarValue(acc, args[i], slot) })
}

// scalarValue adds a value to an accumulator's variable.
func (a *groupText) scalarValue(acc *Accumulator, v codegen.Value, slot string) {
	k := a.k
	name := k.Name("sum")
	at := func(i int) string { return a.arrayOf(acc, i) }
	switch {
	case acc.op == accCount:
		a.decl = append(a.decl, fmt.Sprintf("u64 %s = 0;", name))
		k.Line("%s++;", name)
		a.sum("(u64)"+name, at(0))
	case acc.op == accSum && acc.narrow:
		a.decl = append(a.decl, fmt.Sprintf("i64 %s = 0;", name))
		k.Line("%s += (i64)%s;", name, v.Text)
		a.sum("(u64)"+name, at(0))
	case acc.op == accSum:
		a.decl = append(a.decl, fmt.Sprintf("i128 %s = 0;", name))
		k.Line("%s += %s;", name, addend(v))
		a.sum(name, at(0), at(1))
	case acc.op == accFloatSum:
		a.decl = append(a.decl, fmt.Sprintf("i128 %s = 0;", name))
		a.addFloat(acc, v, slot, func(term string) { k.Line("%s += %s;", name, term) })
		a.sum(name, at(1), at(2))
	case acc.op == accFloatSquares:
		a.decl = append(a.decl, fmt.Sprintf("i128 %s_low = 0, %s_high = 0;", name, name))
		a.addFloat(acc, v, slot, func(term string) {
			k.Line("%s_low += %s.low;", name, term)
			k.Line("%s_high += %s.high;", name, term)
		})
		a.sum(name+"_low", at(1), at(2))
		a.sum(name+"_high", at(3), at(4))
	case acc.op == accMin:
		a.decl = append(a.decl, fmt.Sprintf("i64 %s = 0x7fffffffffffffffll;", name))
		k.Line("%s = min_of(%s, (i64)%s);", name, name, ordered(v))
		a.reduce(name, "Min()", fmt.Sprintf("keep_min(%s, %s)", at(0), name))
	case acc.op == accMax:
		a.decl = append(a.decl, fmt.Sprintf("i64 %s = (i64)(1ull << 63);", name))
		k.Line("%s = max_of(%s, (i64)%s);", name, name, ordered(v))
		a.reduce(name, "Max()", fmt.Sprintf("keep_max(%s, %s)", at(0), name))
	case acc.op == accBitAnd || acc.op == accBitOr || acc.op == accBitXor:
		op, functor := acc.bits()
		a.decl = append(a.decl, fmt.Sprintf("u64 %s = (u64)(i32)%s;", name, acc.noWord()))
		k.Line("%s = %s(%s, (u64)%s);", name, functor, name, v.Text)
		a.reduce(name, functor, fmt.Sprintf("atomic_%s(%s, %s)", op, at(0), name))
	case acc.op == accLeast || acc.op == accMost:
		a.decl = append(a.decl, fmt.Sprintf("%s %s{};", v.Class.CName(), name), fmt.Sprintf("bool %s_seen = false;", name))
		better := fmt.Sprintf("less_than(%s, %s)", v.Text, name)
		if acc.op == accMost {
			better = fmt.Sprintf("less_than(%s, %s)", name, v.Text)
		}
		k.Line("if (!%s_seen || %s) %s = %s;", name, better, name, v.Text)
		k.Line("%s_seen = true;", name)
		a.tail = append(a.tail, fmt.Sprintf("if (%s_seen) %s(%s, %s, %s, %s);", name, keepBest(acc), at(2), at(0), at(1), name))
	default:
		a.update(acc, v, slot)
	}
}

// sum puts the threads' sums together behind the loop; thread 0 adds the block's to words in device memory. The sum is an u64 for one word, and an i128 for two.
func (a *groupText) sum(value string, words ...string) {
	add := "add_block"
	if a.f.hasMany() {
		add = "add_block_apart"
	}
	a.tail = append(a.tail, fmt.Sprintf("%s(%s, %s);", add, strings.Join(words, ", "), value))
}

// reduce puts the threads' variables together behind the loop; thread 0 adds the block's.
func (a *groupText) reduce(name, op, add string) {
	a.tail = append(a.tail, fmt.Sprintf("%s = block_reduce(%s, %s);", name, name, op), fmt.Sprintf("if (thread_index() == 0) %s;", add))
}
