package parse_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func mustOne(t *testing.T, sql string) parse.Statement {
	t.Helper()
	s, err := parse.One(sql, parse.DefaultMode)
	if err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	return s
}

func TestStatementsKeepTheirPosition(t *testing.T) {
	text := "-- a comment; with a semicolon\nSELECT 1;\n\n  /* x */ SELECT ';', `;`, \";\" FROM t -- end\n;;\nDELETE FROM t"
	list, err := parse.Parse(text, parse.DefaultMode)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text string
		line int
		node ast.StmtNode
	}{
		{"SELECT 1", 2, &ast.SelectStmt{}},
		{"SELECT ';', `;`, \";\" FROM t", 4, &ast.SelectStmt{}},
		{"DELETE FROM t", 6, &ast.DeleteStmt{}},
	}
	if len(list) != len(want) {
		t.Fatalf("%d statements", len(list))
	}
	for i, s := range list {
		if s.Text != want[i].text || s.Line != want[i].line || text[s.Offset:s.Offset+len(s.Text)] != s.Text ||
			fmt.Sprintf("%T", s.Node) != fmt.Sprintf("%T", want[i].node) {
			t.Errorf("statement %d: %T %+v", i, s.Node, s)
		}
	}
	e := list[2].Locate(sqlerr.NoSuchTable("t", ""), 12)
	if e.Pos.Line != 6 || e.Pos.Column != 13 || text[e.Pos.Offset:] != "t" {
		t.Errorf("located at %v", e.Pos)
	}
}

func TestResultsOutliveTheParser(t *testing.T) {
	first := mustOne(t, "SELECT a FROM t")
	for range 100 {
		mustOne(t, "DELETE FROM u")
	}
	if _, ok := first.Node.(*ast.SelectStmt); !ok || first.Node.OriginalText() != "SELECT a FROM t" {
		t.Errorf("%T %q", first.Node, first.Node.OriginalText())
	}
}

func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				sql := fmt.Sprintf("SELECT %d FROM t%d WHERE a = ?", i, g)
				s, err := parse.One(sql, parse.DefaultMode)
				if err != nil || s.Text != sql || len(s.Params) != 1 {
					t.Errorf("%s: %v %v", sql, s, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestOne(t *testing.T) {
	for sql, code := range map[string]sqlerr.Code{"": 1065, " ; /* x */": 1065, "SELECT 1; SELECT 2": 1064, "SELECT 1;": 0} {
		_, err := parse.One(sql, parse.DefaultMode)
		if code == 0 && err != nil || code != 0 && !errors.Is(err, code) {
			t.Errorf("%q: %v, want %d", sql, err, code)
		}
	}
}

func TestParams(t *testing.T) {
	for sql, want := range map[string]int{
		"SELECT 1": 0,
		"SELECT '?', `?`, \"?\" /* ? */ -- ?\n FROM t":           0,
		"SELECT ? + a FROM t WHERE b IN (?, ?) LIMIT ? OFFSET ?": 5,
		"INSERT INTO t VALUES (?, ?), (DEFAULT, ?)":              3,
		"UPDATE t SET a = ? WHERE b = ?":                         2,
		"SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN ? PRECEDING AND ? FOLLOWING), LAG(a, ?) OVER (ORDER BY b) FROM t": 3,
		"WITH c AS (SELECT ? AS x) SELECT * FROM c JOIN t ON c.x = t.a + ? GROUP BY ? HAVING COUNT(*) > ? ORDER BY ?":  5,
		"SELECT CASE WHEN a = ? THEN ? ELSE ? END, CAST(? AS SIGNED), DATE_ADD(d, INTERVAL ? DAY), a LIKE ? FROM t":    6,
		"SELECT EXISTS (SELECT 1 FROM u WHERE u.a = ?) UNION ALL SELECT ? LIMIT ?":                                     3,
		"CALL tpch_generate(?)":                                 1,
		"SELECT * FROM (SELECT ? AS a) d, LATERAL (SELECT ?) e": 2,
		"DELETE FROM t WHERE a BETWEEN ? AND ?":                 2,
		"SET @x = ?":                                            1,
	} {
		s, err := parse.One(sql, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
			continue
		}
		if len(s.Params) != want {
			t.Errorf("%s: %d parameters, want %d", sql, len(s.Params), want)
		}
		for i, m := range s.Params {
			if m.Order != i || s.Text[m.Offset] != '?' || i > 0 && m.Offset <= s.Params[i-1].Offset {
				t.Errorf("%s: parameter %d has order %d and offset %d", sql, i, m.Order, m.Offset)
			}
		}
	}
}

func TestModes(t *testing.T) {
	field := func(sql string, mode parse.Mode) ast.ExprNode {
		t.Helper()
		s, err := parse.One(sql, mode)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return s.Node.(*ast.SelectStmt).Fields.Fields[0].Expr
	}
	if _, ok := field(`SELECT "a"`, parse.DefaultMode|mysql.ModeANSIQuotes).(*ast.ColumnNameExpr); !ok {
		t.Error("ANSI_QUOTES")
	}
	if _, ok := field(`SELECT a || b`, parse.DefaultMode|mysql.ModePipesAsConcat).(*ast.FuncCallExpr); !ok {
		t.Error("PIPES_AS_CONCAT")
	}
	if _, ok := field(`SELECT NOT a BETWEEN 1 AND 2`, parse.DefaultMode|mysql.ModeHighNotPrecedence).(*ast.BetweenExpr); !ok {
		t.Error("HIGH_NOT_PRECEDENCE")
	}
	if _, err := parse.One(`SELECT '\', 'x'`, parse.DefaultMode|mysql.ModeNoBackslashEscapes); err != nil {
		t.Error("NO_BACKSLASH_ESCAPES", err)
	}
	if _, err := parse.One(`SELECT '\', 'x'`, parse.DefaultMode); err == nil {
		t.Error("a backslash does not escape")
	}

	if mode, err := parse.ParseMode(" ansi_quotes, PIPES_AS_CONCAT"); err != nil || mode != mysql.ModeANSIQuotes|mysql.ModePipesAsConcat {
		t.Errorf("%v %v", mode, err)
	}
	if mode, err := parse.ParseMode(""); err != nil || mode != 0 {
		t.Errorf("%v %v", mode, err)
	}
	if _, err := parse.ParseMode("ANSI_QUOTE"); !errors.Is(err, sqlerr.CodeWrongValueForVar) {
		t.Errorf("%v", err)
	}
}

func TestWarnings(t *testing.T) {
	for _, tc := range []struct {
		sql  string
		code sqlerr.Code
		part string
	}{
		{"SELECT /*+ HASH_JOIN(t) FROBNICATE(t) */ * FROM t", 8061, "Optimizer hint FROBNICATE is not supported and is ignored"},
		{"SELECT /*+ HASH_JOIN(t) FROB NICATE(t */ * FROM t", 1064, "Optimizer hint syntax error"},
		{"SELECT 'a' || 'b'", 1287, "CONCAT"},
	} {
		s := mustOne(t, tc.sql)
		if len(s.Warnings) != 1 || s.Warnings[0].Code != tc.code || !strings.Contains(s.Warnings[0].Message, tc.part) {
			t.Errorf("%s: %+v", tc.sql, s.Warnings)
		}
	}
	for _, sql := range []string{"SELECT a OR b FROM t", "SELECT /*+ HASH_JOIN(t) */ * FROM t", "SELECT /*+ SET_VAR(radish_device='gpu') */ 1"} {
		if s := mustOne(t, sql); len(s.Warnings) != 0 {
			t.Errorf("%s: %+v", sql, s.Warnings)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		text       string
		want       []string
		incomplete bool
	}{
		{"", nil, false},
		{"  \n-- nothing\n", nil, false},
		{";;", nil, false},
		{"SELECT 1", []string{"SELECT 1"}, true},
		{"SELECT 1;", []string{"SELECT 1"}, false},
		{"SELECT 1; -- done", []string{"SELECT 1"}, false},
		{"SELECT ';'; x", []string{"SELECT ';'", "x"}, true},
		{"SELECT 'it''s;'; ", []string{"SELECT 'it''s;'"}, false},
		{`SELECT 'a\';b';`, []string{`SELECT 'a\';b'`}, false},
		{"SELECT `a;``b`;", []string{"SELECT `a;``b`"}, false},
		{"SELECT 'open;", []string{"SELECT 'open;"}, true},
		{"SELECT 1; 'open;", []string{"SELECT 1", "'open;"}, true},
		{"SELECT /* ; */ 1 # ;\n;", []string{"SELECT /* ; */ 1"}, false},
		{"SELECT 1 /* open ;", []string{"SELECT 1 /* open ;"}, true},
		{"SELECT 1--1;", []string{"SELECT 1--1"}, false}, // two minus signs without a space are no comment
		{"SELECT 1-- ;\n;", []string{"SELECT 1"}, false},
		{"/*!40101 SET NAMES utf8; */; SELECT 1;", []string{"/*!40101 SET NAMES utf8; */", "SELECT 1"}, false},
		{"SELECT 1 /*! + 1 */;", []string{"SELECT 1 /*! + 1 */"}, false},
		{"SELECT @`a;b`, @'c;', @@x.y;", []string{"SELECT @`a;b`, @'c;', @@x.y"}, false},
	} {
		var got []string
		for _, p := range parse.Split(tc.text, parse.DefaultMode) {
			got = append(got, p.Text)
			if tc.text[p.Offset:p.Offset+len(p.Text)] != p.Text {
				t.Errorf("%q: offset %d of %q", tc.text, p.Offset, p.Text)
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tc.want) {
			t.Errorf("Split(%q) = %q, want %q", tc.text, got, tc.want)
		}
		if got := parse.Incomplete(tc.text, parse.DefaultMode); got != tc.incomplete {
			t.Errorf("Incomplete(%q) = %v", tc.text, got)
		}
	}
}

// The words behind the name of INTO OUTFILE that are not MySQL's.
func TestOutfileWords(t *testing.T) {
	for _, tc := range []struct {
		text string
		want parse.Outfile
	}{
		{"SELECT 1 INTO OUTFILE 'x' PARTITION BY (a, `b c`) FORMAT csv OVERWRITE", parse.Outfile{true, []string{"a", "b c"}, "csv"}},
		{"SELECT 1 INTO OUTFILE 'x' overwrite format 'csv.gz' partition by (a)", parse.Outfile{true, []string{"a"}, "csv.gz"}},
		{"SELECT 1 INTO OUTFILE 'x' FIELDS TERMINATED BY ';' OVERWRITE", parse.Outfile{Overwrites: true}},
		{"(SELECT 1) UNION SELECT 2 INTO OUTFILE 'x' PARTITION BY (a)", parse.Outfile{PartitionBy: []string{"a"}}},
		{"SELECT overwrite FROM format", parse.Outfile{}},
	} {
		list, err := parse.Parse(tc.text, parse.DefaultMode)
		if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0].Outfile, tc.want) {
			t.Errorf("%s: %+v, %v", tc.text, list, err)
		}
	}
	for _, text := range []string{"SELECT 1 INTO OUTFILE 'x' PARTITION BY a", "SELECT 1 INTO OUTFILE 'x' PARTITION BY ()", "SELECT 1 INTO OUTFILE 'x' PARTITION BY (a) PARTITION BY (b)", "SELECT 1 INTO OUTFILE 'x' FORMAT ("} {
		if _, err := parse.Parse(text, parse.DefaultMode); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
