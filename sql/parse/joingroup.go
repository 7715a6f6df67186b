package parse

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// The parser reads joins without ON from the right and then turns them round. For that it moves the table on their left into the parentheses on their right: a
// JOIN (b RIGHT JOIN c USING (k)) JOIN d becomes (a JOIN c LEFT JOIN b USING (k)) JOIN d. There columns stand in another order, k is of several tables, and a
// FULL JOIN would be another join. So it is shown such parentheses as the name of a table, and what is in them by itself.

// joinGroups returns the positions of the parentheses, inner before outer, that hold a join and stand between two joins.
func joinGroups(text string, tokens []token) (groups [][2]int) {
	var open []int
	for i, t := range tokens {
		switch {
		case t.isOp('('):
			open = append(open, i)
		case t.isOp(')') && len(open) > 0:
			begin := open[len(open)-1]
			open = open[:len(open)-1]
			if wordIs(tokens, begin-1, kwJoin) && joinFollows(tokens, i+1) && holdsJoin(text, tokens[begin:i+1]) {
				groups = append(groups, [2]int{begin, i})
			}
		}
	}
	return groups
}

func joinFollows(tokens []token, at int) bool {
	if at >= len(tokens) || tokens[at].kind != tokWord {
		return false
	}
	switch tokens[at].key {
	case kwJoin, kwInner, kwCross, kwLeft, kwRight, kwFull, kwNatural, kwStraightJoin:
		return true
	}
	return false
}

// holdsJoin says whether parentheses, which stand where a table may, hold no query.
func holdsJoin(text string, tokens []token) bool {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.isOp('('):
			depth++
		case t.isOp(')'):
			depth--
		}
		if depth > 1 {
			continue
		}
		if t.kind == tokWord && (t.key == kwJoin || t.key == kwStraightJoin) || t.isOp(',') {
			return true
		}
		if i == 1 && (t.isWord(text, "SELECT") || t.isWord(text, "VALUES") || t.isWord(text, "TABLE") || t.isWord(text, "WITH")) {
			return false
		}
	}
	return false
}

// heldJoins are joins by the names of the tables that stand for them, with their texts.
type heldJoins map[string]heldJoin

type heldJoin struct {
	join *ast.Join
	text string
}

// parseTree parses a piece with a word in place of each FULL, and with its join groups held apart.
func (w *worker) parseTree(piece string, p Piece, full []int32, by string, groups [][2]int) ([]ast.StmtNode, []error, error) {
	piece = replaceFull(piece, p, full, by)
	nodes, warnings, err := w.parser.ParseSQL(piece)
	if err != nil || len(groups) == 0 {
		return nodes, warnings, err
	}
	nodes, warnings = slices.Clone(nodes), slices.Clone(warnings)
	moved := func(offset int32) int {
		longer := slices.IndexFunc(append(slices.Clip(full), math.MaxInt32), func(f int32) bool { return f >= offset })
		return int(offset) - p.Offset + longer*(len(by)-len("FULL"))
	}
	regions := make([][2]int, len(groups))
	for i, g := range groups {
		regions[i] = [2]int{moved(p.tokens[g[0]].start), moved(p.tokens[g[1]].end)}
	}
	if apart := w.parseApart(piece, regions); apart != nil {
		nodes = apart
	}
	return nodes, warnings, nil
}

// parseApart parses a piece with the joins in parentheses that stand at offsets of it held apart. It returns nil where one cannot be.
func (w *worker) parseApart(piece string, groups [][2]int) []ast.StmtNode {
	const query = "SELECT 1 FROM "
	out := []byte(piece)
	held := heldJoins{}
	for i, g := range groups {
		begin, end := g[0], g[1]
		if begin < len(query) {
			return nil
		}
		alone := slices.Clone(out[:end])
		for at := range alone[:begin] {
			alone[at] = ' '
		}
		copy(alone[begin-len(query):], query)
		nodes, _, err := w.parser.ParseSQL(string(alone))
		if err != nil || len(nodes) != 1 {
			return nil
		}
		join := nodes[0].(*ast.SelectStmt).From.TableRefs
		join.Accept(held)
		code, fits := placeholder(out[begin:end], i)
		if !fits {
			return nil
		}
		// Another mark than that of derived tables.
		marked := bytes.IndexByte(out[begin:end], 1) + begin
		out[marked] = 2
		held[strings.Replace(code, "\x01", "\x02", 1)] = heldJoin{join, piece[begin:end]}
	}
	nodes, _, err := w.parser.ParseSQL(string(out))
	if err != nil {
		return nil
	}
	nodes = slices.Clone(nodes)
	for _, n := range nodes {
		n.Accept(held)
	}
	return nodes
}

// Enter is part of ast.Visitor. The texts of select fields are the names of columns.
func (h heldJoins) Enter(n ast.Node) (ast.Node, bool) {
	if f, ok := n.(*ast.SelectField); ok && strings.Contains(f.Text(), "\x02") {
		text := f.Text()
		for again := true; again; { // one may stand in another
			again = false
			for code, j := range h {
				if strings.Contains(text, "`"+code+"`") {
					text, again = strings.ReplaceAll(text, "`"+code+"`", j.text), true
				}
			}
		}
		f.SetText(nil, text)
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (h heldJoins) Leave(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableSource); ok {
		if name, ok := t.Source.(*ast.TableName); ok {
			if j, ok := h[name.Name.O]; ok {
				return j.join, true
			}
		}
	}
	return n, true
}
