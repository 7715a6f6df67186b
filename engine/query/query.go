package query

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/direct"
	"github.com/radish-sql/radish/engine/observe"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// OutfileOf takes the INTO off a query: it stands in the last SELECT of a union, and holds for all of it. One that stands elsewhere is left,
// for the binder to refuse. nil: there is none.
func OutfileOf(n ast.Node) (plain ast.Node, into *ast.SelectIntoOption) {
	switch x := n.(type) {
	case *ast.SelectStmt:
		if x.SelectIntoOpt != nil {
			query := *x
			query.SelectIntoOpt = nil
			return &query, x.SelectIntoOpt
		}
	case *ast.SetOprStmt:
		list := *x.SelectList
		last, is := list.Selects[len(list.Selects)-1].(*ast.SelectStmt)
		if is && !last.IsInBraces && last.SelectIntoOpt != nil {
			query := *last
			query.SelectIntoOpt = nil
			list.Selects = slices.Clone(list.Selects)
			list.Selects[len(list.Selects)-1] = &query
			union := *x
			union.SelectList = &list
			return &union, last.SelectIntoOpt
		}
	}
	return n, nil
}

// Query binds, plans and starts a statement that gives rows.
func Query(st *session.Statement, n ast.Node) (*result.Result, error) {
	s := st.Session
	if res, err := runSessionPlan(st); res != nil || err != nil {
		return res, err
	}
	warnings := s.Warnings.Count()
	key, ok := PlanKey(st)
	if ok {
		k, again := s.DB.Plans.Find(&key)
		if k != nil && Holds(st, k) {
			return runAgain(st, k)
		}
		if again {
			st.Reads = &session.TableReads{}
		}
	}
	q, err := st.Binder().Query(n)
	if err != nil {
		return nil, err
	}
	whole := int64(-1)
	if unlimited := countedWhole(n); unlimited != nil {
		if whole, err = countWhole(st, unlimited); err != nil {
			return nil, err
		}
	}
	limitSelect(s, n, q)
	res, err := runDirectly(st, q)
	if res == nil && err == nil {
		res, err = runToKeep(st, q, toKeep(st, key, q), warnings)
	}
	if err == nil {
		s.Last.FoundRows = max(whole, 0)
		if whole < 0 {
			res.Source = &countingSource{RowSource: res.Source, session: s}
		}
	}
	return res, err
}

// runToKeep plans, keeps and starts a bound query. warnings is how many there were before it was bound; k is nil if it is not to be kept.
func runToKeep(st *session.Statement, q *logical.Query, k *plans.Statement, warnings int64) (*result.Result, error) {
	s := st.Session
	p, err := Plan(st, q, k)
	if err != nil {
		return nil, err
	}
	keepPlans(s, p, s.Warnings.Count() != warnings)
	return Start(st, p, false)
}

// runAgain starts a query that is kept.
func runAgain(st *session.Statement, k *plans.Statement) (*result.Result, error) {
	s := st.Session
	p, err := Plan(st, k.Query, k)
	if err != nil {
		return nil, err
	}
	res, err := Start(st, p, false)
	if err == nil {
		s.Last.FoundRows = 0
		res.Source = &countingSource{RowSource: res.Source, session: s}
	}
	return res, err
}

// limitSelect applies sql_select_limit to a query.
func limitSelect(s *session.Session, n ast.Node, q *logical.Query) {
	if most := s.Vars.SelectLimit(); most >= 0 && !isLimited(n) {
		q.Root = &logical.Limit{Input: q.Root, Count: most}
	}
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
func countWhole(st *session.Statement, whole ast.Node) (rows int64, err error) {
	q, err := st.Binder().Query(whole)
	if err != nil {
		return 0, err
	}
	release, err := st.EachBatch(q, "SQL_CALC_FOUND_ROWS", func(b *column.Batch) (int64, error) {
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
	result.RowSource
	session *session.Session
}

func (c *countingSource) Next(ctx context.Context) (*column.Batch, error) {
	b, err := c.RowSource.Next(ctx)
	if b != nil {
		c.session.Last.FoundRows += int64(b.Rows())
	}
	return b, err
}

// Planned is a query that is ready to run.
type Planned struct {
	query  *logical.Query
	shared *plans.Statement // the query with plans of it; nil: they are made for this run
	Plan   *physical.Plan
	// placement is where the plan's pipelines run.
	placement physical.Placement
	gpu       *gpu.Placed // the plan with kernels of the pipelines that are on the GPU; nil: all are on the CPU
	rival     *exec.Rival // runs it on the GPU besides; nil: nothing does
	began     time.Time

	device      *gpu.Device // whose advisor learns from the run; nil: nobody does
	advisor     *placement.Advisor
	fingerprint uint64
	repeatable  bool
	estimate    *placement.Estimate // what it is expected to take; nil: nobody has asked, see expect
}

// expect estimates what the plan takes, once.
func (p *Planned) expect(threads int) *placement.Estimate {
	if p.estimate == nil {
		e := p.advisor.Estimate(p.Plan, threads)
		p.estimate = &e
	}
	return p.estimate
}

// lower optimizes a bound query for a device and lowers it to pipelines. What they scan of files is read.
func lower(st *session.Statement, q *logical.Query, device physical.Device) (*physical.Plan, error) {
	s := st.Session
	for {
		optimized, _, err := rules.Optimize(q, rules.Options{Disabled: s.Vars.DisabledRules, Context: st.Expressions(), Device: device})
		if err != nil {
			return nil, err
		}
		plan, err := physical.Lower(optimized, physical.Options{
			Estimator: stats.NewEstimator(), NoRuntimeFilters: s.Vars.DisabledRules[variables.RuntimeFilters], Interrupted: st.Expressions().Interrupted,
			Device: device,
		})
		if err != nil {
			return plan, err
		}
		if again, err := st.ReadFor(plan, streamedFrom(s, device)); !again || err != nil {
			return plan, err
		}
	}
}

// streamedFrom returns from how many bytes of columns on scans of files read them themselves, in a plan for a device. Plans for a GPU have
// what their kernels read in memory; where a GPU may come to run a query, more is kept for it.
func streamedFrom(s *session.Session, device physical.Device) int64 {
	share := s.DB.Files.Share
	switch {
	case device == physical.GPU || s.Device().NeedsGPU():
		return math.MaxInt64
	case s.StaysOnCPU():
		return share / session.StreamedShare
	}
	return share / session.StreamedBesideGPU
}

// Plan plans a bound query for the devices that radish_device allows, with the plans that k has of it, if k is not nil.
func Plan(st *session.Statement, q *logical.Query, k *plans.Statement) (*Planned, error) {
	s := st.Session
	p := &Planned{query: q, shared: k, began: time.Now()}
	device := s.Device()
	if device == gpu.Auto {
		return p, auto(st, p)
	}
	if err := forced(st, p, device); err != nil || s.DB.Auto.Calibrating || placement.PlanRows(p.Plan) < s.DB.Auto.LeastRows {
		return p, err
	}
	if d, ok := s.DB.GPUIfOpen(); ok && !d.Emulated() {
		p.learns(d)
		p.expect(s.Vars.Threads())
	}
	return p, nil
}

// RunBound plans and starts a bound query. The first batch is not waited for.
func RunBound(st *session.Statement, q *logical.Query) (*result.Result, error) {
	if st.Plan != nil && q == st.Plan.Query {
		return directResult(st, st.Plan.Direct, st.Plan.Version, st.Given)
	}
	if res, err := runDirectly(st, q); res != nil || err != nil {
		return res, err
	}
	p, err := Plan(st, q, nil)
	if err != nil {
		return nil, err
	}
	return Start(st, p, false)
}

// Start starts a planned query. The first batch is not waited for.
func Start(st *session.Statement, p *Planned, profiled bool) (*result.Result, error) {
	s := st.Session
	st.Began = true
	observers := observe.Of(st.Context)
	profiled = profiled || observers.Profiled()
	progress, stop := observers.Watch()
	if p.advisor != nil {
		device := physical.CPU
		if p.gpu != nil {
			device = physical.GPU
		}
		running := p.advisor.Running(device)
		inner := stop
		stop = func() { inner(); running() }
	}
	rows, err := exec.Run(st.Context, p.Plan, exec.Env{
		Threads: s.Vars.Threads(), Memory: st.Budget(), Expr: st.Expressions(), IsProfiled: profiled, Progress: progress,
		Result: st.Takes, Into: st.Target, TempFolder: s.Vars.TempFolder(), Placement: p.placement, GPU: p.gpu, Rival: p.rival, Began: p.began, Ended: ended(s, p, session.FirstWords(st.Text)),
	})
	if err != nil {
		stop()
		return nil, err
	}
	p.Plan, p.placement = rows.Plan(), rows.Placement()
	res := &result.Result{Columns: ResultColumns(p.Plan.Cols, p.Plan.Names), Source: rows, Done: stop, Device: devicesOf(p.Plan, p.placement)}
	if profiled {
		res.Profile = &profile.Plan{}
		res.Done = func() {
			stop()
			*res.Profile = *rows.Profile()
			observers.Profile(res.Profile)
		}
	}
	return res, nil
}

// devicesOf names the devices that a plan's pipelines run on.
func devicesOf(plan *physical.Plan, where physical.Placement) string {
	var on [2]bool
	for _, p := range plan.All() {
		on[where.Device(p)] = true
	}
	switch {
	case on[physical.CPU] && on[physical.GPU]:
		return physical.CPU.String() + "+" + physical.GPU.String()
	case on[physical.GPU]:
		return physical.GPU.String()
	}
	return physical.CPU.String()
}

// ResultColumns describes the columns of a result.
func ResultColumns(cols []*expr.Column, names []string) []result.ResultColumn {
	out := make([]result.ResultColumn, len(cols))
	for i, c := range cols {
		out[i] = result.ResultColumn{Name: names[i], Type: c.Typ, Nullable: c.Null}
	}
	return out
}

// runDirectly runs a query directly if it can be; nil: it cannot.
func runDirectly(st *session.Statement, q *logical.Query) (*result.Result, error) {
	s := st.Session
	if s.Device().NeedsGPU() || s.Vars.DisabledRules[variables.DirectQueries] || len(observe.Of(st.Context)) > 0 {
		return nil, nil
	}
	d, err := direct.Compile(q, nil)
	if d == nil || err != nil {
		return nil, err
	}
	return directResult(st, d, d.Table(), nil)
}

// directResult runs a query directly over a version of its table.
func directResult(st *session.Statement, d *direct.Query, v *table.Version, params []types.Value) (*result.Result, error) {
	b, err := d.Run(st.Context, st.Expressions(), v, params)
	if err != nil {
		return nil, err
	}
	res := result.BatchResult(ResultColumns(d.Cols, d.Names), b)
	res.Device = physical.CPU.String()
	return res, nil
}
