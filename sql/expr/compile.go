package expr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/column"
)

// compiler turns expressions into nodes, giving equal subexpressions one node (hash consing): a node's key is made of
// its operator and its operands' numbers, so it is short however deep the tree is.
type compiler struct {
	slots    map[ColumnID]int
	interned map[string]*shared
	numbers  map[*shared]int
	all      []*shared
	unique   int
}

// compile returns e's node, always a *shared until finish has run.
func (c *compiler) compile(e Expr) (node, error) {
	e = uncollated(directQuotient(e))
	children := e.Children()
	ops := make([]node, len(children))
	var key strings.Builder
	c.writeKey(&key, e)
	for i, ch := range children {
		n, err := c.compile(ch)
		if err != nil {
			return nil, err
		}
		ops[i] = n
		key.WriteByte(',')
		key.WriteString(strconv.Itoa(c.numbers[n.(*shared)]))
	}
	if old := c.interned[key.String()]; old != nil {
		// The operands were counted again on the way here, but their parent reads them only once.
		for _, o := range ops {
			o.(*shared).refs--
		}
		old.refs++
		return old, nil
	}
	n, err := c.build(e, ops)
	if err != nil {
		return nil, err
	}
	sh := &shared{node: n, refs: 1}
	if c.numbers == nil {
		c.numbers = map[*shared]int{}
	}
	c.numbers[sh] = len(c.all)
	c.all = append(c.all, sh)
	c.interned[key.String()] = sh
	return sh, nil
}

// writeKey writes what, beside the operands, tells e from other expressions.
func (c *compiler) writeKey(b *strings.Builder, e Expr) {
	switch x := e.(type) {
	case *Column:
		fmt.Fprintf(b, "col %d", x.ID)
	case *Const:
		fmt.Fprintf(b, "const %v %v %d %b %v %d ", x.Value.Type, x.Value.Null, x.Value.I, x.Value.F, x.Value.D, len(x.Value.S))
		b.WriteString(x.Value.S)
	case *Compare:
		fmt.Fprintf(b, "cmp %d", x.Op)
	case *In:
		fmt.Fprintf(b, "in %p %d", x.List, len(x.List))
		if len(x.List) == 0 {
			fmt.Fprintf(b, " %v", x.HasNull)
		}
	case *Case:
		fmt.Fprintf(b, "case %v %v", x.Typ, x.Else == nil)
	case *Cast:
		fmt.Fprintf(b, "cast %v %v %q", x.To, x.Strict, x.Column)
	case *Call:
		fmt.Fprintf(b, "call %s %v", x.Fn.Name, x.Typ)
		if x.Fn.Volatile {
			c.unique++
			fmt.Fprintf(b, " #%d", c.unique)
		}
	default:
		fmt.Fprintf(b, "%T", e)
	}
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
		return &logicNode{args: ops, and: true}, nil
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
