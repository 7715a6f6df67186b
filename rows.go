package radish

import (
	"context"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/types"
)

// Rows are the results of one or more statements:
//
//	rows, err := db.Query(ctx, "SELECT a, b FROM t")
//	if err != nil { ... }
//	defer rows.Close()
//	for rows.Next() {
//		values := rows.Values()
//	}
//	if err := rows.Err(); err != nil { ... }
//
// They are not safe for concurrent use. Reading a result without a further one to its end closes the rows.
type Rows struct {
	conn   *Conn
	ctx    context.Context
	stmt   *Stmt
	rest   []parse.Statement // still to be run
	params []types.Value     // of rest

	arguments func() // gives back what long arguments take; nil: that is not counted

	result   *result.Result // nil: no statement gave rows, or all are closed
	columns  []Column
	device   string // of the result
	affected int64
	inserted int64 // the last statement's AUTO_INCREMENT value
	batch    *column.Batch
	row      int // of batch, counted in selected rows
	values   []any
	err      error
	closed   bool
}

// advance runs statements up to the next that gives rows.
func (r *Rows) advance() {
	for r.err == nil && len(r.rest) > 0 {
		stmt := r.rest[0]
		n := len(stmt.Params)
		params := r.params[:n:n]
		r.rest, r.params = r.rest[1:], r.params[n:]
		var res *result.Result
		if res, r.err = r.conn.session.Execute(r.ctx, stmt, params); r.err != nil {
			break
		}
		if res.HasRows() {
			r.result, r.columns, r.device = res, res.Columns, res.Device
			return
		}
		r.affected, r.inserted = res.RowsAffected, res.LastInsertID
	}
	r.release()
}

// release gives the connection free for its next statement.
func (r *Rows) release() {
	r.closed = true
	r.rest, r.params = nil, nil
	if r.arguments != nil {
		r.arguments()
		r.arguments = nil
	}
	if r.stmt.once {
		r.stmt.Close()
	}
	if r.conn.open == r {
		r.conn.open = nil
	}
	if r.conn.once {
		r.conn.Close()
	}
}

// Columns describes the columns of the result; nil if no statement gave rows.
func (r *Rows) Columns() []Column { return r.columns }

// Device says where the query of the result runs: "cpu", "gpu", or "cpu+gpu" if its plan has pipelines on both; empty if it has no plan.
func (r *Rows) Device() string { return r.device }

// RowsAffected returns what the last statement without rows changed.
func (r *Rows) RowsAffected() int64 { return r.affected }

// Location returns the time zone in which the values are times.
func (r *Rows) Location() *time.Location { return r.conn.session.Location() }

// Next goes to the next row of the result. It returns false at its end and on errors; see Err.
func (r *Rows) Next() bool {
	if r.batch != nil && r.row+1 < r.batch.Rows() {
		r.row++
		return true
	}
	r.batch, r.row = r.NextBatch(), 0
	return r.batch != nil
}

// NextBatch returns the next batch of the result's rows, nil at its end and on errors; see Err. The batch lives until
// the next call. Next and NextBatch must not be mixed.
func (r *Rows) NextBatch() *column.Batch {
	if r.result == nil || r.err != nil {
		return nil
	}
	b, err := r.result.Next(r.ctx)
	if err != nil {
		r.fail(err)
		return nil
	}
	if b == nil {
		r.result = nil
		if len(r.rest) == 0 {
			r.release()
		}
	}
	return b
}

func (r *Rows) fail(err error) {
	r.err = err
	r.result, r.batch = nil, nil
	r.release()
}

// Values returns the current row; see the package documentation for the types. The slice is overwritten by the next
// call, the values are the caller's.
func (r *Rows) Values() []any {
	if len(r.values) != len(r.columns) {
		r.values = make([]any, len(r.columns))
	}
	at, zone := r.position(), r.Location()
	for i, v := range r.batch.Cols {
		r.values[i] = goValue(v, at, zone)
	}
	return r.values
}

// position returns the current row's position in the batch's vectors.
func (r *Rows) position() int {
	if r.batch.Sel != nil {
		return int(r.batch.Sel[r.row])
	}
	return r.row
}

// NextResult leaves the result and runs the statements behind it up to the next that gives rows. It returns false if
// there is none, and on errors; see Err.
func (r *Rows) NextResult() bool {
	if r.closed {
		return false
	}
	r.closeResult()
	r.columns, r.values = nil, nil
	if r.err == nil {
		r.advance()
	}
	return r.result != nil
}

func (r *Rows) closeResult() {
	if r.result != nil {
		if err := r.result.Close(); err != nil {
			r.fail(err)
		}
		r.result, r.batch = nil, nil
	}
}

// Err returns what ended the rows early, nil if nothing did.
func (r *Rows) Err() error { return r.err }

// Close ends the result, runs the statements that are left, and frees the connection. It returns the first error of
// the statements that it ran; those that Err has returned before are not repeated.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	for r.NextResult() {
	}
	return r.err
}
