package expr

import (
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// sleepFunctions is SLEEP.
func sleepFunctions() []*Function {
	return []*Function{
		{Name: "sleep", Category: miscCategory, Syntax: "SLEEP(seconds)", MinArgs: 1, MaxArgs: 1, Volatile: true, Nulls: NullCustom,
			Doc: "Waits for each row, then gives 0. Cancelling the statement ends it.",
			Resolve: func([]Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Double}, Result: types.Int64}, nil
			},
			Eval: evalSleep},
	}
}

func evalSleep(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	for _, i := range positions(sel, n) {
		out.I64[i] = 0
		seconds := floats(args[0]).at(int(i))
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
