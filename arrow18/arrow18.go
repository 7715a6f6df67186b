package arrow18

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/array"
	array17 "github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish"
)

// A Querier gives the rows of statements as Arrow records: a [radish.DB], or a [radish.Conn] for one session.
type Querier interface {
	QueryArrow(ctx context.Context, sql string, args ...any) (array17.RecordReader, error)
}

// Query runs statements and returns the rows of the first that gives any. The reader has to be released; that ends the
// query. Records are the caller's to release once they have been retained.
func Query(ctx context.Context, q Querier, sql string, args ...any) (array.RecordReader, error) {
	r, err := q.QueryArrow(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer r.Release() // the reader that is returned retains it
	return FromV17(r)
}

// Register makes a table of records, which are read to the end, in the database "main". Where Arrow's layout is the
// store's own, nothing is copied: the table retains the records, and nobody may change them.
func Register(db *radish.DB, name string, records array.RecordReader) error {
	r, err := ToV17(records)
	if err != nil {
		return err
	}
	defer r.Release()
	return db.RegisterArrow(name, r)
}
