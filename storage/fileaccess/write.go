package fileaccess

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// NewFile is a file that is being written. Until Commit it has a temporary name, .radish-*.tmp in the folder of its own, so that no part of it ever stands
// under its name. One goroutine writes it, and ends with Commit or Discard.
type NewFile struct {
	*os.File
	root     *os.Root // the folder
	path     string   // as it was written, for messages
	name     string   // in the folder
	temp     string
	replaces bool
}

// Create begins a new file. One that exists is an error, fs.ErrExist; Commit says so, too, if it has come meanwhile.
func (p *Policy) Create(name string) (*NewFile, error) { return p.create(name, false) }

// Replace begins a file that takes the place of the one of that name, if there is one, which has to be a regular file.
func (p *Policy) Replace(name string) (*NewFile, error) { return p.create(name, true) }

func (p *Policy) create(name string, replace bool) (*NewFile, error) {
	if name == "" || os.IsPathSeparator(name[len(name)-1]) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	f := &NewFile{path: name, replaces: replace}
	unfinished.ends.RLock()
	defer unfinished.ends.RUnlock()
	var err error
	if f.root, f.name, err = p.parent(name); err != nil {
		return nil, err
	}
	if err = f.begin(); err != nil {
		_ = f.root.Close() // the error that matters is err
		return nil, err
	}
	unfinished.add(f)
	return f, nil
}

// parent opens the folder in which something is to be written, and returns its name there.
func (p *Policy) parent(name string) (root *os.Root, base string, err error) {
	l, err := p.at(name, true)
	if err != nil {
		return nil, "", err
	}
	defer l.close()
	if l.root == nil {
		root, err = os.OpenRoot(filepath.Dir(l.name))
	} else {
		root, err = l.root.OpenRoot(filepath.Dir(l.name))
	}
	if err = l.failed(err); Refused(err) {
		return nil, "", err
	} else if err != nil {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: Reason(err)}
	}
	return root, filepath.Base(l.name), nil
}

// Mkdir makes a folder, unless it is there.
func (p *Policy) Mkdir(name string) error {
	l, err := p.at(name, true)
	if err != nil {
		return err
	}
	defer l.close()
	if l.root == nil {
		err = os.Mkdir(l.name, 0o755)
	} else {
		err = l.failed(l.root.Mkdir(l.name, 0o755))
	}
	if info, statErr := l.stat(); errors.Is(err, fs.ErrExist) && statErr == nil && info.IsDir() {
		return nil
	}
	return err
}

// temporary returns a name for what is being written, which patterns do not match.
func temporary() string { return fmt.Sprintf(".radish-%016x.tmp", rand.Uint64()) }

func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".radish-") && strings.HasSuffix(name, ".tmp")
}

// begin looks whether the name is free and makes the file under another.
func (f *NewFile) begin() error {
	old, err := f.root.Lstat(f.name)
	mode := fs.FileMode(0o644)
	switch {
	case err == nil && !f.replaces:
		return f.failed(fs.ErrExist)
	case err == nil && !old.Mode().IsRegular():
		return f.failed(errNotRegular)
	case err == nil:
		mode = old.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return f.failed(err)
	}
	for {
		f.temp = temporary()
		f.File, err = f.root.OpenFile(f.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return f.failed(err)
	}
	return nil
}

// errNotRegular says that the file in whose place another is to come is none that can be replaced.
var errNotRegular = errors.New("it is not a regular file")

func (f *NewFile) failed(err error) error {
	return &fs.PathError{Op: "open", Path: f.path, Err: Reason(err)}
}

// Commit closes the file and gives it its name. If that fails there is no such file.
func (f *NewFile) Commit() error {
	unfinished.ends.RLock()
	defer unfinished.ends.RUnlock()
	unfinished.drop(f)
	err := f.File.Close()
	if err == nil {
		err = f.giveName()
	}
	if err != nil {
		_ = f.root.Remove(f.temp) // the error that matters is err
		err = f.failed(err)
	}
	_ = f.root.Close()
	return err
}

// giveName renames the file, unless that would take the place of one that must stay. A link is what fails then, without a moment in which another
// process could have put a file there; where the file system has none, the name is looked for before.
func (f *NewFile) giveName() error {
	if !f.replaces {
		err := f.root.Link(f.temp, f.name)
		switch {
		case err == nil:
			return f.root.Remove(f.temp)
		case errors.Is(err, fs.ErrExist):
			return err
		}
		if _, err := f.root.Lstat(f.name); err == nil {
			return fs.ErrExist
		}
	}
	return f.root.Rename(f.temp, f.name)
}

// Discard closes the file and removes it.
func (f *NewFile) Discard() {
	unfinished.ends.RLock()
	defer unfinished.ends.RUnlock()
	unfinished.drop(f)
	f.remove()
}

func (f *NewFile) remove() {
	_ = f.File.Close() // nobody reads it
	_ = f.root.Remove(f.temp)
	_ = f.root.Close()
}
