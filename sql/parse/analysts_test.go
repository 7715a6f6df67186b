package parse_test

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
)

// TestAnalysts writes the trees of what MySQL's grammar lacks. The texts read again give the same trees.
func TestAnalysts(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT SUM(a) FILTER (WHERE b > 1) FROM t", "SELECT SUM(CASE WHEN `b`>1 THEN `a` END) FROM `t`"},
		{"SELECT COUNT(*) FILTER (WHERE b) OVER (ORDER BY a) FROM t", "SELECT COUNT(CASE WHEN `b` THEN 1 END) OVER (ORDER BY `a`) FROM `t`"},
		{"SELECT ANY_VALUE(a) FILTER (WHERE b), MAX(c) FROM t", "SELECT MAX(CASE WHEN `b` THEN `a` END),MAX(`c`) FROM `t`"},
		{"SELECT SUM((a + 1)) filter(where b IN (SELECT SUM(c) FILTER (WHERE d) FROM u)) FROM t", "SELECT SUM(CASE WHEN `b` IN (SELECT SUM(CASE WHEN `d` THEN `c` END) FROM `u`) THEN (`a`+1) END) FROM `t`"},
		{"SELECT a FROM t GROUP BY ALL ORDER BY ALL DESC", "SELECT `a` FROM `t` GROUP BY ALL ORDER BY ALL DESC"},
		{"(SELECT a FROM t GROUP BY ALL) UNION ALL SELECT ALL b FROM t", "(SELECT `a` FROM `t` GROUP BY ALL) UNION ALL SELECT ALL `b` FROM `t`"},
		{"SELECT a FROM t QUALIFY RANK() OVER (ORDER BY a) = 1 LIMIT 3", "SELECT `a` FROM `t` QUALIFY RANK() OVER (ORDER BY `a`)=1 LIMIT 3"},
		{"SELECT a FROM t GROUP BY a HAVING a > 1 OR a < 0 QUALIFY (a = 1 OR b)", "SELECT `a` FROM `t` GROUP BY `a` HAVING `a`>1 OR `a`<0 QUALIFY (`a`=1 OR `b`)"},
		{"SELECT (SELECT c FROM u QUALIFY d) FROM t WHERE a IN (SELECT e FROM v QUALIFY f) QUALIFY g ORDER BY h",
			"SELECT (SELECT `c` FROM `u` QUALIFY `d`) FROM `t` WHERE `a` IN (SELECT `e` FROM `v` QUALIFY `f`) QUALIFY `g` ORDER BY `h`"},
		{"SELECT SUM(a) OVER w FROM t HAVING 2 WINDOW w AS (ORDER BY a) QUALIFY b", "SELECT SUM(`a`) OVER `w` FROM `t` HAVING 2 QUALIFY `b` WINDOW `w` AS (ORDER BY `a`)"},
		{"SELECT MODE(a), mode (b) FROM t WHERE mode > 1", "SELECT MODE(`a`),MODE(`b`) FROM `t` WHERE `mode`>1"},
		{"SELECT * FROM generate_series(1, a, -1) AS s (i), t", "SELECT * FROM LATERAL (SELECT * FROM GENERATE_SERIES(1, `a`, -1) AS `generate_series`) AS `s`(`i`), `t`"},
		{"SELECT * FROM t TABLESAMPLE 10%", "SELECT * FROM `t` TABLESAMPLE (10)"},
		{"SELECT * FROM t TABLESAMPLE 10 PERCENT WHERE a", "SELECT * FROM `t` TABLESAMPLE (10) WHERE `a`"},
		{"SELECT * FROM t TABLESAMPLE reservoir(20%) REPEATABLE (1)", "SELECT * FROM `t` TABLESAMPLE SYSTEM (20) REPEATABLE(1)"},
		{"SUMMARIZE t", "SELECT * FROM (SUMMARIZE TABLE `t`) AS `summary`"},
		{"SUMMARIZE SELECT a FROM u QUALIFY b", "SELECT * FROM (SUMMARIZE SELECT `a` FROM `u` QUALIFY `b`) AS `summary`"},
		{"SELECT min FROM (SUMMARIZE `x.csv`) AS s WHERE max > 3", "SELECT `min` FROM (SUMMARIZE TABLE `x.csv`) AS `s` WHERE `max`>3"},
		{"SELECT filter, qualify, mode, exclude, summarize FROM t qualify", "SELECT `filter`,`qualify`,`mode`,`exclude`,`summarize` FROM `t` AS `qualify`"},
		{"SELECT a * exclude FROM t qualify JOIN summarize ON filter = mode", "SELECT `a`*`exclude` FROM `t` AS `qualify` JOIN `summarize` ON `filter`=`mode`"},
	} {
		for _, sql := range []string{c.sql, c.want} {
			if strings.Contains(sql, "GENERATE_SERIES") { // each reading makes it a derived table
				continue
			}
			s, err := parse.One(sql, parse.DefaultMode)
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				break
			}
			if got, err := parse.Restore(s.Node, 0); err != nil || got != c.want {
				t.Errorf("%s\ngives %s\nwant  %s\n%v", sql, got, c.want, err)
				break
			}
		}
	}
}

// TestFieldsAsWritten looks at the texts by which columns without a name are called.
func TestFieldsAsWritten(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FILTER (WHERE a > 1), b FROM t":               "COUNT(*) FILTER (WHERE a > 1)|b",
		"SELECT SUM(a)  FILTER (WHERE b)  FROM t":                      "SUM(a)  FILTER (WHERE b)",
		"SELECT 1 + SUM(a) FILTER (WHERE b) * 2, MODE(c) + MODE(d)":    "1 + SUM(a) FILTER (WHERE b) * 2|MODE(c) + MODE(d)",
		"SELECT SUM(a) FILTER (WHERE b) OVER (ORDER BY c), d x FROM t": "SUM(a) FILTER (WHERE b) OVER (ORDER BY c)|d x",
	} {
		s, err := parse.One(sql, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for _, f := range s.Node.(*ast.SelectStmt).Fields.Fields {
			got = append(got, strings.TrimSpace(f.Text()))
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("%s\ngives %q\nwant  %q", sql, text, want)
		}
	}
}

// TestStarExclude reads the columns that a star leaves out.
func TestStarExclude(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT * EXCLUDE (a, `b c`) FROM t":                 "a|b c",
		"SELECT * EXCLUDE a, 1 FROM t":                       "a",
		"SELECT x, d.t.* EXCLUDE (a) FROM d.t":               "a",
		"SELECT DISTINCT * EXCEPT (a) FROM t":                "a",
		"SELECT x FROM (SELECT t.* EXCLUDE (q) FROM t) AS t": "q",
	} {
		s, err := parse.One(sql, parse.DefaultMode)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var f starFinder
		s.Node.Accept(&f)
		if got := strings.Join(f.names, "|"); got != want {
			t.Errorf("%s: %q", sql, got)
		}
	}
}

type starFinder struct{ names []string }

func (f *starFinder) Enter(n ast.Node) (ast.Node, bool) {
	if field, is := n.(*ast.SelectField); is && field.WildCard != nil {
		args, _ := parse.IsCallOf(field.Expr, parse.StarExcept)
		for _, a := range args {
			f.names = append(f.names, a.(ast.ValueExpr).GetString())
		}
	}
	return n, false
}

func (f *starFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
