package query

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/direct"
	"github.com/radish-sql/radish/engine/observe"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// sessionPlan returns the statement's plan, if the session keeps one that holds. A statement that comes for the second time is bound for it.
func sessionPlan(st *session.Statement) *plans.Run {
	s := st.Session
	if s.Checking || st.Rows != nil || st.Alias != nil || len(st.Into) > 0 || s.Vars.DisabledRules[variables.DirectQueries] || s.Device().NeedsGPU() || len(observe.Of(st.Context)) > 0 {
		return nil
	}
	c := &s.Plans
	k := c.Plans[st.Node]
	if k == nil {
		k = c.Add(st.Statement)
	}
	if k == nil {
		return nil
	}
	if k.Runs++; k.Runs < 2 || k.Never {
		return nil
	}
	at := slices.IndexFunc(k.List, func(p *plans.Bound) bool { return p.Fits(st.Given) })
	if at >= 0 {
		p := k.List[at]
		if p.Changes == s.Vars.Changes && p.Database == s.Database {
			if v, err := st.CatalogView().Table(p.ID.Database, p.ID.Name); err == nil && v.Schema == p.Schema {
				return &plans.Run{Bound: p, Version: v}
			}
		}
		k.List = slices.Delete(k.List, at, at+1)
	}
	if len(k.List) >= plans.MostPlanTypes {
		return nil
	}
	p := bindToKeep(st)
	if p == nil {
		k.Never = len(k.List) == 0 && !slices.ContainsFunc(st.Given, func(v types.Value) bool { return v.Null })
		return nil
	}
	v, err := st.CatalogView().Table(p.ID.Database, p.ID.Name)
	if err != nil || v.Schema != p.Schema {
		return nil
	}
	k.List = append(k.List, p)
	return &plans.Run{Bound: p, Version: v}
}

// bindToKeep binds the statement with columns instead of its markers; nil: it cannot be kept.
func bindToKeep(st *session.Statement) *plans.Bound {
	s := st.Session
	name := plans.Keepable(st.Node)
	if name == nil || slices.ContainsFunc(st.Given, func(v types.Value) bool { return v.Null }) {
		return nil
	}
	p := &plans.Bound{Changes: s.Vars.Changes, Database: s.Database}
	var err error
	if p.ID.Database, p.ID.Name, err = s.Qualify(name); err != nil {
		return nil
	}
	v, err := st.CatalogView().Table(p.ID.Database, p.ID.Name)
	if err != nil {
		return nil
	}
	p.Schema = v.Schema
	for i := range st.Given {
		p.Types = append(p.Types, plans.MarkerType(st.Given[i].Type))
	}
	b := st.Binder()
	b.Params = nil
	b.MarkAs(p.Types)
	var bound *table.Version
	var further []expr.Expr // which must not use markers
	switch n := st.Node.(type) {
	case *ast.SelectStmt:
		if p.Query, err = b.Query(n); err == nil {
			limitSelect(s, n, p.Query)
		}
	case *ast.InsertStmt:
		if p.Insert, err = b.Insert(n); err == nil {
			p.Query, bound, further = p.Insert.Query, p.Insert.Table, plans.InsertRules(p.Insert)
		}
	case *ast.UpdateStmt:
		if p.Update, err = b.Update(n); err == nil {
			p.Query, bound, further = p.Update.Query, p.Update.Table, plans.RulesOf(p.Update.Computed, p.Update.Checks)
		}
	case *ast.DeleteStmt:
		var del *bind.Delete
		if del, err = b.Delete(n); err == nil {
			p.Query, bound = del.Query, del.Table
		}
	}
	if err != nil || bound != nil && bound.Schema != p.Schema || !plans.MarkersAreValues(p, b.Markers, further) {
		return nil
	}
	if p.Direct, err = direct.Compile(p.Query, b.Markers); err != nil || p.Direct == nil {
		return nil
	}
	if v := p.Direct.Table(); v != nil && v.Schema != p.Schema {
		return nil
	} else if v != nil {
		p.Direct.ForgetTable()
	} else if p.Insert == nil {
		return nil
	}
	p.ForgetVersions()
	return p
}

// runSessionPlan runs a query whose plan the session keeps; nil: it keeps none.
func runSessionPlan(st *session.Statement) (*result.Result, error) {
	s := st.Session
	k := sessionPlan(st)
	if k == nil {
		return nil, nil
	}
	res, err := directResult(st, k.Direct, k.Version, st.Given)
	if err == nil {
		s.Last.FoundRows = 0
		res.Source = &countingSource{RowSource: res.Source, session: s}
	}
	return res, err
}

// BoundInsert returns the bound INSERT: the kept one, or one that is bound now.
func BoundInsert(st *session.Statement, n *ast.InsertStmt) (*bind.Insert, error) {
	if st.Plan = sessionPlan(st); st.Plan == nil {
		return st.Binder().Insert(n)
	}
	own := *st.Plan.Insert
	own.Table = st.Plan.Version
	return &own, nil
}

// BoundUpdate returns the bound UPDATE, as [BoundInsert] does.
func BoundUpdate(st *session.Statement, n *ast.UpdateStmt) (*bind.Update, error) {
	if st.Plan = sessionPlan(st); st.Plan == nil {
		return st.Binder().Update(n)
	}
	own := *st.Plan.Update
	own.Table = st.Plan.Version
	return &own, nil
}

// BoundDelete returns the bound DELETE, as [BoundInsert] does.
func BoundDelete(st *session.Statement, n *ast.DeleteStmt) (*bind.Delete, error) {
	if st.Plan = sessionPlan(st); st.Plan == nil {
		return st.Binder().Delete(n)
	}
	return &bind.Delete{Table: st.Plan.Version, Query: st.Plan.Query}, nil
}
