package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// fileCache keeps the tables of data files that queries named, until the files change or their memory is wanted for
// something else. Those that were used least lately go first. A file that several statements want at once is read once.
type fileCache struct {
	stored *stored
	share  int64 // bytes that the files in the cache may take
	load   func(ctx context.Context, policy *fileaccess.Policy, source files.Source) (*table.Version, error)

	mu       sync.Mutex
	kept     map[string]*openFile // by the name in the query, made absolute
	readings map[string]*reading  // by name and stamp
	held     int64                // bytes of kept
	uses     uint64
}

// openFile is a file that was read. Its fields are guarded by the cache's mu.
type openFile struct {
	name    string
	stamp   string
	version *table.Version
	bytes   int64
	users   int    // statements that read it
	used    uint64 // when it was last asked for
	kept    bool   // it is in the cache: else its memory goes with its last user
	freed   int64  // what its going has given back: tables may have taken over some of it
}

// reading is a file that is being read for one or several statements.
type reading struct {
	waiting int // guarded by the cache's mu
	cancel  context.CancelFunc
	done    chan struct{} // closed when file or err is there
	file    *openFile
	err     error
}

// standardShare is the share of a database without a memory limit, in a program without one.
const standardShare = 8 << 30

func newFileCache(s *stored, limit int64) *fileCache {
	share := limit / 2
	if share <= 0 {
		share = standardShare
		if program := debug.SetMemoryLimit(-1); program < 2*standardShare {
			share = program / 2
		}
	}
	load := func(ctx context.Context, policy *fileaccess.Policy, source files.Source) (*table.Version, error) {
		return files.Read(ctx, policy, "", source.Title(), source, nil)
	}
	return &fileCache{stored: s, load: load, share: share, kept: map[string]*openFile{}, readings: map[string]*reading{}}
}

// open reads the file or files that a name in FROM stands for, if the policy allows it. The caller calls giveBack when it reads the version no
// more. The version is nil if the name is no kind of file that Radish reads.
func (c *fileCache) open(ctx context.Context, policy *fileaccess.Policy, name string) (v *table.Version, giveBack func(), err error) {
	source, ok, err := files.ParseName(name)
	if !ok || err != nil {
		return nil, nil, err
	}
	if err := policy.Check(source.Pattern); err != nil { // the name as it was written, which tells nothing of where the program runs
		return nil, nil, err
	}
	if source.Pattern, err = filepath.Abs(source.Pattern); err != nil {
		return nil, nil, cannotRead(name, err)
	}
	pattern := fmt.Sprintf("%+v", source)
	stamp, err := stampOf(policy, source.Pattern)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	if f := c.kept[pattern]; f != nil && f.stamp == stamp {
		c.use(f, 1)
		c.mu.Unlock()
		return f.version, func() { c.giveBack(f) }, nil
	}
	key := pattern + "\n" + stamp + "\n" + policy.String()
	r := c.readings[key]
	if r == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r = &reading{cancel: cancel, done: make(chan struct{})}
		c.readings[key] = r
		go c.read(own, policy, r, key, name, source, stamp)
	}
	r.waiting++
	c.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		c.leave(r, key)
		return nil, nil, sqlerr.Interrupted(context.Cause(ctx))
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return r.file.version, func() { c.giveBack(r.file) }, nil
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

// read reads a file for all who wait for it.
func (c *fileCache) read(ctx context.Context, policy *fileaccess.Policy, r *reading, key, name string, source files.Source, stamp string) {
	f := &openFile{name: fmt.Sprintf("%+v", source), stamp: stamp}
	account := memory.Account{Budget: c.stored.budget, Operator: "reading '" + name + "'"}
	r.err = sqlerr.Guard(func() (err error) {
		f.version, f.stamp, err = unchanged(policy, source.Pattern, stamp, func() (*table.Version, error) {
			return c.load(table.WithMeter(ctx, account.Set), policy, source)
		})
		if err != nil {
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

// keep puts a file into the cache, in the place of what was read of it before and of files that were used less lately.
func (c *fileCache) keep(f *openFile) {
	if old := c.kept[f.name]; old != nil {
		c.drop(old)
	}
	for c.held+f.bytes > c.share {
		oldest := c.oldest(false)
		if oldest == nil {
			break
		}
		c.drop(oldest)
	}
	f.kept = true
	c.kept[f.name] = f
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
	delete(c.kept, f.name)
	c.held -= f.bytes
	f.kept = false
	c.free(f)
}

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
