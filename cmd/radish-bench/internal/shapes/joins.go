package shapes

import (
	"fmt"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
)

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
		{Group: group, Name: "on one key OR another", SQL: "SELECT COUNT(*), SUM(a.v) FROM t a JOIN (SELECT * FROM t WHERE g < 2) b ON a.k = b.id OR a.id = b.k"},
		{Group: group, Name: "by expressions", SQL: "SELECT COUNT(*), SUM(a.v) FROM t a JOIN t b ON a.k + 1 = b.id * 2"},
		{Group: group, Name: "by a decimal and an integer", SQL: "SELECT COUNT(*), SUM(a.v) FROM t a JOIN t b ON a.amt = b.k"},
		{Group: group, Name: "by UPPER of strings", SQL: "SELECT COUNT(*), SUM(score) FROM t JOIN people ON UPPER(t.name) = UPPER(people.name)"},
		{Group: group, Name: "by two numbers", SQL: "SELECT COUNT(*), SUM(a.v) FROM t a JOIN t b ON a.g = b.g AND a.h = b.h"},
		{Group: group, Name: "with every row of 20", SQL: "SELECT COUNT(*), SUM(a.v * b.score % 7) FROM t a JOIN (SELECT score FROM people WHERE score < 99 ORDER BY name LIMIT 20) b ON TRUE"},
		{Group: group, Name: "three left joins", SQL: "SELECT COUNT(*), COUNT(p.score), COUNT(c.rank1), COUNT(pl.region) FROM t LEFT JOIN people p ON p.name = t.name LEFT JOIN codes c ON c.code = t.code LEFT JOIN places pl ON pl.city = t.city"},
		{Group: group, Name: "by an inequality", SQL: "SELECT COUNT(*) FROM (SELECT v FROM t WHERE g < 20) a JOIN (SELECT v FROM t WHERE g >= 980) b ON a.v < b.v"},
		{Group: group, Name: "by two inequalities", SQL: "SELECT COUNT(*) FROM (SELECT v, k FROM t WHERE g < 20) a JOIN (SELECT v, k FROM t WHERE g >= 980) b ON a.v < b.v AND a.k > b.k"},
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

func shapeSubqueries() []beside.Case {
	const group = "subqueries"
	return []beside.Case{
		{Group: group, Name: "above the average of its group", SQL: "SELECT COUNT(*), SUM(v) FROM t a WHERE amt > (SELECT AVG(amt) FROM t b WHERE b.h = a.h)"},
		{Group: group, Name: "MAX of a subquery as a column", SQL: "SELECT SUM(m) FROM (SELECT g, (SELECT MAX(v) FROM t b WHERE b.h = a.k % 100000) m FROM t a WHERE g < 100) q"},
		{Group: group, Name: "EXISTS with an inequality", SQL: "SELECT COUNT(*), SUM(v) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.h = a.h AND b.v > a.v + 900000)"},
		{Group: group, Name: "NOT IN a subquery", SQL: "SELECT COUNT(*), SUM(v) FROM t WHERE k NOT IN (SELECT id FROM t WHERE g < 500)"},
		{Group: group, Name: "NOT IN with NULLs", SQL: "SELECT COUNT(*) FROM t WHERE NULLIF(g, 5) NOT IN (SELECT score FROM people WHERE score < 50)"},
		{Group: group, Name: "top 3 by LATERAL", SQL: "SELECT COUNT(*), SUM(l.v) FROM (SELECT DISTINCT g FROM t) a JOIN LATERAL (SELECT v FROM t b WHERE b.g = a.g ORDER BY v DESC, id LIMIT 3) l ON TRUE"},
		{Group: group, Name: "three subqueries as columns", SQL: "SELECT (SELECT COUNT(*) FROM t WHERE v > 0), (SELECT MAX(amt) FROM t WHERE g = 5), (SELECT COUNT(DISTINCT code) FROM t WHERE g < 5)"},
		{Group: group, Name: "a WITH read three times", SQL: "WITH c AS (SELECT h, SUM(v) s, COUNT(*) n FROM t GROUP BY h) SELECT COUNT(*), SUM(a.s), SUM(b.n) FROM c a JOIN c b ON a.n = b.n AND a.h + 1 = b.h WHERE a.s > (SELECT AVG(s) FROM c)"},
		{Group: group, Name: "numbers by recursion", SQL: "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT COUNT(*), SUM(n * c) FROM r JOIN (SELECT g, COUNT(*) c FROM t GROUP BY g) q ON q.g = r.n"},
		{Group: group, Name: "a graph by recursion", SQL: "WITH RECURSIVE e AS (SELECT id % 50000 a, k % 50000 b FROM t WHERE g < 100), r (n) AS (SELECT 1 UNION SELECT e.b FROM r JOIN e ON e.a = r.n) SELECT COUNT(*), SUM(n) FROM r"},
		{Group: group, Name: "a hundred rows of many columns", SQL: "SELECT COUNT(*), MIN(url), MAX(js), SUM(amt) FROM t WHERE id BETWEEN 1000000 AND 1000100"},
	}
}

func shapeSets() []beside.Case {
	const group = "set operations"
	return []beside.Case{
		{Group: group, Name: "UNION of strings", SQL: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT name s FROM t WHERE g < 500 UNION SELECT name FROM people) q"},
		{Group: group, Name: "INTERSECT of strings", SQL: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT name s FROM t INTERSECT SELECT name FROM people) q"},
		{Group: group, Name: "EXCEPT of strings", SQL: "SELECT COUNT(*), MIN(s), MAX(s) FROM (SELECT code s FROM t WHERE g < 10 EXCEPT SELECT code FROM t WHERE g > 900) q"},
		{Group: group, Name: "UNION ALL", SQL: "SELECT s, COUNT(*) FROM (SELECT word s, v FROM t WHERE g < 700 UNION ALL SELECT word, k FROM t WHERE g > 300) q GROUP BY s ORDER BY s LIMIT 20"},
		{Group: group, Name: "UNION of three columns", SQL: "SELECT COUNT(*), SUM(v) FROM (SELECT g, h, v FROM t WHERE id < 1200000 UNION SELECT g, h, v FROM t WHERE id > 800000) q"},
		{Group: group, Name: "INTERSECT of numbers", SQL: "SELECT COUNT(*), SUM(k) FROM (SELECT k FROM t WHERE g < 600 INTERSECT SELECT id FROM t WHERE g > 300) q"},
	}
}
