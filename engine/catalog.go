package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// catalogView is the binder's view of the catalog: one snapshot, information_schema and files.
type catalogView struct {
	ctx     context.Context
	session *Session
	snap    *catalog.Snapshot
}

func (s *Session) catalogView(ctx context.Context) *catalogView {
	return &catalogView{ctx, s, s.engine.catalog.Load()}
}

func (c *catalogView) Table(db, name string) (*table.Version, error) {
	if strings.EqualFold(db, informationSchema) {
		return c.session.virtualTable(c.snap, name)
	}
	return c.snap.Table(db, name)
}

func (c *catalogView) View(db, name string) (bind.View, bool) {
	_, v, err := c.snap.Lookup(db, name)
	if err != nil || v == nil {
		return bind.View{}, false
	}
	stmt, err := parse.One(v.SQL, parse.DefaultMode)
	if err != nil {
		return bind.View{}, false // the text was parsed when the view was made
	}
	return bind.View{Select: stmt.Node, Columns: v.Columns}, true
}

func (c *catalogView) HasDatabase(db string) bool { return c.snap.HasDatabase(db) }

func (c *catalogView) File(name string) (*table.Version, bool, error) {
	return c.session.engine.files.open(c.ctx, name)
}

// fileCache keeps the tables of data files that queries named, until the file changes.
type fileCache struct {
	mu    sync.Mutex
	files map[string]cachedFile
}

type cachedFile struct {
	size    int64
	changed time.Time
	version *table.Version
}

// open reads a data file as a table. ok is false if the name is no kind of file that Radish reads.
func (f *fileCache) open(ctx context.Context, name string) (v *table.Version, ok bool, err error) {
	if openerFor(name) == nil {
		return nil, false, nil
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, true, fileError(name, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, true, fileError(name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.files[path]; ok && c.size == info.Size() && c.changed.Equal(info.ModTime()) {
		return c.version, true, nil
	}
	if v, err = readFile(ctx, path); err != nil {
		return nil, true, err
	}
	if f.files == nil {
		f.files = map[string]cachedFile{}
	}
	f.files[path] = cachedFile{info.Size(), info.ModTime(), v}
	return v, true, nil
}
