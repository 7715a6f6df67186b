// Package result holds what a statement gives: counts, or rows that its client reads batch by batch.
package result

import (
	"context"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// ResultColumn describes a column of a result.
type ResultColumn struct {
	Name     string
	Type     types.Type
	Nullable bool
}

// Result is the outcome of a statement: rows to be read by Next, or counts. A result with rows must be closed; reading
// it to the end or an error closes it too.
type Result struct {
	Columns      []ResultColumn // nil: the statement gives no rows
	RowsAffected int64
	// LastInsertID is the first AUTO_INCREMENT value that an INSERT made, or else the last that its rows brought; 0: none.
	LastInsertID int64
	// Profile is what the operators cost; complete once the rows have been read. nil for statements without a plan.
	Profile *profile.Plan
	// Device is where the plan's pipelines run: "cpu", "gpu" or "cpu+gpu"; empty for statements without a plan.
	Device string

	Source RowSource
	Done   func()                    // runs once, when the rows end
	Failed func(error) *sqlerr.Error // hears of the error that ends the rows, and gives it its position in the statement; nil: nobody does
	err    error
}

// RowSource delivers the batches of a result.
type RowSource interface {
	// Next returns the next batch, nil at the end. The batch is the caller's to keep.
	Next(ctx context.Context) (*column.Batch, error)
	Close() error
}

// HasRows says whether the statement gives rows, be it none.
func (r *Result) HasRows() bool { return r.Columns != nil }

// Next returns the next batch of rows, nil at the end. The batch is the caller's to keep.
func (r *Result) Next(ctx context.Context) (*column.Batch, error) {
	if r.err != nil || r.Source == nil {
		return nil, r.err
	}
	for {
		b, err := r.Source.Next(ctx)
		if err != nil {
			e := sqlerr.From(err)
			if r.Failed != nil {
				e = r.Failed(err)
			}
			r.err = e
			r.Close()
			return nil, r.err
		}
		if b == nil {
			return nil, r.Close()
		}
		if b.Rows() > 0 {
			return b, nil
		}
	}
}

// Close ends the statement. It may be called more than once.
func (r *Result) Close() error {
	if r.Source == nil {
		return nil
	}
	err := r.Source.Close()
	r.Source = nil
	if r.Done != nil {
		r.Done()
	}
	return err
}

// listSource delivers rows that are already there: SHOW, EXPLAIN and their kin.
type listSource struct{ batches []*column.Batch }

func (l *listSource) Next(context.Context) (*column.Batch, error) {
	if len(l.batches) == 0 {
		return nil, nil
	}
	b := l.batches[0]
	l.batches = l.batches[1:]
	return b, nil
}

func (l *listSource) Close() error { return nil }

// RowsResult makes a result of rows of values; each value has its column's type or is NULL.
func RowsResult(cols []ResultColumn, rows [][]types.Value) *Result {
	b := &column.Batch{N: len(rows)}
	for c := range cols {
		v := column.New(cols[c].Type, len(rows))
		for i, row := range rows {
			v.Set(i, len(rows), row[c])
		}
		b.Cols = append(b.Cols, v)
	}
	return BatchResult(cols, b)
}

// BatchResult makes a result of rows that are there.
func BatchResult(cols []ResultColumn, b *column.Batch) *Result {
	return &Result{Columns: cols, Source: &listSource{[]*column.Batch{b}}}
}

// TextColumns returns nullable text columns.
func TextColumns(names ...string) []ResultColumn {
	out := make([]ResultColumn, len(names))
	for i, n := range names {
		out[i] = ResultColumn{Name: n, Type: types.Text, Nullable: true}
	}
	return out
}

// Text is a string as a value.
func Text(s string) types.Value { return types.Value{Type: types.Text, S: s} }
