package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// memoryCase is a statement that keeps more than its rows' share of the memory limit. setup runs before it, under the same limit.
type memoryCase struct {
	name  string
	setup string // besides memoryTable
	sql   string
	// literal, where it is not empty, makes the text of the statement instead: sql is its beginning, and so many pieces follow.
	literal func(b []byte, i int) []byte
	pieces  int
	quick   bool // belongs to the test that every change runs
	unread  bool // the client asks for one batch and waits
	alone   bool // the limit is the statement's alone; the database has none
	// patience, where it is not 0, is how long the statement may take. What it holds until then counts.
	patience time.Duration
	// client, where it is not nil, runs statements instead.
	client func(ctx context.Context, c *memoryClient) error
}

// memoryTable is what the statements read: 100,000 rows of some 40 bytes, joins of which repeat each key 10 times.
const memoryTable = "SET cte_max_recursion_depth = 100000000; CREATE TABLE n (id INT, k INT, d DECIMAL(30, 6), f DOUBLE, s VARCHAR(40)); " +
	"INSERT INTO n WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 1000) " +
	"SELECT a.i * 1000 + b.i, (a.i * 1000 + b.i) % 10000, a.i / 7, b.i / 3, CONCAT('text ', a.i, ' of ', b.i) FROM r a, r b WHERE a.i <= 100; "

// memoryCases are all statements.
var memoryCases = slices.Concat(operatorCases, aloneCases(), sessionCases, textCases, driverCases, arrowCases, manySessions, largeCases, gridMemoryCases(), walkedCases())

// aloneCases are the queries among operatorCases where only they have a limit.
func aloneCases() (cases []memoryCase) {
	for _, c := range operatorCases {
		first, _, _ := strings.Cut(c.sql, " ")
		if c.setup == "" && c.pieces == 0 && (first == "SELECT" || first == "WITH" || first == "SET") {
			c.name, c.alone, c.quick = "SET radish_memory_limit: "+c.name, true, false
			cases = append(cases, c)
		}
	}
	return cases
}

// operatorCases are operators x kinds of values. Strings have 40 bytes (short), 400, 3,200 or 16,000.
var operatorCases = []memoryCase{
	{name: "sort, 400 bytes", sql: "SELECT id, REPEAT(MD5(id), 13) AS t FROM n ORDER BY t", quick: true},
	{name: "sort, 3,200 bytes", sql: "SELECT id, REPEAT(MD5(id), 100) AS t FROM n ORDER BY t DESC"},
	{name: "sort, 16,000 bytes", sql: "SELECT REPEAT(MD5(id), 500) AS t FROM n ORDER BY id % 7, id"},
	{name: "sort, 40 bytes, 10^6 rows", sql: "SELECT CONCAT(MD5(a.id), b.id % 8) AS t FROM n a JOIN n b ON a.k = b.k ORDER BY t"},
	{name: "sort, first letters", sql: "SELECT LEFT(REPEAT(MD5(id), 500), 3) AS t FROM n ORDER BY t"},
	{name: "sort, few of long strings", sql: "SELECT REPEAT(MD5(id), 100) AS t FROM n WHERE REPEAT(MD5(id), 100) LIKE '00%' ORDER BY t", quick: true},
	{name: "top 100, 3,200 bytes", sql: "SELECT REPEAT(MD5(id), 100) AS t FROM n ORDER BY t LIMIT 100", quick: true},
	{name: "DISTINCT, 400 bytes", sql: "SELECT DISTINCT REPEAT(MD5(id), 13) FROM n", quick: true},
	{name: "DISTINCT, 3,200 bytes", sql: "SELECT COUNT(*) FROM (SELECT DISTINCT REPEAT(MD5(id), 100) FROM n) x"},
	{name: "GROUP BY, 400 bytes, doubles", sql: "SELECT REPEAT(MD5(id), 13) AS t, SUM(f), AVG(f) FROM n GROUP BY t"},
	{name: "GROUP BY, decimals", sql: "SELECT a.d * b.id AS x, COUNT(*), SUM(a.d), MAX(a.d) FROM n a JOIN n b ON a.k = b.k GROUP BY x"},
	{name: "GROUP BY, doubles", sql: "SELECT a.f * b.id AS x, COUNT(*), STDDEV(a.f) FROM n a JOIN n b ON a.k = b.k GROUP BY x"},
	{name: "COUNT(DISTINCT), 3,200 bytes", sql: "SELECT COUNT(DISTINCT REPEAT(MD5(id), 100)) FROM n", quick: true},
	{name: "MIN and MAX by group, 3,200 bytes", sql: "SELECT k, MIN(REPEAT(MD5(id), 100)), MAX(REPEAT(MD5(-id), 100)) FROM n GROUP BY k"},
	{name: "MAX by group, 16,000 bytes", sql: "SELECT k, MAX(REPEAT(MD5(id), 500)) FROM n GROUP BY k", quick: true},
	{name: "GROUP_CONCAT, 400 bytes", sql: "SET group_concat_max_len = 4000000000; SELECT LENGTH(GROUP_CONCAT(REPEAT(MD5(id), 13))) FROM n"},
	{name: "GROUP_CONCAT, 3,200 bytes, cut", sql: "SELECT k, GROUP_CONCAT(REPEAT(MD5(id), 100)) FROM n GROUP BY k"},
	{name: "GROUP_CONCAT(DISTINCT), 400 bytes", sql: "SET group_concat_max_len = 4000000000; SELECT LENGTH(GROUP_CONCAT(DISTINCT REPEAT(MD5(id), 13))) FROM n", quick: true},
	{name: "GROUP_CONCAT(ORDER BY), 3,200 bytes", sql: "SET group_concat_max_len = 4000000000; SELECT LENGTH(GROUP_CONCAT(id ORDER BY REPEAT(MD5(id), 100))) FROM n"},
	{name: "JSON_ARRAYAGG of objects", sql: "SET group_concat_max_len = 4000000000; SELECT LENGTH(JSON_ARRAYAGG(JSON_OBJECT('id', id, 'text', REPEAT(MD5(id), 13)))) FROM n", quick: true},
	{name: "JSON_OBJECTAGG by group", sql: "SET group_concat_max_len = 4000000000; SELECT k, JSON_OBJECTAGG(id, REPEAT(MD5(id), 30)) FROM n GROUP BY k"},
	{name: "join, build side of 400 bytes", sql: "SELECT COUNT(*), MAX(x.t) FROM n JOIN (SELECT id, REPEAT(MD5(id), 13) AS t FROM n) x ON x.id = n.id + 1"},
	{name: "join, keys of 3,200 bytes", sql: "SELECT COUNT(*) FROM n a JOIN n b ON REPEAT(MD5(a.id), 100) = REPEAT(MD5(b.id), 100)", quick: true},
	{name: "join, probe side of 3,200 bytes, sorted", sql: "SELECT x.t FROM (SELECT k, REPEAT(MD5(id), 100) AS t FROM n LIMIT 10000) x JOIN n ON x.k = n.k ORDER BY n.id"},
	{name: "nested loop, 3,200 bytes", sql: "SELECT COUNT(*) FROM (SELECT REPEAT(MD5(id), 100) AS t FROM n) x JOIN (SELECT id FROM n LIMIT 3) y ON LENGTH(x.t) > y.id"},
	{name: "IN of a subquery, 3,200 bytes", sql: "SELECT COUNT(*) FROM n WHERE REPEAT(MD5(id), 100) IN (SELECT REPEAT(MD5(id + 1), 100) FROM n)"},
	{name: "LAG and LEAD, 400 bytes", sql: "SELECT LAG(t) OVER (ORDER BY id), LEAD(t) OVER (ORDER BY id) FROM (SELECT id, REPEAT(MD5(id), 13) AS t FROM n) x", quick: true},
	{name: "LAG of text in the window, 3,200 bytes", sql: "SELECT LAG(REPEAT(MD5(id), 100), 5) OVER (PARTITION BY k ORDER BY id) FROM n"},
	{name: "MAX over a frame, 400 bytes", sql: "SELECT MAX(REPEAT(MD5(id), 13)) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM n"},
	{name: "sums over a frame, decimals", sql: "SELECT SUM(a.d) OVER (ORDER BY a.f, b.id), RANK() OVER (ORDER BY a.d) FROM n a JOIN n b ON a.k = b.k"},
	{name: "UNION, 400 bytes", sql: "SELECT REPEAT(MD5(id), 13) FROM n UNION SELECT REPEAT(MD5(-id), 13) FROM n", quick: true},
	{name: "EXCEPT, 3,200 bytes", sql: "SELECT REPEAT(MD5(id), 100) FROM n EXCEPT SELECT REPEAT(MD5(-id), 100) FROM n"},
	{name: "recursion, strings that grow", sql: "WITH RECURSIVE r AS (SELECT 1 AS i, CAST('x' AS CHAR(100000)) AS t UNION ALL SELECT i + 1, CONCAT(t, 'some text') FROM r WHERE i < 20000) SELECT COUNT(*), MAX(LENGTH(t)) FROM r", quick: true},
	{name: "recursion, distinct, 400 bytes", sql: "WITH RECURSIVE r AS (SELECT 1 AS i, REPEAT(MD5(1), 13) AS t UNION SELECT i + 1, REPEAT(MD5(i), 13) FROM r WHERE i < 500000) SELECT COUNT(*) FROM r"},
	{name: "recursion that doubles, 400 bytes", sql: "WITH RECURSIVE r AS (SELECT 1 AS i, REPEAT('a', 400) AS t UNION ALL SELECT i + 1, CONCAT(LEFT(t, 390), i) FROM r, (SELECT 1 UNION ALL SELECT 2) y WHERE i < 22) SELECT COUNT(*) FROM r"},
	{name: "common table read twice, 3,200 bytes", sql: "WITH c AS (SELECT id, REPEAT(MD5(id), 100) AS t FROM n) SELECT COUNT(*) FROM c a JOIN c b ON a.id = b.id WHERE a.t >= b.t"},
	{name: "result, 3,200 bytes, unread", sql: "SELECT REPEAT(MD5(a.id), 100) FROM n a, n b", quick: true, unread: true},
	{name: "result, 16,000 bytes, 100,000 rows", sql: "SELECT REPEAT(MD5(id), 500) FROM n", quick: true},
	{name: "result, JSON", sql: "SELECT JSON_OBJECT('id', a.id, 't', REPEAT(MD5(b.id), 50)) FROM n a JOIN n b ON a.k = b.k"},
	{name: "CREATE TABLE AS, 3,200 bytes", sql: "CREATE TABLE c AS SELECT id, REPEAT(MD5(id), 100) AS t FROM n"},
	{name: "INSERT ... SELECT, 400 bytes, key", setup: "CREATE TABLE c (t VARCHAR(500) PRIMARY KEY)", sql: "INSERT INTO c SELECT REPEAT(MD5(id), 13) FROM n"},
	{name: "UPDATE to 3,200 bytes", setup: "CREATE TABLE c AS SELECT id, CAST(s AS CHAR(4000)) AS t FROM n", sql: "UPDATE c SET t = REPEAT(MD5(id), 100)", quick: true},
	{name: "MAX of strings of 100 KB by several workers", sql: "SELECT MAX(REPEAT(MD5(id), 3125)) FROM n", quick: true},
	{name: "@v := a string that grows", sql: "SELECT @v := CONCAT(COALESCE(@v, ''), MD5(id)) FROM n LIMIT 8000", setup: "SET @v = ''", quick: true},
	{name: "REPLACE by keys of 1,600 bytes", setup: "CREATE TABLE c (t VARCHAR(2000) PRIMARY KEY)", sql: "REPLACE INTO c SELECT REPEAT(MD5(id % 50000), 50) FROM n", quick: true},
	{name: "UPDATE IGNORE of keys of 1,600 bytes", setup: "CREATE TABLE c (t VARCHAR(2000) PRIMARY KEY); INSERT INTO c SELECT REPEAT(MD5(id), 50) FROM n LIMIT 20000", sql: "UPDATE IGNORE c SET t = CONCAT('x', SUBSTR(t, 2))"},
	{name: "CAST AS JSON, 100 KB", sql: "SELECT MAX(CAST(CONCAT('[\"', REPEAT(MD5(id), 3000), '\"]') AS JSON)) FROM n"},
	{name: "JSON_REMOVE, 100 KB", sql: "SELECT MAX(JSON_REMOVE(CONCAT('{\"a\": \"', REPEAT(MD5(id), 3000), '\", \"b\": 5}'), '$.b')) FROM n"},
	{name: "INSERT of 3 million rows", setup: "CREATE TABLE c (a INT)", sql: "INSERT INTO c VALUES (1)", pieces: 3_000_000, quick: true,
		literal: func(b []byte, i int) []byte { return fmt.Appendf(b, ",(%d)", i%100000) }},
	{name: "INSERT of 300,000 rows of 6 values", setup: "CREATE TABLE c (a INT, b VARCHAR(80), c DOUBLE, d DECIMAL(10,2), e DATE, f BIGINT)", sql: "INSERT INTO c VALUES (1, 'x', 1.5, 2.25, '2020-01-01', NULL)", pieces: 300_000,
		literal: func(b []byte, i int) []byte {
			return fmt.Appendf(b, ", (%d, 'a text of row %d', %d.5, -%d.25, '2021-02-%02d', NULL)", i, i, i, i%1000, 1+i%28)
		}},
	{name: "IN list of 2 million numbers", sql: "SELECT COUNT(*) FROM n WHERE id IN (1", pieces: 2_000_000,
		literal: func(b []byte, i int) []byte {
			b = fmt.Appendf(b, ",%d", i*7)
			if i == 2_000_000-1 {
				b = append(b, ')')
			}
			return b
		}},
	{name: "literal of 150 MB", sql: "SELECT LENGTH('", pieces: 1_500_000, quick: true,
		literal: func(b []byte, i int) []byte {
			b = append(b, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"...)
			if i == 1_500_000-1 {
				b = append(b, "')"...)
			}
			return b
		}},
}
