package arrowconv

import (
	"context"
	"errors"
	"io/fs"

	"github.com/radish-sql/radish/sql/sqlerr"
)

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

// damaged is the error of a file that is not what its name says.
func damaged(path, kind, format string, args ...any) error {
	e := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, format, args...)
	e.Message = "'" + path + "' is no " + kind + ", or is damaged or cut off: " + e.Message
	return e
}
