package expr

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// compiler turns expressions into nodes, giving equal subexpressions one node (hash consing): a node's key is made of
// its operator and its operands' numbers, so it is short however deep the tree is.
type compiler struct {
	slots    map[ColumnID]int
	interned map[string]*shared // nil: none is shared
	all      []*shared
	unique   int64  // of the last volatile call that is like no other, negative
	key      []byte // of the node that is being looked for
}

// compile returns e's node, always a *shared until finish has run, if any are.
func (c *compiler) compile(e Expr) (node, error) {
	e = uncollated(directQuotient(e))
	children := e.Children()
	ops := make([]node, len(children))
	for i, ch := range children {
		n, err := c.compile(ch)
		if err != nil {
			return nil, err
		}
		ops[i] = n
	}
	if c.interned == nil {
		return c.build(e, ops)
	}
	c.key = c.appendKey(c.key[:0], e)
	for _, o := range ops {
		c.key = binary.AppendUvarint(c.key, uint64(o.(*shared).number))
	}
	if old := c.interned[string(c.key)]; old != nil {
		// The operands were counted again on the way here, but their parent reads them only once.
		for _, o := range ops {
			o.(*shared).refs--
		}
		old.refs++
		return old, nil
	}
	key := string(c.key)
	n, err := c.build(e, ops)
	if err != nil {
		return nil, err
	}
	sh := &shared{node: n, refs: 1, number: len(c.all)}
	c.all = append(c.all, sh)
	c.interned[key] = sh
	return sh, nil
}

// appendKey appends what, beside the operands, tells e from other expressions. No key is the beginning of another one's.
func (c *compiler) appendKey(b []byte, e Expr) []byte {
	switch x := e.(type) {
	case *Column:
		return binary.AppendVarint(append(b, 'C'), int64(x.ID))
	case *Const:
		v := x.Value
		b = binary.AppendVarint(appendTypeKey(append(b, 'K'), v.Type), v.I)
		b = binary.LittleEndian.AppendUint64(appendFlag(b, v.Null), math.Float64bits(v.F))
		b = binary.AppendUvarint(binary.AppendVarint(b, v.D.Hi), v.D.Lo)
		return appendString(b, v.S)
	case *Compare:
		return append(b, '=', byte(x.Op))
	case *In:
		return fmt.Appendf(b, "in %p %d %v;", x.List, len(x.List), len(x.List) == 0 && x.HasNull)
	case *Case:
		return appendFlag(appendTypeKey(append(b, 'W'), x.Typ), x.Else == nil)
	case *Cast:
		return appendString(appendFlag(appendFlag(appendFlag(appendTypeKey(append(b, 'T'), x.To), x.Strict), x.Compared), x.Written), x.Column)
	case *Call:
		b = appendTypeKey(appendString(append(b, 'F'), x.Fn.Name), x.Typ)
		if x.Fn.Volatile && x.Draw > 0 {
			b = binary.AppendVarint(b, x.Draw)
		} else if x.Fn.Volatile {
			c.unique--
			b = binary.AppendVarint(b, c.unique)
		}
		return b
	}
	return fmt.Appendf(b, "%T;", e)
}

// longestInKey is the length of strings up to which equal ones are found. Longer ones are the same where their memory is.
const longestInKey = 4 << 10

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	if len(s) > longestInKey {
		return fmt.Appendf(b, "%p;", unsafe.StringData(s))
	}
	return append(b, s...)
}

func appendFlag(b []byte, x bool) []byte {
	if x {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendTypeKey(b []byte, t types.Type) []byte {
	b = binary.AppendVarint(append(b, byte(t.Kind), t.Precision, t.Scale, byte(t.Collation)), int64(t.Length))
	if t.Enum != nil {
		b = fmt.Appendf(b, "%p;", t.Enum)
	}
	return b
}

func (c *compiler) build(e Expr, ops []node) (node, error) {
	switch x := e.(type) {
	case *Column:
		slot, ok := c.slots[x.ID]
		if !ok {
			return nil, sqlerr.Bug("column %s (#%d) is not among the inputs of its expression", x, x.ID)
		}
		return &columnNode{slot}, nil
	case *Const:
		return &constNode{column.ConstVector(x.Value)}, nil
	case *Compare:
		return newCompareNode(x, ops[0], ops[1])
	case *And:
		return &logicNode{args: ops, isAnd: true}, nil
	case *Or:
		return &logicNode{args: ops}, nil
	case *Not:
		return &notNode{ops: [1]node(ops)}, nil
	case *IsNull:
		return &isNullNode{ops: [1]node(ops)}, nil
	case *In:
		return newInNode(x, ops[0]), nil
	case *Case:
		return newCaseNode(x, ops), nil
	case *Cast:
		return newCastNode(x, ops[0]), nil
	case *Call:
		if x.Fn.compile != nil {
			return x.Fn.compile(x, ops)
		}
		return newCallNode(x, ops), nil
	}
	return nil, sqlerr.Bug("cannot evaluate %T: %s", e, e)
}

// finish takes the memory out of nodes that have one parent.
func (c *compiler) finish() {
	for _, s := range c.all {
		if h, ok := s.node.(interface{ operands() []node }); ok {
			ops := h.operands()
			for i := range ops {
				ops[i] = unshare(ops[i])
			}
		}
	}
}

func unshare(n node) node {
	s, ok := n.(*shared)
	if !ok {
		return n
	}
	switch s.node.(type) {
	case *columnNode, *constNode:
		return s.node
	}
	if s.refs > 1 {
		return s
	}
	return s.node
}
