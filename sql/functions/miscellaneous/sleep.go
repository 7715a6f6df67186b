package miscellaneous

import (
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// sleepFunctions is SLEEP.
func sleepFunctions() []*expr.Function {
	return []*expr.Function{
		{Name: "sleep", Category: category, Syntax: "SLEEP(seconds)", MinArgs: 1, MaxArgs: 1, Volatile: true, HasEffects: true, Nulls: expr.NullCustom,
			Doc: "Waits for each row, then gives 0. Cancelling the statement ends it.",
			Resolve: func([]expr.Expr) (expr.Signature, error) {
				return expr.Signature{Args: []types.Type{types.Double}, Result: types.Int64}, nil
			},
			Eval: evalSleep},
	}
}

func evalSleep(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = 0
		seconds := expr.Floats(args[0]).At(int(i))
		if args[0].IsNull(int(i)) || !(seconds >= 0) {
			return sqlerr.WrongArguments("sleep.")
		}
		timer := time.NewTimer(time.Duration(min(seconds, 1e9) * float64(time.Second)))
		if c.Ctx == nil {
			<-timer.C
			continue
		}
		select {
		case <-timer.C:
		case <-c.Ctx.Done():
			timer.Stop()
			return sqlerr.Interrupted(c.Ctx.Err())
		}
	}
	return nil
}
