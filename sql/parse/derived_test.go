package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
)

// Every derived table of a statement with its columns' names; what Restore writes must read the same.
func TestDerivedColumns(t *testing.T) {
	for _, tc := range []struct{ sql, want string }{
		{"SELECT * FROM (SELECT 1, 2) AS t (a, b)", "t(a,b)"},
		{"SELECT * FROM (SELECT 1)t(a)", "t(a)"},
		{"SELECT * FROM (VALUES ROW(1, 2), ROW(3, 4)) v(x, `y z`) JOIN (SELECT 1) AS `w``w`(`a``b`) ON 1", "v(x,y z) w`w(a`b)"},
		{"SELECT * FROM (SELECT * FROM (SELECT 1) AS i (a)) AS o\n\t(\n b -- comment\n)", "o(b) i(a)"},
		{"SELECT * FROM (SELECT 1 UNION SELECT 2) AS t(a) UNION (SELECT * FROM ((SELECT 3)) AS u(b))", "t(a) u(b)"},
		{"SELECT * FROM a, (SELECT 1) b(c), LATERAL (SELECT 1) AS d(e)", "b(c) d(e)"},
		{"SELECT * FROM a FULL JOIN (SELECT 1) b(c) ON 1 LEFT JOIN (TABLE x) AS y(z) ON 1", "b(c) y(z)"},
		{"SELECT (SELECT MAX(x) FROM (SELECT 1) AS t(x)) FROM (SELECT 2) AS t(x)", "t(x) t(x)"},
		{"INSERT INTO r SELECT * FROM (SELECT 1) AS t(a) WHERE a IN (SELECT b FROM (SELECT 2) AS u(b))", "t(a) u(b)"},
		{"CREATE VIEW v AS SELECT * FROM (SELECT 1) AS t(a)", "t(a)"},
		{"WITH c (a) AS (SELECT 1), d (b) AS (SELECT * FROM (SELECT 2) AS t(x)) SELECT * FROM c, d", "t(x)"},
		{"SELECT 'FROM (SELECT 1) AS t(a)', COUNT(*) AS n FROM (SELECT 1) t", "t"},
	} {
		stmt, err := parse.One(tc.sql, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s: %v", tc.sql, err)
			continue
		}
		got := derived(stmt.Node)
		if !sameWords(got, tc.want) {
			t.Errorf("%s: %s, want %s", tc.sql, got, tc.want)
		}
		text, err := parse.Restore(stmt.Node, 0)
		if err != nil {
			t.Errorf("%s: %v", tc.sql, err)
			continue
		}
		again, err := parse.One(text, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := derived(again.Node); !sameWords(got, tc.want) {
			t.Errorf("%s, written from %s: %s, want %s", text, tc.sql, got, tc.want)
		}
	}
}

// A position behind a list is that of the text as it was written.
func TestDerivedColumnsKeepPositions(t *testing.T) {
	_, err := parse.One("SELECT *\nFROM (SELECT 1) AS t (\n  a)\nWHERE a = ORDER BY 1", parse.DefaultMode)
	if err == nil || !strings.Contains(err.Error(), "line 4") || !strings.Contains(err.Error(), "column 11") {
		t.Errorf("%v", err)
	}
	for _, sql := range []string{
		"SELECT * FROM (SELECT 1) AS t ()",
		"SELECT * FROM (SELECT 1) AS t (a,)",
		"SELECT * FROM (SELECT 1) AS t (1)",
		"SELECT (SELECT 1) t (a)",
		"SELECT * FROM x AS t (a)",
	} {
		if _, err := parse.One(sql, parse.DefaultMode); err == nil {
			t.Errorf("%s is read", sql)
		}
	}
	// Short aliases have letters for a few numbers only; longer ones for more.
	for n, short := range map[int]bool{36: true, 37: false} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ", (SELECT %d)t(a)", i)
		}
		_, err := parse.One("SELECT 1 FROM "+b.String()[2:], parse.DefaultMode)
		if (err == nil) != short {
			t.Errorf("%d short lists: %v", n, err)
		}
		if _, err = parse.One("SELECT 1 FROM "+strings.ReplaceAll(b.String()[2:], "t(a)", "t (a)"), parse.DefaultMode); err != nil {
			t.Errorf("%d lists: %v", n, err)
		}
	}
}

func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, w := range strings.Fields(a) {
		count[w]++
	}
	for _, w := range strings.Fields(b) {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func derived(n ast.Node) string {
	var d derivedLister
	n.Accept(&d)
	return strings.Join(d, " ")
}

type derivedLister []string

func (d *derivedLister) Enter(n ast.Node) (ast.Node, bool) {
	if t, ok := n.(*ast.TableSource); ok {
		if _, table := t.Source.(*ast.TableName); !table && t.AsName.O != "" {
			text := t.AsName.O
			if len(t.ColumnNames) > 0 {
				var names []string
				for _, c := range t.ColumnNames {
					names = append(names, c.O)
				}
				text += "(" + strings.Join(names, ",") + ")"
			}
			*d = append(*d, text)
		}
	}
	return n, false
}

func (d *derivedLister) Leave(n ast.Node) (ast.Node, bool) { return n, true }
