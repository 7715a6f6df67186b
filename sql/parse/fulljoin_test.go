package parse_test

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
)

// Each join of a statement with its kind, as parentheses round its sides; what Restore writes must read the same.
func TestFullJoins(t *testing.T) {
	for _, tc := range []struct{ sql, want string }{
		{"SELECT * FROM a FULL JOIN b ON 1", "(a FULL b)"},
		{"SELECT * FROM a full outer join b USING (x)", "(a FULL b)"},
		{"SELECT * FROM a AS x FULL JOIN b y ON 1", "(a FULL b)"},
		{"SELECT * FROM a x FULL JOIN b ON 1 LEFT JOIN c ON 1 RIGHT JOIN d ON 1", "(((a FULL b) LEFT c) RIGHT d)"},
		{"SELECT * FROM a LEFT JOIN b ON 1 FULL JOIN c ON 1", "((a LEFT b) FULL c)"},
		{"SELECT * FROM a FULL JOIN (b LEFT JOIN c ON 1) ON 1", "(a FULL (b LEFT c))"},
		{"SELECT * FROM a LEFT JOIN (b FULL JOIN c ON 1) ON 1", "(a LEFT (b FULL c))"},
		{"SELECT * FROM a LEFT JOIN b FULL JOIN c ON 1 ON 1", "(a LEFT (b FULL c))"},
		{"SELECT * FROM a FULL JOIN b FULL JOIN c ON 1 ON 1", "(a FULL (b FULL c))"},
		{"SELECT * FROM a NATURAL FULL JOIN b", "(a FULL b)"},
		{"SELECT (SELECT 1 FROM a RIGHT JOIN b ON 1) FROM c FULL JOIN d ON 1 WHERE EXISTS (SELECT 1 FROM e LEFT JOIN f ON 1)", "(a RIGHT b) (c FULL d) (e LEFT f)"},
		{"SELECT * FROM (SELECT 1 FROM a FULL JOIN b ON 1) x RIGHT JOIN c ON 1", "(x RIGHT c) (a FULL b)"},
		{"SELECT * FROM `full` FULL JOIN b ON 1", "(full FULL b)"},
		{"SELECT * FROM x.full FULL JOIN b ON 1", "(full FULL b)"},
		{"SELECT * FROM t AS FULL JOIN b ON 1", "(t JOIN b)"},
		{"SELECT full, 'a FULL JOIN b' FROM a /* FULL JOIN */ FULL JOIN b ON 1", "(a FULL b)"},
		{"SELECT * FROM a FULL JOIN b ON 1 UNION SELECT * FROM c LEFT JOIN d ON 1", "(a FULL b) (c LEFT d)"},
	} {
		checkJoins(t, tc.sql, tc.want)
	}
}

// checkJoins compares the joins of a statement, before and after Restore writes it, and of what is read from that.
func checkJoins(t *testing.T, sql, want string) {
	t.Helper()
	stmt, err := parse.One(sql, parse.DefaultMode)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	if got := joins(stmt.Node); got != want {
		t.Errorf("%s: %s, want %s", sql, got, want)
	}
	text, err := parse.Restore(stmt.Node, 0)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	again, err := parse.One(text, parse.DefaultMode)
	if err != nil {
		t.Errorf("%s: %v", text, err)
	} else if got := joins(again.Node); got != want || joins(stmt.Node) != want {
		t.Errorf("%s, written from %s: %s, want %s", text, sql, got, want)
	}
}

type joinLister struct {
	out    []string
	inside map[ast.Node]bool
}

func (l *joinLister) Enter(n ast.Node) (ast.Node, bool) {
	if j, is := n.(*ast.Join); is && j.Right != nil && !l.inside[j] {
		l.out = append(l.out, l.format(j))
	}
	return n, false
}

func (l *joinLister) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (l *joinLister) format(n ast.Node) string {
	switch x := n.(type) {
	case *ast.Join:
		l.inside[x] = true
		if x.Right == nil {
			return l.format(x.Left)
		}
		kind := map[ast.JoinType]string{ast.CrossJoin: "JOIN", ast.LeftJoin: "LEFT", ast.RightJoin: "RIGHT", parse.FullJoin: "FULL"}[x.Tp]
		return "(" + l.format(x.Left) + " " + kind + " " + l.format(x.Right) + ")"
	case *ast.TableSource:
		if t, is := x.Source.(*ast.TableName); is {
			return t.Name.O
		}
		if j, is := x.Source.(*ast.Join); is {
			return l.format(j)
		}
		return x.AsName.O
	}
	return "?"
}

func joins(n ast.Node) string {
	l := &joinLister{inside: map[ast.Node]bool{}}
	n.Accept(l)
	return strings.Join(l.out, " ")
}
