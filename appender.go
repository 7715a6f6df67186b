package radish

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/table"
)

// appenderRows is the number of rows that an Appender holds before it writes them.
const appenderRows = 1 << 17

// appenderBytes is the number of bytes of strings at which it writes earlier.
const appenderBytes = 8 << 20

// appended is the name under which an INSERT finds the rows of an Appender.
const appended = "rows of an appender"

// Appender inserts rows in bulk, without SQL text for each:
//
//	a, err := conn.NewAppender(ctx, "sales", "day", "amount")
//	for ... {
//		err = a.Append(day, amount)
//	}
//	err = a.Close()
//
// What arrives is what INSERT would store: values are converted to the columns' types, defaults fill columns that are left out,
// and keys are checked. Rows are written together, every 131,072 or 8 MiB of strings and by Flush and Close; those written together become visible
// together. An error of Flush leaves the rows of that flush out and ends the Appender. It is not safe for concurrent use.
type Appender struct {
	ctx     context.Context
	conn    *Conn
	insert  *Stmt
	rows    rowBuffer
	bytes   int // of the strings in rows
	written int64
	err     error
}

// NewAppender returns an Appender for a table, named as table or database.table, and its columns; none: all, in order. The context
// holds for all that the Appender does.
func (c *Conn) NewAppender(ctx context.Context, name string, columns ...string) (*Appender, error) {
	quoted := make([]string, 0, len(columns))
	for _, col := range columns {
		quoted = append(quoted, quoteName(col))
	}
	list := "*"
	if len(quoted) > 0 {
		list = strings.Join(quoted, ", ")
	}
	var parts []string
	for _, p := range strings.SplitN(name, ".", 2) {
		parts = append(parts, quoteName(p))
	}
	target := strings.Join(parts, ".")
	probe, err := c.Prepare(ctx, "SELECT "+list+" FROM "+target)
	if err != nil {
		return nil, err
	}
	if len(quoted) == 0 {
		for _, col := range probe.Columns() {
			quoted = append(quoted, quoteName(col.Name))
		}
	}
	a := &Appender{ctx: ctx, conn: c, rows: newRowBuffer(len(quoted))}
	a.insert, err = c.Parse("INSERT INTO " + target + " (" + strings.Join(quoted, ", ") + ") SELECT * FROM " + quoteName(appended))
	return a, err
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Append adds a row; see the package documentation for the Go types.
func (a *Appender) Append(values ...any) error {
	if a.err != nil {
		return a.err
	}
	if len(values) != len(a.rows.cols) {
		return sqlerr.New(sqlerr.CodeWrongValueCount, sqlerr.User, "a row of %d values is appended to %d columns", len(values), len(a.rows.cols))
	}
	row, err := a.rows.convert(values, a.conn)
	if err != nil {
		return err
	}
	if a.rows.n >= appenderRows || a.bytes >= appenderBytes || !a.rows.takes(row) {
		if err := a.Flush(); err != nil {
			return err
		}
	}
	a.rows.add(row)
	for i := range row {
		a.bytes += len(row[i].S)
	}
	return nil
}

// AppendRecords writes the rows of Arrow records, whose fields are the Appender's columns in order. Their memory is shared where the
// table's layout is Arrow's: nobody may change it. Records are written together until they have as many rows or bytes as rows that are
// appended one by one, so no more of a long stream is held than that. An error leaves out the records that were to be written with the one it is about.
func (a *Appender) AppendRecords(records array.RecordReader) error {
	if err := a.Flush(); err != nil {
		return err
	}
	var together []arrow.Record
	rows, bytes := int64(0), int64(0)
	write := func() error {
		v, err := arrowconv.Table("", appended, records.Schema(), together)
		if err == nil {
			err = a.write(v)
		}
		together, rows, bytes = nil, 0, 0
		return err
	}
	for records.Next() {
		r := records.Record()
		r.Retain() // the table may share its memory
		together = append(together, r)
		rows += r.NumRows()
		for _, c := range r.Columns() {
			bytes += int64(c.Data().SizeInBytes())
		}
		if rows >= appenderRows || bytes >= appenderBytes {
			if err := write(); err != nil {
				return err
			}
		}
	}
	if err := records.Err(); err != nil {
		return err
	}
	return write()
}

// Flush writes the rows that are held.
func (a *Appender) Flush() error {
	if a.err != nil || a.rows.n == 0 {
		return a.err
	}
	v, err := a.rows.table(appended, nil)
	if err != nil {
		return err
	}
	a.rows, a.bytes = newRowBuffer(len(a.rows.cols)), 0
	return a.write(v)
}

func (a *Appender) write(v *table.Version) error {
	res, err := a.insert.Exec(session.WithTable(a.ctx, appended, v))
	if err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) { // a position in it lies in an INSERT that nobody has written
			placeless := *e
			placeless.Pos, placeless.Text = sqlerr.Position{}, ""
			err = &placeless
		}
		a.err = err
		return err
	}
	a.written += res.RowsAffected
	return nil
}

// Written returns the number of rows that have been written.
func (a *Appender) Written() int64 { return a.written }

// Close writes the rows that are held and ends the Appender.
func (a *Appender) Close() error {
	err := a.Flush()
	a.err = sqlerr.New(sqlerr.CodeWrongUsage, sqlerr.User, "the appender is closed")
	return err
}

// Raw calls f with the Conn behind a connection of database/sql, which serves nothing else meanwhile: for Appenders, Arrow and whatever else database/sql does not offer.
func Raw(c *sql.Conn, f func(*Conn) error) error {
	return c.Raw(func(driverConnection any) error {
		own, ok := driverConnection.(*driverConn)
		if !ok {
			return fmt.Errorf("a connection of %T is none of Radish", driverConnection)
		}
		return f(own.Conn)
	})
}

// bufferType returns the type in which a value of a type is buffered: one for each kind of Go value.
func bufferType(t types.Type) types.Type {
	switch {
	case t.Kind == types.KindUint64:
		return t
	case t.IsInteger():
		return types.Int64
	case t.Kind == types.KindDatetime:
		return types.DatetimeFsp(6)
	case t.Kind == types.KindTime:
		return types.TimeFsp(6)
	case t.IsBinaryString():
		return types.Blob
	case t.IsString():
		return types.Text
	}
	return t
}
