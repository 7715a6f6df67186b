package parse_test

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
)

func TestJoinGroups(t *testing.T) {
	for _, tc := range []struct{ sql, want string }{
		{"SELECT * FROM a JOIN (b RIGHT JOIN c ON 1) JOIN d", "((a JOIN (b RIGHT c)) JOIN d)"},
		{"SELECT * FROM a CROSS JOIN (b LEFT JOIN c USING (k)) LEFT JOIN d ON 1", "((a JOIN (b LEFT c)) LEFT d)"},
		{"SELECT * FROM a INNER JOIN (b FULL JOIN c ON 1) CROSS JOIN d", "((a JOIN (b FULL c)) JOIN d)"},
		{"SELECT * FROM e FULL JOIN a ON 1 JOIN (b FULL JOIN c ON 1) FULL JOIN d ON 1", "(((e FULL a) JOIN (b FULL c)) FULL d)"},
		{"SELECT * FROM a JOIN (b JOIN (c RIGHT JOIN d ON 1) JOIN e) JOIN f", "((a JOIN ((b JOIN (c RIGHT d)) JOIN e)) JOIN f)"},
		{"SELECT * FROM a JOIN (b, c) JOIN d", "((a JOIN (b JOIN c)) JOIN d)"},
		{"SELECT * FROM a JOIN (b RIGHT JOIN c ON 1) JOIN (d RIGHT JOIN e ON 1) JOIN f", "(((a JOIN (b RIGHT c)) JOIN (d RIGHT e)) JOIN f)"},
		{"SELECT * FROM a JOIN (b LEFT JOIN c ON 1) ON 1 JOIN d", "((a JOIN (b LEFT c)) JOIN d)"},
		{"SELECT 1 FROM x WHERE EXISTS (SELECT * FROM a JOIN (b RIGHT JOIN c ON 1) JOIN d)", "((a JOIN (b RIGHT c)) JOIN d)"},
		{"UPDATE a JOIN (b RIGHT JOIN c ON 1) JOIN d SET a.x = 1", "((a JOIN (b RIGHT c)) JOIN d)"},
		{"DELETE a FROM a JOIN (b RIGHT JOIN c ON 1) JOIN d", "((a JOIN (b RIGHT c)) JOIN d)"},
	} {
		checkJoins(t, tc.sql, tc.want)
	}
}

// What is held apart leaves no trace in names, parameters and positions.
func TestJoinGroupsAreWhole(t *testing.T) {
	const field = "(SELECT ? FROM a JOIN\n (b RIGHT JOIN c ON b.x = ?) JOIN d)"
	stmt, err := parse.One("SELECT "+field+", ?", parse.DefaultMode)
	if err != nil {
		t.Fatal(err)
	}
	if got := stmt.Node.(*ast.SelectStmt).Fields.Fields[0].Text(); strings.TrimSpace(got) != field {
		t.Errorf("the field is called %q", got)
	}
	if len(stmt.Params) != 3 {
		t.Errorf("%d parameters", len(stmt.Params))
	}
	_, err = parse.One("SELECT 1 FROM a JOIN\n(b RIGHT JOIN c ON b.x =) JOIN d", parse.DefaultMode)
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
}
