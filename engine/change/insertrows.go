package change

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// The rows of a long INSERT ... VALUES are read from its text while they are stored, so that memory holds a block of them. Values that the
// parser would read as literals, and that their columns hold as they are, go straight into vectors. All other rows are parsed
// and bound by themselves, in their turn, so that they mean what they mean in a short statement.

// InsertedRows reads the rows of a long INSERT behind the first.
type InsertedRows struct {
	st      *session.Statement
	node    *ast.InsertStmt
	rows    *parse.Rows
	columns []insertedColumn // by field; nil: rows are not read plainly
	schema  *table.Schema
	fixed   []*column.Vector // by the table's columns: those that no field gives
	convert types.ConvertContext
	n       int64 // rows read, the first included

	batch    []*column.Vector // by the table's columns; nil: none is begun
	pending  int              // rows in it
	capacity int              // rows of a batch
}

// firstCapacity is the capacity of the first batch, in rows: most statements are short. Each next one has four times as many, up to a vector's size.
const firstCapacity = 128

// insertedColumn is the column that a field goes to.
type insertedColumn struct {
	ordinal    int
	def        *table.ColumnDef
	takesNulls bool // NULL can be stored as it is
}

// MoreRows prepares reading the rows that a statement's tree leaves out; ins is the statement bound with its first row. It returns nil if there are no such rows.
func MoreRows(st *session.Statement, n *ast.InsertStmt, ins *bind.Insert) *InsertedRows {
	if st.Rows == nil || ins.Given == nil {
		return nil
	}
	r := &InsertedRows{st: st, node: n, rows: st.Rows, schema: ins.Table.Schema, convert: st.Expressions().Conversion(), n: 1, capacity: firstCapacity}
	st.Further = &session.FurtherRows{Query: ins.Query, Each: r.each}
	r.readPlainly(ins)
	return r
}

// readPlainly finds the columns that fields go to, if rows can be read without parsing them.
func (r *InsertedRows) readPlainly(ins *bind.Insert) {
	items := ins.Query.Root.(*logical.Project).Items
	if len(items) != len(r.schema.Columns) {
		return
	}
	r.fixed = make([]*column.Vector, len(items))
	for i, it := range items {
		if slices.Contains(ins.Given, i) {
			continue
		}
		c, ok := it.Expr.(*expr.Const)
		if !ok || !c.Value.Null && c.Value.Type != r.schema.Columns[i].Type {
			return
		}
		v := column.New(r.schema.Columns[i].Type, 1)
		v.Set(0, 1, c.Value)
		v.Const = true
		r.fixed[i] = v
	}
	for _, o := range ins.Given {
		def := &r.schema.Columns[o]
		if def.Type.Kind == types.KindJSON || def.Generated != nil {
			r.columns = nil
			return
		}
		r.columns = append(r.columns, insertedColumn{o, def, def.Nullable || def.IsAutoIncrement})
	}
}

// each calls f with the rows, in batches. operator is what errors call who takes them.
func (r *InsertedRows) each(operator string, f func(*column.Batch) error) error {
	c := r.rows.Cursor()
	for {
		fields, plain, done := c.Plain()
		if done {
			return r.flush(f)
		}
		if !plain || !r.add(fields) {
			if err := r.flush(f); err != nil {
				return err
			}
			if err := r.special(c, operator, f); err != nil {
				return err
			}
			continue
		}
		if r.pending == r.capacity {
			if err := r.flush(f); err != nil {
				return err
			}
		}
	}
}

// flush hands over the batch that was begun.
func (r *InsertedRows) flush(f func(*column.Batch) error) error {
	if err := r.st.Expressions().Interrupted(); err != nil {
		return err
	}
	if r.pending == 0 {
		return nil
	}
	b := &column.Batch{N: r.pending, Cols: r.batch, FirstRow: r.n + 1}
	if r.pending < r.capacity {
		b.Sel = make([]int32, r.pending)
		for i := range b.Sel {
			b.Sel[i] = int32(i)
		}
		b.N = r.capacity
	}
	r.n += int64(r.pending)
	r.batch, r.pending, r.capacity = nil, 0, min(4*r.capacity, column.VectorSize)
	return f(b)
}

// add puts a row of plain values into the batch. It fails where a value is not in its column as it is written; then the row is
// to be parsed.
func (r *InsertedRows) add(fields []parse.Field) bool {
	if len(fields) != len(r.columns) {
		return false
	}
	if r.batch == nil {
		r.batch = slices.Clone(r.fixed)
		for _, c := range r.columns {
			r.batch[c.ordinal] = column.New(c.def.Type, r.capacity)
		}
	}
	for i := range fields {
		if !r.put(&r.columns[i], fields[i]) {
			return false
		}
	}
	r.pending++
	return true
}

// put stores a field's value as the next row's.
func (r *InsertedRows) put(c *insertedColumn, f parse.Field) bool {
	v, at := r.batch[c.ordinal], r.pending
	if v.Valid != nil {
		v.Valid.Set(at) // a row that was given up may have left a NULL
	}
	if f.Kind == parse.FieldNull {
		v.SetNull(at, r.capacity)
		return c.takesNulls
	}
	t := c.def.Type
	switch {
	case f.Kind == parse.FieldInteger && t.IsInteger() && len(f.Text) <= 18:
		i, err := strconv.ParseInt(f.Text, 10, 64)
		clamped, status := types.ClampInt(i, t.Kind)
		if err == nil && status == types.ConvertOK && t.Kind != types.KindYear && t.Kind != types.KindBool {
			v.I64[at] = clamped
			return true
		}
	case f.Kind <= parse.FieldDecimal && t.Kind == types.KindDecimal && t.Phys() == types.PhysInt64:
		if i, ok := shortDecimal(f.Text, int(t.Precision), int(t.Scale)); ok {
			v.I64[at] = i
			return true
		}
	case f.Kind == parse.FieldString && t.Kind == types.KindDate:
		if days, ok := types.ParseISODate(f.Text); ok {
			v.I64[at] = days
			return true
		}
	case f.Kind == parse.FieldString && (t.Kind == types.KindVarchar || t.Kind == types.KindText || t.Kind == types.KindChar && !strings.HasSuffix(f.Text, " ")):
		if t.Length == 0 || t.Length >= int32(min(len(f.Text), math.MaxInt32)) {
			v.Str[at] = f.Text
			return utf8.ValidString(f.Text)
		}
	}
	return r.store(v, at, t, f)
}

// store converts a value as an assignment does.
func (r *InsertedRows) store(v *column.Vector, at int, t types.Type, f parse.Field) bool {
	if f.Kind == parse.FieldHex && !t.IsBinaryString() && !t.IsNumeric() {
		return false
	}
	x, ok := r.rows.Value(f)
	if !ok {
		return false
	}
	x, status := r.convert.Store(x, t)
	if status != types.ConvertOK || x.Null {
		return false
	}
	v.Set(at, r.capacity, x)
	return true
}

// shortDecimal reads a number into the unscaled integer of DECIMAL(precision, scale), of at most 18 digits. It fails where digits would be lost.
func shortDecimal(text string, precision, scale int) (int64, bool) {
	n, digits, behind, point := int64(0), 0, 0, false
	rest := strings.TrimPrefix(text, "-")
	for i := range len(rest) {
		c := rest[i]
		if c == '.' {
			point = true
			continue
		}
		if n > 0 || c != '0' {
			digits++
		}
		if point {
			behind++
		}
		n = 10*n + int64(c-'0')
		if digits > types.MaxShortDecimal {
			return 0, false
		}
	}
	if behind > scale || digits+scale-behind > precision {
		return 0, false
	}
	for range scale - behind {
		n *= 10
	}
	if len(rest) < len(text) {
		n = -n
	}
	return n, true
}

// special parses, binds and runs the rows that are not plain, from the one that the cursor gave last on.
func (r *InsertedRows) special(c *parse.RowCursor, operator string, f func(*column.Batch) error) error {
	ins, err := r.bind(c)
	if err != nil {
		return err
	}
	return r.st.Batches(ins.Query, operator, f)
}

// bind parses and binds the rows that are not plain from the one on that the cursor gave last.
func (r *InsertedRows) bind(c *parse.RowCursor) (*bind.Insert, error) {
	stmt, err := c.Special()
	if err != nil {
		return nil, err
	}
	node := *r.node
	node.Lists = stmt.Node.(*ast.InsertStmt).Lists
	binder := r.st.Binder()
	binder.RowsBefore, binder.Locate = r.n, stmt.Locate
	r.n += int64(len(node.Lists))
	return binder.Insert(&node)
}

// BindAll binds all rows, of the given number of fields, to find what is wrong with them.
func (r *InsertedRows) BindAll(fields int) error {
	c := r.rows.Cursor()
	for {
		list, plain, done := c.Plain()
		switch {
		case done:
			return nil
		case plain && len(list) == fields:
			r.n++
			continue
		}
		if _, err := r.bind(c); err != nil {
			return err
		}
	}
}
