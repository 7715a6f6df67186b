package csv

import (
	"context"
	"errors"

	"github.com/radish-sql/radish/storage/table"
	"github.com/radish-sql/radish/storage/textfile"
)

// Read returns a new table of the rows of one or more texts, which have the same columns. Names come from the first
// text's header, or are column1, column2, ...; types are inferred.
func Read(ctx context.Context, database, name string, opts Options, sources ...textfile.Source) (*table.Version, error) {
	t, err := Open(ctx, opts, sources...)
	if err != nil {
		return nil, err
	}
	for {
		v, err := t.Read(ctx, database, name, nil, -1)
		var bad *textfile.Misfit
		if !errors.As(err, &bad) {
			return v, err
		}
		if t, err = t.Settle(ctx, err); err != nil {
			return nil, err
		}
	}
}
