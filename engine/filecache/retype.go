package filecache

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
)

// BeginAnew is the cause of an error after which the statement has to be bound again.
type BeginAnew struct{ Changed bool }

func (BeginAnew) Error() string { return "a file is not what it looked like" }

// Verify returns what reading a file came to: err, or that the statement has to begin anew because the file has changed or its values have other types.
func (u *Source) Verify(ctx context.Context, err error) error {
	if errors.Is(err, sqlerr.Cancelled) {
		return err
	}
	if now, gone := files.Stamp(ctx, u.policy, u.pattern); gone == nil && now != u.stamp { // what was open stays whole when its name goes
		return sqlerr.From(fileaccess.Changed(u.Name)).WithCause(BeginAnew{Changed: true})
	}
	if err == nil {
		return nil
	}
	return u.Retype(ctx, err)
}

// Retype returns that the statement has to begin anew if err is of a value that does not fit its column's type, else err.
func (u *Source) Retype(ctx context.Context, err error) error {
	next, err := u.Set.Retype(ctx, err)
	if err != nil {
		return err
	}
	if err := u.cache.remember(u.policy, u.State, next); err != nil {
		return err
	}
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "a sample of '%s' did not show the types of all rows", u.Name).WithCause(BeginAnew{}).
		WithHint("run the statement again, which looks at all rows first")
}
