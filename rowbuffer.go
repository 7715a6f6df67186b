package radish

import (
	"strconv"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// rowBuffer collects rows of Go values in columns of the values' own types.
type rowBuffer struct {
	cols []bufferedColumn
	row  []types.Value // of convert
	n    int
}

// bufferedColumn is a column of a rowBuffer. Its type is NULL until a value comes that is not.
type bufferedColumn struct {
	v     column.Vector
	nulls []int
}

func newRowBuffer(columns int) rowBuffer {
	b := rowBuffer{cols: make([]bufferedColumn, columns), row: make([]types.Value, columns)}
	for i := range b.cols {
		b.cols[i].v.Type = types.Null
	}
	return b
}

// convert returns the SQL values of a row, which live until the next call.
func (b *rowBuffer) convert(values []any, c *Conn) ([]types.Value, error) {
	for i, x := range values {
		v, err := sqlValue(x, c.session.Location())
		if err != nil {
			return nil, argumentError(i+1, "", err)
		}
		if v.Type.Kind == types.KindDecimal && !v.Null {
			v = types.StringValue(v.Text()) // of whatever digits
		}
		v.Type = bufferType(v.Type)
		b.row[i] = v
	}
	return b.row, nil
}

// takes says whether the columns' types are those of a row.
func (b *rowBuffer) takes(row []types.Value) bool {
	for i, v := range row {
		if have := b.cols[i].v.Type; !v.Null && have.Kind != types.KindNull && have.Kind != v.Type.Kind {
			return false
		}
	}
	return true
}

func (b *rowBuffer) add(row []types.Value) {
	for i, x := range row {
		b.cols[i].add(x, b.n)
	}
	b.n++
}

// add appends a value behind n others.
func (c *bufferedColumn) add(x types.Value, n int) {
	if x.Null {
		c.nulls = append(c.nulls, n)
		x = types.Value{}
	} else if c.v.Type.Kind == types.KindNull {
		c.v.Type = x.Type
		for range n {
			c.append(types.Value{})
		}
	}
	if c.v.Type.Kind != types.KindNull {
		c.append(x)
	}
}

func (c *bufferedColumn) append(x types.Value) {
	switch c.v.Type.Phys() {
	case types.PhysFloat64:
		c.v.F64 = append(c.v.F64, x.F)
	case types.PhysInt128:
		c.v.I128 = append(c.v.I128, x.D)
	case types.PhysString:
		c.v.Str = append(c.v.Str, x.S)
	default:
		c.v.I64 = append(c.v.I64, x.I)
	}
}

// table returns the rows as a table; names may be nil.
func (b *rowBuffer) table(name string, names []string) (*table.Version, error) {
	schema := &table.Schema{Name: name}
	batch := &column.Batch{N: b.n}
	for i := range b.cols {
		c := &b.cols[i]
		if c.v.Type.Kind == types.KindNull { // a column of NULLs
			c.v.Type = types.Text
			c.v.Str = make([]string, b.n)
		}
		if len(c.nulls) > 0 {
			c.v.Valid = column.NewBitmap(b.n, true)
			for _, at := range c.nulls {
				c.v.Valid.Clear(at)
			}
		}
		def := table.ColumnDef{Name: "c" + strconv.Itoa(i), Type: c.v.Type, Nullable: true}
		if names != nil {
			def.Name = names[i]
		}
		schema.Columns = append(schema.Columns, def)
		batch.Cols = append(batch.Cols, &c.v)
	}
	builder := table.NewBuilder(table.New(schema))
	if b.n > 0 {
		if err := builder.Append(batch); err != nil {
			return nil, err
		}
	}
	return builder.Finish()
}
