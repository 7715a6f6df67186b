package logical

import (
	"math/bits"
	"reflect"

	"github.com/radish-sql/radish/sql/expr"
)

// Fingerprint is a hash of what a query does: its operators, its expressions and the tables that it reads. Values of literals are
// left out, and of a table's rows only the order of magnitude counts. So the executions of one statement share a fingerprint
// until a table has grown twofold. It is the same in every process.
//
// repeatable says that the query may run twice, beside itself too, without anybody noticing: no function gives another value each time
// or is the program's own, and there is no recursion.
func Fingerprint(q *Query) (sum uint64, repeatable bool) {
	f := fingerprint{sum: 14695981039346656037, repeatable: true}
	f.node(q.Root)
	for _, c := range q.Cols {
		f.add(uint64(c.ID))
	}
	return f.sum, f.repeatable
}

// fingerprint hashes by FNV-1a (Fowler, Noll and Vo 1991), a word of 64 bits at a time.
type fingerprint struct {
	sum        uint64
	repeatable bool
	plans      map[*SharedPlan]bool // that were visited
}

func (f *fingerprint) add(words ...uint64) {
	for _, w := range words {
		f.sum = (f.sum ^ w) * 1099511628211
		f.sum ^= f.sum >> 29 // FNV alone leaves the high bits of a word where they are
	}
}

func (f *fingerprint) text(s string) {
	for i := range len(s) {
		f.add(uint64(s[i]))
	}
	f.add(uint64(len(s)))
}

// kind adds the type of a node or of an expression.
func (f *fingerprint) kind(x any) { f.text(reflect.TypeOf(x).String()) }

// magnitude adds the order of magnitude of a count.
func (f *fingerprint) magnitude(n int64) { f.add(uint64(bits.Len64(uint64(max(n, 0))))) }

func (f *fingerprint) flag(b bool) {
	if b {
		f.add(1)
	} else {
		f.add(0)
	}
}

func (f *fingerprint) node(n Node) {
	f.kind(n)
	switch x := n.(type) {
	case *Scan:
		f.text(x.Table.Schema.Database)
		f.text(x.Table.Schema.Name)
		f.magnitude(x.Table.Rows())
		for i, o := range x.Ordinals {
			f.add(uint64(o), uint64(x.Cols[i].ID))
		}
	case *Values:
		f.magnitude(int64(len(x.Rows)))
		return // thousands of rows of constants tell no more
	case *Project:
		f.items(x.Items)
	case *Join:
		f.add(uint64(x.Kind), uint64(x.Hint), uint64(len(x.On)))
	case *Apply:
		f.add(uint64(x.Kind), uint64(len(x.On)))
	case *Aggregate:
		f.add(uint64(x.Hint))
		f.flag(x.Scalar)
		f.items(x.Groups)
		for _, a := range x.Aggs {
			f.add(uint64(a.Fn.Kind), uint64(a.Col.ID))
			f.flag(a.Distinct)
		}
	case *Sort:
		f.magnitude(x.Count)
		f.magnitude(x.Offset)
		f.flag(x.Count == NoLimit)
		for _, k := range x.Keys {
			f.flag(k.Desc)
		}
	case *Limit:
		f.magnitude(x.Count)
		f.magnitude(x.Offset)
	case *SetOp:
		f.add(uint64(x.Kind))
		for _, cols := range x.InCols {
			for _, c := range cols {
				f.add(uint64(c.ID))
			}
		}
	case *Window:
		f.add(uint64(len(x.Partition)))
		for _, k := range x.Order {
			f.flag(k.Desc)
		}
		for _, it := range x.Items {
			f.text(it.Fn.Name)
			f.add(uint64(it.Frame.Unit), uint64(it.Frame.Start.Kind), uint64(it.Frame.End.Kind), uint64(it.Frame.Op))
			f.flag(it.Frame.Compared != nil)
		}
	case *Unnest:
		f.text(x.Table.String())
		f.flag(x.Outer)
		for i, o := range x.Ordinals {
			f.add(uint64(o), uint64(x.Cols[i].ID))
		}
	case *Recursive:
		f.repeatable = false
	case *Shared:
		f.add(uint64(x.Plan.ID))
		if !f.plans[x.Plan] {
			if f.plans == nil {
				f.plans = map[*SharedPlan]bool{}
			}
			f.plans[x.Plan] = true
			f.node(x.Plan.Root)
		}
	}
	for _, e := range n.Exprs() {
		f.expr(e)
	}
	for _, in := range n.Inputs() {
		f.node(in)
	}
}

func (f *fingerprint) items(items []Item) {
	for _, it := range items {
		f.add(uint64(it.Col.ID))
	}
}

func (f *fingerprint) expr(e expr.Expr) {
	expr.Walk(e, func(e expr.Expr) bool {
		f.kind(e)
		switch x := e.(type) {
		case *expr.Column:
			f.add(uint64(x.ID))
		case *expr.Const:
			f.add(uint64(x.Value.Type.Kind))
		case *expr.Compare:
			f.add(uint64(x.Op))
		case *expr.In:
			f.magnitude(int64(len(x.List)))
		case *expr.Cast:
			f.add(uint64(x.To.Kind), uint64(x.To.Precision), uint64(x.To.Scale))
		case *expr.Call:
			f.text(x.Fn.Name)
			if x.Fn.Volatile || x.Fn.HasEffects {
				f.repeatable = false
			}
		case *expr.Subquery:
			f.add(uint64(x.Kind), uint64(x.Op))
			if n, ok := x.Rel.(Node); ok {
				f.node(n)
			}
		}
		return true
	})
}
