package arrowconv

import (
	"context"
	"errors"
	"io/fs"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Guard runs a part of reading a file and turns its error, or the panic with which the library meets some broken files,
// into one that names the file. kind is what the file should be: "Parquet file".
func Guard(path, kind string, run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, kind, "%v", r)
		}
	}()
	if err := run(); err != nil {
		return ReadError(path, kind, err)
	}
	return nil
}

// ReadError makes an error that names the file of one that came up while it was read.
func ReadError(path, kind string, err error) error {
	var e *sqlerr.Error
	switch {
	case errors.As(err, &e):
		return e.WithHint("file '%s'", path)
	case errors.Is(err, fs.ErrNotExist):
		return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "can't find file '%s'", path).WithCause(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return sqlerr.Interrupted(err)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.Resource, "can't read file '%s': %s", path, pathErr.Err).WithCause(err)
	}
	return damaged(path, kind, "%s", err)
}

func damaged(path, kind, format string, args ...any) error {
	e := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, format, args...)
	e.Message = "'" + path + "' is no " + kind + ", or is damaged or cut off: " + e.Message
	return e
}
