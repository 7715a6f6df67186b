package fuzz

import (
	"fmt"
	"slices"
	"strings"
)

// Scripts over tables of their own, of which the schema's generator knows nothing. They have names that are both columns and aliases, DDL between the
// making of a view or prepared statement and its use, and quotients outside arithmetic. They update AUTO_INCREMENT columns, and have values of INSERT that
// name columns.

// any draws one of some texts.
func (g *generator) any(texts ...string) string { return pick(g.r, texts) }

// scratch draws a script of one of these kinds. It leaves no tables.
func (g *generator) scratch() *Node {
	s := &Node{Role: Script, Sep: ";\n", Min: 1}
	add := func(texts ...string) {
		for _, text := range texts {
			kind := Other
			if strings.HasPrefix(text, "SELECT") || strings.HasPrefix(text, "WITH") || strings.HasPrefix(text, "EXECUTE sel") {
				kind = Query
			}
			s.Kids = append(s.Kids, &Node{Kind: kind, Role: Verbatim, Format: text})
		}
	}
	add("DROP VIEW IF EXISTS dw, dv", "DROP TABLE IF EXISTS da, db", "CREATE TABLE da (id INT PRIMARY KEY AUTO_INCREMENT, k INT, n INT, d DECIMAL(8,2))", "CREATE TABLE db (id INT PRIMARY KEY, k INT, w INT)")
	for _, t := range []string{"da (k, n, d)", "db (id, k, w)"} {
		var rows []string
		for i := range 2 + g.r.IntN(7) {
			if t[1] == 'a' {
				rows = append(rows, fmt.Sprintf("(%s, %d, %d.%02d)", g.any("NULL", "0", "1", "2", "3", "-1"), g.r.IntN(13)-4, g.r.IntN(9)-3, g.r.IntN(100)))
			} else {
				rows = append(rows, fmt.Sprintf("(%d, %s, %d)", i+1, g.any("NULL", "0", "1", "2", "3"), g.r.IntN(9)))
			}
		}
		add("INSERT INTO " + t + " VALUES " + strings.Join(rows, ", "))
	}
	switch g.r.IntN(17) {
	case 0:
		g.mark("names of columns and aliases")
		for range 5 {
			add(g.shadowing())
		}
	case 1:
		g.mark("DDL after CREATE VIEW or PREPARE")
		add(g.ddlBetween()...)
	case 2:
		g.mark("quotients outside arithmetic")
		for range 5 {
			add(g.quotients())
		}
	case 3:
		g.mark("AUTO_INCREMENT updated, INSERT naming columns")
		add(g.counting()...)
	case 4, 5, 6:
		g.mark("quotients handed on")
		add(g.carriedQuotients()...)
	case 7, 8:
		g.mark("decimals in JSON")
		for range 6 {
			add(g.jsonDecimals())
		}
	case 9, 10:
		g.mark("hexadecimal and bit literals")
		add(slices.Concat(g.literals(), g.literals())...)
	case 11:
		g.mark("columns set to DEFAULT")
		add(g.defaults()...)
	case 12:
		g.mark("functions of few distinct strings")
		add(g.dictionaries()...)
	default:
		g.mark("kinds of columns")
		add(g.kinds()...)
	}
	add("DROP VIEW IF EXISTS dw, dv", "DROP TABLE da, db")
	return s
}

// predicate is a condition over one operand.
func (g *generator) predicate(x string) string {
	return strings.ReplaceAll(g.any("@ > 1", "@ <= 0", "NOT @ * 86 <= 11", "@ IN (0, 2, 50)", "@ NOT IN (1, -1)", "@ BETWEEN -1 AND 2", "@ IS NULL", "@ IS NOT NULL", "@ <=> NULL", "@", "@ <> 3",
		"CASE @ WHEN 1 THEN 1 WHEN -2 THEN 0 ELSE 1 END", "COALESCE(@, 9) = 9", "@ IN (SELECT w FROM db)", "@ < ANY (SELECT w FROM db)", "(@, 1) IN ((1, 1), (-3, 1))", "@ + 1 > 2 OR @ IS NULL"), "@", x)
}

// shadowing is a select whose aliases are names of columns. A LIMIT shows what its order is. The keys determine what it shows.
func (g *generator) shadowing() string {
	item := g.any("-z.k", "z.k + 1", "z.k * 2 - 1", "ABS(z.k)", "z.k", "COALESCE(z.k, 2)", "5", "MAX(z.n)", "COUNT(*)", "SUM(z.n)")
	called := g.any("k", "k", "k", "n", "m")
	from := g.any("da AS z", "da AS z", "(SELECT * FROM da) AS z", "da AS z JOIN db AS y ON y.id = z.id", "da AS z LEFT JOIN db AS y ON y.id = z.id")
	if strings.Contains(from, "db") && called == "k" && g.chance(60) { // k is ambiguous in FROM
		called = "n"
	}
	aggregated := strings.Contains(item, "(z.n)") || strings.Contains(item, "COUNT")
	name := g.any(called, called, "n", "c", "z.k")
	if !g.chance(70) && !aggregated { // not grouped
		q := fmt.Sprintf("SELECT %s%s AS %s, z.id AS i FROM %s", g.any("", "", "DISTINCT "), item, called, from)
		return q + fmt.Sprintf(" ORDER BY %s, 1, 2 LIMIT %d", g.orderKey(called), 1+g.r.IntN(4))
	}
	q := fmt.Sprintf("SELECT %s%s AS %s, COUNT(*) AS c FROM %s GROUP BY z.k", g.any("", "", "DISTINCT "), item, called, from)
	if called == "k" && !strings.Contains(from, "db") && g.chance(50) {
		q = strings.TrimSuffix(q, "z.k") + "k"
	}
	if name == "n" && called != "n" {
		name = "SUM(n)"
	}
	if g.chance(25) && !aggregated {
		name = g.any("MAX(z.k)", "MAX(z.n)", "MAX(n)", "SUM(z.n + 1)", "SUM(n)", "(SELECT z.k)")
	}
	q += " HAVING " + g.predicate(name)
	if g.chance(30) && !strings.Contains(q, "DISTINCT") {
		q += fmt.Sprintf(" ORDER BY %s, 1, 2 LIMIT %d", g.any(called, "-"+called, "c", "COUNT(*) DESC"), 1+g.r.IntN(3))
		if aggregated || called == "n" || called == "k" && strings.Contains(from, "db") {
			q = strings.Replace(q, "BY -"+called, "BY "+called, 1)
		}
	}
	return q
}

func (g *generator) orderKey(name string) string {
	return strings.ReplaceAll(g.any("@", "@ DESC", "(@)", "@"), "@", name)
}

// ddlBetween makes a view and a prepared statement, changes their tables, and uses them.
func (g *generator) ddlBetween() []string {
	query := g.any("SELECT * FROM da", "SELECT * FROM da WHERE k > 0", "SELECT z.*, 7 AS seven FROM da AS z", "SELECT * FROM da JOIN db USING (id)", "SELECT * FROM (SELECT k, n FROM da) AS y NATURAL JOIN (SELECT k, w FROM db) AS x",
		"SELECT n, w FROM da JOIN db ON da.id = db.id WHERE n < w OR w > 3", "SELECT k + n, COUNT(*) FROM da GROUP BY k + n", "SELECT * FROM (SELECT * FROM da) AS y WHERE y.n > 0", "SELECT * FROM (SELECT id, k + 1 FROM da) AS y",
		"SELECT n FROM da WHERE EXISTS (SELECT * FROM db WHERE db.id = n)", "SELECT id, k FROM da UNION ALL SELECT id, w FROM db", "SELECT id, (SELECT MAX(w) FROM db WHERE db.k <= n) AS m FROM da", "WITH y AS (SELECT * FROM db) SELECT * FROM y",
		"SELECT da.* FROM da NATURAL LEFT JOIN (SELECT id FROM db) AS x", "SELECT * FROM da RIGHT JOIN db USING (id)")
	if strings.Contains(query, "USING") { // its columns need names of their own in a view
		query = strings.Replace(query, "da ", "(SELECT id, n, d FROM da) AS da ", 1)
	}
	out := []string{"CREATE VIEW dv AS " + query, "CREATE VIEW dw AS SELECT * FROM dv", "PREPARE sel FROM '" + g.any("SELECT * FROM da", "SELECT * FROM dv", "SELECT * FROM dw", "SELECT COUNT(*) FROM dw") + "'"}
	for range 1 + g.r.IntN(4) {
		out = append(out, g.any("ALTER TABLE da ADD COLUMN w INT DEFAULT 3 FIRST", "ALTER TABLE db ADD COLUMN n INT DEFAULT 2 AFTER id", "ALTER TABLE da ADD COLUMN z INT DEFAULT 4 AFTER k", "ALTER TABLE db ADD COLUMN d INT DEFAULT 1",
			"ALTER TABLE da DROP COLUMN d", "ALTER TABLE db DROP COLUMN k", "ALTER TABLE da RENAME COLUMN n TO was_n", "UPDATE da SET k = k + 1"))
	}
	out = append(out, "SELECT * FROM dv", "SELECT * FROM dw", "EXECUTE sel")
	changed := strings.Join(out, "")
	if !strings.Contains(query, "db") && !strings.Contains(query, "(") && !strings.Contains(changed, "da DROP") && !strings.Contains(changed, "da RENAME") {
		out = append(out, g.any("UPDATE dv SET k = 40 WHERE k = 1", "UPDATE dw SET k = 40 WHERE k > 1", "UPDATE dv SET k = k * 2"), "SELECT * FROM dv", "SELECT * FROM da")
	}
	return append(out, "DEALLOCATE PREPARE sel")
}

// quotients is a select of quotients, where they leave arithmetic. Comparisons are left out, since MariaDB rounds there.
func (g *generator) quotients() string {
	q := g.any("n / 3", "n / 7 * 7", "d / 3", "d / 7 * 7", "n / k", "n / k * k", "k / 9 + n / 9", "-(n / 3)", "n / 3 - 1", "d / n * n", "ABS(n / 6)", "n / 3 / 7 * 7")
	over := strings.ReplaceAll(g.any("CONCAT(@)", "CONCAT('<', @, '>')", "CAST(@ AS CHAR)", "LENGTH(@)", "MD5(@)", "REPLACE(@, '9', 'x')", "@ LIKE '%6%'", "LEFT(@, 3)", "RIGHT(@, 2)", "REVERSE(@)", "JSON_ARRAY(@)", "CONCAT_WS('|', @, n)", "LPAD(@, 12, '*')",
		"STRCMP(@, '1.0000')", "UPPER(@)", "INSTR(@, '.0')", "HEX(CONCAT(@))", "FLOOR(@)", "CEIL(@)", "ROUND(@)", "ROUND(@, 2)", "TRUNCATE(@, 1)", "SIGN(@)", "@", "CAST(@ AS DECIMAL(20,6))", "COALESCE(CONCAT(@), 'none')", "CHAR_LENGTH(TRIM(@))", "SUBSTRING(@, 2)"), "@", q)
	switch g.r.IntN(5) {
	case 0:
		return "SELECT " + over + " AS v, COUNT(*) AS c FROM da GROUP BY " + over
	case 1:
		return "SELECT DISTINCT " + over + " AS v FROM da"
	case 2:
		return "SELECT " + over + " AS v FROM da UNION SELECT " + over + " FROM da"
	case 3:
		return "SELECT GROUP_CONCAT(CONCAT(" + q + ") ORDER BY id) AS v FROM da"
	}
	return "SELECT id, " + over + " AS v FROM da"
}

// counting changes AUTO_INCREMENT values and inserts rows whose values name columns.
func (g *generator) counting() []string {
	var out []string
	for range 4 + g.r.IntN(6) {
		n := g.r.IntN(40)
		out = append(out, g.any(
			fmt.Sprintf("UPDATE da SET id = %d WHERE id = %d", n+5, 1+n%5), fmt.Sprintf("UPDATE da SET id = id + %d ORDER BY id DESC", 1+n), fmt.Sprintf("UPDATE da SET id = id + %d ORDER BY id DESC LIMIT 1", 1+n),
			fmt.Sprintf("INSERT INTO da (id, k) VALUES (%d, 9) ON DUPLICATE KEY UPDATE id = %d", 1+n%9, 60+n), fmt.Sprintf("UPDATE IGNORE da SET id = %d WHERE id = %d", n, 1+n%7),
			fmt.Sprintf("UPDATE da JOIN (SELECT 1 AS o) AS one ON da.id > o SET da.id = da.id + 1000 WHERE da.id = %d", 1+n%6), "DELETE FROM da ORDER BY id DESC LIMIT 1",
			"INSERT INTO da (k) VALUES (1), (2)", fmt.Sprintf("INSERT INTO da (k, n, d) VALUES (%d, k * 2, n + k / 4)", n), "INSERT INTO da (n, k) VALUES (k, n), (4, n + 1)", "INSERT INTO da SET d = 1.126, n = d * 10, k = n",
			fmt.Sprintf("INSERT INTO da VALUES (NULL, %d, k - 1, n), (DEFAULT, k, 3, n + d)", n), fmt.Sprintf("REPLACE INTO da (id, k, n) VALUES (%d, id, k + 1)", 1+n), "INSERT INTO da (k, n) VALUES (id, k)",
			"INSERT INTO da (d, n) VALUES ('2.345', d * 100)", "INSERT INTO da (k, n) VALUES (1, (SELECT k + 1))", "INSERT INTO da (n) VALUES (-(-9223372036854775808) - 9223372036854775807)"))
		if g.chance(40) {
			out = append(out, "SELECT * FROM da")
		}
	}
	return append(out, "INSERT INTO da (k) VALUES (77)", "SELECT * FROM da")
}
