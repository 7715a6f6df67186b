package engine

import (
	"container/list"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

const (
	mostStatements  = 1024     // whose plans an engine keeps
	mostPlanBytes   = 16 << 20 // of them, if that is at most one part in planBytesShare of the memory limit
	planBytesShare  = 64
	seenStatements  = 4096 // of which it knows that they came once
	bytesOfNode     = 320  // of an operator of a plan, about
	bytesOfExpr     = 96   // of an expression
	formsOfOnePlan  = 2    // optimized and lowered
	devicesOfAPlan  = 2
	planStoreHolder = "plans of statements that come again"
)

// planStore keeps the plans of queries that come again, for all sessions of an engine, the last used ones. What is kept is never changed.
type planStore struct {
	budget *memory.Budget
	most   int64 // bytes

	mu      sync.Mutex
	byKey   map[planKey]*list.Element // of *keptStatement
	order   *list.List                // the last used one first
	byTable map[*table.Version]map[*keptStatement]bool
	held    int64
	seen    [seenStatements]uint64 // hashes of keys that came, each in its place
}

// planSeed is of the hashes in planStore.seen.
var planSeed = maphash.MakeSeed()

// planKey is all that a plan follows from, besides the versions of its tables.
type planKey struct {
	text     string
	params   string // the values of its markers
	mode     parse.Mode
	database string // the session's
	settings string // the session's variables
	today    int64  // the date of the statement: a TIME that becomes a DATETIME takes it
}

// keptStatement is a query as it was bound, and its plans.
type keptStatement struct {
	key    planKey
	tables []readTable
	query  *logical.Query
	rows   float64 // of its tables
	bytes  int64
	// fingerprint is logical.Fingerprint of the query, computed when somebody asks.
	fingerprint func() (uint64, bool)

	mu    sync.Mutex
	plans [devicesOfAPlan]devicePlan // by physical.Device
}

// readTable is a table that a name meant when the statement was bound.
type readTable struct {
	database, name string
	version        *table.Version
}

// devicePlan is a plan for a device, made with a version of its costs.
type devicePlan struct {
	plan  *physical.Plan
	costs uint64
}

func newPlanStore(b *memory.Budget, limit int64) *planStore {
	s := &planStore{budget: b, most: mostPlanBytes, byKey: map[planKey]*list.Element{}, order: list.New(), byTable: map[*table.Version]map[*keptStatement]bool{}}
	if limit > 0 {
		s.most = min(s.most, limit/planBytesShare)
	}
	return s
}

// find returns the statement of a key; nil: none is kept. again says that it has come before, so that it is worth keeping.
func (s *planStore) find(key *planKey) (k *keptStatement, again bool) {
	hash := maphash.Comparable(planSeed, *key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[*key]; e != nil {
		s.order.MoveToFront(e)
		return e.Value.(*keptStatement), true
	}
	place := &s.seen[hash%seenStatements]
	again = *place == hash
	*place = hash
	return nil, again
}

// add keeps a statement, in the place of those that were not used for longest, unless its tables have changed meanwhile. Whoever changes a table makes that visible
// first and calls drop then, so no statement stays whose tables are old.
func (s *planStore) add(k *keptStatement, c *catalog.Catalog) {
	if k.bytes > s.most/4 || s.budget.Reserve(planStoreHolder, k.bytes) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := c.Load()
	for _, t := range k.tables {
		if v, err := snap.Table(t.database, t.name); err != nil || v != t.version {
			s.budget.Release(k.bytes)
			return
		}
	}
	if e := s.byKey[k.key]; e != nil {
		s.remove(e.Value.(*keptStatement))
	}
	s.byKey[k.key] = s.order.PushFront(k)
	s.held += k.bytes
	for _, t := range k.tables {
		if s.byTable[t.version] == nil {
			s.byTable[t.version] = map[*keptStatement]bool{}
		}
		s.byTable[t.version][k] = true
	}
	for s.order.Len() > mostStatements || s.held > s.most {
		s.remove(s.order.Back().Value.(*keptStatement))
	}
}

// remove forgets a statement that is kept. The caller holds mu.
func (s *planStore) remove(k *keptStatement) {
	s.order.Remove(s.byKey[k.key])
	delete(s.byKey, k.key)
	for _, t := range k.tables {
		if delete(s.byTable[t.version], k); len(s.byTable[t.version]) == 0 {
			delete(s.byTable, t.version)
		}
	}
	s.held -= k.bytes
	s.budget.Release(k.bytes)
}

// drop forgets the statements that read tables which have changed: they would hold on to old rows.
func (s *planStore) drop(changes []catalog.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		for k := range s.byTable[c.Before] {
			s.remove(k)
		}
	}
}

// evict forgets the statements that were not used for longest, until so many bytes are free, and says whether any are.
func (s *planStore) evict(bytes int64) (freed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for bytes > 0 && s.order.Len() > 0 {
		k := s.order.Back().Value.(*keptStatement)
		s.remove(k)
		bytes -= k.bytes
		freed = true
	}
	return freed
}

// plan returns the plan for a device, if there is one that was made with these costs.
func (k *keptStatement) plan(d physical.Device, costs uint64) *physical.Plan {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.plans[d]; p.costs == costs {
		return p.plan
	}
	return nil
}

func (k *keptStatement) setPlan(d physical.Device, costs uint64, plan *physical.Plan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plans[d] = devicePlan{plan, costs}
}

// own gives the statement a text that is no piece of a longer one, and counts its bytes, with optimized as one of its plans.
func (k *keptStatement) own(optimized logical.Node) {
	k.key.text = strings.Clone(k.key.text)
	k.bytes = int64(len(k.key.text)+len(k.key.params)+len(k.key.settings)) + planBytes(k.query.Root) + devicesOfAPlan*formsOfOnePlan*planBytes(optimized)
}

// planBytes is what a logical plan takes, about, without its tables.
func planBytes(root logical.Node) (bytes int64) {
	plans := map[*logical.SharedPlan]bool{}
	var visit func(logical.Node) bool
	ofExpr := func(e expr.Expr) bool {
		bytes += bytesOfExpr
		switch x := e.(type) {
		case *expr.Const:
			bytes += int64(len(x.Value.S))
		case *expr.Subquery:
			logical.Walk(x.Rel.(logical.Node), visit)
		}
		return true
	}
	visit = func(n logical.Node) bool {
		bytes += bytesOfNode + int64(len(n.Schema()))*bytesOfExpr
		for _, e := range n.Exprs() {
			expr.Walk(e, ofExpr)
		}
		if s, ok := n.(*logical.Shared); ok && !plans[s.Plan] {
			plans[s.Plan] = true
			logical.Walk(s.Plan.Root, visit)
		}
		return true
	}
	logical.Walk(root, visit)
	return bytes
}
