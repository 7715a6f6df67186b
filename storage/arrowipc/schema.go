package arrowipc

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// The numbers of tables' fields and of types are those of Arrow's Schema.fbs and Message.fbs.

// field is a column, or what lies in a nested one.
type field struct {
	name     string
	nullable bool
	layout   layout
	typ      arrow.DataType // of the values; nil: of no type that Radish can have
	bits     int            // of a decimal
	words    string         // the type for messages
	children []*field
	coded    bool // the batches hold indices into a dictionary
	id       int64
	index    arrow.DataType
}

// layout is how many buffers of what use a column has in a batch.
type layout uint8

const (
	layoutNull     layout = iota // none
	layoutFixed                  // validity, values
	layoutBytes                  // validity, offsets, values
	layoutViews                  // validity, views, and any number of buffers
	layoutList                   // validity, offsets
	layoutListView               // validity, offsets, sizes
	layoutStruct                 // validity
	layoutSparse                 // types; before version 5 validity too
	layoutDense                  // types, offsets; before version 5 validity too
	layoutRuns                   // none
)

// maxNesting is how deep columns may lie in each other.
const maxNesting = 64

// parseSchema reads a Schema table.
func parseSchema(t flatTable) ([]*field, error) {
	if t.int16(0, 0) != 0 {
		return nil, sqlerr.NotSupportedf("a big-endian Arrow file", "write it on a little-endian machine")
	}
	var fields []*field
	var err error
	t.children(1, func(t flatTable) {
		f, e := parseField(t, 0)
		fields = append(fields, f)
		if err == nil {
			err = e
		}
	})
	if t.err != nil {
		err = t.err
	}
	return fields, err
}

// fieldBytes is about what a field takes with its type, as the definition of a column, and as an entry of the list in which its name is looked up. nameCopies is how often its
// name is copied.
const (
	fieldBytes = 1 << 10
	nameCopies = 3
)

func parseField(t flatTable, depth int) (*field, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("columns lie more than %d deep in each other", maxNesting)
	}
	t.hold(fieldBytes)
	f := &field{name: t.string(0), nullable: t.byte(1, 0) != 0}
	t.hold((nameCopies - 1) * int64(len(f.name)))
	var err error
	t.children(5, func(c flatTable) {
		child, e := parseField(c, depth+1)
		f.children = append(f.children, child)
		if err == nil {
			err = e
		}
	})
	if err != nil {
		return f, err
	}
	typ, _ := t.child(3)
	if err := f.parseType(t.byte(2, 0), typ); err != nil {
		return f, fmt.Errorf("column '%s': %w", f.name, err)
	}
	if d, ok := t.child(4); ok {
		f.coded, f.id, f.index = true, d.int64(0), arrow.PrimitiveTypes.Int32
		if f.isNested() {
			f.typ = nil
		}
		if i, ok := d.child(1); ok {
			if f.index, err = integerType(i); err != nil {
				return f, fmt.Errorf("column '%s', indices of the dictionary: %w", f.name, err)
			}
		}
	}
	return f, t.err
}

// parseType reads the type of a field, whose children are there.
func (f *field) parseType(kind byte, t flatTable) error {
	children, err := f.takeType(kind, t)
	if err == nil && children >= 0 && len(f.children) != children {
		err = fmt.Errorf("a type of %d children has %d", children, len(f.children))
	}
	if err == nil && f.layout == layoutRuns {
		f.typ, err = f.runsType()
	}
	if err != nil {
		return err
	}
	if f.words == "" && f.typ != nil {
		f.words = f.typ.String()
	} else if f.words == "" {
		f.words = f.nested(kind)
	}
	if f.isNested() {
		f.typ, err = f.nestedType(kind, t)
	}
	return err
}

// takeType sets the type and the layout that a number of Arrow's schema stands for. It returns how many children such a field has; -1: any number.
func (f *field) takeType(kind byte, t flatTable) (children int, err error) {
	f.layout = layoutFixed
	switch kind {
	case 1:
		f.layout, f.typ = layoutNull, arrow.Null
	case 2:
		f.typ, err = valueType(t)
	case 3:
		f.typ, err = floatType(t)
	case 4:
		f.layout, f.typ = layoutBytes, arrow.BinaryTypes.Binary
	case 5:
		f.layout, f.typ = layoutBytes, arrow.BinaryTypes.String
	case 6:
		f.typ = arrow.FixedWidthTypes.Boolean
	case 7:
		err = f.decimalType(t)
	case 8:
		f.typ = arrow.FixedWidthTypes.Date64
		if t.int16(0, 1) == 0 {
			f.typ = arrow.FixedWidthTypes.Date32
		}
	case 9:
		err = f.timeType(t)
	case 10:
		var unit arrow.TimeUnit
		unit, err = unitOf(t.int16(0, 0))
		f.typ = &arrow.TimestampType{Unit: unit, TimeZone: t.string(1)}
	case 11:
		f.words = "interval"
		intervals := []arrow.DataType{arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval}
		if unit := t.int16(0, 0); unit >= 0 && unit < len(intervals) {
			f.typ = intervals[unit]
			break
		}
		err = fmt.Errorf("intervals of the unknown unit %d", t.int16(0, 0))
	case 12, 21:
		f.layout, children = layoutList, 1
	case 13:
		f.layout, children = layoutStruct, -1
	case 14:
		f.layout, children = layoutSparse, -1
		if t.int16(0, 0) == 1 {
			f.layout = layoutDense
		}
	case 15:
		width := t.int32(0, 0)
		if width < 0 {
			return 0, fmt.Errorf("values of %d bytes", width)
		}
		f.typ = &arrow.FixedSizeBinaryType{ByteWidth: width}
	case 16:
		f.layout, children = layoutStruct, 1
	case 17:
		f.layout, children = layoutList, 1
	case 18:
		f.words = "duration"
		var unit arrow.TimeUnit
		unit, err = unitOf(t.int16(0, 1))
		f.typ = &arrow.DurationType{Unit: unit}
	case 19:
		f.layout, f.typ = layoutBytes, arrow.BinaryTypes.LargeBinary
	case 20:
		f.layout, f.typ = layoutBytes, arrow.BinaryTypes.LargeString
	case 22:
		f.layout, children = layoutRuns, 2
	case 23:
		f.layout, f.typ = layoutViews, arrow.BinaryTypes.BinaryView
	case 24:
		f.layout, f.typ = layoutViews, arrow.BinaryTypes.StringView
	case 25, 26:
		f.layout, children = layoutListView, 1
	default:
		return 0, fmt.Errorf("the unknown type number %d", kind)
	}
	return children, err
}

// floatType is the type of floats of Arrow's schema.
func floatType(t flatTable) (arrow.DataType, error) {
	floats := []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	precision := t.int16(0, 0)
	if precision < 0 || precision >= len(floats) {
		return nil, fmt.Errorf("floats of the unknown precision %d", precision)
	}
	return floats[precision], nil
}

// maxWords is about how long the description of a nested type gets, in bytes.
const maxWords = 200

// nested describes a nested type as Arrow does.
func (f *field) nested(kind byte) string {
	names := map[byte]string{13: "struct", 14: "union", 17: "map", 22: "run_end_encoded"}
	name := names[kind]
	if name == "" {
		return "list<" + f.children[0].words + ">"
	}
	parts := f.children
	if kind == 17 {
		parts = parts[0].children
	}
	var b strings.Builder
	b.WriteString(name + "<")
	for i, c := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxWords {
			b.WriteString("...")
			break
		}
		if kind == 13 || kind == 14 {
			b.WriteString(c.name[:min(len(c.name), maxWords)] + ": ")
		}
		b.WriteString(c.words)
	}
	return b.String() + ">"
}

// valueType is the type of integers that are values. Those of 128 bits, which polars writes, lie as decimals do.
func valueType(t flatTable) (arrow.DataType, error) {
	if t.int32(0, 0) == 128 && t.byte(1, 0) != 0 {
		return &arrow.Decimal128Type{Precision: types.MaxDecimalPrecision}, nil
	}
	return integerType(t)
}

func integerType(t flatTable) (arrow.DataType, error) {
	signed := []arrow.DataType{arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16,
		arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64}
	bits, sign := t.int32(0, 0), 0
	if t.byte(1, 0) != 0 {
		sign = 1
	}
	for i, width := range []int{8, 16, 32, 64} {
		if bits == width {
			return signed[2*i+sign], nil
		}
	}
	return nil, fmt.Errorf("integers of %d bits", bits)
}

func (f *field) decimalType(t flatTable) error {
	precision, scale := t.int32(0, 0), t.int32(1, 0)
	f.bits = t.int32(2, 128)
	switch f.bits {
	case 32, 64, 128: // the narrow ones are widened as they are read
		f.typ = &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}
	case 256:
		f.typ = &arrow.Decimal256Type{Precision: int32(precision), Scale: int32(scale)}
	default:
		return fmt.Errorf("decimals of %d bits", f.bits)
	}
	return nil
}

func (f *field) timeType(t flatTable) error {
	unit, err := unitOf(t.int16(0, 1))
	bits := t.int32(1, 32)
	switch {
	case err != nil:
		return err
	case bits == 32 && unit <= arrow.Millisecond:
		f.typ = &arrow.Time32Type{Unit: unit}
	case bits == 64 && unit > arrow.Millisecond:
		f.typ = &arrow.Time64Type{Unit: unit}
	default:
		return fmt.Errorf("times of %d bits in the unit %s", bits, unit)
	}
	return nil
}

func unitOf(number int) (arrow.TimeUnit, error) {
	units := []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond}
	if number < 0 || number >= len(units) {
		return 0, fmt.Errorf("the unknown unit of time %d", number)
	}
	return units[number], nil
}

// runsType returns the type of a run-end encoded column, nil if its values are of none.
func (f *field) runsType() (arrow.DataType, error) {
	ends, values := f.children[0], f.children[1]
	if ends.typ == nil || ends.coded {
		return nil, fmt.Errorf("run ends of the type %s", ends.words)
	}
	switch ends.typ.ID() {
	case arrow.INT16, arrow.INT32, arrow.INT64:
	default:
		return nil, fmt.Errorf("run ends of the type %s", ends.words)
	}
	if values.typ == nil {
		return nil, nil
	}
	return arrow.RunEndEncodedOf(ends.typ, values.arrowType()), nil
}

// arrowType returns the type of a column's arrays, nil if there are none.
func (f *field) arrowType() arrow.DataType {
	if f.coded && f.typ != nil {
		return &arrow.DictionaryType{IndexType: f.index, ValueType: f.typ}
	}
	return f.typ
}

// dictionaries calls use with each field that has a dictionary.
func (f *field) dictionaries(use func(*field)) {
	if f.coded {
		use(f)
	}
	for _, c := range f.children {
		c.dictionaries(use)
	}
}
