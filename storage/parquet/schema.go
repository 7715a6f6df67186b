package parquet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
)

// node is a column of the schema's tree.
type node struct {
	*element
	leafIndex int // of a leaf: which of the row groups' chunks it is
	nodes     []*node
}

// maxNesting is how deep columns may lie in each other.
const maxNesting = 64

// tree makes the tree of the schema's elements. leaves is how many there are.
func tree(elements []element) (root *node, leaves int, err error) {
	next := 0
	var build func(depth int) (*node, error)
	build = func(depth int) (*node, error) {
		switch {
		case next == len(elements):
			return nil, errors.New("a column of the schema has fewer children than it claims")
		case depth > maxNesting:
			return nil, fmt.Errorf("columns lie more than %d deep in each other", maxNesting)
		}
		n := &node{element: &elements[next]}
		next++
		if n.isLeaf && depth > 0 {
			n.leafIndex = leaves
			leaves++
			if n.children > 0 {
				return nil, fmt.Errorf("column '%s' has values and children", n.name)
			}
			return n, nil
		}
		for range n.children {
			child, err := build(depth + 1)
			if err != nil {
				return nil, err
			}
			n.nodes = append(n.nodes, child)
		}
		return n, nil
	}
	if root, err = build(0); err == nil && next != len(elements) {
		err = errors.New("the schema has columns that belong to nothing")
	}
	return root, leaves, err
}

// The converted types of files that were written before there were logical types.
const (
	convertedUTF8            = 0
	convertedMap             = 1
	convertedList            = 3
	convertedEnum            = 4
	convertedDecimal         = 5
	convertedDate            = 6
	convertedTimeMillis      = 7
	convertedTimeMicros      = 8
	convertedTimestampMillis = 9
	convertedTimestampMicros = 10
	convertedUint8           = 11
	convertedInt64           = 18
	convertedJSON            = 19
	convertedBSON            = 20
	convertedInterval        = 21
)

// annotation returns the logical type of an element, made of its converted type if it has no other.
func (e *element) annotation() logical {
	if e.logical.id != 0 {
		return e.logical
	}
	switch c := e.converted; c {
	case convertedUTF8:
		return logical{id: logicalString}
	case convertedMap, convertedMap + 1:
		return logical{id: logicalMap}
	case convertedList:
		return logical{id: logicalList}
	case convertedEnum:
		return logical{id: logicalEnum}
	case convertedDecimal:
		return logical{id: logicalDecimal, scale: e.scale, precision: e.precision}
	case convertedDate:
		return logical{id: logicalDate}
	case convertedTimeMillis, convertedTimeMicros:
		return logical{id: logicalTime, isUTC: true, unit: 1 + int(c-convertedTimeMillis)}
	case convertedTimestampMillis, convertedTimestampMicros:
		return logical{id: logicalTimestamp, isUTC: true, unit: 1 + int(c-convertedTimestampMillis)}
	case convertedJSON:
		return logical{id: logicalJSON}
	case convertedBSON:
		return logical{id: logicalBSON}
	}
	if i := e.converted - convertedUint8; i >= 0 && e.converted <= convertedInt64 {
		return logical{id: logicalInteger, bits: 8 << (i % 4), signed: i >= 4}
	}
	return logical{}
}

var units = [...]arrow.TimeUnit{1: arrow.Millisecond, 2: arrow.Microsecond, 3: arrow.Nanosecond}

// arrowType returns the Arrow type of a leaf's values, nil if there is none. One whose annotation does not go with its physical
// type has the type of the bare values, as the format asks for.
func (e *element) arrowType() arrow.DataType {
	l := e.annotation()
	if l.id == logicalUnknown {
		return arrow.Null
	}
	timed := l.unit >= 1 && l.unit <= 3
	if l.id == logicalDecimal && e.holdsDecimal(l) {
		return &arrow.Decimal128Type{Precision: l.precision, Scale: l.scale}
	}
	switch e.physical {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32:
		switch {
		case l.id == logicalInteger && l.bits <= 32:
			return integerType(l)
		case l.id == logicalDate:
			return arrow.FixedWidthTypes.Date32
		case l.id == logicalTime && l.unit == 1:
			return arrow.FixedWidthTypes.Time32ms
		}
		return arrow.PrimitiveTypes.Int32
	case parquet.Types.Int64:
		switch {
		case l.id == logicalInteger && l.bits == 64:
			return integerType(l)
		case l.id == logicalTime && timed && l.unit > 1:
			return &arrow.Time64Type{Unit: units[l.unit]}
		case l.id == logicalTimestamp && timed:
			t := &arrow.TimestampType{Unit: units[l.unit]}
			if l.isUTC {
				t.TimeZone = "UTC"
			}
			return t
		}
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Int96:
		return &arrow.TimestampType{Unit: arrow.Microsecond} // as a cursor reads it
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.ByteArray:
		switch l.id {
		case logicalString, logicalEnum, logicalJSON:
			return arrow.BinaryTypes.String
		}
		return arrow.BinaryTypes.Binary
	}
	switch {
	case e.converted == convertedInterval && e.logical.id == 0:
		return nil
	case l.id == logicalFloat16 && e.width == 2:
		return arrow.FixedWidthTypes.Float16
	}
	return &arrow.FixedSizeBinaryType{ByteWidth: e.width}
}

// holdsDecimal says whether a physical type can be a decimal's, and of so many digits. More digits than it can ever have are
// tolerated: some writers annotate so.
func (e *element) holdsDecimal(l logical) bool {
	if l.precision < 1 || l.scale < 0 || l.scale > l.precision {
		return false
	}
	switch e.physical {
	case parquet.Types.Int32, parquet.Types.Int64, parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return true
	}
	return false
}

func integerType(l logical) arrow.DataType {
	switch {
	case l.signed && l.bits == 8:
		return arrow.PrimitiveTypes.Int8
	case l.signed && l.bits == 16:
		return arrow.PrimitiveTypes.Int16
	case l.signed && l.bits == 64:
		return arrow.PrimitiveTypes.Int64
	case l.signed:
		return arrow.PrimitiveTypes.Int32
	case l.bits == 8:
		return arrow.PrimitiveTypes.Uint8
	case l.bits == 16:
		return arrow.PrimitiveTypes.Uint16
	case l.bits == 64:
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Uint32
}

// words describes a column's type, nested ones as Arrow does.
func (n *node) words() string {
	w := n.inner()
	if n.repetition == repeated {
		w = "list<" + w + ">"
	}
	return w
}

func (n *node) inner() string {
	if n.isLeaf {
		if t := n.arrowType(); t != nil {
			return t.String()
		}
		return "interval"
	}
	switch l := n.annotation(); {
	case l.id == logicalList && len(n.nodes) == 1 && n.nodes[0].repetition == repeated:
		items := n.nodes[0]
		if !items.isLeaf && len(items.nodes) == 1 {
			return "list<" + items.nodes[0].words() + ">"
		}
		return "list<" + items.inner() + ">"
	case l.id == logicalMap && len(n.nodes) == 1 && len(n.nodes[0].nodes) == 2:
		pair := n.nodes[0].nodes
		return "map<" + pair[0].words() + ", " + pair[1].words() + ">"
	}
	var b strings.Builder
	b.WriteString("struct<")
	for i, c := range n.nodes {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > 200 {
			b.WriteString("...")
			break
		}
		b.WriteString(c.name + ": " + c.words())
	}
	return b.String() + ">"
}
