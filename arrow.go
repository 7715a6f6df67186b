package radish

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/arrowconv"
)

// QueryArrow runs statements and returns the rows of the first that gives any as Arrow records. The reader has to be
// released; that ends the query. Records are the caller's to release once they have been retained.
func (db *DB) QueryArrow(ctx context.Context, sql string, args ...any) (array.RecordReader, error) {
	c, err := db.Conn()
	if err != nil {
		return nil, err
	}
	c.once = true
	r, err := c.QueryArrow(ctx, sql, args...)
	if err != nil {
		c.Close()
	}
	return r, err
}

// QueryArrow is [DB.QueryArrow] in the connection's session, which is taken until the reader is released.
func (c *Conn) QueryArrow(ctx context.Context, sql string, args ...any) (array.RecordReader, error) {
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defs := make([]arrow.Field, len(rows.columns))
	for i, col := range rows.columns {
		defs[i] = arrow.Field{Name: col.Name, Type: arrowconv.ArrowType(col.Type), Nullable: col.Nullable}
	}
	r := &recordReader{rows: rows, schema: arrow.NewSchema(defs, nil)}
	r.refs.Store(1)
	return r, nil
}

// recordReader reads rows as Arrow records.
type recordReader struct {
	rows   *Rows
	schema *arrow.Schema
	record arrow.Record
	err    error
	refs   atomic.Int64
}

func (r *recordReader) Retain() { r.refs.Add(1) }

func (r *recordReader) Release() {
	if r.refs.Add(-1) == 0 {
		r.drop()
		r.rows.Close()
	}
}

func (r *recordReader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *recordReader) Schema() *arrow.Schema { return r.schema }

// Next goes to the next record, which lives until the next call unless it is retained.
func (r *recordReader) Next() bool {
	r.drop()
	if r.err != nil {
		return false
	}
	b := r.rows.NextBatch()
	if b == nil {
		r.err = r.rows.Err()
		return false
	}
	r.record, r.err = arrowconv.Record(r.schema, b)
	return r.err == nil
}

func (r *recordReader) Record() arrow.Record { return r.record }

func (r *recordReader) Err() error { return r.err }

// RegisterArrow makes a table of Arrow records, which are read to the end, in the database "main". Where Arrow's layout
// is the store's own, nothing is copied: the table retains the records, and nobody may change them. Programs that hold
// an arrow.Table pass array.NewTableReader's records.
func (db *DB) RegisterArrow(name string, records array.RecordReader) error {
	if err := db.alive(); err != nil {
		return err
	}
	var list []arrow.Record
	for records.Next() {
		r := records.Record()
		r.Retain()
		list = append(list, r)
	}
	if err := records.Err(); err != nil {
		return err
	}
	t, err := arrowconv.Table(database.DefaultDatabase, name, records.Schema(), list)
	if err != nil {
		return err
	}
	for _, c := range t.Schema.Columns {
		if c.Foreign != "" { // a table that statements may write to has no such columns
			return sqlerr.ForeignColumn(c.Name, c.Foreign)
		}
	}
	return db.shared.Register(t)
}
