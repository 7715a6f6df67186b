package groupby

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// groupText is the sink that fills groups.
type groupText struct {
	k     *kernel.Kernel
	forms map[*physical.Aggregate]*Form
	f     *Form
	first bool // this pipeline settles the form
	decl  []string
	tail  []string

	slots   int64  // of a block's own table of keys of 64 bits; 0: it has none
	slot    int64  // bytes that one takes
	inLocal bool   // what is being written concerns that table
	own     string // C++: the first of a group's words in shared memory
	// global makes g that group's place in device memory, in a block that closeGlobal ends. Set where sums count.
	global, closeGlobal func()
	windows             map[*Accumulator]string // C++: the thread's copies of the windows of sums of doubles
}

// NewText returns what writes an aggregation's end of a pipeline. The first pipeline that ends in it settles the form of its groups.
func NewText(k *kernel.Kernel, forms map[*physical.Aggregate]*Form, p *physical.Aggregate) (kernel.Sink, error) {
	f := forms[p]
	a := &groupText{k: k, forms: forms, f: f, windows: map[*Accumulator]string{}}
	if f == nil {
		f = &Form{Aggregate: p, form: &kernel.RowForm{}}
		a.f, a.first = f, true
		for i := range p.Aggs {
			if err := f.addItem(&p.Aggs[i]); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// settle lays the accumulators out, once keys and arguments are known.
func (a *groupText) settle(keys []codegen.Value) error {
	f := a.f
	if err := a.chooseShape(keys); err != nil {
		return err
	}
	f.SeenAt = -1
	if f.Shape > DenseGroups && !a.wantsRuns() {
		if f.Partition = a.choosePartition(); f.Partition != nil {
			f.Taken = f.acc(accCount, nil) // sums of offsets need it
		}
	}
	if f.Shape == DenseGroups {
		if !a.fitsShared(true) && !a.wantsRuns() {
			f.Partition = a.choosePartition()
		}
		if f.find(accCount, nil) >= 0 || a.fitsShared(true) || f.Partition != nil {
			f.Taken = f.acc(accCount, nil)
		} else {
			f.SeenAt = f.array("u8", 1, 1, 0)
		}
	}
	for _, acc := range f.Accs {
		acc.At = len(f.Arrays)
		switch acc.op {
		case accCount:
			f.array("u64", 8, 8, 0)
		case accSum:
			f.array("u64", 8, 8, 0)
			if acc.narrow = a.narrow(acc); !acc.narrow {
				f.array("u64", 8, 8, 0)
			}
		case accFloatSum, accFloatSquares:
			f.array("i64", 8*exactWords, 8, 0)
			for range acc.fitted() { // what fitted the window
				f.array("u64", 8, 8, 0)
			}
		case accMin:
			f.array("i64", 8, 8, math.MaxInt64)
		case accMax:
			f.array("i64", 8, 8, 1<<63)
		case accBitAnd:
			f.array("u64", 8, 8, math.MaxUint64)
		case accBitOr, accBitXor:
			f.array("u64", 8, 8, 0)
		case accAny, accSingle, accLeast, accMost:
			f.array(acc.like.Class.CName(), acc.like.Class.Width(), 4, 0)
			f.array("u8", 1, 1, 0)  // 1: the value is not NULL
			f.array("u32", 4, 4, 0) // 1: there is a value; of extremes: a lock
		}
		acc.limbs, acc.offset = a.limbs(acc)
	}
	if c := f.find(accCount, nil); c >= 0 && (f.Partition != nil || f.Shape > DenseGroups && f.Aggregate.EstGroups >= a.k.Plan.Target.Tuning.TilesLeast) {
		for _, acc := range f.Accs {
			if a.canCount(acc) {
				acc.counts, f.Accs[c].in, f.Accs[c].limbs = true, acc, 0
				break
			}
		}
	}
	f.Shared = f.Shape == DenseGroups && f.SeenAt < 0 && a.fitsShared(false)
	a.chooseCopies()
	limbs := 0
	for _, acc := range f.Accs {
		acc.limb = limbs
		limbs += acc.limbs
	}
	if f.Partition == nil && f.inWords() && !a.wantsRuns() {
		f.PerfectHash = a.choosePerfectHash(int64(limbs))
	}
	if f.Shape == KeyedGroups {
		f.KeyAt = len(f.Arrays)
		for _, v := range keys {
			f.array(v.Class.CName(), v.Class.Width(), 4, 0)
			f.array("u8", 1, 1, 0)
		}
	}
	return nil
}

// keyRange bounds a group key's integers or codes.
func (a *groupText) keyRange(i int, v codegen.Value) (min int64, span uint64, proven, ok bool) {
	p := a.f.Aggregate
	if v.Class == form.Code {
		return 0, uint64(max(v.Dict.Len(), 1)) - 1, true, true
	}
	if v.Class != form.Int || p.Groups[i].Expr.Type().Phys() != types.PhysInt64 {
		return 0, 0, false, false
	}
	one := len(a.k.Plan.Feeders[p]) == 1
	if r, known := a.k.Ranges.Of(p.Groups[i].Expr); known && one {
		return r.Lo, uint64(r.Hi) - uint64(r.Lo), true, true
	}
	if p.Algorithm == physical.DenseAggregate && i < len(p.Dense) && !p.Dense[i].Dictionary {
		return p.Dense[i].Min, uint64(p.Dense[i].Max) - uint64(p.Dense[i].Min), false, true
	}
	if i < len(p.Bounds) && p.Bounds[i].Known {
		return p.Bounds[i].Min, uint64(p.Bounds[i].Max) - uint64(p.Bounds[i].Min), false, true
	}
	switch p.Groups[i].Expr.Type().Kind {
	case types.KindBool, types.KindInt8:
		return math.MinInt8, 255, false, true
	case types.KindInt16:
		return math.MinInt16, 1<<16 - 1, false, true
	case types.KindYear, types.KindEnum:
		return 0, 1<<16 - 1, false, true
	case types.KindInt24, types.KindInt32, types.KindDate:
		return math.MinInt32, 1<<32 - 1, false, true
	}
	return 0, 0, false, false
}

// chooseShape decides how groups are found.
func (a *groupText) chooseShape(keys []codegen.Value) error {
	f := a.f
	if len(keys) == 0 {
		f.Shape, f.Slots = ScalarGroups, 1
		return nil
	}
	f.keys = make([]groupKey, len(keys))
	size, width, all := 1.0, uint(0), true
	for i, v := range keys {
		lo, span, proven, ok := a.keyRange(i, v)
		all = all && ok
		if !ok {
			continue
		}
		key := groupKey{min: lo, digits: span + 1, proven: proven, stride: uint64(size), shift: width}
		if v.Null != "" {
			key.digits++
		}
		if key.digits == 0 || key.digits < span {
			all = false // all 64 bits
			continue
		}
		size *= float64(key.digits)
		width += uint(bits.Len64(key.digits - 1))
		f.keys[i] = key
	}
	switch {
	case all && size <= physical.GroupsOnGPU.Combinations(f.Aggregate.EstGroups, float64(a.groupBytes())):
		f.Shape, f.Slots = DenseGroups, int64(size)
	case all && width <= 63:
		f.Shape = PackedGroups
	case len(keys) == 1 && (keys[0].Class == form.Int || keys[0].Class == form.Float):
		f.Shape = wordGroups
	default:
		f.Shape = KeyedGroups
	}
	return nil
}

// groupBytes is about what a group's accumulators take.
func (a *groupText) groupBytes() int64 {
	n := int64(1)
	for _, acc := range a.f.Accs {
		switch acc.op {
		case accSum:
			n += 16
		case accFloatSum, accFloatSquares:
			n += 8*exactWords + 8*int64(acc.fitted())
		case accAny, accSingle, accLeast, accMost:
			n += 21
		default:
			n += 8
		}
	}
	return n
}

func (a *groupText) Row(s *codegen.Scope) error {
	k, f := a.k, a.f
	k.Line("// aggregate")
	var keys []codegen.Value
	for i, g := range f.Aggregate.Groups {
		v, err := k.Emit(g.Expr, s)
		if err != nil {
			return err
		}
		if v.Class == form.Float && v.Null != "true" {
			null := v.Null
			v = k.Assign(v.Typ, "canonical(%s)", v.Text)
			v.Null = null
		}
		if v, err = k.Store(f.Aggregate, f.form, i, g.Col.ID, g.Expr, v); err != nil {
			return err
		}
		keys = append(keys, v)
	}
	if a.first {
		a.addVariances()
	}
	args := make([]codegen.Value, len(f.Accs))
	at := len(keys)
	for i, acc := range f.Accs {
		if acc.arg == nil {
			continue
		}
		v, err := k.Emit(acc.arg, s)
		if err != nil {
			return err
		}
		if (acc.op == accLeast || acc.op == accMost) && v.Class == form.Code {
			if v, err = k.AsView(v); err != nil {
				return err
			}
		}
		if v, err = k.Store(f.Aggregate, f.form, at, 0, acc.arg, v); err != nil {
			return err
		}
		if acc.op == accSum && v.Class == form.Wide {
			a.boundTerm(acc.arg, v)
		}
		at++
		args[i] = v
		acc.like = v
		acc.within, acc.known = k.Ranges.Of(acc.arg)
		acc.known = acc.known && len(k.Plan.Feeders[f.Aggregate]) == 1
	}
	if a.first {
		if err := a.settle(keys); err != nil {
			return err
		}
		for len(args) < len(f.Accs) {
			args = append(args, codegen.Value{})
		}
		a.forms[f.Aggregate] = f
	}
	if f.Shared {
		k.Threads = k.SharedThreads(f.Slots * int64(f.Words()) * 4)
	}
	if f.PerfectHash != nil {
		k.Threads = k.SharedThreads(f.PerfectHash.bytes())
	}
	k.Line("// group: %s", f.Shape)
	if a.inRuns() {
		return a.runs(keys, args)
	}
	if f.Partition != nil {
		a.partitionRowText(keys, args)
		return nil
	}
	if f.PerfectHash != nil {
		a.perfectHashRow(keys, args)
		return nil
	}
	if a.chooseLocal(); a.slots > 0 {
		a.localRow(keys, args)
		return nil
	}
	place := a.place(keys)
	if f.Shape == ScalarGroups {
		a.scalar(args)
		return nil
	}
	a.note(place)
	a.updateAll(args, place)
	return nil
}

// updateAll adds a row's values to a group.
func (a *groupText) updateAll(args []codegen.Value, place string) {
	k, f := a.k, a.f
	switch {
	case f.ByCopy:
		a.own = k.Name("own")
		k.Line("const SharedWord %s = word_after(mine, (u32)%s * group);", a.own, place)
	case f.Shared || a.inLocal:
		a.own = k.Name("own")
		k.Line("u32* const %s = table + (((u32)%s << copies) + copy);", a.own, place)
	}
	for i, acc := range f.Accs {
		a.unlessNull(acc, args[i], func() { a.update(acc, args[i], place) })
	}
}

// unlessNull writes what adds a value to an accumulator, where the value is one that the accumulator takes.
func (a *groupText) unlessNull(acc *Accumulator, v codegen.Value, write func()) {
	switch {
	case v.Null == "" || v.Null == "false" || acc.op == accAny || acc.op == accSingle:
		write()
	case v.Null != "true":
		a.k.Open("if (!(%s)) {", v.Null)
		write()
		a.k.Close()
	}
}

// note marks a dense place as taken, where no count does.
func (a *groupText) note(place string) {
	if a.f.SeenAt >= 0 {
		a.k.Line("note(%s + %s);", a.k.Pointer("u8", GroupArray{a.f.Aggregate, a.f.SeenAt}), place)
	}
}

// addend is the C++ of a value as an i128.
func addend(v codegen.Value) string {
	if v.Class == form.Int && v.Typ.Phys() == types.PhysUint64 {
		return "(i128)(u64)" + v.Text
	}
	return "(i128)" + v.Text
}

// arrayOf is the C++ of the address of an accumulator's array number i.
func (a *groupText) arrayOf(acc *Accumulator, i int) string {
	return a.k.Pointer(a.f.Arrays[acc.At+i].elem, GroupArray{a.f.Aggregate, acc.At + i})
}

// update adds a value to an accumulator of a group.
func (a *groupText) update(acc *Accumulator, v codegen.Value, place string) {
	k, f := a.k, a.f
	at := func(i int) string { return a.arrayOf(acc, i) + " + " + place }
	if f.Shared || a.inLocal {
		if acc.in != nil {
			return // the sum counts
		}
		switch {
		case acc.limbs > 0 && f.ByCopy:
			a.updateCopy(acc, v)
			return
		case acc.limbs > 0:
			a.updateShared(acc, v, place)
			return
		}
	}
	switch acc.op {
	case accCount:
		k.Line("atomic_add(%s, (u64)1);", at(0))
	case accSum:
		if acc.narrow {
			k.Line("atomic_add(%s, (u64)%s);", at(0), v.Text)
		} else {
			k.Line("add_wide(%s, %s, %s);", at(0), at(1), addend(v))
		}
	case accFloatSum, accFloatSquares:
		a.addExact(acc, v, place)
	case accMin:
		k.Line("keep_min(%s, %s);", at(0), ordered(v))
	case accMax:
		k.Line("keep_max(%s, %s);", at(0), ordered(v))
	case accBitAnd, accBitOr, accBitXor:
		name, _ := acc.bits()
		k.Line("atomic_%s(%s, (u64)%s);", name, at(0), v.Text)
	case accAny, accSingle:
		k.Open("if (load_relaxed(%s) == 0 && atomic_cas(%s, 0u, 1u) == 0) {", at(2), at(2))
		k.Line("*(%s) = %s;", at(0), v.Text)
		k.Line("*(%s) = !(%s);", at(1), kernel.OrFalse(v.Null))
		if acc.op == accSingle {
			k.Else()
			k.RaiseIf("true", codegen.CodeOnCPU, acc.arg)
		}
		k.Close()
	case accLeast, accMost:
		k.Line("%s(%s, %s, %s, %s);", keepBest(acc), at(2), at(0), at(1), v.Text)
	}
}

// keepBest is the device function that keeps the better of a group's value and another, for values that no atomic compares.
func keepBest(acc *Accumulator) string {
	if acc.op == accMost {
		return "keep_most"
	}
	return "keep_least"
}

// ordered is the C++ of a value as an i64 of the same order.
func ordered(v codegen.Value) string {
	switch {
	case v.Class == form.Float:
		return "order_of(" + v.Text + ")"
	case v.Typ.Phys() == types.PhysUint64:
		return "(i64)((u64)" + v.Text + " ^ (1ull << 63))"
	}
	return v.Text
}

// Together brings the threads of a warp together again: those that part while they look for a slot would stay apart.
func (a *groupText) Together() ([]string, error) {
	if a.f.Shape >= PackedGroups && !a.inRuns() {
		a.k.Line("warp_barrier(full_mask());")
	}
	return nil, nil
}

func (a *groupText) After() error {
	k, f := a.k, a.f
	for _, l := range a.tail {
		k.Line("%s", l)
	}
	switch {
	case f.ByCopy:
		a.flushCopies()
	case f.Shared:
		a.flush()
	}
	if a.slots > 0 || f.PerfectHash != nil {
		a.flushLocal()
	}
	if a.f.Partition != nil {
		a.flushParts()
	}
	return nil
}

func (a *groupText) Declare() []string {
	if a.f.ByCopy {
		return append(a.decl, a.declareCopies()...)
	}
	if a.f.Shared {
		return append(a.decl, a.declareShared()...)
	}
	if a.f.PerfectHash != nil {
		return append(a.decl, a.declarePerfectHash()...)
	}
	if a.slots > 0 {
		return append(a.decl, a.declareLocal()...)
	}
	if a.f.Partition != nil {
		return append(a.decl, a.declareParts()...)
	}
	return a.decl
}
