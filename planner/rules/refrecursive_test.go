package rules

import (
	"fmt"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// recursive evaluates a Recursive round by round. What a shared plan gives may depend on the round, so none is kept over it.
func (r *reference) recursive(x *logical.Recursive, outer env) []env {
	var out []env
	seen := map[string]bool{}
	take := func(rows []env, cols []*expr.Column) (fresh [][]types.Value) {
		for _, row := range rows {
			values := make([]types.Value, len(cols))
			o := env{}
			for i, c := range cols {
				values[i] = row[c.ID]
				o[x.Cols[i].ID] = row[c.ID]
			}
			if k := key(o, x.Cols); !x.Distinct || !seen[k] {
				seen[k] = true
				fresh, out = append(fresh, values), append(out, o)
			}
		}
		return fresh
	}
	if r.work == nil {
		r.work = map[*logical.Loop][][]types.Value{}
	}
	rows := take(r.node(x.Seed, outer), x.SeedCols)
	for round := 0; len(rows) > 0 && (x.Enough == logical.NoLimit || int64(len(out)) < x.Enough); round++ {
		if round > 100 {
			panic(failure{fmt.Errorf("too many rounds")})
		}
		saved, kept := r.work[x.Loop], r.shared
		r.work[x.Loop], r.shared = rows, map[*logical.SharedPlan][]env{}
		step := r.node(x.Step, outer)
		r.work[x.Loop], r.shared = saved, kept
		rows = take(step, x.StepCols)
	}
	return out
}
