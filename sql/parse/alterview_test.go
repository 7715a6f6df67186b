package parse_test

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The tree of an ALTER VIEW is that of the CREATE VIEW with the same words, and positions in its query are those of the text.
func TestAlterView(t *testing.T) {
	for _, tail := range []string{
		"VIEW v AS SELECT a FROM t WHERE b",
		"VIEW d.v (x, `as`) AS SELECT a, 'AS' FROM t",
		"VIEW`view`AS(SELECT a FROM t)",
		"ALGORITHM = MERGE DEFINER = CURRENT_USER() SQL SECURITY INVOKER VIEW v AS SELECT a FROM t WITH LOCAL CHECK OPTION",
		"VIEW v AS TABLE t WITH CHECK OPTION",
		"VIEW v AS WITH c AS (SELECT 1) SELECT * FROM c UNION SELECT 2",
		"/* AS */ VIEW v AS SELECT * FROM a FULL JOIN b ON a.x = b.x",
	} {
		alter, err := parse.One("ALTER "+tail, parse.DefaultMode)
		if err != nil {
			t.Errorf("ALTER %s: %v", tail, err)
			continue
		}
		create, err := parse.One("CREATE "+tail, parse.DefaultMode)
		if err != nil {
			t.Errorf("CREATE %s: %v", tail, err)
			continue
		}
		got, err1 := parse.Restore(alter.Node, 0)
		want, err2 := parse.Restore(create.Node, 0)
		if got != want || err1 != nil || err2 != nil || alter.Check != create.Check || !alter.IsAlter || create.IsAlter {
			t.Errorf("ALTER %s: %s, %v, %v; want %s, %v, %v", tail, got, alter.Check, err1, want, create.Check, err2)
		}
	}

	const text = "SELECT 1; ALTER VIEW v (x) AS SELECT\nsome_column FROM t"
	list, err := parse.Parse(text, parse.DefaultMode)
	if err != nil {
		t.Fatal(err)
	}
	field := list[1].Node.(*ast.CreateViewStmt).Select.(*ast.SelectStmt).Fields.Fields[0].Expr
	if at := field.OriginTextPosition() + list[1].Offset; !strings.HasPrefix(text[at:], "some_column") {
		t.Errorf("the column is said to be at %q", text[at:])
	}

	for text, at := range map[string]string{
		"ALTER VIEW v AS SELECT * FRON t":      "FRON",
		"ALTER VIEW v AS\nSELECT 1 1":          "1",
		"ALTER VIEW v WITH AS SELECT 1":        "VIEW",
		"ALTER VIEW v AS DELETE FROM t":        "ALTER",
		"ALTER VIEW v AS":                      "",
		"ALTER VIEW v":                         "VIEW",
		"ALTER TABLE view AS SELECT 1":         "AS",
		"ALTER VIEW v AS SELECT 1; SELECT 2 3": "3",
	} {
		_, err := parse.Parse(text, parse.DefaultMode)
		e := sqlerr.From(err)
		if err == nil || e.Code != sqlerr.CodeParseError || !strings.HasPrefix(text[e.Pos.Offset:], at) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if s, err := parse.One("ALTER TABLE view RENAME v", parse.DefaultMode); err != nil || s.IsAlter {
		t.Errorf("ALTER TABLE view: %v", err)
	}
}
