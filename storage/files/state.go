package files

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// Stamp describes the state of the files that match a pattern.
func Stamp(ctx context.Context, policy *fileaccess.Policy, pattern string) (string, error) {
	paths, err := Expand(ctx, policy, pattern)
	if err != nil {
		return "", err
	}
	stamp, err := policy.Stamp(ctx, paths...)
	if err != nil {
		return "", Missing(ctx, policy, pattern, err)
	}
	return stamp, nil
}

// Missing is CannotRead, with the name of a file in the same folder that may have been meant, if there is none of this name and the policy lets the folder be read.
func Missing(ctx context.Context, policy *fileaccess.Policy, name string, err error) error {
	out := CannotRead(name, err)
	var e *sqlerr.Error
	folder := filepath.Dir(name)
	if !errors.Is(err, fs.ErrNotExist) || fileaccess.IsRemote(name) || strings.ContainsAny(folder, `*?[\`) || !errors.As(out, &e) {
		return out
	}
	paths, err := policy.Glob(ctx, filepath.Join(folder, "*"))
	if err != nil {
		return out
	}
	var names []string
	for _, p := range paths {
		if info, err := policy.Stat(ctx, p); err == nil && info.Mode().IsRegular() {
			names = append(names, filepath.Base(p))
		}
	}
	if near := sqlerr.Suggest(filepath.Base(name), names); near != "" {
		return e.WithHint("did you mean '%s'?", near)
	}
	return out
}

// Unchanged returns what read makes of files while they do not change, and the state of the files. stamp is the state that they had before. If they change
// while they are read, read is called again with their new state: rows of two states, or of a file that was written in part, are nobody's data.
func Unchanged[T any](ctx context.Context, policy *fileaccess.Policy, pattern, stamp string, read func(stamp string) (T, error)) (value T, of string, err error) {
	for range fileaccess.Reads {
		value, err = read(stamp)
		if errors.Is(err, sqlerr.Cancelled) {
			return value, stamp, err
		}
		now, gone := Stamp(ctx, policy, pattern)
		switch {
		case gone != nil, now == stamp: // what was open stays whole when its name goes
			return value, stamp, err
		}
		stamp = now
	}
	return value, stamp, fileaccess.Changed(pattern)
}

// CannotRead is the error for a file that cannot be read.
func CannotRead(name string, err error) error {
	var known *sqlerr.Error
	if errors.As(err, &known) {
		return err
	}
	return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "cannot read '%s': %v", fileaccess.Shown(name), fileaccess.Reason(err)).WithCause(err)
}

// CannotWrite is the error for a file that cannot be written.
func CannotWrite(name string, err error) error {
	var known *sqlerr.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrExist):
		return sqlerr.New(sqlerr.CodeFileExists, sqlerr.User, "File '%s' already exists", name).
			WithHint("write INTO OUTFILE '%s' OVERWRITE, or .export --overwrite in the shell, to replace it", name)
	}
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "cannot write '%s': %v", fileaccess.Shown(name), fileaccess.Reason(err)).WithCause(err)
}
