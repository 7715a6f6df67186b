package plans

import (
	"hash/maphash"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/direct"
	"github.com/radish-sql/radish/exec/memory"
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
// session's database and its variables stay as they are. Plans of all other queries are shared by all sessions: see package query.

const (
	MostPlans     = 64       // that a session keeps
	MostTexts     = 128      // parsed, and as many of which it knows that they came once
	LongestText   = 16 << 10 // that is kept, in bytes
	mostTrees     = 4 << 20  // bytes of all texts and their trees, if that is at most one part in treesShare of the memory limit
	treesShare    = 256
	LeastTrees    = 256 << 10 // of them that are kept under any limit; being so few, they are not counted against it
	MostPlanTrees = 1 << 20   // bytes of the trees of all statements with plans; being so few, they are not counted against the memory limit
	MostPlanTypes = 4         // of one statement, for markers of different types
)

// OfSession are the plans and the parsed statements that a session keeps.
type OfSession struct {
	Plans map[ast.StmtNode]*DirectPlans
	Order []ast.StmtNode // of plans, the oldest first
	Trees int64          // bytes of the trees of plans
	Texts map[string]parsedText
	names []string          // of texts, the oldest first
	Held  int64             // bytes of texts
	seen  [MostTexts]uint64 // hashes of texts that came once
	next  int               // in seen
}

// textSeed is of the hashes in OfSession.seen.
var textSeed = maphash.MakeSeed()

type parsedText struct {
	mode parse.Mode
	List []parse.Statement
}

// DirectPlans are those of one statement.
type DirectPlans struct {
	Tree  int64 // its bytes
	Runs  int
	Never bool // it cannot be kept
	List  []*Bound
}

// Bound is a statement bound with columns instead of its markers.
type Bound struct {
	Types    []types.Type    // of the markers' values
	Changes  int             // of the session's settings
	Database string          // the session's
	ID       catalog.TableID // the table as the statement names it
	Schema   *table.Schema

	Direct *direct.Query
	Query  *logical.Query // that direct runs
	Insert *bind.Insert
	Update *bind.Update
}

// Run is a kept plan with the version of its table that the statement uses.
type Run struct {
	*Bound
	Version *table.Version
}

// Add makes an entry for a statement, in place of the oldest ones if there are many; nil: its tree is large.
func (c *OfSession) Add(stmt parse.Statement) *DirectPlans {
	if stmt.Kept > MostPlanTrees/4 {
		return nil
	}
	if c.Plans == nil {
		c.Plans = map[ast.StmtNode]*DirectPlans{}
	}
	for len(c.Order) >= MostPlans || c.Trees+stmt.Kept > MostPlanTrees {
		c.Trees -= c.Plans[c.Order[0]].Tree
		delete(c.Plans, c.Order[0])
		c.Order = slices.Delete(c.Order, 0, 1)
	}
	k := &DirectPlans{Tree: stmt.Kept}
	c.Trees += k.Tree
	c.Plans[stmt.Node] = k
	c.Order = append(c.Order, stmt.Node)
	return k
}

// Fits says whether values have the types of the plan's markers.
func (p *Bound) Fits(values []types.Value) bool {
	for i := range values {
		if values[i].Null || MarkerType(values[i].Type) != p.Types[i] {
			return false
		}
	}
	return len(values) == len(p.Types)
}

// MarkerType is the type of a marker's column. A text's own type says how long it is.
func MarkerType(t types.Type) types.Type {
	if t.Kind == types.KindVarchar {
		return types.Text
	}
	return t
}

// ForgetVersions drops the versions of tables that the statement was bound with.
func (p *Bound) ForgetVersions() {
	p.Query = &logical.Query{Cols: p.Query.Cols, Names: p.Query.Names, Alloc: p.Query.Alloc}
	if p.Insert != nil {
		p.Insert.Query, p.Insert.Table = p.Query, nil
	}
	if p.Update != nil {
		p.Update.Query, p.Update.Table = p.Query, nil
	}
}

// RulesOf returns the expressions of computed columns and checks.
func RulesOf(computed []bind.Computed, checks []bind.Check) (all []expr.Expr) {
	for _, c := range computed {
		all = append(all, c.Expr)
	}
	for _, c := range checks {
		all = append(all, c.Cond)
	}
	return all
}

// InsertRules returns the expressions of an INSERT besides its rows.
func InsertRules(ins *bind.Insert) []expr.Expr {
	all := RulesOf(ins.Computed, ins.Checks)
	if ins.Upsert != nil {
		all = append(all, ins.Upsert.Exprs...)
	}
	return all
}

// Parsed returns the statements of a text that has come before.
func (c *OfSession) Parsed(text string, mode parse.Mode) []parse.Statement {
	if k, ok := c.Texts[text]; ok && k.mode == mode {
		return k.List
	}
	return nil
}

// Again says whether a text has come before and should be kept. The first time it is noted.
func (c *OfSession) Again(text string) bool {
	if len(text) > LongestText {
		return false
	}
	h := maphash.String(textSeed, text)
	if slices.Contains(c.seen[:], h) {
		return true
	}
	c.seen[c.next] = h
	c.next = (c.next + 1) % MostTexts
	return false
}

// KeepText keeps the statements of a text, in place of the oldest if there are many. most is how many bytes all may have; account counts those beyond LeastTrees.
func (c *OfSession) KeepText(text string, mode parse.Mode, list []parse.Statement, most int64, account *memory.Account) {
	bytes := parse.Kept(list)
	if bytes > most/4 {
		return
	}
	if c.Texts == nil {
		c.Texts = map[string]parsedText{}
	}
	c.forget(text) // under another sql_mode
	for len(c.names) >= MostTexts || c.Held+bytes > most {
		c.forget(c.names[0])
	}
	if account.Set(max(c.Held+bytes-LeastTrees, 0)) != nil {
		_ = account.Set(max(c.Held-LeastTrees, 0)) // which takes nothing
		return
	}
	c.Held += bytes
	c.names = append(c.names, text)
	c.Texts[text] = parsedText{mode, list}
}

// MostTreesWithin is how many bytes of texts and their trees a session keeps under a memory limit; 0: there is none.
func MostTreesWithin(limit int64) int64 {
	if limit > 0 {
		return max(min(limit/treesShare, mostTrees), LeastTrees)
	}
	return mostTrees
}

// forget drops the statements of a text, if they are kept.
func (c *OfSession) forget(text string) {
	k, is := c.Texts[text]
	if !is {
		return
	}
	c.Held -= parse.Kept(k.List)
	delete(c.Texts, text)
	c.names = slices.DeleteFunc(c.names, func(name string) bool { return name == text })
}
