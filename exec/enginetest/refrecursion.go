package enginetest

import (
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// recursion runs the rounds of a recursion.
func (f *reference) recursion(s *physical.Recursion, ins []*rel) {
	all := newRel()
	for _, c := range s.Cols {
		all.add(c.ID)
	}
	seen := map[string]bool{}
	take := func(ins []*rel) *rel {
		next := &rel{at: all.at}
		for _, r := range ins {
			for _, x := range r.rows {
				var y row
				for _, c := range s.Cols {
					y = append(y, x[r.at[c.ID]])
				}
				apart := y
				if s.By != nil {
					apart = nil
					for _, c := range s.By {
						apart = append(apart, y[c])
					}
				}
				if k := keyString(apart); !s.Distinct || !seen[k] {
					seen[k] = true
					next.rows, all.rows = append(next.rows, y), append(all.rows, y)
				}
			}
		}
		return next
	}
	last := take(ins)
	for round := 1; len(last.rows) > 0; round++ {
		if round > 1000 {
			f.err = sqlerr.New(sqlerr.CodeRecursionLimit, sqlerr.User, "too many rounds")
			return
		}
		f.stored[s.Work] = last
		left := map[physical.Sink]int{}
		for _, p := range s.Step {
			left[p.Sink]++
			delete(f.inputs, p.Sink)
		}
		f.pipelines(s.Step, left)
		if f.err != nil {
			return
		}
		last = take([]*rel{f.stored[s.Round]})
	}
	f.stored[s] = all
}
