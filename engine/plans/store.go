// Package plans keeps the plans of queries that come again: for all sessions of an engine (store.go), and for one session those of few rows (session.go).
// keepable.go and repeats.go say which statements mean the same when they come again.
package plans

import (
	"container/list"
	"hash/maphash"
	"slices"
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
	MostStatements = 1024     // whose plans an engine keeps
	mostPlanBytes  = 16 << 20 // of them, if that is at most one part in PlanBytesShare of the memory limit
	PlanBytesShare = 64
	seenSets       = 1024 // of statements that came once
	seenInSet      = 4
	bytesOfNode    = 320 // of an operator of a plan, about
	bytesOfExpr    = 96  // of an expression
	formsOfOnePlan = 2   // optimized and lowered
	devicesOfAPlan = 2
	storeHolder    = "plans of statements that come again"
)

// Store keeps the plans of queries that come again, for all sessions of an engine, the last used ones. What is kept is never changed.
type Store struct {
	Budget *memory.Budget
	Most   int64 // bytes

	Mu      sync.Mutex
	ByKey   map[Key]*list.Element       // of *Statement
	Order   *list.List                  // the last used one first
	Readers map[any]map[*Statement]bool // by the *table.Version or *catalog.View that they read
	Held    int64
	seen    [seenSets][seenInSet]uint64 // hashes of keys that came, the latest first: few that come in turn do not drive each other out
}

// planSeed is of the hashes in Store.seen.
var planSeed = maphash.MakeSeed()

// Key is all that a plan follows from, besides its views and the versions of its tables.
type Key struct {
	Text     string
	Params   string // the values of its markers
	Mode     parse.Mode
	Database string // the session's
	Settings string // the session's variables
	Today    int64  // the date of the statement: a TIME that becomes a DATETIME takes it
}

// Statement is a query as it was bound, and its plans.
type Statement struct {
	Key    Key
	Tables []ReadTable
	Views  []ReadView
	Query  *logical.Query
	Rows   float64 // of its tables
	Bytes  int64
	// Fingerprint is logical.Fingerprint of the query, computed when somebody asks.
	Fingerprint func() (uint64, bool)
	Placing     Placing

	mu    sync.Mutex
	plans [devicesOfAPlan]*physical.Plan // by physical.Device
}

// Placing keeps where the plan for a GPU was placed, from Open to Close: while the statement is kept.
type Placing interface {
	Open()
	Close()
}

// NamedRead is a name that was looked up when the statement was bound.
type NamedRead struct {
	Database, Name string
	Permanent      bool // in a view, where names do not mean TEMPORARY tables
}

// ReadTable is a table that a name meant.
type ReadTable struct {
	NamedRead
	Version *table.Version
}

// ReadView is a view that a name meant. One that is defined anew is another one.
type ReadView struct {
	NamedRead
	View *catalog.View
}

// EachRead calls f with the versions of tables and the views that the statement reads. One that has two names comes twice.
func (k *Statement) EachRead(f func(read any)) {
	for i := range k.Tables {
		f(k.Tables[i].Version)
	}
	for i := range k.Views {
		f(k.Views[i].View)
	}
}

// isCurrent says whether what the statement reads is what a snapshot has.
func (k *Statement) isCurrent(snap *catalog.Snapshot) bool {
	for i := range k.Tables {
		if v, err := snap.Table(k.Tables[i].Database, k.Tables[i].Name); err != nil || v != k.Tables[i].Version {
			return false
		}
	}
	for i := range k.Views {
		if v, err := snap.View(k.Views[i].Database, k.Views[i].Name); err != nil || v != k.Views[i].View {
			return false
		}
	}
	return true
}

// New returns an empty store whose plans count against a budget. limit is the memory limit of the database; 0: there is none.
func New(b *memory.Budget, limit int64) *Store {
	s := &Store{Budget: b, Most: mostPlanBytes, ByKey: map[Key]*list.Element{}, Order: list.New(), Readers: map[any]map[*Statement]bool{}}
	if limit > 0 {
		s.Most = min(s.Most, limit/PlanBytesShare)
	}
	return s
}

// Find returns the statement of a key; nil: none is kept. again says that it has come before, so that it is worth keeping.
func (s *Store) Find(key *Key) (k *Statement, again bool) {
	hash := maphash.Comparable(planSeed, *key)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if e := s.ByKey[*key]; e != nil {
		s.Order.MoveToFront(e)
		return e.Value.(*Statement), true
	}
	set := &s.seen[hash%seenSets]
	at := slices.Index(set[:], hash)
	again = at >= 0
	if !again {
		at = seenInSet - 1
	}
	copy(set[1:at+1], set[:at])
	set[0] = hash
	return nil, again
}

// Add keeps a statement, in place of those that were not used for longest, unless its tables or views have changed meanwhile. Whoever changes one makes that
// visible first and calls drop then, so no statement stays that reads old ones.
func (s *Store) Add(k *Statement, c *catalog.Catalog) {
	if k.Bytes > s.Most/4 || s.Budget.Reserve(storeHolder, k.Bytes) != nil {
		return
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if !k.isCurrent(c.Load()) {
		s.Budget.Release(k.Bytes)
		return
	}
	if e := s.ByKey[k.Key]; e != nil {
		s.remove(e.Value.(*Statement))
	}
	s.ByKey[k.Key] = s.Order.PushFront(k)
	k.Placing.Open()
	s.Held += k.Bytes
	k.EachRead(func(read any) {
		if s.Readers[read] == nil {
			s.Readers[read] = map[*Statement]bool{}
		}
		s.Readers[read][k] = true
	})
	for s.Order.Len() > MostStatements || s.Held > s.Most {
		s.remove(s.Order.Back().Value.(*Statement))
	}
}

// remove forgets a statement that is kept. The caller holds mu.
func (s *Store) remove(k *Statement) {
	k.Placing.Close()
	s.Order.Remove(s.ByKey[k.Key])
	delete(s.ByKey, k.Key)
	k.EachRead(func(read any) {
		if delete(s.Readers[read], k); len(s.Readers[read]) == 0 {
			delete(s.Readers, read)
		}
	})
	s.Held -= k.Bytes
	s.Budget.Release(k.Bytes)
}

// Drop forgets the statements that read tables which have changed, or views that are gone: they would hold on to old rows and texts.
func (s *Store) Drop(changes []catalog.Change, gone []*catalog.View) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, c := range changes {
		s.dropReaders(c.Before)
	}
	for _, v := range gone {
		s.dropReaders(v)
	}
}

// dropReaders forgets the statements that read a version of a table, or a view. The caller holds mu.
func (s *Store) dropReaders(read any) {
	for k := range s.Readers[read] {
		s.remove(k)
	}
}

// Evict forgets the statements that were not used for longest, until so many bytes are free, and says whether any are.
func (s *Store) Evict(bytes int64) (freed bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for bytes > 0 && s.Order.Len() > 0 {
		k := s.Order.Back().Value.(*Statement)
		s.remove(k)
		bytes -= k.Bytes
		freed = true
	}
	return freed
}

// Plan returns the plan for a device; nil: none is kept. No calibration changes a plan, so it holds as long as the statement.
func (k *Statement) Plan(d physical.Device) *physical.Plan {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plans[d]
}

// SetPlan keeps the plan for a device.
func (k *Statement) SetPlan(d physical.Device, plan *physical.Plan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plans[d] = plan
}

// Own gives the statement a text that is no piece of a longer one, and counts its bytes, with optimized as one of its plans.
func (k *Statement) Own(optimized logical.Node) {
	k.Key.Text = strings.Clone(k.Key.Text)
	k.Bytes = int64(len(k.Key.Text)+len(k.Key.Params)+len(k.Key.Settings)) + planBytes(k.Query.Root) + devicesOfAPlan*formsOfOnePlan*planBytes(optimized)
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
