package radish

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/table"
)

// RegisterTableFunction makes a Go function a table of the database's SQL, whose call stands in FROM in backticks:
//
//	type square struct { N, Square int64 }
//	err := db.RegisterTableFunction("squares", func(n int64) []square { ... })
//
//	SELECT * FROM `squares(10)` WHERE square > 5
//
// Parameters are those of [DB.RegisterFunction]; arguments are expressions without columns. The function returns the rows, and perhaps an error behind them:
//
//   - a []T or an iter.Seq[T], where T is a struct whose exported fields are the columns, named in lower case or by a tag `db:"name"`;
//   - or an array.RecordReader of Arrow records, which is released.
//
// It is called once for each time that a statement names it, and a statement may be planned more than once. All rows are read before the statement goes on,
// whatever its LIMIT, unless the statement's context or memory ends first; a function that waits should take the context.
func (db *DB) RegisterTableFunction(name string, function any) error {
	if err := db.alive(); err != nil {
		return err
	}
	s, err := signatureOf(reflect.ValueOf(function), 0)
	if err != nil {
		return functionError(name, err)
	}
	rows, err := rowsOf(s)
	if err != nil {
		return functionError(name, err)
	}
	return db.shared.AddTable(name, func(ctx context.Context, zone *time.Location, args []types.Value) (*table.Version, error) {
		if len(args) < len(s.params) && (!s.variadic || len(args) < len(s.params)-1) || len(args) > len(s.params) && !s.variadic {
			return nil, sqlerr.WrongParamCount(strings.ToUpper(name))
		}
		in := make([]reflect.Value, 0, len(args)+1)
		if s.takesContext {
			in = append(in, reflect.ValueOf(ctx))
		}
		for i, a := range args {
			v, err := s.param(i).argument(a, zone)
			if err != nil {
				return nil, functionError(name, fmt.Errorf("argument %d: %w", i+1, err))
			}
			in = append(in, v)
		}
		out, err := s.take(name, in)
		if err != nil {
			return nil, err
		}
		return rows(ctx, name, zone, out[0])
	})
}

// argument returns a SQL value as a g.
func (g goType) argument(a types.Value, zone *time.Location) (reflect.Value, error) {
	if a.Null && !g.takesNull() {
		return reflect.Value{}, fmt.Errorf("it is NULL")
	}
	if !a.Null && !g.any() && g.sql.Kind != types.KindDecimal || a.Type.Kind != types.KindDecimal && g.sql.Kind == types.KindDecimal {
		var status types.ConvertStatus
		if a, status = types.Cast(a, g.sql); status > types.ConvertRounded {
			return reflect.Value{}, fmt.Errorf("it is %v for %s", status, g.sql)
		}
	}
	if a.Null {
		return reflect.Zero(g.goType), nil
	}
	return g.value(column.ConstVector(a), 0, zone)
}

// rowsOf returns what makes a table of a table function's first result.
func rowsOf(s signature) (func(ctx context.Context, name string, zone *time.Location, out reflect.Value) (*table.Version, error), error) {
	t := s.call.Type()
	results := t.NumOut()
	if s.fails {
		results--
	}
	if results != 1 {
		return nil, fmt.Errorf("the function has to return its rows, or them and an error")
	}
	if t = t.Out(0); t.Implements(reflect.TypeFor[array.RecordReader]()) {
		return func(ctx context.Context, name string, _ *time.Location, out reflect.Value) (*table.Version, error) {
			if out.IsZero() {
				return nil, functionError(name, fmt.Errorf("it returned no reader"))
			}
			return readRecords(ctx, name, out.Interface().(array.RecordReader))
		}, nil
	}
	var row reflect.Type
	switch {
	case t.Kind() == reflect.Slice:
		row = t.Elem()
	case t.Kind() == reflect.Func && t.CanSeq():
		row = t.In(0).In(0)
	}
	if row == nil || row.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the function has to return a []T or an iter.Seq[T] of structs, or an array.RecordReader")
	}
	var names []string
	var columns []goType
	var fields []int
	for i := range row.NumField() {
		f := row.Field(i)
		if !f.IsExported() {
			continue
		}
		g, err := goTypeOf(f.Type)
		if err == nil && g.any() {
			err = fmt.Errorf("a value of any type has no SQL type")
		}
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		column := f.Tag.Get("db")
		if column == "" {
			column = strings.ToLower(f.Name)
		}
		names, columns, fields = append(names, column), append(columns, g), append(fields, i)
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("%v has no exported field", row)
	}
	return func(ctx context.Context, name string, zone *time.Location, out reflect.Value) (*table.Version, error) {
		return readStructs(ctx, name, zone, out, names, columns, fields)
	}, nil
}

// readRecords makes a table of Arrow records. The context's meter sees their memory.
func readRecords(ctx context.Context, name string, records array.RecordReader) (v *table.Version, err error) {
	defer records.Release()
	defer panicsFail(name, &err)
	meter := table.MeterOf(ctx)
	var list []arrow.Record
	bytes := int64(0)
	for records.Next() {
		r := records.Record()
		r.Retain()
		list = append(list, r)
		if bytes += recordBytes(r); meter != nil {
			if err := meter(bytes); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, sqlerr.Interrupted(err)
		}
	}
	if err := records.Err(); err != nil {
		return nil, functionError(name, err)
	}
	return arrowconv.Table("", name, records.Schema(), list)
}

// recordBytes returns the memory of an Arrow record.
func recordBytes(r arrow.Record) (bytes int64) {
	for _, c := range r.Columns() {
		bytes += dataBytes(c.Data())
	}
	return bytes
}

func dataBytes(d arrow.ArrayData) (bytes int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			bytes += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		bytes += dataBytes(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY && d.Dictionary() != nil {
		bytes += dataBytes(d.Dictionary())
	}
	return bytes
}

// panicsFail makes a panic of the program's function the error of the one that defers it.
func panicsFail(name string, err *error) {
	if r := recover(); r != nil {
		*err = functionError(name, fmt.Errorf("panic: %v", r))
	}
}

// readStructs makes a table of structs. The context's meter sees its memory.
func readStructs(ctx context.Context, name string, zone *time.Location, rows reflect.Value, names []string, columns []goType, fields []int) (v *table.Version, err error) {
	defer panicsFail(name, &err)
	schema := &table.Schema{Name: name}
	for i, g := range columns {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: names[i], Type: g.sql, Nullable: g.givesNull()})
	}
	builder := table.NewBuilder(table.New(schema)).Meter(ctx)
	const batchRows = 4 * column.VectorSize
	var batch *column.Batch
	flush := func() error {
		if batch == nil {
			return nil
		}
		full := batch
		batch = nil
		return builder.Append(full)
	}
	ended := ctx.Done()
	add := func(row reflect.Value) error {
		select {
		case <-ended:
			return sqlerr.Interrupted(context.Cause(ctx))
		default:
		}
		if batch == nil {
			batch = &column.Batch{}
			for _, g := range columns {
				batch.Cols = append(batch.Cols, column.New(g.sql, batchRows))
			}
		}
		at := batch.N
		batch.N++
		for i, g := range columns {
			if err := g.store(batch.Cols[i], at, batchRows, row.Field(fields[i]), zone); err != nil {
				return functionError(name, fmt.Errorf("column %s: %w", names[i], err))
			}
		}
		if batch.N == batchRows {
			return flush()
		}
		return nil
	}
	if rows.Kind() == reflect.Slice {
		for i := range rows.Len() {
			if err := add(rows.Index(i)); err != nil {
				return nil, err
			}
		}
	} else if !rows.IsNil() {
		for row := range rows.Seq() {
			if err := add(row); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return builder.Finish()
}
