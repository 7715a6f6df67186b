package engine

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
)

const jsonTables = `CREATE TABLE t (id INT PRIMARY KEY, doc JSON);
	INSERT INTO t VALUES (1, '{"items": [{"a": 1, "b": 2, "c": [10, 20]}, {"a": "x", "c": []}, {"b": null}]}'), (2, NULL), (3, '{}'), (4, '{"items": [{"a": 5, "c": [7]}]}')`

// The first ones are the Reference Manual's (14.17.6), whose rows it prints; the others follow from its rules.
func TestJSONTable(t *testing.T) {
	t.Run("cpu", func(t *testing.T) { testJSONTable(t, newSession(t, database.Options{Threads: 2, Device: gpu.Never})) })
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "SET radish_device = 'gpu'")
		testJSONTable(t, s)
	})
}

func testJSONTable(t *testing.T, s *Session) {
	mustRun(t, s, jsonTables)
	const ab = `'[{"a": 1, "b": [11,111]}, {"a": 2, "b": [22,222]}, {"a": 3}]'`
	for _, tc := range []struct{ sql, want string }{
		{`SELECT * FROM JSON_TABLE('[{"a":"3"},{"a":2},{"b":1},{"a":0},{"a":[1,2]}]', "$[*]" COLUMNS (rowid FOR ORDINALITY, ac VARCHAR(100) PATH "$.a" DEFAULT '111' ON EMPTY DEFAULT '999' ON ERROR,
			aj JSON PATH "$.a" DEFAULT '{"x": 333}' ON EMPTY, bx INT EXISTS PATH "$.b")) AS tt`, `1|3|"3"|0 2|2|2|0 3|111|{"x": 333}|1 4|0|0|0 5|999|[1, 2]|0`},
		{`SELECT * FROM JSON_TABLE('[{"x":2,"y":"8"},{"x":"3","y":"7"},{"x":"4","y":6}]', "$[*]" COLUMNS (xval VARCHAR(100) PATH "$.x", yval VARCHAR(100) PATH "$.y")) AS jt1`, "2|8 3|7 4|6"},
		{`SELECT * FROM JSON_TABLE('[{"x":2,"y":"8"},{"x":"3","y":"7"},{"x":"4","y":6}]', "$[1]" COLUMNS (xval VARCHAR(100) PATH "$.x", yval VARCHAR(100) PATH "$.y")) AS jt1`, "3|7"},
		{"SELECT * FROM JSON_TABLE(" + ab + ", '$[*]' COLUMNS (a INT PATH '$.a', NESTED PATH '$.b[*]' COLUMNS (b INT PATH '$'))) AS jt WHERE b IS NOT NULL", "1|11 1|111 2|22 2|222"},
		{"SELECT * FROM JSON_TABLE(" + ab + ", '$[*]' COLUMNS (a INT PATH '$.a', NESTED PATH '$.b[*]' COLUMNS (b1 INT PATH '$'), NESTED PATH '$.b[*]' COLUMNS (b2 INT PATH '$'))) AS jt",
			"1|11|NULL 1|111|NULL 1|NULL|11 1|NULL|111 2|22|NULL 2|222|NULL 2|NULL|22 2|NULL|222 3|NULL|NULL"},
		{`SELECT * FROM JSON_TABLE('[{"a": "a_val", "b": [{"c": "c_val", "l": [1,2]}]}, {"a": "a_val", "b": [{"c": "c_val", "l": [11]}, {"c": "c_val", "l": [22]}]}]', '$[*]' COLUMNS (
			top_ord FOR ORDINALITY, apath VARCHAR(10) PATH '$.a', NESTED PATH '$.b[*]' COLUMNS (bpath VARCHAR(10) PATH '$.c', ord FOR ORDINALITY, NESTED PATH '$.l[*]' COLUMNS (lpath VARCHAR(10) PATH '$')))) AS jt`,
			"1|a_val|c_val|1|1 1|a_val|c_val|1|2 2|a_val|c_val|1|11 2|a_val|c_val|2|22"},
		{`SELECT c1, c2, JSON_EXTRACT(c3, '$.*') AS e FROM JSON_TABLE('[1]', '$[*]' COLUMNS (c1 INT PATH '$')) AS m, JSON_TABLE('{"a": 2, "b": {"x": 3}}', '$' COLUMNS (c2 INT PATH '$.a', c3 JSON PATH '$.b')) AS n`, "1|2|[3]"},

		{"SELECT t.id, jt.* FROM t, JSON_TABLE(t.doc, '$.items[*]' COLUMNS (i FOR ORDINALITY, a INT PATH '$.a' DEFAULT '0' ON EMPTY NULL ON ERROR, e INT EXISTS PATH '$.b', NESTED PATH '$.c[*]' COLUMNS (n FOR ORDINALITY, c INT PATH '$'))) AS jt",
			"1|1|1|1|1|10 1|1|1|1|2|20 1|2|NULL|0|NULL|NULL 1|3|0|1|NULL|NULL 4|1|5|0|1|7"},
		{"SELECT t.id, jt.a FROM t LEFT JOIN JSON_TABLE(doc, '$.items[*]' COLUMNS (a VARCHAR(10) PATH '$.a')) AS jt ON TRUE", "1|1 1|x 1|NULL 2|NULL 3|NULL 4|5"},
		{"SELECT t.id, jt.a FROM t LEFT JOIN JSON_TABLE(doc, '$.items[*]' COLUMNS (a INT PATH '$.a')) AS jt ON jt.a > 3 ORDER BY 1", "1|NULL 2|NULL 3|NULL 4|5"},
		{"SELECT x.id, y.c FROM t x JOIN t z USING (id) JOIN JSON_TABLE(x.doc, '$.items[*]' COLUMNS (c JSON PATH '$.c')) j JOIN JSON_TABLE(j.c, '$[*]' COLUMNS (c INT PATH '$')) y WHERE z.id > 0", "1|10 1|20 4|7"},
		{"SELECT id, (SELECT SUM(a) FROM JSON_TABLE(t.doc, '$.items[*]' COLUMNS (a INT PATH '$.a')) j) AS s FROM t", "1|1 2|NULL 3|NULL 4|5"},
		{"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM JSON_TABLE(t.doc, '$.items[*]' COLUMNS (a INT PATH '$.a')) j WHERE j.a = 5)", "4"},
		{"SELECT id, m FROM t, LATERAL (SELECT MAX(c) AS m FROM JSON_TABLE(t.doc, '$.items[*].c[*]' COLUMNS (c INT PATH '$')) j) AS l ORDER BY id", "1|20 2|NULL 3|NULL 4|7"},
		{"SELECT COUNT(*), SUM(id) FROM t, JSON_TABLE(doc, '$.items[*]' COLUMNS (a INT PATH '$.a')) j", "4|7"},
		{"WITH RECURSIVE r AS (SELECT CAST('{\"v\": 1, \"k\": [{\"v\": 2}, {\"v\": 3, \"k\": [{\"v\": 4}]}]}' AS JSON) AS d UNION ALL SELECT c FROM r, JSON_TABLE(r.d, '$.k[*]' COLUMNS (c JSON PATH '$')) AS x) SELECT d->'$.v' FROM r", "1 2 3 4"},

		{"SELECT * FROM JSON_TABLE('[1, -1, 2.7, \"12\", \"x\", true, null, [1], 300, 1e30]', '$[*]' COLUMNS (a TINYINT PATH '$', u TINYINT UNSIGNED PATH '$' DEFAULT '9' ON ERROR, c VARCHAR(3) PATH '$')) j",
			"1|1|1 -1|9|-1 3|3|2.7 12|12|12 NULL|9|x 1|1|NULL NULL|NULL|NULL NULL|9|NULL NULL|9|300 NULL|9|NULL"},
		{"SELECT * FROM JSON_TABLE('[\"2024-02-29\", \"2023-02-29\", \"2024-02-29 10:11:12.5\"]', '$[*]' COLUMNS (d DATE PATH '$' DEFAULT '\"1999-01-01\"' ON ERROR, t DATETIME(1) PATH '$')) j",
			"2024-02-29|2024-02-29 00:00:00.0 1999-01-01|NULL 2024-02-29|2024-02-29 10:11:12.5"},
		{"SELECT * FROM JSON_TABLE('[{\"a\": null}, {}]', '$[*]' COLUMNS (j JSON PATH '$.a' DEFAULT '0' ON EMPTY, i INT PATH '$.a' DEFAULT '0' ON EMPTY ERROR ON ERROR)) j", "null|NULL 0|0"},
		{"SELECT * FROM JSON_TABLE('[[1, 2], [3]]', '$[*]' COLUMNS (j JSON PATH '$[*]', i INT PATH '$[*]' DEFAULT '-1' ON ERROR, w JSON PATH '$[0 to 1]')) j", "[1, 2]|-1|[1, 2] 3|3|3"},
		{"SELECT * FROM JSON_TABLE('{\"b\": {\"a\": 1}, \"a\": [1, {\"a\": 2}]}', '$**.a' COLUMNS (i FOR ORDINALITY, j JSON PATH '$')) j", `1|[1, {"a": 2}] 2|2 3|1`},
		{"SELECT * FROM JSON_TABLE(NULL, '$' COLUMNS (i FOR ORDINALITY)) j", ""},
		{"SELECT * FROM JSON_TABLE('null', '$' COLUMNS (i FOR ORDINALITY, a INT PATH '$')) j", "1|NULL"},
		{"SELECT a FROM JSON_TABLE('[\"A\", \"b\"]', '$[*]' COLUMNS (a VARCHAR(5) COLLATE utf8mb4_0900_ai_ci PATH '$')) j WHERE a = 'a'", "A"},
		{"SELECT a FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$', b INT PATH '$.b' DEFAULT -5 ON EMPTY)) j WHERE b = -5 LIMIT 1", "1"},

		{"PREPARE p FROM 'SELECT a + ? FROM JSON_TABLE(?, ''$[*]'' COLUMNS (a INT PATH ''$'')) j WHERE a > ?'; SET @x = 10, @d = '[1, 2, 3]', @y = 1; EXECUTE p USING @x, @d, @y", "12 13"},
		{"CREATE VIEW v AS SELECT t.id, j.* FROM t LEFT JOIN JSON_TABLE(doc, '$.items[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a' DEFAULT '-1' ON EMPTY DEFAULT '-2' ON ERROR, NESTED PATH '$.c[*]' COLUMNS (c INT PATH '$'))) j ON TRUE; SELECT * FROM v WHERE n > 1 OR c > 10 ORDER BY id, n",
			"1|1|1|20 1|2|-2|NULL 1|3|-1|NULL"},
		{"CREATE TABLE u AS SELECT id, j.c FROM t, JSON_TABLE(doc, '$.items[*].c[*]' COLUMNS (c SMALLINT UNSIGNED PATH '$')) j; UPDATE u, JSON_TABLE('[{\"k\": 10, \"v\": 11}]', '$[*]' COLUMNS (k INT PATH '$.k', v INT PATH '$.v')) j SET u.c = j.v WHERE u.c = j.k; DELETE u FROM u JOIN JSON_TABLE('[20]', '$[*]' COLUMNS (k INT PATH '$')) j ON u.c = j.k; SELECT * FROM u", "1|11 4|7"},
		{"INSERT INTO u SELECT 9, a FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) j; SELECT COUNT(*) FROM u WHERE id = 9", "2"},
	} {
		got := strings.ReplaceAll(strings.TrimSuffix(mustRun(t, s, tc.sql), "\n"), "\n", " ")
		if got != tc.want {
			t.Errorf("%s:\n%s, want\n%s", tc.sql, got, tc.want)
		}
	}
}

func TestJSONTableErrors(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, jsonTables)
	for _, tc := range []struct {
		marked string // with the position, if there is one
		code   sqlerr.Code
	}{
		{"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$'))", 3667},
		{"SELECT * FROM JSON_TABLE('[1]', ‸'$[*' COLUMNS (a INT PATH '$')) j", 3143},
		{"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (b INT PATH '$',\n a INT PATH ‸'a')) j", 3143},
		{"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$' DEFAULT ‸'x' ON EMPTY)) j", 1067},
		{"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$' DEFAULT ‸'[1]' ON ERROR)) j", 1067},
		{"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$', NESTED PATH '$' COLUMNS (A INT PATH '$'))) j", 1060},
		{"SELECT * FROM JSON_TABLE('[1', '$[*]' COLUMNS (a INT PATH '$' NULL ON ERROR)) j", 3141},
		{"SELECT * FROM JSON_TABLE(‸1, '$[*]' COLUMNS (a INT PATH '$')) j", 3146},
		{"SELECT * FROM JSON_TABLE(‸nope, '$[*]' COLUMNS (a INT PATH '$')) j, t", 1054},
		{"SELECT * FROM JSON_TABLE(‸t.doc, '$[*]' COLUMNS (a INT PATH '$')) j, t", 1054},
		{"SELECT * FROM t RIGHT JOIN JSON_TABLE(‸t.doc, '$[*]' COLUMNS (a INT PATH '$')) j ON TRUE", 1054},
		{"SELECT * FROM t, JSON_TABLE(doc, '$[*]' COLUMNS (a INT PATH '$')) j, JSON_TABLE(doc, '$[*]' COLUMNS (a INT PATH '$')) j", 1066},
		{"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a DATE EXISTS PATH ‸'$')) j", 1235},
		{"SELECT * FROM t, JSON_TABLE(doc, '$' COLUMNS (a INT PATH '$.a' ERROR ON EMPTY)) j", 3665},
		{"SELECT COUNT(*) FROM t, JSON_TABLE(doc, '$' COLUMNS (a INT PATH '$.a' ERROR ON EMPTY)) j", 3665},
		{"SELECT * FROM JSON_TABLE('[[1]]', '$[*]' COLUMNS (a INT PATH '$' ERROR ON ERROR)) j", 3666},
		{"SELECT * FROM JSON_TABLE('[[1, 2]]', '$[*]' COLUMNS (a INT PATH '$[*]' ERROR ON ERROR)) j", 3666},
		{"SELECT * FROM JSON_TABLE('[300]', '$[*]' COLUMNS (a TINYINT PATH '$' ERROR ON ERROR)) j", 3669},
		{"SELECT * FROM JSON_TABLE('[\"x\"]', '$[*]' COLUMNS (a INT PATH '$' ERROR ON ERROR)) j", 3156},
		{"SELECT * FROM JSON_TABLE('[\"abc\"]', '$[*]' COLUMNS (a CHAR(2) PATH '$' ERROR ON ERROR)) j", 1406},
		{"UPDATE t, JSON_TABLE(doc, '$' COLUMNS (a INT PATH '$.a')) j SET j.a = 1", 1288},
		{"SELECT * FROM t, JSON_TABLE(doc, '$.items[*]' COLUMNS (a INT PATH '$.a')) j WHERE ‸nope = 1", 1054},
	} {
		sql := strings.ReplaceAll(tc.marked, "‸", "")
		_, err := run(context.Background(), s, sql)
		if e := sqlerr.From(err); err == nil || e.Code != tc.code || sql != tc.marked && e.Pos.Offset != strings.Index(tc.marked, "‸") {
			t.Errorf("%s: %v, want error %d", tc.marked, err, tc.code)
		}
	}
}

// testdata/jsontable.txt holds documents and statements that were generated, with the sorted rows or the error that MariaDB 10.11 has given for each, its
// numbers of errors replaced by MySQL's. They hold no strings to be stored in numbers, of which it makes 0 where MySQL documents ON ERROR, and no
// JSON columns with several values, which it refuses where MySQL documents an array.
func TestJSONTableAsMariaDB(t *testing.T) {
	raw, err := os.ReadFile("testdata/jsontable.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 2})
	statements := 0
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		sql, rest, _ := strings.Cut(block, "\n")
		if strings.HasPrefix(sql, "INSERT") {
			mustRun(t, s, "DROP TABLE IF EXISTS t; CREATE TABLE t (id INT, doc LONGTEXT); "+sql)
			continue
		}
		statements++
		got, err := run(context.Background(), s, sql)
		if number, fails := strings.CutPrefix(rest, "! "); fails {
			if err == nil || strconv.Itoa(int(sqlerr.From(err).Code)) != number {
				t.Errorf("%s: %v, want error %s", sql, err, number)
			}
			continue
		}
		rows := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		slices.Sort(rows)
		if err != nil || strings.Join(rows, "\n") != rest {
			t.Errorf("%s:\n%s\n%v, want\n%s", sql, strings.Join(rows, "\n"), err, rest)
		}
	}
	if statements < 100 {
		t.Errorf("only %d statements", statements)
	}
}

// However many rows a document makes, what is held is the document.
func TestJSONTableStreams(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2, MemoryLimit: 300 << 20})
	const rows, wide = 200000, 100
	doc := fmt.Sprintf("CONCAT('[', REPEAT('{\"a\": 1}, ', %d), '{}]')", rows-1)
	many := fmt.Sprintf("JSON_TABLE(%s, '$[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a' DEFAULT '2' ON EMPTY, j JSON PATH '$')) j", doc)
	if got, want := mustRun(t, s, "SELECT COUNT(*), SUM(a), MAX(n), SUM(LENGTH(j)) FROM "+many), fmt.Sprintf("%d|%d|%d|%d\n", rows, rows+1, rows, 8*(rows-1)+2); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Twenty million rows, of 2 KB each, of one document.
	deep := fmt.Sprintf("JSON_TABLE(JSON_ARRAY(REPEAT('x', 2000), CAST(CONCAT('[', REPEAT('1, ', %d), '1]') AS JSON)), '$' COLUMNS (x TEXT PATH '$[0]', w JSON PATH '$[0]', NESTED PATH '$[1][*]' COLUMNS (n FOR ORDINALITY)))", rows-1)
	sql := "SELECT SUM(n), SUM(LENGTH(x)), SUM(LENGTH(w)) FROM " + deep + fmt.Sprintf(" j, JSON_TABLE(CONCAT('[', REPEAT('1,', %d), '1]'), '$[*]' COLUMNS (m FOR ORDINALITY)) k WHERE m <= 5", wide-1)
	if got, want := mustRun(t, s, sql), fmt.Sprintf("%d|%d|%d\n", 5*rows*(rows+1)/2, 5*2000*rows, 5*2002*rows); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	begin := time.Now()
	mustRun(t, s, "SELECT n FROM "+many+" LIMIT 1")
	t.Logf("the first row came after %v", time.Since(begin))
	s = newSession(t, database.Options{MemoryLimit: 20 << 20})
	if _, err := run(context.Background(), s, "SELECT COUNT(*) FROM "+many); err == nil || sqlerr.From(err).Kind != sqlerr.Resource {
		t.Errorf("a document that needs more than the limit: %v", err)
	}
}

func TestExplainJSONTable(t *testing.T) {
	s := newSession(t, database.Options{Device: gpu.Never})
	mustRun(t, s, jsonTables)
	const sql = "SELECT id, a FROM t LEFT JOIN JSON_TABLE(doc, '$.items[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a' DEFAULT '0' ON EMPTY, NESTED PATH '$.c' COLUMNS (c JSON EXISTS PATH '$'))) j ON TRUE WHERE id < 3"
	const shown = "outer unnest j JSON_TABLE(t.doc, '$.items[*]' COLUMNS (n FOR ORDINALITY, a INT PATH '$.a' DEFAULT '0' ON EMPTY, NESTED PATH '$.c' COLUMNS (c JSON EXISTS PATH '$'))) (~"
	if got := mustRun(t, s, "EXPLAIN "+sql); !strings.Contains(got, shown) || !strings.Contains(got, "scan main.t (id, doc) where t.id < 3") {
		t.Error(got)
	}
	if got := mustRun(t, s, "EXPLAIN ANALYZE "+sql); !strings.Contains(got, "unnest") {
		t.Error(got)
	}
}
