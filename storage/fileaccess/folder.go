package fileaccess

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// NewFolder is a folder that is being written. It has a temporary name beside its own, as a [NewFile] has, until Commit gives it its name with all that was made in it. It is
// written by one goroutine, and ends with one of Commit and Discard.
type NewFolder struct {
	root     *os.Root // the folder that it lies in
	own      *os.Root
	path     string // as it was written, for messages
	name     string // in root
	temp     string
	replaces bool // there is one of that name, which gives way
}

// CreateFolder begins a new folder. One that exists is an error, fs.ErrExist, unless it is empty, or may be replaced: then gives says of all that it holds whether that may go, by names
// below the folder.
func (p *Policy) CreateFolder(name string, replace bool, gives func(name string, d fs.DirEntry) bool) (*NewFolder, error) {
	for len(name) > 1 && os.IsPathSeparator(name[len(name)-1]) {
		name = name[:len(name)-1]
	}
	if name == "" {
		return nil, &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOENT}
	}
	f := &NewFolder{path: name}
	unfinished.ends.RLock()
	defer unfinished.ends.RUnlock()
	var err error
	if f.root, f.name, err = p.parent(name); err != nil {
		return nil, err
	}
	if err = f.begin(replace, gives); err != nil {
		_ = f.root.Close() // the error that matters is err
		return nil, err
	}
	unfinished.add(f)
	return f, nil
}

// begin looks whether the name is free and makes the folder under another.
func (f *NewFolder) begin(replace bool, gives func(name string, d fs.DirEntry) bool) error {
	old, err := f.root.Lstat(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f.failed(err)
	case !old.IsDir():
		return f.failed(errNoFolder)
	default:
		if err := f.mayGo(replace, gives); err != nil {
			return err
		}
		f.replaces = true
	}
	for {
		f.temp = temporary()
		if err = f.root.Mkdir(f.temp, 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		f.own, err = f.root.OpenRoot(f.temp)
	}
	if err != nil {
		return f.failed(err)
	}
	return nil
}

// mayGo returns an error if the folder that has the name holds what has to stay.
func (f *NewFolder) mayGo(replace bool, gives func(name string, d fs.DirEntry) bool) error {
	return fs.WalkDir(f.root.FS(), f.name, func(path string, d fs.DirEntry, err error) error {
		below := strings.TrimPrefix(strings.TrimPrefix(path, f.name), "/")
		switch {
		case err != nil:
			return f.failed(err)
		case below == "":
			return nil
		case !replace:
			return f.failed(fs.ErrExist)
		case !gives(below, d):
			return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "the folder '%s' is not replaced: it has '%s' in it, which is no file of a partition", f.path, below).
				WithHint("write into another folder, or remove this one first")
		}
		return nil
	})
}

// errNoFolder says that what has a folder's name is none.
var errNoFolder = errors.New("it is not a folder")

func (f *NewFolder) failed(err error) error {
	return &fs.PathError{Op: "mkdir", Path: f.path, Err: Reason(err)}
}

// Create makes a file in the folder, with the folders that its name has.
func (f *NewFolder) Create(name string) (*os.File, error) {
	if dir := filepath.Dir(name); dir != "." {
		if err := f.own.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	return f.own.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// Commit gives the folder its name. If that fails there is what there was.
func (f *NewFolder) Commit() error {
	unfinished.ends.RLock()
	defer unfinished.ends.RUnlock()
	unfinished.drop(f)
	_ = f.own.Close() // nothing was written through it
	old := ""
	var err error
	if f.replaces {
		old = temporary()
		err = f.root.Rename(f.name, old)
	}
	if err == nil {
		if err = f.root.Rename(f.temp, f.name); err != nil && old != "" {
			_ = f.root.Rename(old, f.name) // the error that matters is err
		}
	}
	switch {
	case err != nil:
		_ = f.root.RemoveAll(f.temp)
		err = f.failed(err)
	case old != "":
		err = f.root.RemoveAll(old)
	}
	_ = f.root.Close()
	return err
}

// Discard removes the folder with all that was made in it.
func (f *NewFolder) Discard() {
	unfinished.ends.RLock()
	defer unfinished.ends.RUnlock()
	unfinished.drop(f)
	f.remove()
}

func (f *NewFolder) remove() {
	_ = f.own.Close() // nobody reads it
	_ = f.root.RemoveAll(f.temp)
	_ = f.root.Close()
}
