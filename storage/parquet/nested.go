package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/jsontext"
)

// A nested column lies in the file as one column of values for each leaf of its tree, with two numbers beside each value (Melnik and others 2010, "Dremel",
// section 4). The definition level says how much of the path to the leaf is there. The repetition level says which of the lists on that path goes on. They are
// put together again as JSON.

// branch is a node of a nested column's tree, as it is read.
type branch struct {
	kind  branchKind
	name  []byte // with its quotes and colon; of members of a struct
	leaf  *leaf
	write func(dst []byte, value string) []byte // of leaves whose strings are no JSON strings; nil: all others
	inner []*branch

	present uint32 // the definition level from which on the value is not NULL
	level   uint32 // and what it is for a value: of lists and maps of one that has items, of leaves of one that is there
	rep     uint32 // the repetition level at which a list or map goes on

	from, to int // the leaves below it
}

type branchKind uint8

const (
	leafBranch branchKind = iota
	listBranch
	mapBranch
	structBranch
)

// treeOf returns the tree of a nested column or one of INTERVALs; nil: SQL has no type for it.
func treeOf(n *node) *branch {
	b := &builder{}
	root := b.column(n, 0, 0)
	switch {
	case b.strange || len(b.leaves) == 0:
		return nil
	case root.kind == leafBranch && n.arrowType() != nil: // a type that text would not serve
		return nil
	case root.kind == leafBranch:
		root.write = appendInterval
	}
	return root
}

// builder makes the tree of a column.
type builder struct {
	leaves  []*leaf
	strange bool // the column has something that no document can hold
}

// column returns the branch of a node that lies below so many levels.
func (b *builder) column(n *node, def, rep uint32) *branch {
	from := len(b.leaves)
	var out *branch
	switch n.repetition {
	case repeated: // a list that was written without its annotation
		out = &branch{kind: listBranch, present: def, level: def + 1, rep: rep + 1}
		out.inner = []*branch{b.value(n, def+1, rep+1)}
	case optional:
		out = b.value(n, def+1, rep)
	default:
		out = b.value(n, def, rep)
	}
	out.name = append(jsontext.AppendString(nil, n.name), ':')
	out.from, out.to = from, len(b.leaves)
	if out.from == out.to { // nothing in the file tells of it
		b.strange = true
	}
	return out
}

// value returns the branch of a node's value, or of an item of the list that it is.
func (b *builder) value(n *node, def, rep uint32) *branch {
	from := len(b.leaves)
	out := &branch{kind: structBranch, present: def, level: def}
	switch items := n.items(); {
	case n.isLeaf:
		out.kind = leafBranch
		b.leafOf(n, out)
	case items != nil && n.annotation().id == logicalMap && len(items.nodes) == 2:
		out.kind, out.level, out.rep = mapBranch, def+1, rep+1
		for _, c := range items.nodes {
			out.inner = append(out.inner, b.column(c, def+1, rep+1))
		}
	case items != nil:
		out.kind, out.level, out.rep = listBranch, def+1, rep+1
		if items.isItem(n) {
			out.inner = []*branch{b.value(items, def+1, rep+1)}
		} else {
			out.inner = []*branch{b.column(items.nodes[0], def+1, rep+1)}
		}
	default:
		for _, c := range n.nodes {
			out.inner = append(out.inner, b.column(c, def, rep))
		}
	}
	out.from, out.to = from, len(b.leaves)
	return out
}

// items returns the repeated node of a list or map; nil: the node is neither.
func (n *node) items() *node {
	if id := n.annotation().id; id != logicalList && id != logicalMap || len(n.nodes) != 1 || n.nodes[0].repetition != repeated {
		return nil
	}
	return n.nodes[0]
}

// isItem says whether a repeated node is itself the item of a list, as old writers had it, and not what lies below it (LogicalTypes.md of the format, "Backward-compatibility rules").
func (n *node) isItem(list *node) bool {
	return n.isLeaf || len(n.nodes) != 1 || n.nodes[0].repetition == repeated || n.name == "array" || n.name == list.name+"_tuple"
}

// leafOf describes the values of a leaf.
func (b *builder) leafOf(n *node, out *branch) {
	t := n.arrowType()
	switch id := n.annotation().id; {
	case t == nil: // INTERVAL
		t, out.write = &arrow.FixedSizeBinaryType{ByteWidth: n.width}, writeInterval
		if n.width != intervalBytes {
			b.strange = true
		}
	case id == logicalUUID && n.width == uuidBytes:
		out.write = writeUUID
	case t.ID() == arrow.DECIMAL128:
		if _, ok := arrowconv.TypeOf(t); ok {
			break
		}
		if n.physical != parquet.Types.FixedLenByteArray || n.width > maxDecimalBytes {
			b.strange = true
			break
		}
		out.write = writeDecimal(int(t.(*arrow.Decimal128Type).Scale))
		t = arrow.BinaryTypes.Binary
	}
	typ, ok := arrowconv.TypeOf(t)
	if !ok {
		b.strange = true
	}
	out.leaf = &leaf{index: n.leafIndex, name: n.name, typ: typ, arrow: t, physical: n.physical}
	if out.leaf.isFixed() {
		out.leaf.width = n.width
	}
	b.leaves = append(b.leaves, out.leaf)
}

// leaves calls f with each leaf below a branch.
func (b *branch) leaves(f func(*branch)) {
	if b.kind == leafBranch {
		f(b)
	}
	for _, c := range b.inner {
		c.leaves(f)
	}
}

// sqlType returns the SQL type of a column with such a tree: that of an interval alone is text.
func (b *branch) sqlType() types.Type {
	if b.kind == leafBranch {
		return types.Text
	}
	return types.JSON
}

const (
	intervalBytes = 12 // months, days and milliseconds
	uuidBytes     = 16

	maxDecimalBytes = 64
)

// appendInterval appends an INTERVAL.
func appendInterval(dst []byte, s string) []byte {
	part := func(at int) uint32 { return binary.LittleEndian.Uint32([]byte(s[at : at+4])) }
	return jsontext.AppendInterval(dst, int64(int32(part(0))), int64(int32(part(4))), int64(part(8))*1000)
}

func writeInterval(dst []byte, s string) []byte {
	return append(appendInterval(append(dst, '"'), s), '"')
}

func writeUUID(dst []byte, s string) []byte {
	return fmt.Appendf(dst, "\"%x-%x-%x-%x-%x\"", s[:4], s[4:6], s[6:8], s[8:10], s[10:])
}

// writeDecimal returns what appends a decimal of more digits than SQL's have.
func writeDecimal(scale int) func(dst []byte, s string) []byte {
	return func(dst []byte, s string) []byte {
		x := new(big.Int).SetBytes([]byte(s))
		if len(s) > 0 && s[0]&0x80 != 0 { // two's complement
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(s))))
		}
		if x.Sign() < 0 {
			dst = append(dst, '-')
			x.Neg(x)
		}
		digits := x.Append(nil, 10)
		for len(digits) <= scale {
			digits = append([]byte{'0'}, digits...)
		}
		dst = append(dst, digits[:len(digits)-scale]...)
		if scale == 0 {
			return dst
		}
		return append(append(dst, '.'), digits[len(digits)-scale:]...)
	}
}

var errLevels = errors.New("the parts of a nested value do not fit together")
