package fuzz

import (
	"fmt"
	"strings"
)

// Values that keep more than they show on their way through a query, over the tables of scratch: quotients, decimals in JSON, hexadecimal
// and bit literals.

// quotientIn are tables of quotients v that MySQL merges, which keep all digits, and others, which keep those shown.
func (g *generator) quotientIn() (with, from string) {
	q := g.any("n / 3", "n / 7", "d / 3", "d / 7", "n / k", "(n + 1) / 9", "-(d / 6)", "d / 3 / 7", "1 / 3", "5 / 7 + 0", "n / 3 * 3")
	inner := g.any("SELECT id, n, k, @ AS v FROM da", "SELECT id, n, k, @ AS v FROM da", "SELECT id, n, k, @ AS v FROM da WHERE n > -2", "SELECT y.id, y.n, y.k, y.@ AS v FROM da AS y", "SELECT DISTINCT id, n, k, @ AS v FROM da",
		"SELECT id, n, k, @ AS v FROM da ORDER BY id LIMIT 5", "SELECT id, n, k, @ AS v FROM da UNION ALL SELECT id, n, k, @ FROM da", "SELECT id, n, k, MAX(@) AS v FROM da GROUP BY id, n, k",
		"SELECT id, n, k, v FROM (SELECT id, n, k, @ AS v FROM da) AS y", "SELECT id, n, k, v + 0 AS v FROM (SELECT id, n, k, @ AS v FROM da) AS y WHERE id > 1")
	if strings.Contains(inner, "y.@") {
		q, inner = "n / 7", strings.Replace(inner, "y.@", "y.n / 7", 1)
	}
	inner = strings.ReplaceAll(inner, "@", q)
	switch g.r.IntN(3) {
	case 0:
		return "WITH x AS (" + inner + ") ", "x"
	case 1:
		return "CREATE VIEW dv AS " + inner, "dv AS x"
	}
	return "", "(" + inner + ") AS x"
}

// carriedQuotients are statements that read a quotient where it has been handed on.
func (g *generator) carriedQuotients() []string {
	with, from := g.quotientIn()
	var out []string
	if strings.HasPrefix(with, "CREATE") {
		out, with = append(out, with), ""
	}
	for range 6 {
		v := strings.ReplaceAll(g.any("@", "@", "CASE WHEN n > 1 THEN @ ELSE @ END", "IF(k IS NULL, @, @)", "COALESCE(@, @)", "IFNULL(@, NULL)", "@ + 0", "-@", "NULLIF(@, NULL)"), "@", "v")
		over := strings.ReplaceAll(g.any("@", "CONCAT(@)", "CONCAT('<', @, '>')", "@ * 7", "@ * 21", "@ * 3 + 1", "ROUND(@, 3)", "FLOOR(@ * 3)", "TRUNCATE(@, 3)", "CAST(@ AS DECIMAL(20,8))", "LENGTH(@)", "JSON_ARRAY(@)", "@ * 9 / 7"), "@", v)
		tail := g.any("", "", " WHERE n > 0", " ORDER BY id LIMIT 3")
		switch g.r.IntN(6) {
		case 0, 1:
			out = append(out, with+"SELECT id, "+over+" AS w FROM "+from+tail)
		case 2:
			out = append(out, with+"SELECT "+over+" AS w, COUNT(*) AS c FROM "+from+" GROUP BY "+over)
		case 3:
			out = append(out, with+"SELECT DISTINCT "+over+" AS w FROM "+from)
		case 4:
			out = append(out, with+"SELECT "+over+" AS w FROM "+from+" UNION SELECT n FROM "+from)
		default:
			out = append(out, with+"SELECT "+strings.ReplaceAll(g.any("SUM(@)", "AVG(@)", "MIN(@)", "MAX(@)", "SUM(@) * 7", "AVG(@) * 9", "MAX(@) * 21", "SUM(@ * 3)", "COUNT(DISTINCT @)", "CONCAT(MIN(@))", "GROUP_CONCAT(@ ORDER BY id)", "ROUND(SUM(@), 2)"), "@", v)+" AS w FROM "+from)
		}
	}
	q := fmt.Sprintf("%s%d / %s", g.any("", "-"), 1+g.r.IntN(30), g.any("3", "7", "6", "9", "11"))
	if g.chance(50) {
		q = fmt.Sprintf("(SELECT d / 7 FROM da WHERE id = %d AND d <> 0)", 1+g.r.IntN(3))
	}
	return append(out, "SET @q = "+q, "SELECT @q AS q, CONCAT(@q), @q * 7, @q * 21, ROUND(@q, 3), IF(1, @q, 0) * 3", "SET @r = @q * 3", "SELECT @r AS r, CONCAT(@r), @r + @q")
}

// jsonDecimals reads decimals again that were written into JSON.
func (g *generator) jsonDecimals() string {
	x := g.any("d", "d", "d * 10", "d + n", "n", "d * d", "CAST(n AS DECIMAL(10,3))", "-d", "1.10", "d * 0.10")
	read := func(json, path string) string {
		return strings.ReplaceAll(strings.ReplaceAll(g.any("CONCAT(JSON_EXTRACT(@, #))", "CAST(JSON_EXTRACT(@, #) AS DECIMAL(20,5))", "JSON_EXTRACT(@, #) + 0", "CAST(JSON_EXTRACT(@, #) AS CHAR)", "JSON_UNQUOTE(JSON_EXTRACT(@, #))", "JSON_VALUE(@, #)", "JSON_LENGTH(@)",
			"LENGTH(JSON_EXTRACT(@, #))", "JSON_EXTRACT(@, #) * 3", "CAST(JSON_EXTRACT(@, #) AS SIGNED)"), "@", json), "#", "'"+path+"'")
	}
	if strings.Contains(x, "n") && g.chance(50) {
		x = "d"
	}
	switch g.r.IntN(5) {
	case 0:
		return "SELECT id, " + read("JSON_ARRAY("+x+", 5, "+x+")", g.any("$[0]", "$[2]", "$[9]")) + " AS v FROM da"
	case 1:
		return "SELECT id, " + read("JSON_OBJECT('a', "+x+")", g.any("$.a", "$.a", "$.b")) + " AS v FROM da"
	case 2:
		return "SELECT id, " + read("JSON_ARRAYAGG("+x+")", "$[0]") + " AS v FROM da GROUP BY id"
	case 3:
		return "SELECT " + read("JSON_OBJECTAGG(id, "+x+")", `$."1"`) + " AS v FROM da"
	}
	return "SELECT id, " + read("j", g.any("$[0]", "$[1]")) + " AS v FROM (SELECT id, " + g.any("JSON_ARRAY("+x+", n)", "JSON_ARRAYAGG("+x+")") + " AS j FROM da GROUP BY id" + g.any("", ", d, n") + ") AS x"
}

// literals are statements with hexadecimal and bit literals where numbers and strings are wanted.
func (g *generator) literals() []string {
	texts := []string{
		"INSERT INTO da (id, k, n) SELECT " + g.any("id + 400, @, @", "id + 400, @ + 0, 1", "@ + id * 1000, 1, @", "id + 400, CASE WHEN k > 0 THEN @ + 0 END, @", "id + 400, @, k") + " FROM db WHERE id + 400 NOT IN (SELECT id FROM da)",
		"INSERT INTO da (n, d) VALUES (@, 1), (@ + 1, @)",
		"INSERT INTO da (k, d) VALUES ((SELECT @), (SELECT @ + 0))",
		"UPDATE da SET n = @ WHERE id = " + fmt.Sprint(1+g.r.IntN(3)),
		"SELECT * FROM da",
		"SELECT id, " + g.any("n + @", "@ + 0", "@ * 2", "CONCAT(@)", "@", "n = @", "n < @", "-@", "@ & 12", "@ DIV 3", "ABS(@ + 0)", "CAST(@ AS SIGNED)", "CAST(@ AS UNSIGNED)", "CAST(@ AS CHAR)", "LENGTH(@)", "HEX(@)", "@ IN (n, 65)", "(@, n) = (n, @)", "(n, 1) <=> (@, 1)", "(@, 2) < (n, 1)", "(n, d) >= (@, @ + 0)", "n BETWEEN @ AND 300", "ROUND(@ + 0)") + " AS v FROM da",
		"SELECT id, " + g.any("IF(n > 0, @, n)", "IF(n > 0, @, 7)", "CASE WHEN n > 0 THEN @ ELSE n END", "COALESCE(n, @)", "IFNULL(n, @)", "CASE WHEN n > 0 THEN @ ELSE 'z' END", "IF(n > 0, @, @)", "GREATEST(n, @ + 0)", "COALESCE(@, 'x')", "HEX(IF(n > 0, @, @))", "(SELECT @ + 0)", "(SELECT @ + n)", "HEX((SELECT @))", "MOD(@, 7)") + " AS v FROM da",
		"SELECT " + g.any("SUM(@ + 0)", "MAX(@ + 0)", "COUNT(@)", "SUM(n + @)", "GROUP_CONCAT(@)") + " AS v FROM da",
		"SELECT id FROM da WHERE n = @ OR id = @ + 1",
	}
	x := g.any("0x10", "0x41", "0x0102", "b'1000001'", "0b101", "b'11'", "0x4F", "0x7B")
	for i, text := range texts {
		texts[i] = strings.ReplaceAll(text, "@", x)
	}
	return texts
}

// defaults sets columns to their defaults.
func (g *generator) defaults() []string {
	out := []string{"ALTER TABLE da ALTER COLUMN k SET DEFAULT 5", "ALTER TABLE da ALTER COLUMN d SET DEFAULT 2.75"}
	for range 6 + g.r.IntN(5) {
		n := 1 + g.r.IntN(9)
		out = append(out, g.any(
			fmt.Sprintf("UPDATE da SET k = DEFAULT WHERE id = %d", n), "UPDATE da SET d = DEFAULT, k = k + 1", fmt.Sprintf("UPDATE da SET n = DEFAULT, d = DEFAULT WHERE n > %d", n-4), fmt.Sprintf("UPDATE da SET id = DEFAULT WHERE id = %d", n),
			fmt.Sprintf("INSERT INTO da (id, k) VALUES (%d, 9) ON DUPLICATE KEY UPDATE k = DEFAULT", n), fmt.Sprintf("INSERT INTO da (id, k, d) VALUES (%d, 9, 1) ON DUPLICATE KEY UPDATE d = DEFAULT, k = VALUES(k) + 1", n),
			fmt.Sprintf("INSERT INTO da (id, k) VALUES (%d, DEFAULT), (%d, DEFAULT) ON DUPLICATE KEY UPDATE n = DEFAULT, k = VALUES(k)", n, n+1), "INSERT INTO da (n) VALUES (DEFAULT)", "INSERT INTO da () VALUES ()", "INSERT INTO da SET k = DEFAULT, n = 4",
			fmt.Sprintf("REPLACE INTO da (id, n, d) VALUES (%d, 3, DEFAULT)", n), fmt.Sprintf("UPDATE da JOIN db ON da.id = db.id SET da.k = DEFAULT WHERE db.w > %d", n-2), "ALTER TABLE da ALTER COLUMN k SET DEFAULT "+g.any("1", "NULL", "8"), "ALTER TABLE da ALTER COLUMN n DROP DEFAULT", "ALTER TABLE da ALTER COLUMN n SET DEFAULT 6",
			fmt.Sprintf("INSERT INTO da (id, k) SELECT id, w FROM db ON DUPLICATE KEY UPDATE k = DEFAULT, n = %d", n), fmt.Sprintf("UPDATE da SET d = DEFAULT ORDER BY id DESC LIMIT %d", n%3+1)))
		if g.chance(40) {
			out = append(out, "SELECT * FROM da")
		}
	}
	return append(out, "SELECT * FROM da")
}
