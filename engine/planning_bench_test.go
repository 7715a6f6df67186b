package engine

import (
	"context"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/storage/tpch"
)

// BenchmarkPlanning shares out what TPC-H's queries take over tables so small that running them is not all: the time of each stage of a statement that is planned anew,
// in microseconds a query, and of a statement that comes again.
func BenchmarkPlanning(b *testing.B) {
	e, err := New(database.Options{Threads: 1, Device: gpu.Never})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	execute := func(stmt parse.Statement) {
		res, err := s.Execute(context.Background(), stmt, nil)
		if err != nil {
			b.Fatal(err)
		}
		for batch, err := res.Next(context.Background()); batch != nil || err != nil; batch, err = res.Next(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
		}
		res.Close()
	}
	parsed := func(text string) []parse.Statement {
		list, err := parse.ParseWithin(text, parse.DefaultMode, func(int64) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		return list
	}
	execute(parsed("CALL tpch_generate(0.01)")[0])
	queries := tpch.Queries(0.01)
	b.Run("stages", func(b *testing.B) {
		var took [4]time.Duration
		for b.Loop() {
			for _, q := range queries {
				begin := time.Now()
				stage := func(i int) { took[i] += time.Since(begin); begin = time.Now() }
				stmt := parsed(q.SQL)[0]
				stage(0)
				st := &session.Statement{Statement: stmt, Session: s.Session, Context: context.Background()}
				bound, err := st.Binder().Query(stmt.Node)
				if err != nil {
					b.Fatal(err)
				}
				stage(1)
				better, _, err := rules.Optimize(bound, rules.Options{Context: st.Expressions()})
				if err != nil {
					b.Fatal(err)
				}
				stage(2)
				if _, err := physical.Lower(better, physical.Options{Estimator: stats.NewEstimator()}); err != nil {
					b.Fatal(err)
				}
				stage(3)
			}
		}
		for i, name := range []string{"parse", "bind", "optimize", "lower"} {
			b.ReportMetric(float64(took[i].Microseconds())/float64(b.N*len(queries)), name+"-µs/query")
		}
	})
	for _, disabled := range []string{variables.PlanSharing, ""} {
		b.Run("again, disabled="+disabled, func(b *testing.B) {
			if err := s.SetVariable("radish_disabled_rules", disabled); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, q := range queries {
					stmts, err := s.Parse(q.SQL)
					if err != nil {
						b.Fatal(err)
					}
					execute(stmts[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(queries)), "µs/query")
		})
	}
}
