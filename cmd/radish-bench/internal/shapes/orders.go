package shapes

import "github.com/radish-sql/radish/cmd/radish-bench/internal/beside"

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
		{Group: group, Name: "ten rows behind a million", SQL: "SELECT id, v FROM t ORDER BY v, id LIMIT 10 OFFSET 1000000"},
		{Group: group, Name: "all rows by numbers and a date", SQL: "SELECT SUM(r * g) FROM (SELECT g, ROW_NUMBER() OVER (ORDER BY g, d DESC, v, id) r FROM t) q"},
		{Group: group, Name: "all rows by a double", SQL: "SELECT SUM(r * g) FROM (SELECT g, ROW_NUMBER() OVER (ORDER BY x DESC, id) r FROM t) q"},
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
		{Group: group, Name: "sum of a frame", SQL: "SELECT SUM(s % 1000) FROM (SELECT SUM(v) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 10 PRECEDING AND 5 FOLLOWING) s FROM t) q"},
		{Group: group, Name: "MAX of a frame", SQL: "SELECT SUM(s) FROM (SELECT MAX(v) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 100 PRECEDING AND CURRENT ROW) s FROM t) q"},
		{Group: group, Name: "frame of 30 days", SQL: "SELECT SUM(s) FROM (SELECT COUNT(*) OVER (PARTITION BY g ORDER BY d RANGE BETWEEN INTERVAL 30 DAY PRECEDING AND CURRENT ROW) s FROM t) q"},
		{Group: group, Name: "rank of groups", SQL: "SELECT SUM(r * n) FROM (SELECT g, h % 100 e, COUNT(*) n, RANK() OVER (PARTITION BY g ORDER BY COUNT(*) DESC) r FROM t GROUP BY g, h % 100) q"},
		{Group: group, Name: "four windows", SQL: "SELECT SUM(a), SUM(b), SUM(c), SUM(e) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) a, RANK() OVER (PARTITION BY g ORDER BY h) b, DENSE_RANK() OVER (ORDER BY d) c, LEAD(v) OVER (PARTITION BY h ORDER BY id) e FROM t) q"},
		{Group: group, Name: "CUME_DIST", SQL: "SELECT ROUND(SUM(c), 4) FROM (SELECT CUME_DIST() OVER (PARTITION BY word ORDER BY v) c FROM t) q"},
	}
}

func shapeChanges() []beside.Case {
	const group = "changes"
	return []beside.Case{
		{Group: group, Name: "stored with all columns", Setup: []string{"DROP TABLE IF EXISTS o"}, SQL: "CREATE TABLE o AS SELECT * FROM t WHERE g < 800", Check: "SELECT SUM(v), COUNT(*), MAX(url) FROM o"},
		{Group: group, Name: "UPDATE of half the rows", Setup: []string{"DROP TABLE IF EXISTS o", "CREATE TABLE o AS SELECT id, g, v, name FROM t"}, SQL: "UPDATE o SET v = v + 1 WHERE g < 500", Check: "SELECT SUM(v) FROM o"},
		{Group: group, Name: "DELETE of half the rows", Setup: []string{"DROP TABLE IF EXISTS o", "CREATE TABLE o AS SELECT id, g, v, name FROM t"}, SQL: "DELETE FROM o WHERE g < 500", Check: "SELECT SUM(v), COUNT(*) FROM o"},
	}
}
