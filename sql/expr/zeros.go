package expr

import "slices"

// TellsZerosApart says whether an expression may differ for 0 and -0, which are equal DOUBLEs and so in one group: as strings they differ. Of arithmetic
// on them, only a zero's sign can differ.
func TellsZerosApart(e Expr) bool {
	apart := false
	Walk(e, func(e Expr) bool {
		switch x := e.(type) {
		case *Cast:
			apart = apart || x.Arg.Type().IsFloat() && !x.To.IsNumeric()
		case *Call:
			apart = apart || !keepsEqual[x.Fn.Name] && slices.ContainsFunc(x.Args, func(a Expr) bool { return a.Type().IsFloat() })
		}
		return !apart
	})
	return apart
}

// keepsEqual has functions whose results are equal where their operands are.
var keepsEqual = map[string]bool{
	"add": true, "sub": true, "mul": true, "div": true, "intdiv": true, "mod": true, "neg": true, "abs": true, "sign": true,
	"round": true, "truncate": true, "floor": true, "ceil": true, "sqrt": true, "exp": true,
}
