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
	byKey   map[planKey]*list.Element       // of *keptStatement
	order   *list.List                      // the last used one first
	readers map[any]map[*keptStatement]bool // by the *table.Version or *catalog.View that they read
	held    int64
	seen    [seenStatements]uint64 // hashes of keys that came, each in its place
}

// planSeed is of the hashes in planStore.seen.
var planSeed = maphash.MakeSeed()

// planKey is all that a plan follows from, besides its views and the versions of its tables.
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
	views  []readView
	query  *logical.Query
	rows   float64 // of its tables
	bytes  int64
	// fingerprint is logical.Fingerprint of the query, computed when somebody asks.
	fingerprint func() (uint64, bool)

	mu    sync.Mutex
	plans [devicesOfAPlan]devicePlan // by physical.Device
}

// namedRead is a name that was looked up when the statement was bound.
type namedRead struct {
	database, name string
	permanent      bool // in a view, where names do not mean TEMPORARY tables
}

// readTable is a table that a name meant.
type readTable struct {
	namedRead
	version *table.Version
}

// readView is a view that a name meant. One that is defined anew is another one.
type readView struct {
	namedRead
	view *catalog.View
}

// eachRead calls f with the versions of tables and the views that the statement reads. One that has two names comes twice.
func (k *keptStatement) eachRead(f func(read any)) {
	for i := range k.tables {
		f(k.tables[i].version)
	}
	for i := range k.views {
		f(k.views[i].view)
	}
}

// current says whether what the statement reads is what a snapshot has.
func (k *keptStatement) current(snap *catalog.Snapshot) bool {
	for i := range k.tables {
		if v, err := snap.Table(k.tables[i].database, k.tables[i].name); err != nil || v != k.tables[i].version {
			return false
		}
	}
	for i := range k.views {
		if v, err := snap.View(k.views[i].database, k.views[i].name); err != nil || v != k.views[i].view {
			return false
		}
	}
	return true
}

// devicePlan is a plan for a device, made with a version of its costs.
type devicePlan struct {
	plan  *physical.Plan
	costs uint64
}

func newPlanStore(b *memory.Budget, limit int64) *planStore {
	s := &planStore{budget: b, most: mostPlanBytes, byKey: map[planKey]*list.Element{}, order: list.New(), readers: map[any]map[*keptStatement]bool{}}
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

// add keeps a statement, in the place of those that were not used for longest, unless its tables or views have changed meanwhile. Whoever changes one makes that
// visible first and calls drop then, so no statement stays that reads old ones.
func (s *planStore) add(k *keptStatement, c *catalog.Catalog) {
	if k.bytes > s.most/4 || s.budget.Reserve(planStoreHolder, k.bytes) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !k.current(c.Load()) {
		s.budget.Release(k.bytes)
		return
	}
	if e := s.byKey[k.key]; e != nil {
		s.remove(e.Value.(*keptStatement))
	}
	s.byKey[k.key] = s.order.PushFront(k)
	s.held += k.bytes
	k.eachRead(func(read any) {
		if s.readers[read] == nil {
			s.readers[read] = map[*keptStatement]bool{}
		}
		s.readers[read][k] = true
	})
	for s.order.Len() > mostStatements || s.held > s.most {
		s.remove(s.order.Back().Value.(*keptStatement))
	}
}

// remove forgets a statement that is kept. The caller holds mu.
func (s *planStore) remove(k *keptStatement) {
	s.order.Remove(s.byKey[k.key])
	delete(s.byKey, k.key)
	k.eachRead(func(read any) {
		if delete(s.readers[read], k); len(s.readers[read]) == 0 {
			delete(s.readers, read)
		}
	})
	s.held -= k.bytes
	s.budget.Release(k.bytes)
}

// drop forgets the statements that read tables which have changed, or views that are gone: they would hold on to old rows and texts.
func (s *planStore) drop(changes []catalog.Change, gone []*catalog.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		s.dropReaders(c.Before)
	}
	for _, v := range gone {
		s.dropReaders(v)
	}
}

// dropReaders forgets the statements that read a version of a table, or a view. The caller holds mu.
func (s *planStore) dropReaders(read any) {
	for k := range s.readers[read] {
		s.remove(k)
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
