package shapes

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
)

// shapeCases are the statements of the command shapes. Each gives its rows in one order.
func shapeCases() []beside.Case {
	var all []beside.Case
	for _, cases := range [][]beside.Case{shapeExpressions(), shapeGroups(), shapeDistinct(), shapeSorts(), shapeWindows(), shapeJoins(), shapeBands(), shapeSets()} {
		all = append(all, cases...)
	}
	return all
}

// inList is an IN list of so many strings.
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

func shapeExpressions() []beside.Case {
	const group = "expressions"
	return []beside.Case{
		{Group: group, Name: "arithmetic of integers", SQL: "SELECT SUM((k * 3 + v) * 2 - h), SUM(k % 17 * g), MAX(v * CAST(v AS SIGNED) - k) FROM t",
			Duck: "SELECT SUM((k * 3 + v) * 2 - h), SUM(k % 17 * g), MAX(v * CAST(v AS BIGINT) - k) FROM t"},
		{Group: group, Name: "arithmetic of decimals", SQL: "SELECT SUM(amt * 1.19), SUM(amt * (1 - 0.05)), SUM(amt + v) FROM t"},
		{Group: group, Name: "doubles", SQL: "SELECT SUM(SQRT(x)), SUM(x * x / (1 + x)), SUM(ROUND(x, 2)) FROM t"},
		{Group: group, Name: "sums of CASE", SQL: "SELECT SUM(CASE WHEN g < 100 THEN amt ELSE 0 END), SUM(CASE WHEN v > 0 THEN 1 ELSE 0 END), SUM(CASE g % 3 WHEN 0 THEN k WHEN 1 THEN v ELSE h END) FROM t"},
		{Group: group, Name: "CASE of strings by group", SQL: "SELECT CASE WHEN amt < 1000 THEN 'low' WHEN amt < 50000 THEN 'middle' ELSE 'high' END c, COUNT(*), SUM(v) FROM t GROUP BY c ORDER BY c"},
		{Group: group, Name: "COALESCE, NULLIF, GREATEST", SQL: "SELECT SUM(COALESCE(NULLIF(g, 7), 0)), COUNT(NULLIF(g, 8)), SUM(GREATEST(v, k, h)) FROM t"},
		{Group: group, Name: "year and month of dates", SQL: "SELECT YEAR(d) y, MONTH(d) m, COUNT(*), SUM(amt) FROM t GROUP BY YEAR(d), MONTH(d) ORDER BY y, m"},
		{Group: group, Name: "date arithmetic", SQL: "SELECT SUM(DATEDIFF(d, '2015-01-01')), SUM(YEAR(DATE_ADD(d, INTERVAL 45 DAY))), SUM(DAY(LAST_DAY(d))) FROM t",
			Duck: "SELECT SUM(DATEDIFF('day', DATE '2015-01-01', d)), SUM(YEAR(d + INTERVAL 45 DAY)), SUM(DAY(LAST_DAY(d))) FROM t"},
		{Group: group, Name: "dates formatted", SQL: counted("SELECT DATE_FORMAT(d, '%Y-%m') s, COUNT(*) n FROM t GROUP BY s"), Duck: counted("SELECT STRFTIME(d, '%Y-%m') s, COUNT(*) n FROM t GROUP BY s")},
		{Group: group, Name: "LIKE in the middle", SQL: "SELECT COUNT(*), MIN(id) FROM t WHERE url LIKE '%/science/%'"},
		{Group: group, Name: "LIKE of two pieces", SQL: "SELECT COUNT(*), MAX(id) FROM t WHERE url LIKE '%site12%ref=9%'"},
		{Group: group, Name: "LIKE prefix", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name LIKE 'Greta F%'"},
		{Group: group, Name: "NOT LIKE", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name NOT LIKE '%a%'"},
		{Group: group, Name: "REGEXP", SQL: "SELECT COUNT(*), SUM(id) FROM t WHERE REGEXP_LIKE(name, '^(Anna|Olga) [A-K].*7$')", Duck: "SELECT COUNT(*), SUM(id) FROM t WHERE REGEXP_MATCHES(name, '^(Anna|Olga) [A-K].*7$')"},
		{Group: group, Name: "REGEXP_REPLACE", SQL: "SELECT SUM(LENGTH(REGEXP_REPLACE(name, '[0-9]+', '#'))) FROM t", Duck: "SELECT SUM(LENGTH(REGEXP_REPLACE(name, '[0-9]+', '#', 'g'))) FROM t"},
		{Group: group, Name: "SUBSTRING, UPPER, CONCAT", SQL: "SELECT SUM(LENGTH(CONCAT(UPPER(SUBSTRING(name, 1, 3)), '-', code))), MAX(CONCAT(LOWER(name), code)) FROM t"},
		{Group: group, Name: "REPLACE, TRIM, LPAD", SQL: "SELECT SUM(LENGTH(REPLACE(name, 'a', 'bb'))), SUM(LENGTH(TRIM(CONCAT(' ', code, ' ')))), MIN(LPAD(code, 12, '*')) FROM t"},
		{Group: group, Name: "position in strings", SQL: "SELECT SUM(INSTR(url, 'ref')), SUM(LENGTH(SUBSTRING_INDEX(name, ' ', 1))) FROM t", Duck: "SELECT SUM(INSTR(url, 'ref')), SUM(LENGTH(SPLIT_PART(name, ' ', 1))) FROM t"},
		{Group: group, Name: "casts to strings and back", SQL: "SELECT SUM(CAST(SUBSTRING(code, 3, 6) AS SIGNED)), SUM(LENGTH(CAST(v AS CHAR))) FROM t", Duck: "SELECT SUM(CAST(SUBSTRING(code, 3, 6) AS BIGINT)), SUM(LENGTH(CAST(v AS VARCHAR))) FROM t"},
		{Group: group, Name: "JSON path, number", SQL: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.user.age') AS SIGNED)) FROM t", Duck: "SELECT SUM(CAST(JSON_EXTRACT(js, '$.user.age') AS BIGINT)) FROM t"},
		{Group: group, Name: "JSON path, string by group", SQL: counted("SELECT JSON_UNQUOTE(JSON_EXTRACT(js, '$.tags[1]')) s, COUNT(*) n FROM t GROUP BY s"), Duck: counted("SELECT JSON_EXTRACT_STRING(js, '$.tags[1]') s, COUNT(*) n FROM t GROUP BY s")},
		{Group: group, Name: "IN of 1,000 strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name IN (" + inList(1000, shapeName, 37) + ")"},
		{Group: group, Name: "IN of 1,000 numbers", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE k IN (" + strings.ReplaceAll(inList(1000, func(b []byte, n int64) []byte { return fmt.Append(b, n) }, 991), "'", "") + ")"},
		{Group: group, Name: "BETWEEN of strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name BETWEEN 'Farid H' AND 'Ines C'"},
		{Group: group, Name: "strings compared with strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE SUBSTRING(name, 1, 4) < SUBSTRING(url, 17, 4) OR code > name"},
		{Group: group, Name: "many conditions", SQL: "SELECT COUNT(*), SUM(amt) FROM t WHERE g < 500 AND h > 1000 AND v > -500000 AND d >= DATE '2017-01-01' AND word <> 'word-1' AND amt > 10"},
	}
}

func shapeGroups() []beside.Case {
	const group = "groups"
	return []beside.Case{
		{Group: group, Name: "by 40,000 strings", SQL: counted("SELECT city s, COUNT(*) n FROM t GROUP BY city")},
		{Group: group, Name: "by 200,000 strings", SQL: counted("SELECT code s, SUM(g) n FROM t GROUP BY code")},
		{Group: group, Name: "by half as many strings as rows", SQL: counted("SELECT name s, SUM(g) n FROM t GROUP BY name")},
		{Group: group, Name: "by long strings", SQL: counted("SELECT url s, COUNT(*) n FROM t GROUP BY url")},
		{Group: group, Name: "by skewed strings", SQL: counted("SELECT skew s, SUM(g) n FROM t GROUP BY skew")},
		{Group: group, Name: "by UPPER of strings", SQL: counted("SELECT UPPER(skew) s, SUM(g) n FROM t GROUP BY UPPER(skew)")},
		{Group: group, Name: "by a prefix", SQL: counted("SELECT SUBSTRING(name, 1, 8) s, COUNT(*) n FROM t GROUP BY SUBSTRING(name, 1, 8)")},
		{Group: group, Name: "by strings concatenated", SQL: counted("SELECT CONCAT(word, '/', g % 100) s, COUNT(*) n FROM t GROUP BY CONCAT(word, '/', g % 100)")},
		{Group: group, Name: "by a string and a number", SQL: counted("SELECT s, n FROM (SELECT word s, g, COUNT(*) n FROM t GROUP BY word, g) p")},
		{Group: group, Name: "by three strings", SQL: counted("SELECT CONCAT(word, code) s, n FROM (SELECT word, code, skew, COUNT(*) n FROM t GROUP BY word, code, skew) p")},
		{Group: group, Name: "MIN and MAX of strings", SQL: counted("SELECT MIN(name) s, MAX(LENGTH(url)) n FROM t GROUP BY h")},
		{Group: group, Name: "MIN and MAX of strings, one group", SQL: "SELECT MIN(name), MAX(name), MIN(url), MAX(code) FROM t"},
		{Group: group, Name: "twelve aggregates", SQL: "SELECT SUM(a), SUM(b), SUM(c), SUM(e), SUM(f), SUM(i), SUM(j), SUM(l), SUM(m), SUM(o), SUM(p), SUM(r) FROM (SELECT h, SUM(v) a, MIN(v) b, MAX(v) c, COUNT(*) e, SUM(amt) f, MIN(amt) i, MAX(amt) j, SUM(k) l, MIN(k) m, MAX(k) o, MIN(g) p, MAX(g) r FROM t GROUP BY h) q"},
		{Group: group, Name: "variances", SQL: "SELECT COUNT(*), SUM(a), SUM(b) FROM (SELECT h, STDDEV_SAMP(x) a, VAR_POP(v) b FROM t GROUP BY h) q"},
		{Group: group, Name: "HAVING", SQL: counted("SELECT code s, COUNT(*) n FROM t GROUP BY code HAVING COUNT(*) > 15")},
		{Group: group, Name: "ROLLUP of two strings", SQL: "SELECT COUNT(*), SUM(n), COUNT(word), COUNT(city), MIN(word), MAX(city) FROM (SELECT word, city, COUNT(*) n FROM t WHERE g < 300 GROUP BY word, city WITH ROLLUP) q",
			Duck: "SELECT COUNT(*), SUM(n), COUNT(word), COUNT(city), MIN(word), MAX(city) FROM (SELECT word, city, COUNT(*) n FROM t WHERE g < 300 GROUP BY ROLLUP (word, city)) q"},
		{Group: group, Name: "ROLLUP of numbers", SQL: "SELECT COUNT(*), SUM(n), COUNT(g), COUNT(y), COUNT(m) FROM (SELECT g, YEAR(d) y, MONTH(d) m, SUM(v) n FROM t GROUP BY g, YEAR(d), MONTH(d) WITH ROLLUP) q",
			Duck: "SELECT COUNT(*), SUM(n), COUNT(g), COUNT(y), COUNT(m) FROM (SELECT g, YEAR(d) y, MONTH(d) m, SUM(v) n FROM t GROUP BY ROLLUP (g, YEAR(d), MONTH(d))) q"},
		{Group: group, Name: "GROUP_CONCAT", SQL: "SELECT COUNT(*), SUM(LENGTH(s)), MIN(s) FROM (SELECT h, GROUP_CONCAT(code ORDER BY id) s FROM t GROUP BY h) q",
			Duck: "SELECT COUNT(*), SUM(LENGTH(s)), MIN(s) FROM (SELECT h, STRING_AGG(code, ',' ORDER BY id) s FROM t GROUP BY h) q"},
	}
}

func shapeDistinct() []beside.Case {
	const group = "distinct"
	return []beside.Case{
		{Group: group, Name: "COUNT(DISTINCT string)", SQL: "SELECT COUNT(DISTINCT name) FROM t"},
		{Group: group, Name: "COUNT(DISTINCT long string)", SQL: "SELECT COUNT(DISTINCT url) FROM t"},
		{Group: group, Name: "COUNT(DISTINCT string) by group", SQL: "SELECT COUNT(*), SUM(n), MAX(n) FROM (SELECT g, COUNT(DISTINCT code) n FROM t GROUP BY g) q"},
		{Group: group, Name: "two COUNT(DISTINCT)", SQL: "SELECT COUNT(DISTINCT code), COUNT(DISTINCT h), SUM(v) FROM t"},
		{Group: group, Name: "DISTINCT of two strings", SQL: "SELECT COUNT(*), MIN(word), MAX(city) FROM (SELECT DISTINCT word, city FROM t) q"},
		{Group: group, Name: "DISTINCT of many columns", SQL: "SELECT COUNT(*), SUM(g), MAX(word) FROM (SELECT DISTINCT g, word, YEAR(d) y, v % 10 z FROM t) q"},
	}
}

func shapeSorts() []beside.Case {
	const group = "top and order"
	return []beside.Case{
		{Group: group, Name: "top 10 by a string", SQL: "SELECT name, id FROM t ORDER BY name, id LIMIT 10"},
		{Group: group, Name: "top 10 by a long string, descending", SQL: "SELECT url, id FROM t ORDER BY url DESC, id LIMIT 10"},
		{Group: group, Name: "top 100 by a decimal and a string", SQL: "SELECT amt, name, id FROM t ORDER BY amt DESC, name, id LIMIT 100"},
		{Group: group, Name: "top 10 of groups", SQL: "SELECT code, COUNT(*) n, SUM(amt) a FROM t GROUP BY code ORDER BY a DESC, code LIMIT 10"},
		{Group: group, Name: "top 1,000 with all columns", SQL: "SELECT COUNT(*), SUM(v), MIN(url), MAX(js) FROM (SELECT * FROM t ORDER BY x, id LIMIT 1000) q"},
		{Group: group, Name: "all rows by a string", SQL: "SELECT SUM(r * g) FROM (SELECT g, ROW_NUMBER() OVER (ORDER BY name, id) r FROM t) q"},
		{Group: group, Name: "all rows by two strings", SQL: "SELECT SUM(r * g) FROM (SELECT g, ROW_NUMBER() OVER (ORDER BY word DESC, url, id) r FROM t) q"},
		{Group: group, Name: "stored in order", Setup: []string{"DROP TABLE IF EXISTS o"}, SQL: "CREATE TABLE o AS SELECT id, name, code, v FROM t ORDER BY code, id", Check: "SELECT COUNT(*), SUM(id), SUM(v), MIN(name), MAX(code) FROM o"},
	}
}

func shapeWindows() []beside.Case {
	const group = "windows"
	return []beside.Case{
		{Group: group, Name: "LAG by a string", SQL: "SELECT COUNT(p), SUM(p * g) FROM (SELECT g, LAG(v) OVER (PARTITION BY code ORDER BY id) p FROM t) q"},
		{Group: group, Name: "rank by strings", SQL: "SELECT SUM(r * g) FROM (SELECT g, RANK() OVER (PARTITION BY word ORDER BY name) r FROM t) q"},
		{Group: group, Name: "running sum by a string", SQL: "SELECT SUM(p % 1000) FROM (SELECT SUM(v) OVER (PARTITION BY skew ORDER BY id) p FROM t) q"},
		{Group: group, Name: "share of a string's sum", SQL: "SELECT COUNT(*), SUM(CASE WHEN amt * 5 > p THEN g ELSE 0 END) FROM (SELECT g, amt, SUM(amt) OVER (PARTITION BY code) p FROM t) q"},
		{Group: group, Name: "top 2 of a string", SQL: "SELECT COUNT(*), SUM(v) FROM (SELECT v, ROW_NUMBER() OVER (PARTITION BY skew ORDER BY x DESC, id) r FROM t) q WHERE r <= 2"},
		{Group: group, Name: "percentiles", SQL: "SELECT p, COUNT(*), MIN(x), MAX(x) FROM (SELECT x, NTILE(100) OVER (ORDER BY x, id) p FROM t) q GROUP BY p ORDER BY p"},
		{Group: group, Name: "string of the first row", SQL: "SELECT SUM(LENGTH(f)), MAX(f) FROM (SELECT FIRST_VALUE(name) OVER (PARTITION BY h ORDER BY id) f FROM t) q"},
	}
}

func shapeJoins() []beside.Case {
	const group = "joins"
	return []beside.Case{
		{Group: group, Name: "by a string of few values", SQL: "SELECT region, COUNT(*), SUM(amt) FROM t JOIN places ON t.city = places.city GROUP BY region ORDER BY region"},
		{Group: group, Name: "by a name", SQL: "SELECT COUNT(*), SUM(score), SUM(v) FROM t JOIN people ON t.name = people.name"},
		{Group: group, Name: "by a code", SQL: "SELECT COUNT(*), SUM(rank1), SUM(v) FROM t JOIN codes ON t.code = codes.code"},
		{Group: group, Name: "left join by a name", SQL: "SELECT COUNT(*), COUNT(score), SUM(v) FROM t LEFT JOIN people ON t.name = people.name"},
		{Group: group, Name: "IN a subquery of strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE name IN (SELECT name FROM people WHERE score < 50)"},
		{Group: group, Name: "NOT EXISTS by strings", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE NOT EXISTS (SELECT 1 FROM people WHERE people.name = t.name)"},
		{Group: group, Name: "join of groups", SQL: "SELECT COUNT(*), SUM(a.n * b.n) FROM (SELECT code, COUNT(*) n FROM t WHERE g < 500 GROUP BY code) a JOIN (SELECT code, COUNT(*) n FROM t WHERE g >= 500 GROUP BY code) b ON a.code = b.code"},
		{Group: group, Name: "stored with strings", Setup: []string{"DROP TABLE IF EXISTS o"}, SQL: "CREATE TABLE o AS SELECT t.id, t.name, t.word, score, amt FROM t JOIN people ON t.name = people.name", Check: "SELECT COUNT(*), SUM(id), SUM(score), SUM(amt), MIN(name), MAX(word) FROM o"},
	}
}

// shapeBands are joins by bands. Bounds vary in width, so that they are no shifted column.
func shapeBands() []beside.Case {
	const group = "bands"
	band := func(width int) string {
		return fmt.Sprintf("SELECT COUNT(*), SUM(a.g), SUM(b.h) FROM t a JOIN t b ON a.k BETWEEN b.id AND b.id + b.g %% %d", width)
	}
	return []beside.Case{
		{Group: group, Name: "one match a row", SQL: band(2)},
		{Group: group, Name: "10 matches a row", SQL: band(20)},
		{Group: group, Name: "100 matches a row", SQL: band(200)},
		{Group: group, Name: "beside an equality", SQL: "SELECT COUNT(*), SUM(a.g), SUM(b.h) FROM t a JOIN t b ON a.g = b.g AND a.k BETWEEN b.id AND b.id + 10 * b.g"},
	}
}

func shapeSets() []beside.Case {
	const group = "set operations"
	return []beside.Case{
		{Group: group, Name: "UNION of strings", SQL: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT name s FROM t WHERE g < 500 UNION SELECT name FROM people) q"},
		{Group: group, Name: "INTERSECT of strings", SQL: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT name s FROM t INTERSECT SELECT name FROM people) q"},
		{Group: group, Name: "EXCEPT of strings", SQL: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT code s FROM t WHERE g < 10 EXCEPT SELECT code FROM t WHERE g > 900) q"},
		{Group: group, Name: "UNION ALL", SQL: "SELECT s, COUNT(*) FROM (SELECT word s, v FROM t WHERE g < 700 UNION ALL SELECT word, k FROM t WHERE g > 300) q GROUP BY s ORDER BY s LIMIT 20"},
	}
}
