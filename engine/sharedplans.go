package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Plans that all sessions share (docs/internals/plans.md). A query that comes for the second time leaves its bound form and its plans in the engine (plans.Store).
// From the third time on it is neither bound nor optimized, if all that a plan follows from is the same (plans.Key). A statement that depends on more, by its
// functions or by what it names, is planned each time. The device is chosen each time too, since that choice learns. The kernels of
// pipelines on a GPU are kept with the plan (gpu.Kept).

// planSharing is the name by which radish_disabled_rules has every statement planned anew.
const planSharing = "kept_plans"

// mostKeptParams is how many bytes the strings among a statement's markers may have for its plans to be kept.
const mostKeptParams = 1 << 10

// planKey returns what the statement's plans are kept by; ok says whether they may be.
func (st *statement) planKey() (key plans.Key, ok bool) {
	s := st.session
	if s.checking || st.Rows != nil || st.Alias != nil || len(st.Into) > 0 || len(st.Text) > longestText || s.vars.disabledRules[planSharing] || st.ctx.Value(givenKey{}) != nil {
		return key, false
	}
	params, ok := paramsKey(st.params)
	if !ok {
		return key, false
	}
	return plans.Key{Text: st.Text, Params: params, Mode: s.vars.parseMode, Database: s.database, Settings: s.vars.digest(), Today: st.exprContext().Today()}, true
}

// paramsKey writes values with their types, so that different ones differ; ok is false if they are long, or of a type that has more to it.
func paramsKey(params []types.Value) (key string, ok bool) {
	if len(params) == 0 {
		return "", true
	}
	var b []byte
	for _, v := range params {
		t := v.Type
		if t.Enum != nil || len(b)+len(v.S) > mostKeptParams {
			return "", false
		}
		b = fmt.Appendf(b, "%d,%d,%d,%d,%d,%t,%t,%d,%x,%d,%d,%d:%s;", t.Kind, t.Precision, t.Scale, t.Length, t.Collation, v.Null, v.IsBits, v.I, math.Float64bits(v.F), v.D.Hi, v.D.Lo, len(v.S), v.S)
	}
	return string(b), true
}

// tableReads notes what binding a statement asks of the catalog.
type tableReads struct {
	tables      []plans.ReadTable
	views       []plans.ReadView
	readsOthers bool // than tables that every session sees, and views whose queries repeat
}

// note adds a table that was found under a name.
func (r *tableReads) note(c *catalogView, db, name string, v *table.Version, err error) {
	if r == nil {
		return
	}
	if err != nil || c.hidden(db, name) != "" || strings.EqualFold(db, infoschema.Name) {
		r.readsOthers = true
		return
	}
	t := plans.ReadTable{NamedRead: plans.NamedRead{Database: db, Name: name, Permanent: c.permanent}, Version: v}
	if !slices.Contains(r.tables, t) {
		r.tables = append(r.tables, t)
	}
}

// noteView adds a view that was found under a name, with its query. What that reads is noted as it is bound.
func (r *tableReads) noteView(c *catalogView, db, name string, v *catalog.View, query ast.StmtNode) {
	if r == nil {
		return
	}
	if !repeats(query) {
		r.readsOthers = true
		return
	}
	w := plans.ReadView{NamedRead: plans.NamedRead{Database: db, Name: name, Permanent: c.permanent}, View: v}
	if !slices.Contains(r.views, w) {
		r.views = append(r.views, w)
	}
}

// noteOther notes that a name may have meant something else than a table.
func (r *tableReads) noteOther() {
	if r != nil {
		r.readsOthers = true
	}
}

// holds says whether the views and tables of a kept statement are what they were, for this session.
func (st *statement) holds(k *plans.Statement) bool {
	c := st.catalogView()
	permanent := c.Permanent().(*catalogView)
	seenBy := func(n *plans.NamedRead) *catalogView {
		if n.Permanent {
			return permanent
		}
		return c
	}
	for i := range k.Views {
		if w := &k.Views[i]; seenBy(&w.NamedRead).view(w.Database, w.Name) != w.View {
			return false
		}
	}
	for i := range k.Tables {
		t := &k.Tables[i]
		if v, err := seenBy(&t.NamedRead).Table(t.Database, t.Name); err != nil || v != t.Version {
			return false
		}
	}
	return true
}

// toKeep returns a bound query to be kept under a key; nil: that would not do.
func (st *statement) toKeep(key plans.Key, q *logical.Query) *plans.Statement {
	r := st.reads
	if r == nil || r.readsOthers || len(r.tables) == 0 || st.once || st.namesFiles() || !repeats(st.Node) {
		return nil
	}
	return &plans.Statement{
		Key: key, Tables: r.tables, Views: r.views, Query: q, Rows: rules.TableRows(q), Placing: new(gpu.Kept),
		Fingerprint: sync.OnceValues(func() (uint64, bool) { return logical.Fingerprint(q) }),
	}
}

// keepPlans keeps what was planned of a query, if it may be and planning it warned of nothing: warnings would be missing the next time.
func (s *Session) keepPlans(p *planned, warned bool) {
	if p.shared == nil || warned || p.plan.Recursive() {
		return
	}
	p.shared.Own(p.plan.Logical)
	s.engine.plans.Add(p.shared, s.engine.catalog)
}

// lowered is lower for a planned query, whose plan for the device may be kept. The query itself stays as it is: others may be using it.
func (s *Session) lowered(st *statement, p *planned, device physical.Device) (*physical.Plan, error) {
	if p.shared == nil {
		return s.lower(st, p.query, device)
	}
	costs := s.engine.costsVersion(device)
	if plan := p.shared.Plan(device, costs); plan != nil {
		return plan, nil
	}
	own, alloc := *p.query, *p.query.Alloc
	own.Alloc = &alloc
	plan, err := s.lower(st, &own, device)
	if err == nil {
		p.shared.SetPlan(device, costs, plan)
	}
	return plan, err
}

// placing keeps where the plan of a query that is kept is placed; nil: it is not kept.
func (p *planned) placing() *gpu.Kept {
	if p.shared == nil {
		return nil
	}
	return p.shared.Placing.(*gpu.Kept)
}

// costsVersion counts how often what work costs on a device has changed; see costsOn.
func (e *Engine) costsVersion(device physical.Device) uint64 {
	if device == physical.CPU {
		return 0
	}
	d, ok := e.gpuIfOpen()
	if !ok {
		return 0
	}
	return d.Advisor().CostsVersion()
}

// tableRows is rules.TableRows of the query.
func (p *planned) tableRows() float64 {
	if p.shared != nil {
		return p.shared.Rows
	}
	return rules.TableRows(p.query)
}

// repeats says whether what a query means follows from its text, its tables and what plans.Key has: it consists of nothing but what is known to be so.
func repeats(n ast.StmtNode) bool {
	f := &repeatsFinder{}
	n.Accept(f)
	return !f.refused
}

// repeatsFinder looks for parts of a query that may mean something else when it comes again.
type repeatsFinder struct{ refused bool }

// Enter is part of ast.Visitor.
func (f *repeatsFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.SelectStmt:
		f.refused = f.refused || x.SelectIntoOpt != nil || x.LockInfo != nil && x.LockInfo.LockType != ast.SelectLockNone || x.SelectStmtOpts != nil && x.CalcFoundRows
	case *ast.WithClause:
		f.refused = f.refused || x.IsRecursive
	case *ast.FuncCallExpr:
		called := expr.Lookup(x.FnName.L)
		f.refused = f.refused || x.Schema.O != "" || x.FnName.L != "grouping" && (called == nil || !keptFunctions[called.Name])
	case *ast.SetOprStmt, *ast.SetOprSelectList, *ast.CommonTableExpression, *ast.TableRefsClause, *ast.Join, *ast.OnCondition, *ast.TableSource, *ast.TableName,
		*ast.FieldList, *ast.SelectField, *ast.WildCardField, *ast.GroupByClause, *ast.HavingClause, *ast.OrderByClause, *ast.ByItem, *ast.PositionExpr, *ast.Limit,
		*ast.WindowSpec, *ast.PartitionByClause, *ast.FrameClause, *ast.FrameBound,
		*ast.ColumnName, *ast.ColumnNameExpr, *driver.ValueExpr, *driver.ParamMarkerExpr, *ast.ParenthesesExpr, *ast.UnaryOperationExpr, *ast.BinaryOperationExpr,
		*ast.BetweenExpr, *ast.PatternInExpr, *ast.PatternLikeOrIlikeExpr, *ast.PatternRegexpExpr, *ast.IsNullExpr, *ast.IsTruthExpr, *ast.RowExpr, *ast.CaseExpr,
		*ast.WhenClause, *ast.SubqueryExpr, *ast.ExistsSubqueryExpr, *ast.CompareSubqueryExpr, *ast.AggregateFuncExpr, *ast.WindowFuncExpr, *ast.FuncCastExpr,
		*ast.TimeUnitExpr, *ast.TrimDirectionExpr, *ast.SetCollationExpr:
	default:
		f.refused = true
	}
	return n, f.refused
}

// Leave is part of ast.Visitor.
func (f *repeatsFinder) Leave(n ast.Node) (ast.Node, bool) { return n, !f.refused }

// keptFunctions give the same for the same operands under the same settings, on the same day.
var keptFunctions = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`
		add sub mul div intdiv mod neg xor bitand bitor bitxor bitnot shl shr bit_count like
		abs acos asin atan ceil conv cos cot crc32 degrees exp floor ln log log10 log2 pi pow radians round sign sin sqrt tan truncate
		coalesce greatest if ifnull interval isnull least nullif
		ascii bin bit_length char char_length concat concat_ws elt field find_in_set format hex insert instr left length locate lower lpad ltrim oct ord quote repeat
		replace reverse right rpad rtrim soundex space strcmp substring substring_index trim unhex upper regexp_instr regexp_like regexp_replace regexp_substr
		adddate addtime date date_add date_format date_sub datediff dateliteral dayname dayofmonth dayofweek dayofyear extract from_days hour last_day makedate maketime
		microsecond minute month monthname period_add period_diff quarter sec_to_time second str_to_date subdate subtime time time_format time_to_sec timediff
		timeliteral timestamp timestampadd timestampdiff timestampliteral to_days to_seconds week weekday weekofyear year yearweek
		json_contains json_extract json_length json_type json_unquote json_valid json_value md5 sha1 sha2`) {
		m[name] = true
	}
	return m
}()
