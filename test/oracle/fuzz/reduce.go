package fuzz

import (
	"slices"
	"time"
)

// smaller calls try with ever smaller versions of the tree, keeping each that still fails, until none does or the
// time is up.
func smaller(tree *Node, deadline time.Time, try func(*Node) bool) *Node {
	for again := true; again; {
		again = false
		for at := 0; at < size(tree); at++ {
			for option := 0; ; option++ {
				if time.Now().After(deadline) {
					return tree
				}
				candidate, more := shrink(tree, at, option)
				if !more {
					break
				}
				if candidate != nil && try(candidate) {
					tree, again = candidate, true
					option = -1
					if at >= size(tree) {
						break
					}
				}
			}
		}
	}
	return tree
}

func size(n *Node) int {
	total := 0
	n.walk(func(*Node) { total++ })
	return total
}

// shrink applies one option to the at-th node, in the order of walk, of a copy of the tree. No candidate means that the
// option does not change anything; more is false behind the last option.
func shrink(tree *Node, at, option int) (candidate *Node, more bool) {
	root := tree.clone()
	var node *Node
	i := 0
	root.walk(func(n *Node) {
		if i == at {
			node = n
		}
		i++
	})
	// Drop an element of a list; an output column goes from every select of a set operation at once.
	if node.Role == List || node.Role == Items || node.Role == Script {
		if option >= len(node.Kids) {
			return nil, false
		}
		if len(node.Kids) <= node.Min {
			return nil, true
		}
		if node.Role == Items {
			return dropColumn(root, node, option), true
		}
		node.Kids = slices.Delete(node.Kids, option, option+1)
		return root, true
	}
	// Put a descendant of the same kind in the node's place.
	if node.Kind != Other {
		var inside []*Node
		for _, k := range node.Kids {
			k.walk(func(n *Node) {
				if n.Kind == node.Kind && n != node {
					inside = append(inside, n)
				}
			})
		}
		if option < len(inside) {
			session := node.Session
			*node = *inside[option]
			node.Session = session
			return root, true
		}
		option -= len(inside)
	}
	// Put a constant in its place.
	var constants []string
	if null := typedNull[node.Kind]; null != "" {
		constants = []string{null, map[Kind]string{
			Bool: "TRUE", Int: "1", Uint: "CAST(1 AS UNSIGNED)", Dec: "1.5", Dbl: "1e0", Str: "'a'", Date: "DATE '2020-01-01'", DateTime: "TIMESTAMP '2020-01-01 00:00:00'", Time: "TIME '12:00:00'",
		}[node.Kind]}
	}
	if option < len(constants) {
		if len(node.Kids) == 0 {
			return nil, true
		}
		*node = *lit(node.Kind, constants[option])
		return root, true
	}
	option -= len(constants)
	// Take off DISTINCT, and the outer in outer joins.
	for _, cut := range [][2]string{{"SELECT DISTINCT ", "SELECT "}, {" LEFT JOIN ", " JOIN "}, {" RIGHT JOIN ", " JOIN "}} {
		if len(node.Format) >= len(cut[0]) && node.Format[:len(cut[0])] == cut[0] {
			if option == 0 {
				node.Format = cut[1] + node.Format[len(cut[0]):]
				return root, true
			}
			option--
		}
	}
	return nil, false
}

// dropColumn takes a column from the select and from those that it is joined with by set operations.
func dropColumn(root, items *Node, column int) *Node {
	var whole *Node
	root.walk(func(n *Node) {
		if whole == nil && n.Kind == Query && slices.Contains(n.outputs(), items) {
			whole = n
		}
	})
	if whole == nil {
		return nil
	}
	lists := whole.outputs()
	for _, l := range lists {
		if column >= len(l.Kids) || len(l.Kids) <= l.Min {
			return nil
		}
	}
	for _, l := range lists {
		l.Kids = slices.Delete(l.Kids, column, column+1)
	}
	return root
}

// fewerRows drops tables and rows while the case still fails.
func fewerRows(s *Schema, deadline time.Time, try func(*Schema) bool) *Schema {
	for i := 0; i < len(s.Tables); i++ {
		c := s.clone()
		c.Tables = slices.Delete(c.Tables, i, i+1)
		if try(c) {
			s = c
			i--
		}
	}
	for i := range s.Tables {
		for chunk := max(len(s.Tables[i].Rows)/2, 1); chunk > 0; chunk /= 2 {
			for first := 0; first < len(s.Tables[i].Rows); {
				if time.Now().After(deadline) {
					return s
				}
				c := s.clone()
				c.Tables[i].Rows = slices.Delete(c.Tables[i].Rows, first, min(first+chunk, len(c.Tables[i].Rows)))
				if try(c) {
					s = c
				} else {
					first += chunk
				}
			}
		}
	}
	return s
}
