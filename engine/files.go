package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// fileCache keeps the tables of data files that queries named, until the files change.
type fileCache struct {
	mu     sync.Mutex
	tables map[string]cachedFile // by the name in the query, made absolute
}

type cachedFile struct {
	stamp   string
	version *table.Version
}

// open reads the file or files that a name in FROM stands for. ok is false if the name is no kind of file that Radish
// reads.
func (f *fileCache) open(ctx context.Context, name string) (v *table.Version, ok bool, err error) {
	if files.FormatOf(name) == files.Unknown {
		return nil, false, nil
	}
	pattern, err := filepath.Abs(name)
	if err != nil {
		return nil, true, cannotRead(name, err)
	}
	stamp, err := stampOf(pattern)
	if err != nil {
		return nil, true, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.tables[pattern]; ok && c.stamp == stamp {
		return c.version, true, nil
	}
	title := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if v, err = files.Read(ctx, "", title, pattern, nil); err != nil {
		return nil, true, err
	}
	if f.tables == nil {
		f.tables = map[string]cachedFile{}
	}
	f.tables[pattern] = cachedFile{stamp, v}
	return v, true, nil
}

// stampOf describes the state of the files that match a pattern: names, sizes and times of change.
func stampOf(pattern string) (string, error) {
	paths, err := files.Expand(pattern)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return "", cannotRead(p, err)
		}
		fmt.Fprintf(&b, "%s %d %d\n", p, info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), nil
}

func cannotRead(name string, err error) error {
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
