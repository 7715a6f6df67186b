package expr

import (
	"math"

	"github.com/radish-sql/radish/sql/types"
)

// Equal says whether a and b are the same expression: same operators, same columns, same constants. Two calls of a
// volatile function are never equal; two subqueries only if they are the same node.
func Equal(a, b Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	switch x := a.(type) {
	case *Column:
		y, ok := b.(*Column)
		return ok && x.ID == y.ID
	case *Const:
		y, ok := b.(*Const)
		return ok && SameValue(x.Value, y.Value)
	case *Compare:
		y, ok := b.(*Compare)
		return ok && x.Op == y.Op && Equal(x.Left, y.Left) && Equal(x.Right, y.Right)
	case *And:
		y, ok := b.(*And)
		return ok && equalAll(x.Args, y.Args)
	case *Or:
		y, ok := b.(*Or)
		return ok && equalAll(x.Args, y.Args)
	case *Not:
		y, ok := b.(*Not)
		return ok && Equal(x.Arg, y.Arg)
	case *IsNull:
		y, ok := b.(*IsNull)
		return ok && Equal(x.Arg, y.Arg)
	case *In:
		y, ok := b.(*In)
		if !ok || x.HasNull != y.HasNull || len(x.List) != len(y.List) || !Equal(x.Arg, y.Arg) {
			return false
		}
		for i := range x.List {
			if !SameValue(x.List[i], y.List[i]) {
				return false
			}
		}
		return true
	case *Case:
		y, ok := b.(*Case)
		return ok && x.Typ == y.Typ && len(x.Whens) == len(y.Whens) && equalAll(x.Children(), y.Children())
	case *Cast:
		y, ok := b.(*Cast)
		return ok && x.To == y.To && x.Strict == y.Strict && x.Column == y.Column && x.IsDisplay == y.IsDisplay && x.Compared == y.Compared && x.Written == y.Written && Equal(x.Arg, y.Arg)
	case *Call:
		y, ok := b.(*Call)
		return ok && x.Fn == y.Fn && !x.Fn.Volatile && x.Typ == y.Typ && equalAll(x.Args, y.Args)
	}
	return false
}

// SameValue says whether two values are the same: same type, both NULL or the same representation.
func SameValue(a, b types.Value) bool {
	if a.Type != b.Type || a.Null != b.Null {
		return false
	}
	return a.Null || a.I == b.I && math.Float64bits(a.F) == math.Float64bits(b.F) && a.D == b.D && a.S == b.S
}

func equalAll(a, b []Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
