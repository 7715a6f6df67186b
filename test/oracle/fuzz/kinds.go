package fuzz

import (
	"fmt"
	"strings"
)

// Kinds of columns and values that the random schemas have not: ENUM, YEAR, generated columns, UNSIGNED numbers near their limits, strings that compare
// without case, dates at the ends of months and years.

// kindColumns are the columns of dk that have such kinds, and kindValues literals for each.
var kindColumns = []string{"e", "s", "b", "y", "u", "i", "c", "d", "t"}

var kindValues = map[string][]string{
	"e": {"'low'", "'mid'", "'high'", "NULL"},
	"s": {"'a'", "'b'", "'c'", "''", "NULL"},
	"b": {"b'0'", "b'101'", "0xFF", "7", "NULL"},
	"y": {"1901", "2155", "1999", "2024", "'70'", "'69'", "NULL"},
	"u": {"18446744073709551615", "9223372036854775808", "9223372036854775807", "0", "1", "NULL"},
	"i": {"-9223372036854775808", "9223372036854775807", "-1", "0", "12", "NULL"},
	"c": {"'Ab'", "'aB'", "'b'", "'12'", "'12abc'", "'-1'", "''", "NULL"},
	"d": {"'2020-02-29'", "'2019-12-31'", "'9999-12-31'", "'1000-01-31'", "'2021-03-31'", "NULL"},
	"t": {"'2020-02-29 23:59:59'", "'2019-12-31 00:00:00'", "'2038-01-19 03:14:08'", "'1970-01-01 00:00:01'", "NULL"},
}

// kinds are statements over a table of such columns.
func (g *generator) kinds() []string {
	out := []string{"DROP VIEW IF EXISTS dkw, dkv", "DROP TABLE IF EXISTS dk", "CREATE TABLE dk (id INT PRIMARY KEY AUTO_INCREMENT, q INT UNIQUE, e ENUM('low', 'mid', 'high'), s ENUM('c', 'b', 'a', ''), b TINYINT UNSIGNED, y YEAR, u BIGINT UNSIGNED, i BIGINT, " +
		"c VARCHAR(9) COLLATE utf8mb4_general_ci, d DATE, t DATETIME, g INT AS (q * 2) " + g.any("STORED", "VIRTUAL") + ", h VARCHAR(20) AS (CONCAT(c, ':', q)) VIRTUAL)"}
	out = append(out, g.kindInsert("INSERT INTO", ""))
	for range 7 {
		switch g.r.IntN(9) {
		case 0:
			out = append(out, g.kindInsert("INSERT IGNORE INTO", ""), "SELECT id, q FROM dk")
		case 1:
			c := g.any(kindColumns...)
			out = append(out, g.kindInsert("INSERT INTO", " ON DUPLICATE KEY UPDATE "+g.any(c+" = VALUES("+c+")", "i = id, "+c+" = VALUES("+c+")")), "SELECT id, q, g, h, "+kindShown(c)+" FROM dk")
		case 2:
			out = append(out, g.kindInsert("REPLACE INTO", ""), "SELECT id, q, g FROM dk")
		case 3:
			c := g.any(kindColumns...)
			out = append(out, "UPDATE dk SET "+c+" = "+g.any(kindValues[c]...)+" WHERE "+g.kindCondition(""), "UPDATE dk AS x JOIN db ON x.q = db.id SET x.i = db.w WHERE "+g.kindCondition("x."), "SELECT id, q, i, "+kindShown(c)+" FROM dk")
		case 4:
			out = append(out, "DELETE x FROM dk AS x JOIN db ON x.q = db.k WHERE "+g.kindCondition("x."), "SELECT id, q FROM dk")
		case 5:
			c := g.any(kindColumns...)
			out = append(out, "CREATE OR REPLACE VIEW dkv AS SELECT id, q, "+c+" AS x FROM dk WHERE "+g.kindCondition(""), "CREATE OR REPLACE VIEW dkw AS SELECT q + 1 AS q1, x FROM dkv WHERE q > 0", "SELECT q1, "+strings.ReplaceAll(kindShown(c), c, "x")+" AS x FROM dkw",
				"WITH w AS (SELECT x, COUNT(*) AS n FROM dkv GROUP BY x) SELECT a.n, z.n FROM w AS a JOIN w AS z ON a.x = z.x")
		default:
			out = append(out, g.kindQuery(), g.kindQuery())
		}
	}
	return append(out, "SELECT id, q, g, h, e, s, HEX(b), y, u, i, c, d, t FROM dk", "DROP VIEW IF EXISTS dkw, dkv", "DROP TABLE dk")
}

// kindShown is a column as it is selected: bits as hexadecimal digits.
func kindShown(c string) string {
	if c == "b" {
		return "HEX(b)"
	}
	return c
}

func (g *generator) kindInsert(verb, tail string) string {
	var rows []string
	// Where some rows bring a value and others do not, and where a statement fails behind a row that brought one, InnoDB leaves gaps.
	given := verb != "INSERT INTO" && g.chance(30)
	for i := range 1 + g.r.IntN(5) {
		id := g.any("NULL", "DEFAULT")
		if given {
			id = fmt.Sprint(3 + 2*i + g.r.IntN(2))
		}
		values := []string{id, g.any("NULL", "1", "2", "3", "4", "5", "6", "7")}
		for _, c := range kindColumns {
			values = append(values, g.any(kindValues[c]...))
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return verb + " dk (id, q, " + strings.Join(kindColumns, ", ") + ") VALUES " + strings.Join(rows, ", ") + tail
}

// kindCondition compares a column with literals of its own kind, or of another.
func (g *generator) kindCondition(table string) string {
	c := g.any(kindColumns...)
	v := g.any(kindValues[c]...)
	return strings.ReplaceAll(g.any("@ = "+v, "@ <> "+v, "@ <=> "+v, "@ IN ("+v+", "+g.any(kindValues[c]...)+")", "@ NOT IN ("+v+", "+g.any(kindValues[c]...)+")", "@ > "+v, "@ <= "+v, "@ IS NULL", "@ BETWEEN "+v+" AND "+g.any(kindValues[c]...)), "@", table+c)
}

// kindQuery reads dk.
func (g *generator) kindQuery() string {
	n := g.any("1", "2", "12", "31", "-1", "-13")
	switch g.r.IntN(6) {
	case 0:
		return "SELECT id, " + g.any("b + 0", "b | 1", "y + 1", "y - 2000", "CONCAT(e, s)", "CONCAT(y, '-', e)", "FIND_IN_SET('b', s)", "s LIKE '%c%'", "e > 'low'", "HEX(s)", "LENGTH(e)", "BIT_COUNT(b)", "UPPER(c)", "LEAST(y, 2000)", "COALESCE(e, 'none')",
			"IF(e = 'mid', e, s)", "CAST(e AS UNSIGNED)", "CAST(s AS CHAR)", "CAST(b AS UNSIGNED)", "CAST(y AS CHAR)", "ELT(e, 'x', 'y', 'z')", "NULLIF(e, 'low')") + " AS v FROM dk"
	case 1:
		return "SELECT id, " + g.any("u - 1", "u + 1", "u - u", "u DIV 3", "u % 7", "u & i", "u >> 1", "u << 1", "~u", "-i", "i - 1", "ABS(i)", "u > i", "u = i", "i < u", "u BETWEEN 0 AND i", "u = '7'", "u > '-1'", "u < '2.5'", "u IN ('0', '7')", "u BETWEEN '0' AND '18446744073709551614'", "'7' >= u", "i <=> '-1'", "NULLIF(u, '7')", "CASE u WHEN '0' THEN 1 WHEN 7 THEN 2 END", "u IN (i, -1)", "GREATEST(u, 5)", "LEAST(u, 5)", "u * 1.0", "u / 2", "i DIV -1", "i % -1",
			"CAST(u AS SIGNED)", "CAST(i AS UNSIGNED)", "CAST(u AS CHAR)", "u + 0.5", "u XOR i", "ROUND(u, -2)", "SUBSTRING('abc', i)", "LEFT('abc', u)", "REPEAT('x', i % 3)", "MAKETIME(i, 1, 1)", "LPAD('x', i % 5, 'ab')", "FORMAT(u, 0)", "CONV(u, 10, 16)", "BIN(i)", "SIGN(i)") + " AS v FROM dk"
	case 2:
		unit := g.any("DAY", "MONTH", "YEAR", "QUARTER", "WEEK", "HOUR", "SECOND")
		return "SELECT id, " + g.any("d + INTERVAL "+n+" "+unit, "t - INTERVAL "+n+" "+unit, "LAST_DAY(d)", "LAST_DAY(d + INTERVAL "+n+" MONTH)", "DATEDIFF(d, t)", "TIMESTAMPDIFF("+unit+", d, t)", "WEEK(d, "+fmt.Sprint(g.r.IntN(8))+")", "YEARWEEK(d)", "TO_DAYS(d)", "DAYOFYEAR(d)",
			"EXTRACT(YEAR_MONTH FROM d)", "d + 0", "t + 0", "d = '2020-02-29'", "d IN ('2020-02-29', 20191231)", "t > '2020-01-01'", "DATE_FORMAT(d, '%X-%V %x-%v %j %U')", "MAKEDATE(YEAR(d), "+n+" + 366)", "ADDDATE(d, "+n+")", "PERIOD_ADD(EXTRACT(YEAR_MONTH FROM t), "+n+")", "TIME(t)", "WEEKOFYEAR(d)", "DAYNAME(t)") + " AS v FROM dk"
	case 3:
		return "SELECT id, " + g.any("c = 'AB'", "c IN ('AB', 'B')", "c IN (12, 0)", "c = 12", "c < 'B'", "c LIKE 'a%'", "c + 0", "c IN (12, 'ab')", "c BETWEEN 'A' AND 'b'", "c = d", "LOCATE('B', c)", "CASE c WHEN 'AB' THEN 1 WHEN 12 THEN 2 END", "STRCMP(c, 'ab')", "c > 5", "INSTR(c, 'B')", "c <=> h") + " AS v FROM dk"
	case 4:
		return g.any("SELECT c, COUNT(*) AS n FROM dk WHERE c LIKE '1%' GROUP BY c", "SELECT COUNT(DISTINCT c) FROM dk", "SELECT e, COUNT(*) AS n, MAX(u) AS m FROM dk GROUP BY e", "SELECT y, MIN(d), MAX(t) FROM dk GROUP BY y", "SELECT HEX(b), COUNT(*) FROM dk GROUP BY b", "SELECT BIT_OR(b), BIT_XOR(s) FROM dk",
			"SELECT MAX(e), MIN(e), MAX(s) FROM dk", "SELECT s, GROUP_CONCAT(id ORDER BY id) FROM dk GROUP BY s", "SELECT SUM(u), AVG(i), AVG(y) FROM dk", "SELECT id, SUM(u) OVER (ORDER BY id ROWS 1 PRECEDING) FROM dk", "SELECT id, RANK() OVER (ORDER BY e, y) FROM dk", "SELECT id, LAG(e) OVER (ORDER BY id) FROM dk", "SELECT id, COUNT(*) OVER (PARTITION BY c) FROM dk")
	}
	return "SELECT a.id, z.id AS other FROM dk AS a JOIN dk AS z ON " + g.any("a.c = z.c", "a.e = z.e", "a.u = z.i", "a.e = z.s", "a.y = YEAR(z.d)", "a.b = z.s", "a.c = z.q", "a.d = z.t", "a.u > z.i", "a.c < z.c", "a.i = z.c", "a.s = z.s AND a.y = z.y", "a.h = z.h", "a.g = z.q") + g.any("", " AND a.id <> z.id") + " WHERE " + g.kindCondition("a.")
}
