package numeric

import (
	"math/rand/v2"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
)

// randState is MySQL's generator (mysys/my_rnd.cc), two coupled linear recurrences modulo 2^30 - 1.
type randState struct{ a, b uint64 }

const randMax = 0x3FFFFFFF

func newRandState(seed int64) *randState {
	s := uint32(seed)
	return &randState{uint64(s*0x10001+55555555) % randMax, uint64(s*0x10000001) % randMax}
}

func (r *randState) next() float64 {
	r.a = (r.a*3 + r.b) % randMax
	r.b = (r.a + r.b + 33) % randMax
	return float64(r.a) / randMax
}

func evalRand(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	state, _ := c.Memo(call).(*randState)
	if state == nil {
		seed := rand.Int64()
		if c.RandSeed != nil {
			seed = c.RandSeed()
		}
		if len(args) == 1 && !args[0].IsNull(0) {
			seed = args[0].I64[0]
		} else if len(args) == 1 {
			seed = 0
		}
		state = newRandState(seed)
		c.Remember(call, state)
	}
	varying := len(args) == 1 && !args[0].Const
	for _, i := range expr.Positions(sel, n) {
		if varying {
			// A seed that changes from row to row starts a sequence in each.
			seed := args[0].I64[i]
			if args[0].IsNull(int(i)) {
				seed = 0
			}
			state = newRandState(seed)
		}
		out.F64[i] = state.next()
	}
	return nil
}
