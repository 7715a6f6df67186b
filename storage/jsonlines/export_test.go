package jsonlines

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Read returns a new table of the objects in one or more texts, with types that hold all values.
func Read(ctx context.Context, database, name string, sources ...textfile.Source) (*table.Version, error) {
	o, err := Open(ctx, Options{}, sources...)
	for err == nil {
		v, failed := o.Read(ctx, database, name, nil, -1)
		var bad *textfile.Misfit
		if !errors.As(failed, &bad) {
			return v, failed
		}
		o, err = o.Settle(ctx, failed)
	}
	return nil, err
}
