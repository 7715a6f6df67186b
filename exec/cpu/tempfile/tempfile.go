// Package tempfile keeps what a query's operators write to disk because it does not fit the query's memory.
//
// A query has one File, which operators append to and read at any position. It is made by the first write. Where the system allows it the file has
// no name from then on, so nothing is left behind even if the process is killed.
package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// File is a query's temporary file. Its methods may be called by several goroutines; Close is called when none uses it any more.
type File struct {
	folder string

	mu      sync.Mutex
	file    *os.File // guarded by mu: nil until the first write
	size    int64    // guarded by mu
	isNamed bool     // guarded by mu: the file has a name still, which Close removes
}

// New returns a file that is made in a folder when something is written. It is nil where there is no folder.
func New(folder string) *File {
	if folder == "" {
		return nil
	}
	return &File{folder: folder}
}

// Write appends bytes and returns their position.
func (f *File) Write(bytes []byte) (at int64, err error) {
	file, at, err := f.take(int64(len(bytes)))
	if err == nil {
		_, err = file.WriteAt(bytes, at)
	}
	if err != nil {
		return 0, f.failed(sqlerr.CodeErrorOnWrite, "write", err)
	}
	return at, nil
}

// take returns the file with the position of so many bytes that nobody else gets.
func (f *File) take(bytes int64) (file *os.File, at int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		if f.file, err = os.CreateTemp(f.folder, "radish-*.tmp"); err != nil {
			return nil, 0, err
		}
		f.isNamed = os.Remove(f.file.Name()) != nil
	}
	at = f.size
	f.size += bytes
	return f.file, at, nil
}

// Read reads what was written at a position.
func (f *File) Read(bytes []byte, at int64) error {
	f.mu.Lock()
	file := f.file
	f.mu.Unlock()
	if file == nil {
		return sqlerr.Bug("a temporary file is read before it is written")
	}
	if _, err := file.ReadAt(bytes, at); err != nil {
		return f.failed(sqlerr.CodeErrorOnRead, "read", err)
	}
	return nil
}

// failed is the error of a temporary file.
func (f *File) failed(code sqlerr.Code, what string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return sqlerr.New(code, sqlerr.Resource, "cannot %s a temporary file in '%s': %v", what, f.folder, err).
		WithHint("the statement needs the file because it does not fit its memory limit: raise that, or SET radish_temp_folder to a folder with space").WithCause(err)
}

// Close removes the file.
func (f *File) Close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return
	}
	_ = f.file.Close() // nobody reads what was written
	if f.isNamed {
		_ = os.Remove(f.file.Name())
	}
	f.file = nil
}
