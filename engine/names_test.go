package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// What a name without a table means in GROUP BY, HAVING and ORDER BY: docs/reference/statements.md has the same table, with an X where this one has error numbers. A
// cell is a clause and a position in it, and says what the name means where the select list has an item of that name, where FROM has a column
// of it, and where both have one. Each statement is compared with one that names the thing itself;
// where both have the name, the other meaning gives another answer.
var nameCells = []struct {
	clause    string
	query     string   // with {item}, the item of the select list, {from}, and {} for what holds the name
	positions []string // for {}, with @ for the name
	// What the name means: "item", "column" or an error's number.
	itemOnly, columnOnly, both string
}{
	{"GROUP BY, a whole key", "SELECT {item}, COUNT(*) FROM {from} GROUP BY {} ORDER BY 1, 2",
		[]string{"@", "(@)", "@, src.v"}, "item", "column", "column"},
	{"GROUP BY, in an expression", "SELECT {item}, COUNT(*) FROM {from} GROUP BY {} ORDER BY 1, 2",
		[]string{"@ + 1", "COALESCE(@, 7)", "-@, @ + 2", "CASE @ WHEN 0 THEN -1 ELSE @ END"}, "item", "column", "column"},
	{"HAVING, a key of GROUP BY", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.k HAVING {} ORDER BY 1, 2",
		havingForms, "item", "column", "column"},
	{"HAVING, a key of GROUP BY", "SELECT DISTINCT {item}, COUNT(*) FROM {from} GROUP BY src.k HAVING {} ORDER BY 1, 2",
		havingForms, "item", "column", "column"},
	{"HAVING, a key of GROUP BY", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.k WITH ROLLUP HAVING {} ORDER BY 1, 2",
		havingForms, "item", "column", "column"},
	{"HAVING, no key", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.id HAVING {} ORDER BY 1, 2",
		havingForms, "item", "column", "item"},
	{"HAVING without GROUP BY", "SELECT {item}, src.v FROM {from} HAVING {} ORDER BY 1, 2",
		havingForms[1:], "item", "1054", "item"},
	{"HAVING without GROUP BY", "SELECT {item}, src.k AS shown FROM {from} HAVING {} ORDER BY 1, 2",
		havingForms[1:], "item", "column", "item"},
	{"HAVING, in an aggregate", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.k HAVING {} ORDER BY 1, 2",
		[]string{"SUM(@) > 1", "MAX(@ + 1) = 2", "COUNT(@) = 0", "COUNT(DISTINCT @) < 1", "GROUP_CONCAT(@) IN ('0', '0,0')", "SUM(CASE WHEN @ = 1 THEN 5 END) IS NULL"}, "item", "column", "column"},
	{"HAVING, in a subquery", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.k HAVING {} ORDER BY 1, 2",
		[]string{"(SELECT @) > 1", "EXISTS (SELECT 1 FROM few WHERE few.w = @)", "2 IN (SELECT few.w FROM few WHERE few.w >= @)"}, "item", "column", "column"},
	{"ORDER BY, a whole key", "SELECT {item}, src.id FROM {from} ORDER BY {}, src.id",
		[]string{"@", "(@)", "@ DESC"}, "item", "column", "item"},
	{"ORDER BY, a whole key", "SELECT DISTINCT {item}, src.k AS c, src.id FROM {from} ORDER BY {}, src.id",
		[]string{"@", "(@)", "@ DESC"}, "item", "column", "item"},
	{"ORDER BY, a whole key", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.k ORDER BY {}, src.k",
		[]string{"@", "(@)", "@ DESC"}, "item", "column", "item"},
	{"ORDER BY, in an expression", "SELECT {item}, src.id FROM {from} ORDER BY {}, src.id",
		[]string{"@ + 0", "-@", "COALESCE(@, 7)", "@ IN (1, 3)", "@ IS NULL", "@ BETWEEN 1 AND 2", "CASE @ WHEN 1 THEN 5 ELSE 0 END"}, "item", "column", "column"},
	{"ORDER BY, in an aggregate", "SELECT {item}, COUNT(*) FROM {from} GROUP BY src.k ORDER BY {}, src.k",
		[]string{"SUM(@)", "MAX(@ + 1) DESC", "COUNT(@)"}, "item", "column", "column"},
	{"ORDER BY, in a subquery", "SELECT {item}, src.id FROM {from} ORDER BY {}, src.id",
		[]string{"(SELECT @)", "EXISTS (SELECT 1 FROM few WHERE few.w = @)"}, "item", "column", "column"},
}

var havingForms = []string{"IF(@ = 1, COUNT(*), 0)", "@ > 1", "NOT @ * 86 <= 11", "@ IN (0, 4)", "@ NOT IN (0, 2)", "@ BETWEEN 1 AND 2", "@ IS NULL", "@ IS NOT NULL", "@ <=> NULL", "@",
	"CASE @ WHEN 1 THEN 1 END", "CASE WHEN @ = 3 OR @ = 0 THEN 1 ELSE 0 END", "COALESCE(@, 9) = 9", "@ LIKE '1'", "(@, 1) IN ((1, 1), (3, 1))", "@ = ANY (SELECT few.w FROM few)",
	"@ NOT IN (SELECT few.w FROM few)", "@ = 2 XOR @ > 3"}

const nameTables = `
	CREATE TABLE names (id INT PRIMARY KEY, k INT, v INT);
	INSERT INTO names VALUES (1, 0, 10), (2, 1, 20), (3, 2, 30), (4, 3, 40), (5, 4, 50), (6, NULL, 60), (7, 3, 70), (8, 0, 80), (9, 0, -1);
	CREATE TABLE more (id INT PRIMARY KEY, x INT);
	INSERT INTO more SELECT id, v FROM names;
	CREATE TABLE few (w INT);
	INSERT INTO few VALUES (1), (2);
	CREATE VIEW shown AS SELECT * FROM names`

func TestNamesInClauses(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, nameTables+"; SET sql_mode = ''") // items may be shown that the groups do not determine
	ask := func(sql string) string {
		out, err := run(context.Background(), s, sql)
		if err != nil {
			return fmt.Sprintf("%d", sqlerr.From(err).Code)
		}
		return out
	}
	relations := []string{"names AS src", "names AS src JOIN more ON more.id = src.id", "names AS src LEFT JOIN more USING (id)", "(SELECT * FROM names) AS src",
		"shown AS src", "(SELECT id, v, k FROM names LIMIT 100) AS src"}
	// What the select list computes: an item that neither keeps the order of k nor tells all values of it apart.
	const item = "NULLIF(ABS(src.k - 2), 2)"
	compared := 0
	for _, cell := range nameCells {
		for k, from := range relations {
			if testing.Short() && k > 0 { // one thread has nothing for the race detector
				break
			}
			told := false
			for _, position := range cell.positions {
				query := strings.NewReplacer("{from}", from, "{}", position).Replace(cell.query)
				meaning := func(of string) string {
					query := query
					if !strings.Contains(query, "GROUP BY") { // where HAVING sees the select list alone, and is a WHERE
						query = strings.Replace(query, "HAVING", "WHERE", 1)
					}
					switch of {
					case "item":
						of = item
					case "column":
						of = "src.k"
					default:
						return of
					}
					return ask(strings.NewReplacer("{item}", item+" AS other", "@", of).Replace(query))
				}
				for _, c := range []struct{ has, alias, name, means string }{
					{"an item", "z", "z", cell.itemOnly}, {"a column", "z", "k", cell.columnOnly}, {"both", "k", "k", cell.both},
				} {
					sql := strings.NewReplacer("{item}", item+" AS "+c.alias, "@", c.name).Replace(query)
					got, want := ask(sql), meaning(c.means)
					compared++
					if got != want {
						t.Errorf("%s, %s has the name: %s\ngives\n%swant\n%s", cell.clause, c.has, sql, got, want)
					}
					if c.has == "both" {
						other := map[string]string{"item": "column", "column": "item"}[c.means]
						told = told || got != meaning(other)
					}
				}
			}
			if !told {
				t.Errorf("%s over %s: no statement tells the column from the item", cell.clause, from)
			}
		}
	}
	t.Logf("%d statements", compared)
}

// Names of aggregates and of window functions, names that several things have, and the warning that tells of a hidden item. The numbers
// are MySQL's.
func TestNamesOfComputedItems(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, nameTables)
	for _, c := range []struct{ sql, want string }{
		// An aggregate.
		{"SELECT SUM(v) AS k FROM names GROUP BY k HAVING k > 2 ORDER BY 1", "50|110"},
		{"SELECT SUM(v) AS s FROM names GROUP BY k HAVING s > 80 ORDER BY 1", "89|110"},
		{"SELECT SUM(v) AS s FROM names GROUP BY k HAVING s + 1 > 90", "110"},
		{"SELECT SUM(v) AS v FROM names GROUP BY k HAVING v > 80 ORDER BY 1", "89|110"},
		{"SELECT SUM(v) AS v FROM names GROUP BY k HAVING MAX(v) = 70", "110"},
		{"SELECT SUM(v) AS s FROM names GROUP BY k HAVING MAX(s) > 1", "error 1247"},
		{"SELECT SUM(v) AS s FROM names GROUP BY k ORDER BY MAX(s)", "error 1247"},
		{"SELECT SUM(v) AS s FROM names GROUP BY s", "error 1056"},
		{"SELECT SUM(v) AS s FROM names GROUP BY s + 1", "error 1247"},
		{"SELECT SUM(v) AS k FROM names GROUP BY k WITH ROLLUP HAVING k IS NULL ORDER BY 1", "60|359"},
		{"SELECT SUM(v) AS k FROM names GROUP BY k ORDER BY k LIMIT 2", "20|30"},
		{"SELECT SUM(v) AS k FROM names GROUP BY k ORDER BY k + 0 LIMIT 2", "60|89"},
		{"SELECT SUM(v) AS s FROM names GROUP BY k HAVING (SELECT s) > 100", "110"},
		// A window function.
		{"SELECT RANK() OVER (ORDER BY k) AS k FROM names GROUP BY k HAVING k > 2", "1|2"},
		{"SELECT MAX(v) OVER () AS v, k FROM names GROUP BY k, v HAVING v >= 70 ORDER BY k", "80|0|80|3"},
		{"SELECT RANK() OVER (ORDER BY k) AS r FROM names GROUP BY k HAVING r > 2", "error 3594"},
		{"SELECT RANK() OVER (ORDER BY k) AS k FROM names HAVING k > 2", "error 3594"},
		{"SELECT RANK() OVER (ORDER BY k) AS r FROM names GROUP BY r", "error 3594"},
		{"SELECT RANK() OVER (ORDER BY k DESC) AS k FROM names GROUP BY k ORDER BY k LIMIT 2", "1|2"},
		{"SELECT RANK() OVER (ORDER BY k DESC) AS k FROM names GROUP BY k ORDER BY k + 0 LIMIT 2", "6|5"},
		// Several of one name.
		{"SELECT a.k, b.v FROM names AS a JOIN names AS b ON a.id = b.id GROUP BY k, b.v HAVING k > 3", "4|50"},
		{"SELECT a.k AS z FROM names AS a JOIN names AS b ON a.id = b.id GROUP BY a.k HAVING k > 3", "4"},
		{"SELECT a.k AS z FROM names AS a JOIN names AS b ON a.id = b.id ORDER BY k", "error 1052"},
		{"SELECT a.k AS y, b.k AS z FROM names AS a JOIN names AS b ON a.id = b.id HAVING k > 3", "error 1052"},
		{"SELECT a.k AS z, b.v AS z FROM names AS a JOIN names AS b ON a.id = b.id GROUP BY z", "error 1052"},
		{"SELECT k AS z, v AS z FROM names ORDER BY z", "error 1052"},
		{"SELECT names.k AS a, names.id AS k FROM names GROUP BY names.k, names.id HAVING k > 3", "4|5"},
		{"SELECT k + 1 AS k FROM names GROUP BY k + 1, k HAVING k > 3", "5"},
		{"SELECT a.k FROM names AS a JOIN names AS b ON a.id = b.id GROUP BY a.k, b.k HAVING k > 3", "error 1052"},
		{"SELECT k AS v, v AS k FROM names GROUP BY k, v HAVING k > 3", "4|50"},
		{"SELECT k, -v AS k FROM names GROUP BY k, v HAVING k > 3", "4|-50"},
		{"SELECT -k AS K FROM names GROUP BY k HAVING k > 3", "-4"},
		{"SELECT -k AS k FROM names GROUP BY names.k HAVING names.k > 3", "-4"},
		{"SELECT -k AS k FROM names GROUP BY -k HAVING k < -3", "-4"},
		{"SELECT k + 1 AS k FROM names GROUP BY 1 HAVING k = 5", "5"},
		{"SELECT -k AS k FROM names GROUP BY k HAVING k > 3 UNION ALL SELECT k FROM names WHERE k = 4 ORDER BY k", "-4|4"},
		{"SELECT k FROM (SELECT -k AS k FROM names GROUP BY k HAVING k > 3) AS d", "-4"},
		// The warning is of the last statement that ran: SHOW WARNINGS.
		{"SELECT -k AS k FROM names GROUP BY k HAVING k > 3; SHOW WARNINGS", "Warning|1052|Column 'k' in group statement is ambiguous|Warning|1052|Column 'k' in having clause is ambiguous"},
		{"SELECT -k AS z FROM names GROUP BY k HAVING k > 3; SHOW WARNINGS", ""},
		{"SELECT k FROM names GROUP BY k HAVING k > 3; SHOW WARNINGS", ""},
	} {
		got, err := run(context.Background(), s, c.sql)
		if err != nil {
			got = fmt.Sprintf("error %d", sqlerr.From(err).Code)
		}
		if got = strings.ReplaceAll(strings.TrimSpace(got), "\n", "|"); got != c.want {
			t.Errorf("%s gives %s (%v), want %s", c.sql, got, err, c.want)
		}
	}
}
