// Package textfile is what readers of text tables share: files, compressed or not, are cut into blocks of whole records, several
// blocks are parsed at once, and they are delivered in order. [Shape] says what type the values of a column have,
// [Column] makes them of their texts.
//
// storage/csv and storage/jsonlines read through it, the engine's LOAD DATA opens its files and makes its values by it.
package textfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Source is a text that can be read more than once.
type Source struct {
	Name string // for messages
	Open func() (io.ReadCloser, error)
}

// FileSource is the text in a regular file that a policy allows, unpacked if its name says that it is compressed.
func FileSource(policy *fileaccess.Policy, path string) Source {
	return Source{path, func() (io.ReadCloser, error) {
		f, err := policy.Open(path)
		if err != nil {
			return nil, err
		}
		return unpack(fileaccess.Bound(f), path)
	}}
}

// BytesSource is a text in memory.
func BytesSource(name string, text []byte) Source {
	return Source{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

// failed turns an error of reading into one that names the source.
func (s Source) failed(err error) error {
	var e *sqlerr.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "can't find file '%s'", s.Name).WithCause(err)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.Resource, "can't read '%s': %s", s.Name, err).WithCause(err)
}
