package sqllogic

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Engine is a database under test. One script uses one Engine from one goroutine.
type Engine interface {
	// Exec runs a statement whose result is of no interest.
	Exec(ctx context.Context, sql string) error
	// Query runs a query and returns its values row by row, formatted for the columns' types (see Format). Types
	// of a length other than the number of columns is an error of type *ColumnsError.
	Query(ctx context.Context, sql, types string) (values []string, err error)
	// Close gives the database back.
	Close() error
}

// ColumnsError says that a query answered with another number of columns than its record declares.
type ColumnsError struct{ Want, Got int }

func (e *ColumnsError) Error() string {
	return fmt.Sprintf("%d columns expected, got %d", e.Want, e.Got)
}

// sqlEngine puts records to one connection of a database/sql driver.
type sqlEngine struct {
	db   *sql.DB
	conn *sql.Conn
	row  []any // scan targets: pointers into vals
	vals []any
}

// NewEngine adapts db, which it closes in the end. The script runs on one connection.
func NewEngine(ctx context.Context, db *sql.DB) (Engine, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &sqlEngine{db: db, conn: conn}, nil
}

func (e *sqlEngine) Exec(ctx context.Context, query string) error {
	_, err := e.conn.ExecContext(ctx, query)
	return err
}

func (e *sqlEngine) Query(ctx context.Context, query, types string) ([]string, error) {
	rows, err := e.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if types != "" && len(columns) != len(types) {
		return nil, &ColumnsError{Want: len(types), Got: len(columns)}
	}
	if len(e.vals) != len(columns) {
		e.vals = make([]any, len(columns))
		e.row = make([]any, len(columns))
		for i := range e.vals {
			e.row[i] = &e.vals[i]
		}
	}
	var values []string
	var kinds []*sql.ColumnType // read when a time.Time needs it
	for rows.Next() {
		if err := rows.Scan(e.row...); err != nil {
			return nil, err
		}
		for i, v := range e.vals {
			typ := byte('T')
			if types != "" {
				typ = types[i]
			}
			if t, ok := v.(time.Time); ok {
				if kinds == nil {
					if kinds, err = rows.ColumnTypes(); err != nil {
						return nil, err
					}
				}
				if kinds[i].DatabaseTypeName() == "DATE" {
					v = t.Format(time.DateOnly)
				}
			}
			values = append(values, Format(typ, v))
		}
	}
	return values, rows.Err()
}

func (e *sqlEngine) Close() error {
	e.conn.Close()
	return e.db.Close()
}
