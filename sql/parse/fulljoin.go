package parse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// FullJoin is the type of a FULL [OUTER] JOIN. The parser does not know it: like MySQL it reads t FULL JOIN u as table t under the alias FULL.
//
// So the words FULL are found among the tokens, and the text is parsed twice: with LEFT, which is as long, instead of each FULL, and with RIGHT. Joins
// that differ between the two trees are full joins.
const FullJoin ast.JoinType = 16

// fullJoins returns the offsets in text of the words FULL of full joins.
func fullJoins(text string, tokens []token) (offsets []int32, err *sqlerr.Error) {
	for i, t := range tokens {
		if t.kind != tokWord || t.key != kwFull || !endsTable(tokens, i-1) {
			continue
		}
		outer := wordIs(tokens, i+1, kwOuter) && wordIs(tokens, i+2, kwJoin)
		if !outer && !wordIs(tokens, i+1, kwJoin) {
			continue
		}
		if wordIs(tokens, i-1, kwNatural) && !outer {
			outer = true // no table's alias can stand behind NATURAL
		}
		offsets = append(offsets, t.start)
		for j, u := range tokens {
			if !outer && isFull(text, u) && opIs(tokens, j+1, '.') {
				return nil, sqlerr.NotSupportedf("FULL JOIN beside a table called FULL",
					"if FULL is the table's alias here, write AS FULL; for the join write FULL OUTER JOIN").AtOffset(text, int(t.start))
			}
		}
	}
	return offsets, nil
}

func isFull(text string, t token) bool {
	return (t.kind == tokWord || t.kind == tokQuoted) && strings.EqualFold(strings.Trim(text[t.start:t.end], "`\""), "full")
}

// replaceFull returns the text of a piece with the words FULL at the offsets replaced.
func replaceFull(piece string, p Piece, offsets []int32, by string) string {
	if len(offsets) == 0 {
		return piece
	}
	var b strings.Builder
	at := 0
	for _, offset := range offsets {
		i := int(offset) - p.Offset
		b.WriteString(piece[at:i])
		b.WriteString(by)
		at = i + len("FULL")
	}
	b.WriteString(piece[at:])
	return b.String()
}

// markFullJoins gives the joins of left that are right ones in right, its twin, the type FullJoin. They are count.
func markFullJoins(left, right ast.Node, count int) *sqlerr.Error {
	a, b := joinsOf(left), joinsOf(right)
	if len(a) != len(b) {
		return sqlerr.Bug("FULL JOIN: %d joins and %d", len(a), len(b))
	}
	for i, j := range a {
		if j.Tp != b[i].Tp {
			j.Tp = FullJoin
			count--
		}
	}
	if count != 0 {
		return sqlerr.Bug("FULL JOIN: %d were not found", count)
	}
	return nil
}

// joinFinder collects joins in the order in which a tree is walked.
type joinFinder struct{ joins []*ast.Join }

func (f *joinFinder) Enter(n ast.Node) (ast.Node, bool) {
	if j, is := n.(*ast.Join); is {
		f.joins = append(f.joins, j)
	}
	return n, false
}

func (f *joinFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func joinsOf(n ast.Node) []*ast.Join {
	var f joinFinder
	n.Accept(&f)
	return f.joins
}
