package engine

import (
	"context"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/exec"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/storage/column"
)

// query binds, plans and starts a statement that gives rows.
func (s *Session) query(st *statement, n ast.Node) (*Result, error) {
	q, err := st.binder().Query(n)
	if err != nil {
		return nil, err
	}
	whole := int64(-1)
	if unlimited := countedWhole(n); unlimited != nil {
		if whole, err = s.countWhole(st, unlimited); err != nil {
			return nil, err
		}
	}
	if most := s.vars.selectLimit(); most >= 0 && !isLimited(n) {
		q.Root = &logical.Limit{Input: q.Root, Count: most}
	}
	res, err := s.runQuery(st, q, false)
	if err == nil {
		s.found = max(whole, 0)
		if whole < 0 {
			res.source = &countingSource{res.source, s}
		}
	}
	return res, err
}

// isLimited says whether a query has a LIMIT of its own.
func isLimited(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.SelectStmt:
		return x.Limit != nil
	case *ast.SetOprStmt:
		return x.Limit != nil
	}
	return false
}

// countedWhole returns a query with SQL_CALC_FOUND_ROWS, in its first select, without its LIMIT; nil: it has not both.
func countedWhole(n ast.Node) ast.Node {
	switch x := n.(type) {
	case *ast.SelectStmt:
		if x.Limit != nil && x.SelectStmtOpts != nil && x.CalcFoundRows {
			whole := *x
			whole.Limit, whole.OrderBy = nil, nil
			return &whole
		}
	case *ast.SetOprStmt:
		first, is := x.SelectList.Selects[0].(*ast.SelectStmt)
		if is && x.Limit != nil && first.SelectStmtOpts != nil && first.CalcFoundRows {
			whole := *x
			whole.Limit, whole.OrderBy = nil, nil
			return &whole
		}
	}
	return nil
}

// countWhole counts the rows of a query, for FOUND_ROWS().
func (s *Session) countWhole(st *statement, whole ast.Node) (rows int64, err error) {
	q, err := st.binder().Query(whole)
	if err != nil {
		return 0, err
	}
	release, err := s.eachBatch(st, q, "SQL_CALC_FOUND_ROWS", func(b *column.Batch) (int64, error) {
		rows += int64(b.Rows())
		return 0, nil
	})
	if err == nil {
		release()
	}
	return rows, err
}

// countingSource counts the rows that are read, for FOUND_ROWS().
type countingSource struct {
	rowSource
	session *Session
}

func (c *countingSource) Next(ctx context.Context) (*column.Batch, error) {
	b, err := c.rowSource.Next(ctx)
	if b != nil {
		c.session.found += int64(b.Rows())
	}
	return b, err
}

// plan optimizes a bound query, lowers it to pipelines and places them.
func (s *Session) plan(st *statement, q *logical.Query) (*physical.Plan, *gpu.Placed, error) {
	model := s.joinModel(q)
	q, _, err := rules.Optimize(q, rules.Options{Disabled: s.vars.disabledRules, Context: st.exprContext(), Joins: model})
	if err != nil {
		return nil, nil, err
	}
	plan, err := physical.Lower(q, physical.Options{
		Estimator: stats.NewEstimator(), NoRuntimeFilters: s.vars.disabledRules[runtimeFilters], Interrupted: st.exprContext().Interrupted,
		DenseSlack: model.DenseSlack,
	})
	if err != nil {
		return nil, nil, err
	}
	placed, err := s.place(st, plan)
	return plan, placed, err
}

// runQuery plans and starts a bound query. The first batch is not waited for.
func (s *Session) runQuery(st *statement, q *logical.Query, profiled bool) (*Result, error) {
	plan, placed, err := s.plan(st, q)
	if err != nil {
		return nil, err
	}
	return s.start(st, plan, placed, profiled)
}

func (s *Session) start(st *statement, plan *physical.Plan, placed *gpu.Placed, profiled bool) (*Result, error) {
	observers := observersOf(st.ctx)
	profiled = profiled || observers.profiled()
	progress, stop := observers.watch()
	rows, err := exec.Run(st.ctx, plan, exec.Env{
		Threads: s.vars.threads(s.engine), Memory: st.memory(), Expr: st.exprContext(), Profile: profiled, Progress: progress, GPU: placed,
	})
	if err != nil {
		stop()
		return nil, err
	}
	res := &Result{Columns: resultColumns(plan.Cols, plan.Names), source: rows, done: stop}
	if profiled {
		res.Profile = &profile.Plan{}
		res.done = func() {
			stop()
			*res.Profile = *rows.Profile()
			observers.profile(res.Profile)
		}
	}
	return res, nil
}

func resultColumns(cols []*expr.Column, names []string) []ResultColumn {
	out := make([]ResultColumn, len(cols))
	for i, c := range cols {
		out[i] = ResultColumn{Name: names[i], Type: c.Typ, Nullable: c.Null}
	}
	return out
}
