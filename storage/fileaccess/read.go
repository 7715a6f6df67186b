package fileaccess

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Open opens a regular file for reading; reads may end with ctx. It refuses anything else, because reading a pipe, a terminal or a device may never end.
// It checks before it opens the name and again when the file is open, since another file may have taken its place.
func (p *Policy) Open(ctx context.Context, name string) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, sqlerr.Interrupted(context.Cause(ctx))
	}
	if IsRemote(name) {
		return opened(p.openRemote(ctx, name))
	}
	l, err := p.at(name, false)
	if err != nil {
		return nil, err
	}
	defer l.close()
	info, err := l.stat()
	if err != nil {
		return nil, err
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	f, err := l.openFile(os.O_RDONLY | syscall.O_NONBLOCK) // which does not wait, should it have become a pipe
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		_ = f.Close() // the error that matters is err
		return nil, err
	}
	if info.Size() == 0 {
		return newUnending(ctx, f), nil
	}
	return local{f}, nil
}

// opened returns a file, or the error of opening it.
func opened(f *remoteFile, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (l *location) openFile(flag int) (*os.File, error) {
	if l.root == nil {
		return os.OpenFile(l.name, flag, 0)
	}
	f, err := l.root.OpenFile(l.name, flag, 0)
	return f, l.failed(err)
}

func (l *location) stat() (fs.FileInfo, error) {
	if l.root == nil {
		return os.Stat(l.name)
	}
	info, err := l.root.Stat(l.name)
	return info, l.failed(err)
}

// regular returns an error for what is no regular file.
func regular(name string, info fs.FileInfo) error {
	mode := info.Mode()
	what, hint := "", ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what, hint = "a directory", "name a file in it, or all of a kind, as "+filepath.Join(name, "*.parquet")
	case mode&fs.ModeNamedPipe != 0:
		what, hint = "a pipe, which can be read only once", "LOAD DATA INFILE reads pipes"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	default:
		what = "a device"
	}
	e := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "cannot read '%s': it is %s, not a regular file", name, what)
	if hint != "" {
		return e.WithHint("%s", hint)
	}
	return e
}

// Stat describes a file that may be read.
func (p *Policy) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if IsRemote(name) {
		f, err := p.openRemote(ctx, name)
		if err != nil {
			return nil, err
		}
		return remoteInfo{f}, nil
	}
	l, err := p.at(name, false)
	if err != nil {
		return nil, err
	}
	defer l.close()
	return l.stat()
}

// ReadDir lists a folder that may be read.
func (p *Policy) ReadDir(name string) ([]fs.DirEntry, error) {
	l, err := p.at(name, false)
	if err != nil {
		return nil, err
	}
	defer l.close()
	return l.readDir()
}

// readDir lists a folder. Anything else is refused, before it is opened and by not waiting: to open a pipe may take for ever.
func (l *location) readDir() ([]fs.DirEntry, error) {
	info, err := l.stat()
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: l.name, Err: syscall.ENOTDIR}
	}
	f, err := l.openFile(os.O_RDONLY | syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	list, err := f.ReadDir(-1)
	if e := f.Close(); err == nil {
		err = e
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, l.failed(err)
}

// folders is what fs.Glob needs of a folder's files: it lists and describes them, and opens none.
type folders struct{ of *location }

func (f folders) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func (f folders) Stat(name string) (fs.FileInfo, error) {
	return f.at(name).stat()
}

func (f folders) ReadDir(name string) ([]fs.DirEntry, error) {
	return f.at(name).readDir()
}

func (f folders) at(name string) *location {
	l := *f.of
	l.name = filepath.FromSlash(name)
	return &l
}

// Glob returns the names that match a pattern, also of objects of S3, sorted, without what is being written. The folder that the pattern begins with has to be one whose files may be read.
func (p *Policy) Glob(ctx context.Context, pattern string) ([]string, error) {
	if isS3(pattern) {
		return p.globS3(ctx, pattern)
	}
	l, err := p.at(pattern, false)
	if err != nil {
		return nil, err
	}
	defer l.close()
	var paths []string
	if l.root == nil {
		paths, err = globAll(pattern, filepath.Glob)
	} else {
		var below []string
		below, err = globAll(filepath.ToSlash(l.name), func(name string) ([]string, error) { return fs.Glob(folders{l}, name) })
		// What stands before the part below the folder is the same for all, however it was written.
		folder := strings.TrimSuffix(filepath.Clean(pattern), l.name)
		for _, name := range below {
			paths = append(paths, filepath.Join(folder, filepath.FromSlash(name)))
		}
	}
	paths = slices.DeleteFunc(paths, func(name string) bool {
		return slices.ContainsFunc(strings.Split(filepath.ToSlash(name), "/"), isTemporary)
	})
	slices.Sort(paths)
	return paths, err
}

// maxDepth bounds how many folders ** stands for.
const maxDepth = 32

// globAll is glob for patterns in which one part of the path may be **: any number of folders, none included.
func globAll(pattern string, glob func(string) ([]string, error)) (paths []string, err error) {
	before, behind, found := strings.Cut(filepath.ToSlash(pattern), "/**/")
	if before += "/"; !found {
		if behind, found = strings.CutPrefix(filepath.ToSlash(pattern), "**/"); !found {
			return glob(pattern)
		}
		before = ""
	}
	for depth := 0; depth <= maxDepth; depth++ {
		folders := before + strings.Repeat("*/", depth)
		some, err := globAll(folders+behind, glob)
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
		if deeper, err := glob(folders + "*"); err != nil || len(deeper) == 0 {
			break
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Stamp describes the state of files that may be read: names, sizes, times of change and which files they are, or what servers call their states. Two equal ones mean that none
// has changed between. Anything but regular files is an error.
func (p *Policy) Stamp(ctx context.Context, names ...string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		if IsRemote(name) {
			f, err := p.openRemote(ctx, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s %d %s\n", name, f.state.Size, f.state.tag)
			continue
		}
		info, err := p.Stat(ctx, name)
		if err == nil {
			err = regular(name, info)
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %d %d %s\n", name, info.Size(), info.ModTime().UnixNano(), identity(info))
	}
	return b.String(), nil
}

// Changed is the error for a file that was written, cut or replaced again and again while it was read.
func Changed(name string) error {
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.Resource, "cannot read '%s': it changes while it is read", Shown(name)).
		WithHint("read a copy, or write it under another name and rename it when it is whole")
}

// Reads is how often a file is read that changes meanwhile, until [Changed] is the error.
const Reads = 3
