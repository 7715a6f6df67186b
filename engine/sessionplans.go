package engine

import (
	"hash/maphash"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/engine/direct"
	"github.com/radish-sql/radish/engine/observe"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// What one session keeps: direct queries (package direct) that it has bound and compiled, and statements that it has parsed. Prepared statements, and texts that come
// again, run without binding. Markers are columns in a kept plan, so it depends on their types, not on their values. It holds while the table's definition, the
// session's database and its variables stay as they are. Plans of all other queries are shared by all sessions: sharedplans.go.

const (
	mostPlans     = 64       // that a session keeps
	mostTexts     = 128      // parsed, and as many of which it knows that they came once
	longestText   = 16 << 10 // that is kept, in bytes
	mostTrees     = 4 << 20  // bytes of all texts and their trees, if that is at most one part in treesShare of the memory limit
	treesShare    = 256
	leastTrees    = 256 << 10 // of them that are kept under any limit; being so few, they are not counted against it
	mostPlanTrees = 1 << 20   // bytes of the trees of all statements with plans; being so few, they are not counted against the memory limit
	mostPlanTypes = 4         // of one statement, for markers of different types
)

// sessionPlans are the plans and the parsed statements that a session keeps.
type sessionPlans struct {
	plans map[ast.StmtNode]*directPlans
	order []ast.StmtNode // of plans, the oldest first
	trees int64          // bytes of the trees of plans
	texts map[string]parsedText
	names []string          // of texts, the oldest first
	held  int64             // bytes of texts
	seen  [mostTexts]uint64 // hashes of texts that came once
	next  int               // in seen
}

// textSeed is of the hashes in sessionPlans.seen.
var textSeed = maphash.MakeSeed()

type parsedText struct {
	mode parse.Mode
	list []parse.Statement
}

// directPlans are those of one statement.
type directPlans struct {
	tree  int64 // its bytes
	runs  int
	never bool // it cannot be kept
	list  []*directPlan
}

// directPlan is a statement bound with columns instead of its markers.
type directPlan struct {
	types    []types.Type    // of the markers' values
	changes  int             // variables.changes
	database string          // the session's
	id       catalog.TableID // the table as the statement names it
	schema   *table.Schema

	direct *direct.Query
	query  *logical.Query // that direct runs
	insert *bind.Insert
	update *bind.Update
}

// planRun is a kept plan with the version of its table that the statement uses.
type planRun struct {
	*directPlan
	version *table.Version
}

// sessionPlan returns the statement's plan, if the session keeps one that holds. A statement that comes for the second time is bound for it.
func (st *statement) sessionPlan() *planRun {
	s := st.session
	if s.checking || st.Rows != nil || st.Alias != nil || len(st.Into) > 0 || s.vars.disabledRules[directQueries] || s.device().NeedsGPU() || len(observe.Of(st.ctx)) > 0 {
		return nil
	}
	c := &s.plans
	k := c.plans[st.Node]
	if k == nil {
		k = c.add(st.Statement)
	}
	if k == nil {
		return nil
	}
	if k.runs++; k.runs < 2 || k.never {
		return nil
	}
	at := slices.IndexFunc(k.list, func(p *directPlan) bool { return p.fits(st.params) })
	if at >= 0 {
		p := k.list[at]
		if p.changes == s.vars.changes && p.database == s.database {
			if v, err := st.catalogView().Table(p.id.Database, p.id.Name); err == nil && v.Schema == p.schema {
				return &planRun{p, v}
			}
		}
		k.list = slices.Delete(k.list, at, at+1)
	}
	if len(k.list) >= mostPlanTypes {
		return nil
	}
	p := st.bindToKeep()
	if p == nil {
		k.never = len(k.list) == 0 && !slices.ContainsFunc(st.params, func(v types.Value) bool { return v.Null })
		return nil
	}
	v, err := st.catalogView().Table(p.id.Database, p.id.Name)
	if err != nil || v.Schema != p.schema {
		return nil
	}
	k.list = append(k.list, p)
	return &planRun{p, v}
}

// add makes an entry for a statement, in place of the oldest ones if there are many; nil: its tree is large.
func (c *sessionPlans) add(stmt parse.Statement) *directPlans {
	if stmt.Kept > mostPlanTrees/4 {
		return nil
	}
	if c.plans == nil {
		c.plans = map[ast.StmtNode]*directPlans{}
	}
	for len(c.order) >= mostPlans || c.trees+stmt.Kept > mostPlanTrees {
		c.trees -= c.plans[c.order[0]].tree
		delete(c.plans, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	k := &directPlans{tree: stmt.Kept}
	c.trees += k.tree
	c.plans[stmt.Node] = k
	c.order = append(c.order, stmt.Node)
	return k
}

// fits says whether values have the types of the plan's markers.
func (p *directPlan) fits(values []types.Value) bool {
	for i := range values {
		if values[i].Null || markerType(values[i].Type) != p.types[i] {
			return false
		}
	}
	return len(values) == len(p.types)
}

// markerType is the type of a marker's column. A text's own type says how long it is.
func markerType(t types.Type) types.Type {
	if t.Kind == types.KindVarchar {
		return types.Text
	}
	return t
}

// bindToKeep binds the statement with columns instead of its markers; nil: it cannot be kept.
func (st *statement) bindToKeep() *directPlan {
	s := st.session
	name := keepable(st.Node)
	if name == nil || slices.ContainsFunc(st.params, func(v types.Value) bool { return v.Null }) {
		return nil
	}
	p := &directPlan{changes: s.vars.changes, database: s.database}
	var err error
	if p.id.Database, p.id.Name, err = s.qualify(name); err != nil {
		return nil
	}
	v, err := st.catalogView().Table(p.id.Database, p.id.Name)
	if err != nil {
		return nil
	}
	p.schema = v.Schema
	for i := range st.params {
		p.types = append(p.types, markerType(st.params[i].Type))
	}
	b := st.binder()
	b.Params = nil
	b.MarkAs(p.types)
	var bound *table.Version
	var further []expr.Expr // which must not use markers
	switch n := st.Node.(type) {
	case *ast.SelectStmt:
		if p.query, err = b.Query(n); err == nil {
			s.limitSelect(n, p.query)
		}
	case *ast.InsertStmt:
		if p.insert, err = b.Insert(n); err == nil {
			p.query, bound, further = p.insert.Query, p.insert.Table, insertRules(p.insert)
		}
	case *ast.UpdateStmt:
		if p.update, err = b.Update(n); err == nil {
			p.query, bound, further = p.update.Query, p.update.Table, rulesOf(p.update.Computed, p.update.Checks)
		}
	case *ast.DeleteStmt:
		var del *bind.Delete
		if del, err = b.Delete(n); err == nil {
			p.query, bound = del.Query, del.Table
		}
	}
	if err != nil || bound != nil && bound.Schema != p.schema || !markersAreValues(p, b.Markers, further) {
		return nil
	}
	if p.direct, err = direct.Compile(p.query, b.Markers); err != nil || p.direct == nil {
		return nil
	}
	if v := p.direct.Table(); v != nil && v.Schema != p.schema {
		return nil
	} else if v != nil {
		p.direct.ForgetTable()
	} else if p.insert == nil {
		return nil
	}
	p.forgetVersions()
	return p
}

// forgetVersions drops the versions of tables that the statement was bound with.
func (p *directPlan) forgetVersions() {
	p.query = &logical.Query{Cols: p.query.Cols, Names: p.query.Names, Alloc: p.query.Alloc}
	if p.insert != nil {
		p.insert.Query, p.insert.Table = p.query, nil
	}
	if p.update != nil {
		p.update.Query, p.update.Table = p.query, nil
	}
}

func rulesOf(computed []bind.Computed, checks []bind.Check) (all []expr.Expr) {
	for _, c := range computed {
		all = append(all, c.Expr)
	}
	for _, c := range checks {
		all = append(all, c.Cond)
	}
	return all
}

func insertRules(ins *bind.Insert) []expr.Expr {
	all := rulesOf(ins.Computed, ins.Checks)
	if ins.Upsert != nil {
		all = append(all, ins.Upsert.Exprs...)
	}
	return all
}

// keepable returns the table of a statement of which all that is bound follows from its text, its table and the session's variables; nil: there
// is more to it.
func keepable(n ast.StmtNode) *ast.TableName {
	f := &keepableFinder{}
	switch x := n.(type) {
	case *ast.SelectStmt:
		if x.From == nil || x.With != nil || x.SelectStmtOpts != nil && x.CalcFoundRows || x.LockInfo != nil || len(x.TableHints) > 0 {
			return nil
		}
	case *ast.InsertStmt:
		if x.Select != nil {
			return nil
		}
	case *ast.UpdateStmt:
		if bind.IsMulti(x) || x.With != nil || x.IgnoreErr {
			return nil
		}
	case *ast.DeleteStmt:
		if x.IsMultiTable || x.With != nil {
			return nil
		}
	default:
		return nil
	}
	n.Accept(f)
	if f.refused || len(f.tables) != 1 {
		return nil
	}
	return f.tables[0]
}

// keepableFinder looks for parts of a statement whose meaning depends on more than names and values.
type keepableFinder struct {
	tables  []*ast.TableName
	refused bool
}

// Enter is part of ast.Visitor.
func (f *keepableFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		f.tables = append(f.tables, x)
	case *ast.SelectStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.TableRefsClause, *ast.Join, *ast.TableSource, *ast.FieldList,
		*ast.SelectField, *ast.WildCardField, *ast.ColumnName, *ast.ColumnNameExpr, *ast.Assignment, *ast.ParenthesesExpr, *ast.BinaryOperationExpr,
		*ast.UnaryOperationExpr, *ast.PatternInExpr, *ast.BetweenExpr, *ast.IsNullExpr, *ast.OrderByClause, *ast.ByItem, *ast.Limit, *ast.DefaultExpr,
		*ast.ValuesExpr, *driver.ValueExpr, *driver.ParamMarkerExpr:
	default:
		f.refused = true
	}
	return n, f.refused
}

// Leave is part of ast.Visitor.
func (f *keepableFinder) Leave(n ast.Node) (ast.Node, bool) { return n, !f.refused }

// markersAreValues says whether markers stand only where nothing but their value matters: compared with a column, stored in one, or as operands
// of sums that are stored. A literal at another position may decide a type.
func markersAreValues(p *directPlan, markers []*expr.Column, further []expr.Expr) bool {
	is := map[expr.ColumnID]bool{}
	for _, m := range markers {
		is[m.ID] = true
	}
	uses := func(e expr.Expr) (found bool) {
		expr.Columns(e, func(id expr.ColumnID) { found = found || is[id] })
		return found
	}
	if slices.ContainsFunc(further, uses) {
		return false
	}
	marker := func(e expr.Expr) bool {
		c, ok := e.(*expr.Column)
		return ok && is[c.ID]
	}
	var safe func(e expr.Expr) bool // of a condition
	safe = func(e expr.Expr) bool {
		switch x := e.(type) {
		case *expr.Compare:
			return comparesColumn(x.Left, x.Right, marker) || comparesColumn(x.Right, x.Left, marker) || !uses(x)
		case *expr.And, *expr.Or, *expr.Not:
			return !slices.ContainsFunc(x.Children(), func(e expr.Expr) bool { return !safe(e) })
		}
		return !uses(e)
	}
	stored := func(e expr.Expr) bool { return marker(e) || storesMarker(e, marker, uses) || !uses(e) }
	chain, source := direct.Chain(p.query.Root)
	if _, ok := source.(*logical.Values); ok && slices.ContainsFunc(source.Exprs(), func(e expr.Expr) bool { return !stored(e) }) {
		return false
	}
	for _, n := range chain {
		ok := stored
		switch n.(type) {
		case *logical.Filter:
			ok = safe
		case *logical.Sort:
			ok = func(e expr.Expr) bool { return !uses(e) }
		case *logical.Project:
			if p.insert == nil && p.update == nil {
				ok = func(e expr.Expr) bool { return !uses(e) }
			}
		}
		if slices.ContainsFunc(n.Exprs(), func(e expr.Expr) bool { return !ok(e) }) {
			return false
		}
	}
	return true
}

// comparesColumn says whether a is a column, or its key under a collation, and b a marker, as it is or its key.
func comparesColumn(a, b expr.Expr, marker func(expr.Expr) bool) bool {
	if text, _, ok := expr.CollationKeyOf(a); ok {
		a = text
	}
	if text, _, ok := expr.CollationKeyOf(b); ok {
		b = text
	}
	_, isColumn := a.(*expr.Column)
	if !isColumn || marker(a) || !marker(b) {
		return false
	}
	s, t := a.Type(), b.Type() // a constant of another kind would be converted by its value
	return s.IsInteger() && t.IsInteger() || s.IsString() && t.IsString() || s == t
}

// storesMarker says whether e stores a marker, or a sum, difference or product of integers or of doubles of which it is an operand.
func storesMarker(e expr.Expr, marker, uses func(expr.Expr) bool) bool {
	if c, ok := e.(*expr.Cast); ok && c.Column != "" {
		e = c.Arg
	}
	var sum func(e expr.Expr) bool
	sum = func(e expr.Expr) bool {
		if t := e.Type(); !uses(e) || marker(e) && (t.IsInteger() || t.IsFloat()) {
			return true
		}
		call, ok := e.(*expr.Call)
		if !ok || call.Fn.Name != "add" && call.Fn.Name != "sub" && call.Fn.Name != "mul" || !call.Typ.IsInteger() && !call.Typ.IsFloat() {
			return false
		}
		return !slices.ContainsFunc(call.Args, func(e expr.Expr) bool { return !sum(e) })
	}
	return marker(e) || sum(e)
}

// runSessionPlan runs a query whose plan the session keeps; nil: it keeps none.
func (s *Session) runSessionPlan(st *statement) (*Result, error) {
	k := st.sessionPlan()
	if k == nil {
		return nil, nil
	}
	res, err := directResult(st, k.direct, k.version, st.params)
	if err == nil {
		s.last.foundRows = 0
		res.source = &countingSource{res.source, s}
	}
	return res, err
}

// boundInsert returns the bound INSERT: the kept one, or one that is bound now. So do boundUpdate and boundDelete.
func (st *statement) boundInsert(n *ast.InsertStmt) (*bind.Insert, error) {
	if st.plan = st.sessionPlan(); st.plan == nil {
		return st.binder().Insert(n)
	}
	own := *st.plan.insert
	own.Table = st.plan.version
	return &own, nil
}

func (st *statement) boundUpdate(n *ast.UpdateStmt) (*bind.Update, error) {
	if st.plan = st.sessionPlan(); st.plan == nil {
		return st.binder().Update(n)
	}
	own := *st.plan.update
	own.Table = st.plan.version
	return &own, nil
}

func (st *statement) boundDelete(n *ast.DeleteStmt) (*bind.Delete, error) {
	if st.plan = st.sessionPlan(); st.plan == nil {
		return st.binder().Delete(n)
	}
	return &bind.Delete{Table: st.plan.version, Query: st.plan.query}, nil
}

// parsed returns the statements of a text that has come before.
func (c *sessionPlans) parsed(text string, mode parse.Mode) []parse.Statement {
	if k, ok := c.texts[text]; ok && k.mode == mode {
		return k.list
	}
	return nil
}

// again says whether a text has come before and should be kept. The first time it is noted.
func (c *sessionPlans) again(text string) bool {
	if len(text) > longestText {
		return false
	}
	h := maphash.String(textSeed, text)
	if slices.Contains(c.seen[:], h) {
		return true
	}
	c.seen[c.next] = h
	c.next = (c.next + 1) % mostTexts
	return false
}

// keepText keeps the statements of a text, in place of the oldest if there are many. Where the memory limit leaves no memory for them, it does not.
func (s *Session) keepText(text string, list []parse.Statement) {
	for i := range list {
		if list[i].Rows != nil || accessOf(list[i].Node) != accessRead && accessOf(list[i].Node) != accessWrite {
			return
		}
	}
	c, bytes, most := &s.plans, parse.Kept(list), s.engine.mostTrees()
	if bytes > most/4 {
		return
	}
	if c.texts == nil {
		c.texts = map[string]parsedText{}
	}
	c.forget(text) // under another sql_mode
	for len(c.names) >= mostTexts || c.held+bytes > most {
		c.forget(c.names[0])
	}
	if s.values.ofTexts.Set(max(c.held+bytes-leastTrees, 0)) != nil {
		_ = s.values.ofTexts.Set(max(c.held-leastTrees, 0)) // which takes nothing
		return
	}
	c.held += bytes
	c.names = append(c.names, text)
	c.texts[text] = parsedText{s.vars.parseMode, list}
}

// mostTrees is how many bytes of texts and their trees a session keeps.
func (e *Engine) mostTrees() int64 {
	if limit := e.opts.MemoryLimit; limit > 0 {
		return max(min(limit/treesShare, mostTrees), leastTrees)
	}
	return mostTrees
}

// forget drops the statements of a text, if they are kept.
func (c *sessionPlans) forget(text string) {
	k, is := c.texts[text]
	if !is {
		return
	}
	c.held -= parse.Kept(k.list)
	delete(c.texts, text)
	c.names = slices.DeleteFunc(c.names, func(name string) bool { return name == text })
}
