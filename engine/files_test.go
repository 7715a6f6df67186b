package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// writeNumbers writes a CSV file of the numbers below n and returns its name.
func writeNumbers(t *testing.T, dir, name string, n int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("n,words\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,some words about number %d\n", i, i)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// countLoads makes the engine's cache count how often it reads a file; before each, it waits for gate if that is not nil.
func countLoads(e *Engine, gate chan struct{}) *atomic.Int32 {
	var n atomic.Int32
	load := e.Files.Load
	e.Files.Load = func(ctx context.Context, set *files.Set, title string, ordinals []int) (*table.Version, error) {
		n.Add(1)
		if gate != nil {
			select {
			case <-gate:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return load(ctx, set, title, ordinals)
	}
	return &n
}

func TestFileIsReadOnceAndAnewWhenItChanges(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2})
	gate := make(chan struct{})
	loads := countLoads(s.engine, gate)
	path := writeNumbers(t, dir, "a.csv", 1000)
	other := writeNumbers(t, dir, "b.csv", 10)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := run(context.Background(), s.engine.NewSession(), "SELECT count(*) FROM `"+path+"`")
			if err != nil || got != "1000\n" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	// Another file does not wait for the one that is being read.
	wg.Go(func() {
		if got, err := run(context.Background(), s.engine.NewSession(), "SELECT count(*) FROM `"+other+"`"); err != nil || got != "10\n" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	for loads.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	wg.Wait()
	if n := loads.Load(); n != 2 {
		t.Errorf("2 files were read %d times", n)
	}
	writeNumbers(t, dir, "a.csv", 2000)
	for range 2 {
		if got := mustRun(t, s, "SELECT count(*) FROM `"+path+"`"); got != "2000\n" {
			t.Errorf("after a change: %q", got)
		}
	}
	if n := loads.Load(); n != 3 {
		t.Errorf("3 states of files were read %d times", n)
	}
	if held, kept := s.engine.MemoryStored(), s.engine.Files.Cached(); held != kept {
		t.Errorf("%d bytes are counted for files, %d are cached", held, kept)
	}
}

// A statement that waits for a file can be cancelled without the others; with the last of them reading ends.
func TestWaitingForAFileCanBeCancelled(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	gate := make(chan struct{})
	loads := countLoads(s.engine, gate)
	path := writeNumbers(t, t.TempDir(), "a.csv", 1000)
	sql := "SELECT count(*) FROM `" + path + "`"
	first := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, err := run(ctx, s.engine.NewSession(), sql)
		first <- err
	}()
	for loads.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	short, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if _, err := run(short, s, sql); !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("the second: %v", err)
	}
	if len(first) > 0 {
		t.Errorf("the first ended with it: %v", <-first)
	}
	cancel()
	if err := <-first; !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("the first: %v", err)
	}
	if n := s.engine.Files.Readings(); n != 0 {
		t.Errorf("%d readings are left", n)
	}
	close(gate)
	if got := mustRun(t, s, sql); got != "1000\n" || loads.Load() != 2 {
		t.Errorf("afterwards: %q, read %d times", got, loads.Load())
	}
}

// The cache keeps to its share, drops what was used least lately, and gives way to statements that need memory.
func TestFilesAreEvicted(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 1, MemoryLimit: 8 << 20})
	loads := countLoads(s.engine, nil)
	var names []string
	for i := range 8 {
		names = append(names, writeNumbers(t, dir, fmt.Sprintf("%d.csv", i), 25000))
	}
	read := func(i int) (fresh bool) {
		before := loads.Load()
		if got := mustRun(t, s, "SELECT count(n), count(words) FROM `"+names[i]+"`"); got != "25000|25000\n" {
			t.Errorf("file %d: %q", i, got)
		}
		return loads.Load() > before
	}
	read(0)
	one := s.engine.Files.Cached()
	most := int(s.engine.Files.Share / one)
	if one == 0 || most < 2 || most > 6 {
		t.Fatalf("a file takes %d bytes, the cache has %d", one, s.engine.Files.Share)
	}
	for i := 1; i < most; i++ {
		read(i)
	}
	if read(0) {
		t.Error("the first file was dropped though all fit")
	}
	read(most) // takes the place of 1
	if read(0) || !read(1) {
		t.Error("the file was dropped that had been used last")
	}
	if got := s.engine.Files.Cached(); got > s.engine.Files.Share || got != s.engine.MemoryStored() {
		t.Errorf("%d bytes are cached, %d counted, of %d", got, s.engine.MemoryStored(), s.engine.Files.Share)
	}
	// A file that is read is not dropped: its statement and the counts stay right.
	mustRun(t, s, "CREATE TABLE t AS SELECT a.n, concat(a.words, b.words) w FROM `"+names[0]+"` a JOIN `"+names[2]+"` b ON a.n = b.n")
	mustRun(t, s, "SELECT max(w) FROM (SELECT w, n FROM t ORDER BY w, n LIMIT 25000) x")
	if peak := s.engine.Budget.Peak(); peak > 8<<20 {
		t.Errorf("%d bytes were counted", peak)
	}
	mustRun(t, s, "DROP TABLE t")
	if got := s.engine.MemoryStored(); got != s.engine.Files.Cached() {
		t.Errorf("%d bytes are counted, %d are cached", got, s.engine.Files.Cached())
	}
	s.engine.Files.Evict(1 << 62)
	if got := s.engine.Budget.Used(); got != 0 {
		t.Errorf("%d bytes are counted of nothing", got)
	}
}

// A table that has taken over a file's columns shares their memory with the cached file.
func TestFileAndTableShareMemory(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	path := writeNumbers(t, t.TempDir(), "a.csv", 50000)
	mustRun(t, s, "CREATE TABLE t AS SELECT * FROM `"+path+"`")
	all, kept := s.engine.MemoryStored(), s.engine.Files.Cached()
	if all > kept+kept/4 {
		t.Skip("the table has columns of its own")
	}
	s.engine.Files.Evict(1 << 62)
	if got := s.engine.MemoryStored(); got < kept*9/10 || got > all {
		t.Errorf("%d bytes are counted of a table, %d with the file it shares them with", got, all)
	}
	mustRun(t, s, "DROP TABLE t")
	if got := s.engine.MemoryStored(); got != 0 {
		t.Errorf("%d bytes are counted of nothing", got)
	}
}
