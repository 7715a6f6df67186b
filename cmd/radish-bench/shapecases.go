package main

import (
	"fmt"
	"strings"
)

// shapeCases are the statements of the command shapes. Each gives its rows in one order.
func shapeCases() []besideCase {
	var all []besideCase
	for _, cases := range [][]besideCase{shapeExpressions(), shapeGroups(), shapeDistinct(), shapeSorts(), shapeWindows(), shapeJoins(), shapeSets()} {
		all = append(all, cases...)
	}
	return all
}

// inList is an IN list of so many texts.
func inList(n int, text func(b []byte, n int64) []byte, step int64) string {
	var list strings.Builder
	for i := range n {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "'%s'", text(nil, int64(i)*step))
	}
	return list.String()
}

// counted wraps a query of groups with a string s and a number n, so that one row leaves the engine.
func counted(query string) string {
	return "SELECT COUNT(*), SUM(n), SUM(LENGTH(s)), SUM(n * LENGTH(s)), MIN(s), MAX(s) FROM (" + query + ") q"
}

func shapeExpressions() []besideCase {
	const group = "expressions"
	return []besideCase{
		{group: group, name: "arithmetic of integers", sql: "SELECT SUM((k * 3 + v) * 2 - h), SUM(k % 17 * g), MAX(v * CAST(v AS SIGNED) - k) FROM t",
			duck: "SELECT SUM((k * 3 + v) * 2 - h), SUM(k % 17 * g), MAX(v * CAST(v AS BIGINT) - k) FROM t"},
		{group: group, name: "arithmetic of decimals", sql: "SELECT SUM(amt * 1.19), SUM(amt * (1 - 0.05)), SUM(amt + v) FROM t"},
		{group: group, name: "doubles", sql: "SELECT SUM(SQRT(x)), SUM(x * x / (1 + x)), SUM(ROUND(x, 2)) FROM t"},
		{group: group, name: "sums of CASE", sql: "SELECT SUM(CASE WHEN g < 100 THEN amt ELSE 0 END), SUM(CASE WHEN v > 0 THEN 1 ELSE 0 END), SUM(CASE g % 3 WHEN 0 THEN k WHEN 1 THEN v ELSE h END) FROM t"},
		{group: group, name: "CASE of strings by group", sql: "SELECT CASE WHEN amt < 1000 THEN 'low' WHEN amt < 50000 THEN 'middle' ELSE 'high' END c, COUNT(*), SUM(v) FROM t GROUP BY c ORDER BY c"},
		{group: group, name: "COALESCE, NULLIF, GREATEST", sql: "SELECT SUM(COALESCE(NULLIF(g, 7), 0)), COUNT(NULLIF(g, 8)), SUM(GREATEST(v, k, h)) FROM t"},
		{group: group, name: "year and month of dates", sql: "SELECT YEAR(d) y, MONTH(d) m, COUNT(*), SUM(amt) FROM t GROUP BY YEAR(d), MONTH(d) ORDER BY y, m"},
		{group: group, name: "date arithmetic", sql: "SELECT SUM(DATEDIFF(d, '2015-01-01')), SUM(YEAR(DATE_ADD(d, INTERVAL 45 DAY))), SUM(DAY(LAST_DAY(d))) FROM t",
			duck: "SELECT SUM(DATEDIFF('day', DATE '2015-01-01', d)), SUM(YEAR(d + INTERVAL 45 DAY)), SUM(DAY(LAST_DAY(d))) FROM t"},
		{group: group, name: "dates formatted", sql: counted("SELECT DATE_FORMAT(d, '%Y-%m') s, COUNT(*) n FROM t GROUP BY s"), duck: counted("SELECT STRFTIME(d, '%Y-%m') s, COUNT(*) n FROM t GROUP BY s")},
		{group: group, name: "LIKE in the middle", sql: "SELECT COUNT(*), MIN(id) FROM t WHERE url LIKE '%/science/%'"},
		{group: group, name: "LIKE of two pieces", sql: "SELECT COUNT(*), MAX(id) FROM t WHERE url LIKE '%site12%ref=9%'"},
		{group: group, name: "LIKE prefix", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE name LIKE 'Greta F%'"},
		{group: group, name: "NOT LIKE", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE name NOT LIKE '%a%'"},
		{group: group, name: "REGEXP", sql: "SELECT COUNT(*), SUM(id) FROM t WHERE REGEXP_LIKE(name, '^(Anna|Olga) [A-K].*7$')", duck: "SELECT COUNT(*), SUM(id) FROM t WHERE REGEXP_MATCHES(name, '^(Anna|Olga) [A-K].*7$')"},
		{group: group, name: "REGEXP_REPLACE", sql: "SELECT SUM(LENGTH(REGEXP_REPLACE(name, '[0-9]+', '#'))) FROM t", duck: "SELECT SUM(LENGTH(REGEXP_REPLACE(name, '[0-9]+', '#', 'g'))) FROM t"},
		{group: group, name: "SUBSTRING, UPPER, CONCAT", sql: "SELECT SUM(LENGTH(CONCAT(UPPER(SUBSTRING(name, 1, 3)), '-', code))), MAX(CONCAT(LOWER(name), code)) FROM t"},
		{group: group, name: "REPLACE, TRIM, LPAD", sql: "SELECT SUM(LENGTH(REPLACE(name, 'a', 'bb'))), SUM(LENGTH(TRIM(CONCAT(' ', code, ' ')))), MIN(LPAD(code, 12, '*')) FROM t"},
		{group: group, name: "position in strings", sql: "SELECT SUM(INSTR(url, 'ref')), SUM(LENGTH(SUBSTRING_INDEX(name, ' ', 1))) FROM t", duck: "SELECT SUM(INSTR(url, 'ref')), SUM(LENGTH(SPLIT_PART(name, ' ', 1))) FROM t"},
		{group: group, name: "casts to strings and back", sql: "SELECT SUM(CAST(SUBSTRING(code, 3, 6) AS SIGNED)), SUM(LENGTH(CAST(v AS CHAR))) FROM t", duck: "SELECT SUM(CAST(SUBSTRING(code, 3, 6) AS BIGINT)), SUM(LENGTH(CAST(v AS VARCHAR))) FROM t"},
		{group: group, name: "JSON path, number", sql: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.user.age') AS SIGNED)) FROM t", duck: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.user.age') AS BIGINT)) FROM t"},
		{group: group, name: "JSON path, string by group", sql: counted("SELECT JSON_UNQUOTE(JSON_EXTRACT(js, '$.tags[1]')) s, COUNT(*) n FROM t GROUP BY s"), duck: counted("SELECT JSON_EXTRACT_STRING(js, '$.tags[1]') s, COUNT(*) n FROM t GROUP BY s")},
		{group: group, name: "IN of 1,000 strings", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE name IN (" + inList(1000, shapeName, 37) + ")"},
		{group: group, name: "IN of 1,000 numbers", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE k IN (" + strings.ReplaceAll(inList(1000, func(b []byte, n int64) []byte { return fmt.Append(b, n) }, 991), "'", "") + ")"},
		{group: group, name: "BETWEEN of strings", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE name BETWEEN 'Farid H' AND 'Ines C'"},
		{group: group, name: "strings compared with strings", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE SUBSTRING(name, 1, 4) < SUBSTRING(url, 17, 4) OR code > name"},
		{group: group, name: "many conditions", sql: "SELECT COUNT(*), SUM(amt) FROM t WHERE g < 500 AND h > 1000 AND v > -500000 AND d >= DATE '2017-01-01' AND word <> 'word-1' AND amt > 10"},
	}
}

func shapeGroups() []besideCase {
	const group = "groups"
	return []besideCase{
		{group: group, name: "by 40,000 strings", sql: counted("SELECT city s, COUNT(*) n FROM t GROUP BY city")},
		{group: group, name: "by 200,000 strings", sql: counted("SELECT code s, SUM(g) n FROM t GROUP BY code")},
		{group: group, name: "by half as many strings as rows", sql: counted("SELECT name s, SUM(g) n FROM t GROUP BY name")},
		{group: group, name: "by long strings", sql: counted("SELECT url s, COUNT(*) n FROM t GROUP BY url")},
		{group: group, name: "by skewed strings", sql: counted("SELECT skew s, SUM(g) n FROM t GROUP BY skew")},
		{group: group, name: "by UPPER of strings", sql: counted("SELECT UPPER(skew) s, SUM(g) n FROM t GROUP BY UPPER(skew)")},
		{group: group, name: "by a prefix", sql: counted("SELECT SUBSTRING(name, 1, 8) s, COUNT(*) n FROM t GROUP BY SUBSTRING(name, 1, 8)")},
		{group: group, name: "by strings concatenated", sql: counted("SELECT CONCAT(word, '/', g % 100) s, COUNT(*) n FROM t GROUP BY CONCAT(word, '/', g % 100)")},
		{group: group, name: "by a string and a number", sql: counted("SELECT s, n FROM (SELECT word s, g, COUNT(*) n FROM t GROUP BY word, g) p")},
		{group: group, name: "by three strings", sql: counted("SELECT CONCAT(word, code) s, n FROM (SELECT word, code, skew, COUNT(*) n FROM t GROUP BY word, code, skew) p")},
		{group: group, name: "MIN and MAX of strings", sql: counted("SELECT MIN(name) s, MAX(LENGTH(url)) n FROM t GROUP BY h")},
		{group: group, name: "MIN and MAX of strings, one group", sql: "SELECT MIN(name), MAX(name), MIN(url), MAX(code) FROM t"},
		{group: group, name: "twelve aggregates", sql: "SELECT SUM(a), SUM(b), SUM(c), SUM(e), SUM(f), SUM(i), SUM(j), SUM(l), SUM(m), SUM(o), SUM(p), SUM(r) FROM (SELECT h, SUM(v) a, MIN(v) b, MAX(v) c, COUNT(*) e, SUM(amt) f, MIN(amt) i, MAX(amt) j, SUM(k) l, MIN(k) m, MAX(k) o, MIN(g) p, MAX(g) r FROM t GROUP BY h) q"},
		{group: group, name: "variances", sql: "SELECT COUNT(*), SUM(a), SUM(b) FROM (SELECT h, STDDEV_SAMP(x) a, VAR_POP(v) b FROM t GROUP BY h) q"},
		{group: group, name: "HAVING", sql: counted("SELECT code s, COUNT(*) n FROM t GROUP BY code HAVING COUNT(*) > 15")},
		{group: group, name: "ROLLUP of two strings", sql: "SELECT COUNT(*), SUM(n), COUNT(word), COUNT(city), MIN(word), MAX(city) FROM (SELECT word, city, COUNT(*) n FROM t WHERE g < 300 GROUP BY word, city WITH ROLLUP) q",
			duck: "SELECT COUNT(*), SUM(n), COUNT(word), COUNT(city), MIN(word), MAX(city) FROM (SELECT word, city, COUNT(*) n FROM t WHERE g < 300 GROUP BY ROLLUP (word, city)) q"},
		{group: group, name: "ROLLUP of numbers", sql: "SELECT COUNT(*), SUM(n), COUNT(g), COUNT(y), COUNT(m) FROM (SELECT g, YEAR(d) y, MONTH(d) m, SUM(v) n FROM t GROUP BY g, YEAR(d), MONTH(d) WITH ROLLUP) q",
			duck: "SELECT COUNT(*), SUM(n), COUNT(g), COUNT(y), COUNT(m) FROM (SELECT g, YEAR(d) y, MONTH(d) m, SUM(v) n FROM t GROUP BY ROLLUP (g, YEAR(d), MONTH(d))) q"},
		{group: group, name: "GROUP_CONCAT", sql: "SELECT COUNT(*), SUM(LENGTH(s)), MIN(s) FROM (SELECT h, GROUP_CONCAT(code ORDER BY id) s FROM t GROUP BY h) q",
			duck: "SELECT COUNT(*), SUM(LENGTH(s)), MIN(s) FROM (SELECT h, STRING_AGG(code, ',' ORDER BY id) s FROM t GROUP BY h) q"},
	}
}

func shapeDistinct() []besideCase {
	const group = "distinct"
	return []besideCase{
		{group: group, name: "COUNT(DISTINCT string)", sql: "SELECT COUNT(DISTINCT name) FROM t"},
		{group: group, name: "COUNT(DISTINCT long string)", sql: "SELECT COUNT(DISTINCT url) FROM t"},
		{group: group, name: "COUNT(DISTINCT string) by group", sql: "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT g, COUNT(DISTINCT code) n FROM t GROUP BY g) q"},
		{group: group, name: "two COUNT(DISTINCT)", sql: "SELECT COUNT(DISTINCT code), COUNT(DISTINCT h), SUM(v) FROM t"},
		{group: group, name: "DISTINCT of two strings", sql: "SELECT COUNT(*), MIN(word), MAX(city) FROM (SELECT DISTINCT word, city FROM t) q"},
		{group: group, name: "DISTINCT of many columns", sql: "SELECT COUNT(*), SUM(g), MAX(word) FROM (SELECT DISTINCT g, word, YEAR(d) y, v % 10 z FROM t) q"},
	}
}

func shapeSorts() []besideCase {
	const group = "top and order"
	return []besideCase{
		{group: group, name: "top 10 by a string", sql: "SELECT name, id FROM t ORDER BY name, id LIMIT 10"},
		{group: group, name: "top 10 by a long string, descending", sql: "SELECT url, id FROM t ORDER BY url DESC, id LIMIT 10"},
		{group: group, name: "top 100 by a decimal and a string", sql: "SELECT amt, name, id FROM t ORDER BY amt DESC, name, id LIMIT 100"},
		{group: group, name: "top 10 of groups", sql: "SELECT code, COUNT(*) n, SUM(amt) a FROM t GROUP BY code ORDER BY a DESC, code LIMIT 10"},
		{group: group, name: "top 1,000 with all columns", sql: "SELECT COUNT(*), SUM(v), MIN(url), MAX(js) FROM (SELECT * FROM t ORDER BY x, id LIMIT 1000) q"},
		{group: group, name: "all rows by a string", sql: "SELECT SUM(r * g) FROM (SELECT g, ROW_NUMBER() OVER (ORDER BY name, id) r FROM t) q"},
		{group: group, name: "all rows by two strings", sql: "SELECT SUM(r * g) FROM (SELECT g, ROW_NUMBER() OVER (ORDER BY word DESC, url, id) r FROM t) q"},
		{group: group, name: "stored in order", setup: []string{"DROP TABLE IF EXISTS o"}, sql: "CREATE TABLE o AS SELECT id, name, code, v FROM t ORDER BY code, id", check: "SELECT COUNT(*), SUM(id), SUM(v), MIN(name), MAX(code) FROM o"},
	}
}

func shapeWindows() []besideCase {
	const group = "windows"
	return []besideCase{
		{group: group, name: "LAG by a string", sql: "SELECT COUNT(p), SUM(p * g) FROM (SELECT g, LAG(v) OVER (PARTITION BY code ORDER BY id) p FROM t) q"},
		{group: group, name: "rank by strings", sql: "SELECT SUM(r * g) FROM (SELECT g, RANK() OVER (PARTITION BY word ORDER BY name) r FROM t) q"},
		{group: group, name: "running sum by a string", sql: "SELECT SUM(p % 1000) FROM (SELECT SUM(v) OVER (PARTITION BY skew ORDER BY id) p FROM t) q"},
		{group: group, name: "share of a string's sum", sql: "SELECT COUNT(*), SUM(CASE WHEN amt * 5 > p THEN g ELSE 0 END) FROM (SELECT g, amt, SUM(amt) OVER (PARTITION BY code) p FROM t) q"},
		{group: group, name: "top 2 of a string", sql: "SELECT COUNT(*), SUM(v) FROM (SELECT v, ROW_NUMBER() OVER (PARTITION BY skew ORDER BY x DESC, id) r FROM t) q WHERE r <= 2"},
		{group: group, name: "percentiles", sql: "SELECT p, COUNT(*), MIN(x), MAX(x) FROM (SELECT x, NTILE(100) OVER (ORDER BY x, id) p FROM t) q GROUP BY p ORDER BY p"},
		{group: group, name: "string of the first row", sql: "SELECT SUM(LENGTH(f)), MAX(f) FROM (SELECT FIRST_VALUE(name) OVER (PARTITION BY h ORDER BY id) f FROM t) q"},
	}
}

func shapeJoins() []besideCase {
	const group = "joins"
	return []besideCase{
		{group: group, name: "by a string of few values", sql: "SELECT region, COUNT(*), SUM(amt) FROM t JOIN places ON t.city = places.city GROUP BY region ORDER BY region"},
		{group: group, name: "by a name", sql: "SELECT COUNT(*), SUM(score), SUM(v) FROM t JOIN people ON t.name = people.name"},
		{group: group, name: "by a code", sql: "SELECT COUNT(*), SUM(rank1), SUM(v) FROM t JOIN codes ON t.code = codes.code"},
		{group: group, name: "left join by a name", sql: "SELECT COUNT(*), COUNT(score), SUM(v) FROM t LEFT JOIN people ON t.name = people.name"},
		{group: group, name: "IN a subquery of strings", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE name IN (SELECT name FROM people WHERE score < 50)"},
		{group: group, name: "NOT EXISTS by strings", sql: "SELECT COUNT(*), SUM(v) FROM t WHERE NOT EXISTS (SELECT 1 FROM people WHERE people.name = t.name)"},
		{group: group, name: "join of groups", sql: "SELECT COUNT(*), SUM(a.n * b.n) FROM (SELECT code, COUNT(*) n FROM t WHERE g < 500 GROUP BY code) a JOIN (SELECT code, COUNT(*) n FROM t WHERE g >= 500 GROUP BY code) b ON a.code = b.code"},
		{group: group, name: "stored with strings", setup: []string{"DROP TABLE IF EXISTS o"}, sql: "CREATE TABLE o AS SELECT t.id, t.name, t.word, score, amt FROM t JOIN people ON t.name = people.name", check: "SELECT COUNT(*), SUM(id), SUM(score), SUM(amt), MIN(name), MAX(word) FROM o"},
	}
}

func shapeSets() []besideCase {
	const group = "set operations"
	return []besideCase{
		{group: group, name: "UNION of strings", sql: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT name s FROM t WHERE g < 500 UNION SELECT name FROM people) q"},
		{group: group, name: "INTERSECT of strings", sql: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT name s FROM t INTERSECT SELECT name FROM people) q"},
		{group: group, name: "EXCEPT of strings", sql: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT code s FROM t WHERE g < 10 EXCEPT SELECT code FROM t WHERE g > 900) q"},
		{group: group, name: "UNION ALL", sql: "SELECT s, COUNT(*) FROM (SELECT word s, v FROM t WHERE g < 700 UNION ALL SELECT word, k FROM t WHERE g > 300) q GROUP BY s ORDER BY s LIMIT 20"},
	}
}
