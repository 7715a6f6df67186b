package parse

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// Series is generate_series: the Source of an ast.TableSource.
type Series struct {
	ast.ResultSetNode // what the parser saw instead of it, for the methods that only its nodes have
	Args              []ast.ExprNode
}

// Accept is part of ast.Node.
func (n *Series) Accept(v ast.Visitor) (ast.Node, bool) {
	node, skip := v.Enter(n)
	if skip {
		return v.Leave(node)
	}
	n = node.(*Series)
	for i, a := range n.Args {
		e, ok := a.Accept(v)
		if !ok {
			return n, false
		}
		n.Args[i] = e.(ast.ExprNode)
	}
	return v.Leave(n)
}

// Restore is part of ast.Node.
func (n *Series) Restore(ctx *format.RestoreCtx) error {
	ctx.WriteKeyWord(seriesKeyword)
	ctx.WritePlain("(")
	for i, a := range n.Args {
		if i > 0 {
			ctx.WritePlain(", ")
		}
		if err := a.Restore(ctx); err != nil {
			return err
		}
	}
	ctx.WritePlain(")")
	return nil
}

// Summary is SUMMARIZE: the Source of an ast.TableSource. The node inside is the query that is summarised.
type Summary struct{ ast.ResultSetNode }

// Accept is part of ast.Node.
func (n *Summary) Accept(v ast.Visitor) (ast.Node, bool) {
	return acceptAround(v, n, func(n *Summary) *ast.ResultSetNode { return &n.ResultSetNode })
}

// acceptAround is Accept for a node with one child, which the visitor may replace.
func acceptAround[N, C ast.Node](v ast.Visitor, n N, child func(N) *C) (ast.Node, bool) {
	node, skip := v.Enter(n)
	if skip {
		return v.Leave(node)
	}
	n = node.(N)
	c := child(n)
	visited, ok := (*c).Accept(v)
	if !ok {
		return n, false
	}
	*c = visited.(C)
	return v.Leave(n)
}

// Restore is part of ast.Node.
func (n *Summary) Restore(ctx *format.RestoreCtx) error {
	ctx.WriteKeyWord("(SUMMARIZE ")
	if err := n.ResultSetNode.Restore(ctx); err != nil {
		return err
	}
	ctx.WritePlain(")")
	return nil
}
