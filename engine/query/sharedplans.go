package query

import (
	"fmt"
	"math"
	"sync"

	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/types"
)

// Plans that all sessions share (docs/internals/plans.md). A query that comes for the second time leaves its bound form and its plans in the engine (plans.Store).
// From the third time on it is neither bound nor optimized, if all that a plan follows from is the same (plans.Key). A statement that depends on more, by its
// functions or by what it names, is planned each time. The device is chosen each time too, since that choice learns. The kernels of
// pipelines on a GPU are kept with the plan (gpu.Kept).

// MostKeptParams is how many bytes the strings among a statement's markers may have for its plans to be kept.
const MostKeptParams = 1 << 10

// PlanKey returns what the statement's plans are kept by; ok says whether they may be.
func PlanKey(st *session.Statement) (key plans.Key, ok bool) {
	s := st.Session
	if s.Checking || st.Rows != nil || st.Alias != nil || len(st.Into) > 0 || len(st.Text) > plans.LongestText || s.Vars.DisabledRules[variables.PlanSharing] || st.Context.Value(session.GivenKey{}) != nil {
		return key, false
	}
	params, ok := ParamsKey(st.Given)
	if !ok {
		return key, false
	}
	return plans.Key{Text: st.Text, Params: params, Mode: s.Vars.ParseMode, Database: s.Database, Settings: s.Vars.Digest(), Today: st.Expressions().Today()}, true
}

// ParamsKey writes values with their types, so that different ones differ; ok is false if they are long, or of a type that has more to it.
func ParamsKey(params []types.Value) (key string, ok bool) {
	if len(params) == 0 {
		return "", true
	}
	var b []byte
	for _, v := range params {
		t := v.Type
		if t.Enum != nil || len(b)+len(v.S) > MostKeptParams {
			return "", false
		}
		b = fmt.Appendf(b, "%d,%d,%d,%d,%d,%t,%t,%d,%x,%d,%d,%d:%s;", t.Kind, t.Precision, t.Scale, t.Length, t.Collation, v.Null, v.IsBits, v.I, math.Float64bits(v.F), v.D.Hi, v.D.Lo, len(v.S), v.S)
	}
	return string(b), true
}

// Holds says whether the views and tables of a kept statement are what they were, for this session.
func Holds(st *session.Statement, k *plans.Statement) bool {
	c := st.CatalogView()
	permanent := c.Permanent().(*session.CatalogView)
	seenBy := func(n *plans.NamedRead) *session.CatalogView {
		if n.Permanent {
			return permanent
		}
		return c
	}
	for i := range k.Views {
		if w := &k.Views[i]; seenBy(&w.NamedRead).Defined(w.Database, w.Name) != w.View {
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
func toKeep(st *session.Statement, key plans.Key, q *logical.Query) *plans.Statement {
	r := st.Reads
	if r == nil || r.ReadsOthers || len(r.Tables) == 0 || st.Once || NamesFiles(st) || !plans.Repeats(st.Node) {
		return nil
	}
	return &plans.Statement{
		Key: key, Tables: r.Tables, Views: r.Views, Query: q, Rows: rules.TableRows(q), Placing: new(gpu.Kept),
		Fingerprint: sync.OnceValues(func() (uint64, bool) { return logical.Fingerprint(q) }),
	}
}

// keepPlans keeps what was planned of a query, if it may be and planning it warned of nothing: warnings would be missing the next time.
func keepPlans(s *session.Session, p *Planned, warned bool) {
	if p.shared == nil || warned || p.Plan.Recursive() {
		return
	}
	p.shared.Own(p.Plan.Logical)
	s.DB.Plans.Add(p.shared, s.DB.Catalog)
}

// lowered is lower for a planned query, whose plan for the device may be kept. The query itself stays as it is: others may be using it.
func lowered(st *session.Statement, p *Planned, device physical.Device) (*physical.Plan, error) {
	if p.shared == nil {
		return lower(st, p.query, device)
	}
	if plan := p.shared.Plan(device); plan != nil {
		return plan, nil
	}
	own, alloc := *p.query, *p.query.Alloc
	own.Alloc = &alloc
	plan, err := lower(st, &own, device)
	if err == nil {
		p.shared.SetPlan(device, plan)
	}
	return plan, err
}

// placing keeps where the plan of a query that is kept is placed; nil: it is not kept.
func (p *Planned) placing() *gpu.Kept {
	if p.shared == nil {
		return nil
	}
	return p.shared.Placing.(*gpu.Kept)
}

// tableRows is rules.TableRows of the query.
func (p *Planned) tableRows() float64 {
	if p.shared != nil {
		return p.shared.Rows
	}
	return rules.TableRows(p.query)
}
