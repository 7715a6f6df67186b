// Package filecache keeps the columns of data files that queries have read, and what is known of such files.
//
// A file's name enters [Cache.Look], which finds out what the file holds without reading its rows. The [Source] that it returns gives columns, read or from the cache, as
// parts of a table. A file that has changed, or whose values turn out to have other types than a sample showed, is an error with [BeginAnew] as its cause.
package filecache

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/radish-sql/radish/engine/stored"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// Cache keeps the columns of data files that queries read, until the files change or their memory is wanted for
// something else. Those that were used least lately go first. Columns that several statements want at once are read once.
type Cache struct {
	stored *stored.Memory
	Share  int64 // bytes that the files in the cache may take
	// Load reads columns; tests replace it.
	Load func(ctx context.Context, set *files.Set, title string, ordinals []int) (*table.Version, error)

	mu       sync.Mutex
	kept     []*Entry
	sets     map[string]*files.Set // what is known of files, by source and stamp
	wanted   map[string][]int      // the columns of files that queries have read without keeping them, as sets are
	readings map[string]*reading   // by source, stamp and columns
	held     int64                 // bytes of kept
	uses     uint64
}

// Entry is some columns of a file that were read. Its fields are guarded by the cache's mu.
type Entry struct {
	State
	Ordinals []int // nil: all, of a file whose columns are known when it was read
	Version  *table.Version
	Bytes    int64
	users    int    // statements that read it
	used     uint64 // when it was last asked for
	kept     bool   // it is in the cache: else its memory goes with its last user
	freed    int64  // what its going has given back: tables may have taken over some of it
}

// Source is a file or files that a statement names, in the state in which it found them.
type Source struct {
	State
	cache   *Cache
	policy  *fileaccess.Policy
	Name    string // as it was written, but what an address has of secrets
	Title   string // of the table
	pattern string // with an absolute path
	Set     *files.Set
}

// State is a source in the state that it had at some time.
type State struct {
	source string // how it is read, with the pattern made absolute
	stamp  string
}

// reading is columns that are being read for one or several statements.
type reading struct {
	waiting int // guarded by the cache's mu
	cancel  context.CancelFunc
	done    chan struct{} // closed when file or err is there
	file    *Entry
	err     error
}

// standardShare is the share of a database without a memory limit, in a program without one.
const standardShare = 8 << 30

// maxSets bounds what is remembered of files besides their columns.
const maxSets = 256

func New(s *stored.Memory, limit int64) *Cache {
	share := limit / 2
	if share <= 0 {
		share = standardShare
		if program := debug.SetMemoryLimit(-1); program < 2*standardShare {
			share = program / 2
		}
	}
	load := func(ctx context.Context, set *files.Set, title string, ordinals []int) (*table.Version, error) {
		return set.Read(ctx, "", title, ordinals, -1)
	}
	return &Cache{stored: s, Load: load, Share: share, sets: map[string]*files.Set{}, wanted: map[string][]int{}, readings: map[string]*reading{}}
}

// Readings returns how many readings go on.
func (c *Cache) Readings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.readings)
}

// Look finds out what the file or files that a name in FROM stands for hold, if the policy allows it. It reads none of their rows, unless their columns cannot
// be known otherwise, or types are to follow from all rows. The result is nil if the name is no kind of file that Radish reads.
func (c *Cache) Look(ctx context.Context, policy *fileaccess.Policy, name string, allRows bool) (*Source, error) {
	source, ok, err := files.ParseName(name)
	if !ok || err != nil {
		return nil, err
	}
	if err := policy.Check(source.Pattern); err != nil { // the name as it was written, which tells nothing of where the program runs
		return nil, err
	}
	if !fileaccess.IsRemote(source.Pattern) {
		if source.Pattern, err = filepath.Abs(source.Pattern); err != nil {
			return nil, files.CannotRead(name, err)
		}
	}
	stamp, err := files.Stamp(ctx, policy, source.Pattern)
	if err != nil {
		return nil, err
	}
	u := &Source{cache: c, policy: policy, Name: fileaccess.Shown(name), Title: source.Title(), pattern: source.Pattern}
	u.source = fmt.Sprintf("%+v", source)
	u.Set, u.stamp, err = files.Unchanged(ctx, policy, source.Pattern, stamp, func(stamp string) (*files.Set, error) {
		return c.known(ctx, policy, source, State{u.source, stamp}, allRows)
	})
	if err == nil { // else what was read may be of another state
		err = c.remember(policy, u.State, u.Set)
	}
	return u, err
}

// known returns what is known of a source's files, which are opened for that if need be.
func (c *Cache) known(ctx context.Context, policy *fileaccess.Policy, source files.Source, state State, allRows bool) (*files.Set, error) {
	c.mu.Lock()
	set := c.sets[state.key(policy)]
	c.mu.Unlock()
	account := memory.Account{Budget: c.stored.Budget, Operator: "reading '" + fileaccess.Shown(source.Pattern) + "'"}
	defer account.Close()
	ctx = table.WithMeter(ctx, account.Set)
	if set != nil && !set.Doubted() && !(allRows && set.Sampled()) {
		return set, nil
	}
	var err error
	if set == nil {
		set, err = files.Open(ctx, policy, source)
	}
	if err == nil && (set.Doubted() || allRows) {
		set, err = set.Retype(ctx, nil)
	}
	return set, err
}

// FirstUse says whether no query has wanted some of the columns of a file so far, and notes that one does now. Without columns it is the number of rows.
func (u *Source) FirstUse(ordinals []int) bool {
	c := u.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	key, first := u.key(u.policy), false
	if len(ordinals) == 0 {
		ordinals = []int{-1}
	}
	for _, o := range ordinals {
		if !slices.Contains(c.wanted[key], o) {
			first = true
			c.wanted[key] = append(c.wanted[key], o)
		}
	}
	return first
}

func (s *State) key(policy *fileaccess.Policy) string {
	return s.source + "\n" + s.stamp + "\n" + policy.String()
}

// remember keeps what is known of a source's files, in place of what is known of others if there are many or memory is short.
func (c *Cache) remember(policy *fileaccess.Policy, state State, set *files.Set) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := state.key(policy)
	if c.sets[key] == set {
		return nil
	}
	operator := "reading the footers of '" + fileaccess.Shown(set.Path()) + "'"
	err := c.stored.Budget.Reserve(operator, countedBytes(set))
	for err != nil && c.forgetAny(key) {
		err = c.stored.Budget.Reserve(operator, countedBytes(set))
	}
	if err != nil {
		return err
	}
	if old := c.sets[key]; old != nil {
		c.stored.Budget.Release(countedBytes(old))
	}
	for len(c.sets) >= maxSets && c.forgetAny(key) {
	}
	c.sets[key] = set
	return nil
}

// uncounted is how much memory what is known of a source may take without counting against the limit: all of them together 16 MiB.
const uncounted = 64 << 10

// countedBytes returns how much memory counts of what is known of a source.
func countedBytes(set *files.Set) int64 {
	if n := set.MemoryBytes(); n > uncounted {
		return n
	}
	return 0
}

// forgetAny forgets what is known of some source other than one, and says whether there was any. The caller holds mu.
func (c *Cache) forgetAny(but string) bool {
	for key, set := range c.sets {
		if key != but {
			c.stored.Budget.Release(countedBytes(set))
			delete(c.sets, key)
			delete(c.wanted, key)
			return true
		}
	}
	return false
}

// Columns returns parts with the columns at ordinals of a file (nil: all), which are read unless they are in the cache, and what to call when nobody reads them any more.
// fresh is what had to be read; nil: nothing.
func (u *Source) Columns(ctx context.Context, ordinals []int) (parts []table.Part, fresh *Entry, giveBack func(), err error) {
	c := u.cache
	var held []*Entry
	c.mu.Lock()
	missing := ordinals
	if f := c.anyOf(u.State); ordinals != nil && len(ordinals) == 0 && f != nil { // which has as many rows
		parts = append(parts, table.Part{From: f.Version.Project(nil)})
		held = append(held, f)
		c.use(f, 1)
	}
	if ordinals != nil {
		missing = []int{}
		for _, o := range ordinals {
			f, at := c.find(u.State, o)
			if f == nil {
				missing = append(missing, o)
				continue
			}
			parts = append(parts, table.Part{Ordinals: []int{o}, From: f.Version.Project([]int{at})})
			held = append(held, f)
			c.use(f, 1)
		}
	}
	c.mu.Unlock()
	giveBack = func() {
		for _, f := range held {
			c.giveBack(f)
		}
	}
	if ordinals != nil && len(missing) == 0 && len(parts) > 0 {
		return parts, nil, giveBack, nil
	}
	f, err := u.Read(ctx, missing)
	if err != nil {
		giveBack()
		return nil, nil, nil, err
	}
	held = append(held, f)
	return append(parts, table.Part{Ordinals: missing, From: f.Version}), f, giveBack, nil
}

// find returns an entry with a column of a file, and the column's index in it; nil: there is none. The caller holds mu.
func (c *Cache) find(state State, ordinal int) (f *Entry, at int) {
	for _, f := range c.kept {
		if f.State == state {
			if at := slices.Index(f.Ordinals, ordinal); at >= 0 {
				return f, at
			}
		}
	}
	return nil, 0
}

// Has says whether all columns that scans of a file want are in the cache.
func (u *Source) Has(scans []*physical.TableScan) bool {
	c := u.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, scan := range scans {
		if len(scan.Ordinals) == 0 && u.Set.RowsEstimated && c.anyOf(u.State) == nil {
			return false
		}
		for _, o := range scan.Ordinals {
			if f, _ := c.find(u.State, o); f == nil {
				return false
			}
		}
	}
	return true
}

// anyOf returns an entry with some columns of a file; nil: there is none. The caller holds mu.
func (c *Cache) anyOf(state State) *Entry {
	for _, f := range c.kept {
		if f.State == state {
			return f
		}
	}
	return nil
}

// same returns the entry that has exactly some columns of a file. The caller holds mu.
func (c *Cache) same(state State, ordinals []int) *Entry {
	for _, f := range c.kept {
		if f.State == state && slices.Equal(f.Ordinals, ordinals) && (f.Ordinals == nil) == (ordinals == nil) {
			return f
		}
	}
	return nil
}

// Read returns an entry of exactly some columns of a file, with the caller as a user.
func (u *Source) Read(ctx context.Context, ordinals []int) (*Entry, error) {
	c := u.cache
	c.mu.Lock()
	if f := c.same(u.State, ordinals); f != nil {
		c.use(f, 1)
		c.mu.Unlock()
		return f, nil
	}
	key := u.key(u.policy) + fmt.Sprintf("\n%#v", ordinals)
	r := c.readings[key]
	if r == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r = &reading{cancel: cancel, done: make(chan struct{})}
		c.readings[key] = r
		go c.readFor(own, r, key, u, ordinals)
	}
	r.waiting++
	c.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		c.leave(r, key)
		return nil, sqlerr.Interrupted(context.Cause(ctx))
	}
	return r.file, r.err
}

// leave ends the wait of a statement that was cancelled. The last that waited ends the reading too.
func (c *Cache) leave(r *reading, key string) {
	c.mu.Lock()
	r.waiting--
	last := r.waiting == 0
	if last {
		r.cancel()
		if c.readings[key] == r {
			delete(c.readings, key) // who comes now begins anew
		}
	}
	file := r.file
	c.mu.Unlock()
	switch {
	case file != nil: // it was there just before
		c.giveBack(file)
	case last:
		<-r.done
	}
}

// readFor reads columns for all who wait for them.
func (c *Cache) readFor(ctx context.Context, r *reading, key string, u *Source, ordinals []int) {
	f := &Entry{State: u.State, Ordinals: ordinals}
	account := memory.Account{Budget: c.stored.Budget, Operator: "reading '" + u.Name + "'"}
	r.err = sqlerr.Guard(func() (err error) {
		f.Version, err = c.Load(table.WithReadAhead(table.WithMeter(ctx, account.Set), account.Budget.ReadAhead()), u.Set, u.Title, ordinals)
		if err = u.Verify(ctx, err); err != nil {
			return err
		}
		f.Bytes = f.Version.Footprint()
		return c.stored.Add(f.Version, &account)
	})
	if r.err != nil {
		account.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(r.done)
	r.cancel()
	if c.readings[key] == r {
		delete(c.readings, key)
	}
	if r.err != nil {
		return
	}
	r.file = f
	c.use(f, r.waiting)
	if f.users > 0 && f.Bytes <= c.Share {
		c.keep(f)
	} else {
		c.free(f)
	}
}

// use notes that so many more statements read a file. The caller holds mu, as it does for keep, drop and free.
func (c *Cache) use(f *Entry, statements int) {
	c.uses++
	f.used = c.uses
	f.users += statements
}

// keep puts columns into the cache, in place of what was read of another state of their file and of files that were used less lately.
func (c *Cache) keep(f *Entry) {
	for _, old := range slices.Clone(c.kept) {
		if old.source == f.source && old.stamp != f.stamp {
			c.drop(old)
		}
	}
	for c.held+f.Bytes > c.Share {
		oldest := c.oldest(false)
		if oldest == nil {
			break
		}
		c.drop(oldest)
	}
	f.kept = true
	c.kept = append(c.kept, f)
	c.held += f.Bytes
}

// oldest returns the file that was used least lately, of those that nobody reads if so asked; nil: there is none.
func (c *Cache) oldest(idle bool) *Entry {
	var oldest *Entry
	for _, f := range c.kept {
		if (oldest == nil || f.used < oldest.used) && (!idle || f.users == 0) {
			oldest = f
		}
	}
	return oldest
}

// drop takes a file out of the cache. Its memory goes now, or with its last user.
func (c *Cache) drop(f *Entry) {
	c.kept = slices.DeleteFunc(c.kept, func(k *Entry) bool { return k == f })
	c.held -= f.Bytes
	f.kept = false
	c.free(f)
}

// free gives back the memory of columns that nobody reads and nobody keeps.
func (c *Cache) free(f *Entry) {
	if f.users == 0 && !f.kept {
		f.freed = c.stored.Remove(f.Version)
	}
}

// GiveBack ends the use of an entry that read has returned.
func (u *Source) GiveBack(f *Entry) { u.cache.giveBack(f) }

func (c *Cache) giveBack(f *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.users--
	c.free(f)
}

// Evict drops files that nobody reads until so many bytes are free. It says whether any are.
func (c *Cache) Evict(bytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	freed := int64(0)
	for freed < bytes {
		f := c.oldest(true)
		if f == nil {
			break
		}
		c.drop(f)
		freed += f.freed
	}
	return freed > 0
}

// Cached returns the bytes of the files in the cache.
func (c *Cache) Cached() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}
