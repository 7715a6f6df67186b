package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// fileCache keeps the columns of data files that queries read, until the files change or their memory is wanted for
// something else. Those that were used least lately go first. Columns that several statements want at once are read once.
type fileCache struct {
	stored *stored
	share  int64 // bytes that the files in the cache may take
	load   func(ctx context.Context, set *files.Set, title string, ordinals []int) (*table.Version, error)

	mu       sync.Mutex
	kept     []*openFile
	sets     map[string]*files.Set // what is known of files, by source and stamp
	wanted   map[string][]int      // the columns of files that queries have read without keeping them, as sets are
	readings map[string]*reading   // by source, stamp and columns
	held     int64                 // bytes of kept
	uses     uint64
}

// openFile is some columns of a file that were read. Its fields are guarded by the cache's mu.
type openFile struct {
	fileState
	ordinals []int // nil: all, of a file whose columns are known when it was read
	version  *table.Version
	bytes    int64
	users    int    // statements that read it
	used     uint64 // when it was last asked for
	kept     bool   // it is in the cache: else its memory goes with its last user
	freed    int64  // what its going has given back: tables may have taken over some of it
}

// fileState is a source in the state that it had at some time.
type fileState struct {
	source string // how it is read, with the pattern made absolute
	stamp  string
}

// reading is columns that are being read for one or several statements.
type reading struct {
	waiting int // guarded by the cache's mu
	cancel  context.CancelFunc
	done    chan struct{} // closed when file or err is there
	file    *openFile
	err     error
}

// standardShare is the share of a database without a memory limit, in a program without one.
const standardShare = 8 << 30

// maxSets bounds what is remembered of files besides their columns.
const maxSets = 256

func newFileCache(s *stored, limit int64) *fileCache {
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
	return &fileCache{stored: s, load: load, share: share, sets: map[string]*files.Set{}, wanted: map[string][]int{}, readings: map[string]*reading{}}
}

// look finds out what the file or files that a name in FROM stands for hold, if the policy allows it. It reads none of their rows, unless their columns cannot
// be known otherwise, or types are to follow from all rows. The result is nil if the name is no kind of file that Radish reads.
func (c *fileCache) look(ctx context.Context, policy *fileaccess.Policy, name string, allRows bool) (*fileUse, error) {
	source, ok, err := files.ParseName(name)
	if !ok || err != nil {
		return nil, err
	}
	if err := policy.Check(source.Pattern); err != nil { // the name as it was written, which tells nothing of where the program runs
		return nil, err
	}
	if source.Pattern, err = filepath.Abs(source.Pattern); err != nil {
		return nil, cannotRead(name, err)
	}
	stamp, err := stampOf(policy, source.Pattern)
	if err != nil {
		return nil, err
	}
	u := &fileUse{cache: c, policy: policy, name: name, title: source.Title(), pattern: source.Pattern}
	u.fileState = fileState{fmt.Sprintf("%+v", source), stamp}
	u.set, u.stamp, err = unchanged(policy, source.Pattern, stamp, func() (*files.Set, error) {
		return c.known(ctx, policy, source, u.fileState, allRows)
	})
	return u, err
}

// known returns what is known of a source's files, which are opened for that if need be.
func (c *fileCache) known(ctx context.Context, policy *fileaccess.Policy, source files.Source, state fileState, allRows bool) (*files.Set, error) {
	c.mu.Lock()
	set := c.sets[state.key(policy)]
	c.mu.Unlock()
	account := memory.Account{Budget: c.stored.budget, Operator: "reading '" + source.Pattern + "'"}
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
	if err == nil {
		c.remember(policy, state, set)
	}
	return set, err
}

// firstUse says whether no query has wanted some of the columns of a file so far, and notes that one does now. Without columns it is the number of rows.
func (c *fileCache) firstUse(u *fileUse, ordinals []int) bool {
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

func (s *fileState) key(policy *fileaccess.Policy) string {
	return s.source + "\n" + s.stamp + "\n" + policy.String()
}

// remember keeps what is known of a source's files.
func (c *fileCache) remember(policy *fileaccess.Policy, state fileState, set *files.Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.sets {
		if len(c.sets) < maxSets {
			break
		}
		delete(c.sets, key)
		delete(c.wanted, key)
	}
	c.sets[state.key(policy)] = set
}

// columns returns parts with the columns at ordinals of a file (nil: all), which are read unless they are in the cache, and what to call when nobody reads them any more.
// fresh is what had to be read; nil: nothing.
func (c *fileCache) columns(ctx context.Context, u *fileUse, ordinals []int) (parts []table.Part, fresh *openFile, giveBack func(), err error) {
	var held []*openFile
	c.mu.Lock()
	missing := ordinals
	if f := c.anyOf(u.fileState); ordinals != nil && len(ordinals) == 0 && f != nil { // which has as many rows
		parts = append(parts, table.Part{From: f.version.Project(nil)})
		held = append(held, f)
		c.use(f, 1)
	}
	if ordinals != nil {
		missing = []int{}
		for _, o := range ordinals {
			f, at := c.find(u.fileState, o)
			if f == nil {
				missing = append(missing, o)
				continue
			}
			parts = append(parts, table.Part{Ordinals: []int{o}, From: f.version.Project([]int{at})})
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
	f, err := c.read(ctx, u, missing)
	if err != nil {
		giveBack()
		return nil, nil, nil, err
	}
	held = append(held, f)
	return append(parts, table.Part{Ordinals: missing, From: f.version}), f, giveBack, nil
}

// find returns an entry with a column of a file, and the column's place in it; nil: there is none. The caller holds mu.
func (c *fileCache) find(state fileState, ordinal int) (f *openFile, at int) {
	for _, f := range c.kept {
		if f.fileState == state {
			if at := slices.Index(f.ordinals, ordinal); at >= 0 {
				return f, at
			}
		}
	}
	return nil, 0
}

// has says whether all columns that scans of a file want are in the cache.
func (c *fileCache) has(u *fileUse, scans []*physical.TableScan) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, scan := range scans {
		if len(scan.Ordinals) == 0 && u.set.RowsEstimated && c.anyOf(u.fileState) == nil {
			return false
		}
		for _, o := range scan.Ordinals {
			if f, _ := c.find(u.fileState, o); f == nil {
				return false
			}
		}
	}
	return true
}

// anyOf returns an entry with some columns of a file; nil: there is none. The caller holds mu.
func (c *fileCache) anyOf(state fileState) *openFile {
	for _, f := range c.kept {
		if f.fileState == state {
			return f
		}
	}
	return nil
}

// same returns the entry that has exactly some columns of a file. The caller holds mu.
func (c *fileCache) same(state fileState, ordinals []int) *openFile {
	for _, f := range c.kept {
		if f.fileState == state && slices.Equal(f.ordinals, ordinals) && (f.ordinals == nil) == (ordinals == nil) {
			return f
		}
	}
	return nil
}

// read returns an entry of exactly some columns of a file, with the caller as a user.
func (c *fileCache) read(ctx context.Context, u *fileUse, ordinals []int) (*openFile, error) {
	c.mu.Lock()
	if f := c.same(u.fileState, ordinals); f != nil {
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
func (c *fileCache) leave(r *reading, key string) {
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
func (c *fileCache) readFor(ctx context.Context, r *reading, key string, u *fileUse, ordinals []int) {
	f := &openFile{fileState: u.fileState, ordinals: ordinals}
	account := memory.Account{Budget: c.stored.budget, Operator: "reading '" + u.name + "'"}
	r.err = sqlerr.Guard(func() (err error) {
		f.version, err = c.load(table.WithMeter(ctx, account.Set), u.set, u.title, ordinals)
		if err = u.verify(ctx, err); err != nil {
			return err
		}
		f.bytes = f.version.Footprint()
		return c.stored.add(f.version, &account)
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
	if f.users > 0 && f.bytes <= c.share {
		c.keep(f)
	} else {
		c.free(f)
	}
}

// use notes that so many more statements read a file. The caller holds mu, as it does for keep, drop and free.
func (c *fileCache) use(f *openFile, statements int) {
	c.uses++
	f.used = c.uses
	f.users += statements
}

// keep puts columns into the cache, in the place of what was read of another state of their file and of files that were used less lately.
func (c *fileCache) keep(f *openFile) {
	for _, old := range slices.Clone(c.kept) {
		if old.source == f.source && old.stamp != f.stamp {
			c.drop(old)
		}
	}
	for c.held+f.bytes > c.share {
		oldest := c.oldest(false)
		if oldest == nil {
			break
		}
		c.drop(oldest)
	}
	f.kept = true
	c.kept = append(c.kept, f)
	c.held += f.bytes
}

// oldest returns the file that was used least lately, of those that nobody reads if so asked; nil: there is none.
func (c *fileCache) oldest(idle bool) *openFile {
	var oldest *openFile
	for _, f := range c.kept {
		if (oldest == nil || f.used < oldest.used) && (!idle || f.users == 0) {
			oldest = f
		}
	}
	return oldest
}

// drop takes a file out of the cache. Its memory goes now, or with its last user.
func (c *fileCache) drop(f *openFile) {
	c.kept = slices.DeleteFunc(c.kept, func(k *openFile) bool { return k == f })
	c.held -= f.bytes
	f.kept = false
	c.free(f)
}

// free gives back the memory of columns that nobody reads and nobody keeps.
func (c *fileCache) free(f *openFile) {
	if f.users == 0 && !f.kept {
		f.freed = c.stored.remove(f.version)
	}
}

func (c *fileCache) giveBack(f *openFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.users--
	c.free(f)
}

// evict drops files that nobody reads until so many bytes are free. It says whether any are.
func (c *fileCache) evict(bytes int64) bool {
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

// cached returns the bytes of the files in the cache.
func (c *fileCache) cached() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// stampOf describes the state of the files that match a pattern.
func stampOf(policy *fileaccess.Policy, pattern string) (string, error) {
	paths, err := files.Expand(policy, pattern)
	if err != nil {
		return "", err
	}
	stamp, err := policy.Stamp(paths...)
	if err != nil {
		return "", cannotRead(pattern, err)
	}
	return stamp, nil
}

// unchanged returns what read makes of files that had a state before, and the state that it is of. If they have changed meanwhile it is read
// again: rows of two states of a file, or a row that was written in part, are nobody's data.
func unchanged[T any](policy *fileaccess.Policy, pattern, stamp string, read func() (T, error)) (value T, of string, err error) {
	for range fileaccess.Reads {
		value, err = read()
		if errors.Is(err, sqlerr.Cancelled) {
			return value, stamp, err
		}
		now, gone := stampOf(policy, pattern)
		switch {
		case gone != nil, now == stamp: // what was open stays whole when its name goes
			return value, stamp, err
		}
		stamp = now
	}
	return value, stamp, fileaccess.Changed(pattern)
}

func cannotRead(name string, err error) error {
	var known *sqlerr.Error
	if errors.As(err, &known) {
		return err
	}
	return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "cannot read '%s': %v", name, reason(err)).WithCause(err)
}

// reason returns what an error of a file system operation says besides the file's name.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
