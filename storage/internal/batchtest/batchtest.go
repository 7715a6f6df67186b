// Package batchtest makes batches of every type for the tests of file formats.
package batchtest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Columns returns one column of every storable type, all nullable.
func Columns() []table.ColumnDef {
	enum := types.Type{Kind: types.KindEnum, Enum: &types.EnumMembers{Names: []string{"red", "green", "it's"}}}
	all := []types.Type{
		types.Bool, types.Int8, types.Int16, types.Int24, types.Int32, types.Int64,
		types.Uint8, types.Uint16, types.Uint24, types.Uint32, types.Uint64, types.Float, types.Double,
		types.Decimal(9, 3), types.Decimal(18, 0), types.Decimal(38, 10), types.Date, types.DatetimeFsp(0), types.DatetimeFsp(6),
		{Kind: types.KindTimestamp, Scale: 3}, types.TimeFsp(0), types.TimeFsp(6), types.Year,
		types.Char(12), types.Varchar(20), types.Text, types.Blob, {Kind: types.KindBinary, Length: 4}, enum, types.JSON,
	}
	defs := make([]table.ColumnDef, len(all))
	for i, t := range all {
		defs[i] = table.ColumnDef{Name: fmt.Sprintf("c%d", i), Type: t, Nullable: true}
	}
	return defs
}

// Value returns a random value of a type that every format can hold, NULL one time in eight.
func Value(r *rand.Rand, t types.Type) types.Value {
	if r.IntN(8) == 0 {
		return types.NullOf(t)
	}
	v := types.Value{Type: t}
	switch t.Kind {
	case types.KindFloat:
		v.F = float64(float32(r.IntN(2000)-1000) / 8)
	case types.KindDouble:
		v.F = r.NormFloat64() * 1e6
	case types.KindDecimal:
		m := types.MaxDecimal(int(t.Precision))
		d := types.Int128{Hi: r.Int64(), Lo: r.Uint64()}
		_, d, _ = d.QuoRem(m)
		if r.IntN(2) == 0 {
			d, _ = d.Neg()
		}
		v = types.DecimalValue(t, d)
	case types.KindDate:
		v.I = types.MinDate + r.Int64N(types.MaxDate-types.MinDate)
	case types.KindTimestamp:
		v.I, _ = types.RoundDatetime(1e12+r.Int64N(2e15), int(t.Scale)) // 1970 to 2033
	case types.KindDatetime:
		v.I, _ = types.RoundDatetime(r.Int64N(4e15)-1e15, int(t.Scale))
	case types.KindTime:
		v.I = types.TruncateDatetime(r.Int64N(types.MicrosPerDay), int(t.Scale))
	case types.KindEnum:
		v.I = 1 + r.Int64N(3)
	case types.KindUint64:
		v.I = int64(r.Uint64())
	case types.KindInt64:
		v.I = int64(r.Uint64())
	case types.KindJSON:
		v.S = fmt.Sprintf(`{"a": %d}`, r.IntN(10))
	case types.KindBinary, types.KindBlob:
		v.S = string([]byte{byte(r.Uint32()), 0, byte(r.Uint32()), 'x'})
	case types.KindChar, types.KindVarchar, types.KindText:
		v.S = []string{"", "a", "few", "äö", "x,y", `say "hi"`, "two\nlines", fmt.Sprint("s", r.IntN(10000))}[r.IntN(8)]
	default:
		lo, hi := types.IntRange(t.Kind)
		v.I = lo + r.Int64N(hi-lo+1)
	}
	return v
}

// Batch returns n random rows of the columns, every other position selected if sparse.
func Batch(r *rand.Rand, defs []table.ColumnDef, n int, sparse bool) *column.Batch {
	b := &column.Batch{N: n}
	for _, def := range defs {
		v := column.New(def.Type, n)
		for i := range n {
			v.Set(i, n, Value(r, def.Type))
		}
		b.Cols = append(b.Cols, v)
	}
	if sparse {
		for i := int32(0); i < int32(n); i += 2 {
			b.Sel = append(b.Sel, i)
		}
	}
	return b
}

// Texts returns the selected rows of batches as texts.
func Texts(batches []*column.Batch) [][]string {
	var rows [][]string
	for _, b := range batches {
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			row := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				row[c] = v.Value(at).Text()
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// TableTexts returns the rows of a table as texts.
func TableTexts(v *table.Version) [][]string {
	var rows [][]string
	for i := range v.Span() {
		values, ok := v.Row(i)
		if !ok {
			continue
		}
		row := make([]string, len(values))
		for c, x := range values {
			row[c] = x.Text()
		}
		rows = append(rows, row)
	}
	return rows
}

// Describe writes a table as "name TYPE, ...; value|value; ...".
func Describe(v *table.Version) string {
	var cols []string
	for _, c := range v.Schema.Columns {
		cols = append(cols, c.Name+" "+c.Type.String())
	}
	parts := []string{strings.Join(cols, ", ")}
	for _, row := range TableTexts(v) {
		parts = append(parts, strings.Join(row, "|"))
	}
	return strings.Join(parts, "; ")
}
