package shapes

import "github.com/radish-sql/radish/cmd/radish-bench/internal/beside"

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
		{Group: group, Name: "by four keys, many groups", SQL: "SELECT COUNT(*), SUM(n) FROM (SELECT g, h, d, word, COUNT(*) n FROM t GROUP BY g, h, d, word) q"},
		{Group: group, Name: "by a double", SQL: "SELECT COUNT(*), MAX(n) FROM (SELECT ROUND(x / 1000) r, COUNT(*) n FROM t GROUP BY r) q"},
		{Group: group, Name: "by a decimal", SQL: "SELECT COUNT(*), MAX(n) FROM (SELECT amt, COUNT(*) n FROM t GROUP BY amt) q"},
		{Group: group, Name: "by parts of a date", SQL: "SELECT COUNT(*), MAX(n) FROM (SELECT YEAR(d) y, WEEK(d, 3) w, DAYOFWEEK(d) e, COUNT(*) n FROM t GROUP BY y, w, e) q",
			Duck: "SELECT COUNT(*), MAX(n) FROM (SELECT YEAR(d) y, WEEK(d) w, DAYOFWEEK(d) e, COUNT(*) n FROM t GROUP BY y, w, e) q"},
		{Group: group, Name: "MEDIAN by group", SQL: "SELECT COUNT(*), SUM(m) FROM (SELECT g, MEDIAN(v) m FROM t GROUP BY g) q"},
		{Group: group, Name: "two MEDIANs", SQL: "SELECT MEDIAN(v), MEDIAN(x) FROM t"},
		{Group: group, Name: "ARG_MAX", SQL: "SELECT SUM(m) FROM (SELECT h, ARG_MAX(id, v) m FROM t GROUP BY h) q WHERE m > 0"},
		{Group: group, Name: "GROUP_CONCAT of DISTINCT numbers", SQL: "SELECT SUM(LENGTH(s)) FROM (SELECT g, GROUP_CONCAT(DISTINCT h % 50 ORDER BY h % 50) s FROM t GROUP BY g) q",
			Duck: "SELECT SUM(LENGTH(s)) FROM (SELECT g, STRING_AGG(DISTINCT (h % 50)::VARCHAR, ',') s FROM t GROUP BY g) q"},
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
		{Group: group, Name: "five COUNT(DISTINCT)", SQL: "SELECT COUNT(DISTINCT g), COUNT(DISTINCT h), COUNT(DISTINCT k), COUNT(DISTINCT d), COUNT(DISTINCT word) FROM t"},
		{Group: group, Name: "SUM(DISTINCT) by group", SQL: "SELECT SUM(s) FROM (SELECT g, SUM(DISTINCT h) s FROM t GROUP BY g) q"},
		{Group: group, Name: "DISTINCT strings with a LIMIT", SQL: "SELECT COUNT(*) FROM (SELECT DISTINCT name FROM t LIMIT 1000) q"},
	}
}
