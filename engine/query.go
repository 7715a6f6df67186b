package engine

import (
	"context"
	"math"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/direct"
	"github.com/radish-sql/radish/engine/observe"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/exec"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/exec/gpu/placement"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// query binds, plans and starts a statement that gives rows.
func (s *Session) query(st *statement, n ast.Node) (*Result, error) {
	if res, err := s.runSessionPlan(st); res != nil || err != nil {
		return res, err
	}
	warnings := s.warnings.Count()
	key, ok := st.planKey()
	if ok {
		k, again := s.engine.plans.Find(&key)
		if k != nil && st.holds(k) {
			return s.runAgain(st, k)
		}
		if again {
			st.reads = &tableReads{}
		}
	}
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
	s.limitSelect(n, q)
	res, err := s.runDirectly(st, q)
	if res == nil && err == nil {
		res, err = s.runToKeep(st, q, st.toKeep(key, q), warnings)
	}
	if err == nil {
		s.last.foundRows = max(whole, 0)
		if whole < 0 {
			res.source = &countingSource{res.source, s}
		}
	}
	return res, err
}

// runToKeep plans, keeps and starts a bound query. warnings is how many there were before it was bound; k is nil if it is not to be kept.
func (s *Session) runToKeep(st *statement, q *logical.Query, k *plans.Statement, warnings int64) (*Result, error) {
	p, err := s.plan(st, q, k)
	if err != nil {
		return nil, err
	}
	s.keepPlans(p, s.warnings.Count() != warnings)
	return s.start(st, p, false)
}

// runAgain starts a query that is kept.
func (s *Session) runAgain(st *statement, k *plans.Statement) (*Result, error) {
	p, err := s.plan(st, k.Query, k)
	if err != nil {
		return nil, err
	}
	res, err := s.start(st, p, false)
	if err == nil {
		s.last.foundRows = 0
		res.source = &countingSource{res.source, s}
	}
	return res, err
}

// limitSelect applies sql_select_limit to a query.
func (s *Session) limitSelect(n ast.Node, q *logical.Query) {
	if most := s.vars.selectLimit(); most >= 0 && !isLimited(n) {
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
		c.session.last.foundRows += int64(b.Rows())
	}
	return b, err
}

// planned is a query that is ready to run.
type planned struct {
	query  *logical.Query
	shared *plans.Statement // the query with plans of it; nil: they are made for this run
	plan   *physical.Plan
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
func (p *planned) expect(threads int) *placement.Estimate {
	if p.estimate == nil {
		e := p.advisor.Estimate(p.plan, threads)
		p.estimate = &e
	}
	return p.estimate
}

// lower optimizes a bound query for a device and lowers it to pipelines. What they scan of files is read.
func (s *Session) lower(st *statement, q *logical.Query, device physical.Device) (*physical.Plan, error) {
	for {
		optimized, _, err := rules.Optimize(q, rules.Options{Disabled: s.vars.disabledRules, Context: st.exprContext(), Device: device, Costs: s.engine.costsOn(device)})
		if err != nil {
			return nil, err
		}
		plan, err := physical.Lower(optimized, physical.Options{
			Estimator: stats.NewEstimator(), NoRuntimeFilters: s.vars.disabledRules[runtimeFilters], Interrupted: st.exprContext().Interrupted,
			Device: device,
		})
		if err != nil {
			return plan, err
		}
		if again, err := st.readFor(plan, s.streamedFrom(device)); !again || err != nil {
			return plan, err
		}
	}
}

// costsOn returns what work costs on the device that a query is planned for; nil: what is taken for granted. Plans for the CPU do not follow what is measured while
// they run: the order of joins is the order in which doubles are added up, and two runs give the same sum.
func (e *Engine) costsOn(device physical.Device) *cost.Table {
	if device == physical.CPU {
		return nil
	}
	d, ok := e.gpuIfOpen()
	if !ok {
		return nil
	}
	costs := d.Advisor().Costs()
	return &costs
}

// streamedFrom returns from how many bytes of columns on scans of files read them themselves, in a plan for a device. Plans for a GPU have
// what their kernels read in memory; where a GPU may come to run a query, more is kept for it.
func (s *Session) streamedFrom(device physical.Device) int64 {
	share := s.engine.files.Share
	switch {
	case device == physical.GPU || s.device().NeedsGPU():
		return math.MaxInt64
	case s.staysOnCPU():
		return share / streamedShare
	}
	return share / streamedBesideGPU
}

// plan plans a bound query for the devices that radish_device allows, with the plans that k has of it, if k is not nil.
func (s *Session) plan(st *statement, q *logical.Query, k *plans.Statement) (*planned, error) {
	p := &planned{query: q, shared: k, began: time.Now()}
	device := s.device()
	if device == gpu.Auto {
		return p, s.auto(st, p)
	}
	if err := s.forced(st, p, device); err != nil || s.engine.auto.calibrating || placement.PlanRows(p.plan) < s.engine.auto.leastRows {
		return p, err
	}
	if d, ok := s.engine.gpuIfOpen(); ok && !d.Emulated() {
		p.learns(d)
		p.expect(s.vars.threads(s.engine))
	}
	return p, nil
}

// runQuery plans and starts a bound query. The first batch is not waited for.
func (s *Session) runQuery(st *statement, q *logical.Query, profiled bool) (*Result, error) {
	if st.plan != nil && q == st.plan.query {
		return directResult(st, st.plan.direct, st.plan.version, st.params)
	}
	if !profiled {
		if res, err := s.runDirectly(st, q); res != nil || err != nil {
			return res, err
		}
	}
	p, err := s.plan(st, q, nil)
	if err != nil {
		return nil, err
	}
	return s.start(st, p, profiled)
}

func (s *Session) start(st *statement, p *planned, profiled bool) (*Result, error) {
	st.began = true
	observers := observe.Of(st.ctx)
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
	rows, err := exec.Run(st.ctx, p.plan, exec.Env{
		Threads: s.vars.threads(s.engine), Memory: st.memory(), Expr: st.exprContext(), IsProfiled: profiled, Progress: progress,
		Result: st.takes, Into: st.into, Placement: p.placement, GPU: p.gpu, Rival: p.rival, Began: p.began, Ended: s.ended(p, firstWords(st.Text)),
	})
	if err != nil {
		stop()
		return nil, err
	}
	p.plan, p.placement = rows.Plan(), rows.Placement()
	res := &Result{Columns: resultColumns(p.plan.Cols, p.plan.Names), source: rows, done: stop, Device: devicesOf(p.plan, p.placement)}
	if profiled {
		res.Profile = &profile.Plan{}
		res.done = func() {
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
		return "cpu+gpu"
	case on[physical.GPU]:
		return "gpu"
	}
	return "cpu"
}

func resultColumns(cols []*expr.Column, names []string) []ResultColumn {
	out := make([]ResultColumn, len(cols))
	for i, c := range cols {
		out[i] = ResultColumn{Name: names[i], Type: c.Typ, Nullable: c.Null}
	}
	return out
}

// runDirectly runs a query directly if it can be; nil: it cannot.
func (s *Session) runDirectly(st *statement, q *logical.Query) (*Result, error) {
	if s.device().NeedsGPU() || s.vars.disabledRules[directQueries] || len(observe.Of(st.ctx)) > 0 {
		return nil, nil
	}
	d, err := direct.Compile(q, nil)
	if d == nil || err != nil {
		return nil, err
	}
	return directResult(st, d, d.Table(), nil)
}

// directResult runs a query directly over a version of its table.
func directResult(st *statement, d *direct.Query, v *table.Version, params []types.Value) (*Result, error) {
	b, err := d.Run(st.ctx, st.exprContext(), v, params)
	if err != nil {
		return nil, err
	}
	return &Result{Columns: resultColumns(d.Cols, d.Names), source: &listSource{[]*column.Batch{b}}, Device: "cpu"}, nil
}
