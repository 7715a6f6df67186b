package parse_test

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What Restore writes of JSON_TABLE is read as the same.
func TestJSONTable(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (`a` INT PATH '$')) AS `j`",
		"SELECT `j`.`a` FROM (`t`) JOIN JSON_TABLE(`t`.`d`, '$.a[*]' COLUMNS (`i` FOR ORDINALITY, `a` DECIMAL(5,2) PATH '$.a' DEFAULT '0' ON EMPTY ERROR ON ERROR, `e` INT EXISTS PATH '$.b')) AS `j` WHERE `j`.`a`>1",
		"SELECT * FROM `t` LEFT JOIN JSON_TABLE(JSON_EXTRACT(`d`, '$.columns'), '$' COLUMNS (NESTED PATH '$[*]' COLUMNS (`n` FOR ORDINALITY, NESTED PATH '$.b' COLUMNS (`b` JSON PATH '$')), `c` VARCHAR(3) PATH '$.c' ERROR ON EMPTY)) AS `j` ON TRUE",
		"SELECT (SELECT SUM(`a`) FROM JSON_TABLE(JSON_VALUE(`t`.`d`, '$.x' RETURNING JSON), '$[*]' COLUMNS (`a` INT PATH '$' DEFAULT -1 ON EMPTY)) AS `j`) FROM `t`",
		"SELECT * FROM JSON_TABLE((SELECT JSON_ARRAYAGG(`a`) FROM JSON_TABLE('[1]', '$[*]' COLUMNS (`a` INT PATH '$')) AS `k`), '$[*]' COLUMNS (`nested` INT PATH '$')) AS `j`",
	} {
		stmt, err := parse.One(sql, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		for range 2 { // the tree stays as it is
			if got, err := parse.Restore(stmt.Node, format.RestoreStringWithoutCharset); err != nil || !strings.EqualFold(got, sql) {
				t.Errorf("%s is written as %s, %v", sql, got, err)
			}
		}
	}
}

// Positions and the names of columns are those of the text; parameters are counted in its order.
func TestJSONTableKeepsPositions(t *testing.T) {
	const sql = "SELECT (SELECT  x FROM JSON_TABLE(?, '$' COLUMNS\n (x INT PATH '$')) j) , ? FROM t, json_table ( a + ? , \"$\" -- the path\n" +
		" COLUMNS (NESTED '$' COLUMNS (y INT PATH '$'), z JSON PATH '$' ERROR ON ERROR NULL ON EMPTY)) AS `k` WHERE b = ?"
	stmt, err := parse.One(sql, parse.DefaultMode)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, p := range stmt.Params {
		at += strings.IndexByte(sql[at:], '?')
		if p.Offset != at || p.Order != i {
			t.Errorf("parameter %d is number %d at %d, not at %d", i, p.Order, p.Offset, at)
		}
		at++
	}
	if len(stmt.Params) != 4 {
		t.Errorf("%d parameters", len(stmt.Params))
	}
	fields := stmt.Node.(*ast.SelectStmt).Fields.Fields
	if got, want := fields[0].Text(), "(SELECT  x FROM JSON_TABLE(?, '$' COLUMNS\n (x INT PATH '$')) j)"; got != want {
		t.Errorf("the first column is called %q", got)
	}
	var calls []*parse.JSONTable
	stmt.Node.Accept(finder(func(n ast.Node) {
		if c, is := n.(*parse.JSONTable); is {
			calls = append(calls, c)
		}
	}))
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	if c := calls[1].Columns; len(c) != 2 || c[0].Kind != parse.JSONNested || len(c[0].Nested) != 1 || !c[1].Error.Fails || c[1].Empty.Fails || c[1].Empty.Default != nil {
		t.Errorf("the columns are %+v", c)
	}
	if len(stmt.Warnings) != 1 || stmt.Warnings[0].Code != 1287 {
		t.Errorf("warnings: %v", stmt.Warnings)
	}
}

type finder func(n ast.Node)

func (f finder) Enter(n ast.Node) (ast.Node, bool) {
	f(n)
	return n, false
}

func (f finder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// A mistake is named at its position; a table called json_table may stand where no call can.
func TestJSONTableMistakes(t *testing.T) {
	for _, marked := range []string{
		"SELECT * FROM JSON_TABLE(‸) j",
		"SELECT * FROM JSON_TABLE('[]'‸) j",
		"SELECT * FROM JSON_TABLE('[]', ‸path COLUMNS (a INT PATH '$')) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]'‸) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (‸)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a FOR ‸ORDINAL)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a ‸PATH '$')) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT‸, b INT PATH '$')) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH ‸?)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$' DEFAULT ‸a ON EMPTY)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$' NULL ON EMPTY ERROR ON ‸EMPTY)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT EXISTS PATH '$' ‸NULL ON EMPTY)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (NESTED PATH '$' ‸)) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')‸, 1) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$'‸",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a ‸BLURB PATH '$')) j",
		"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a ‸INT NOT NULL PATH '$')) j",
		"SELECT * FROM JSON_TABLE('[]' ‸'x', '$[*]' COLUMNS (a INT PATH '$')) j ORDER ‸BY",
	} {
		sql := strings.ReplaceAll(marked, "‸", "")
		_, err := parse.One(sql, parse.DefaultMode)
		if strings.Count(marked, "‸") > 1 {
			if err == nil {
				t.Errorf("%s is accepted", sql)
			}
			continue
		}
		if e := sqlerr.From(err); err == nil || e.Code != sqlerr.CodeParseError || e.Pos.Offset != strings.Index(marked, "‸") {
			t.Errorf("%s: %v", marked, err)
		}
	}
	for _, sql := range []string{"CREATE TABLE json_table (a INT)", "INSERT INTO json_table (a) VALUES (1)", "SELECT json_table.a FROM json_table", "SELECT 'JSON_TABLE(' FROM t"} {
		if _, err := parse.One(sql, parse.DefaultMode); err != nil {
			t.Error(err)
		}
	}
}
