package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The first two are the Reference Manual's (14.17.3); the others follow from its rules.
func TestJSONValue(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, `CREATE TABLE j (id INT, d JSON);
		INSERT INTO j VALUES (1, '{"k": 3, "s": "abc"}'), (2, '{"k": "z"}'), (3, NULL), (4, '{}'), (5, '{"k": null}'), (6, '{"k": [1]}'), (7, '{"k": -1}'), (8, '{"k": 2.7}')`)
	for _, tc := range []struct{ sql, want string }{
		{`SELECT JSON_VALUE('{"fname": "Joe", "lname": "Palmer"}', '$.fname')`, "Joe"},
		{`SELECT JSON_VALUE('{"item": "shoes", "price": "49.95"}', '$.price' RETURNING DECIMAL(4,2)) AS price`, "49.95"},
		{"SELECT JSON_VALUE(d, '$.k' RETURNING UNSIGNED DEFAULT 70 ON EMPTY DEFAULT 99 ON ERROR) FROM j ORDER BY id", "3 99 NULL 70 NULL 99 99 3"},
		{"SELECT JSON_VALUE(d, '$.k' RETURNING SIGNED) FROM j ORDER BY id", "3 NULL NULL NULL NULL NULL -1 3"},
		{"SELECT JSON_VALUE(d, '$.k' DEFAULT 'none' ON EMPTY) FROM j ORDER BY id", "3 z NULL none NULL NULL -1 2.7"},
		{"SELECT JSON_VALUE(d, '$.k' RETURNING JSON ERROR ON ERROR) FROM j ORDER BY id", `3 "z" NULL NULL null [1] -1 2.7`},
		{"SELECT JSON_VALUE(d, '$.k' RETURNING CHAR(2) DEFAULT '' ON EMPTY) FROM j WHERE id < 5 ORDER BY id", "3 z NULL "},
		{"SELECT SUM(JSON_VALUE(d, '$.k' RETURNING DOUBLE)) FROM j", "4.7"},
		{"SELECT JSON_VALUE('[1, 2]', '$[*]' DEFAULT 'two' ON ERROR)", "two"},
		{"SELECT JSON_VALUE('[true, false]', '$[0]' RETURNING SIGNED)", "1"},
		{"SELECT JSON_VALUE('[300]', '$[0]' RETURNING CHAR(2) DEFAULT '?' ON ERROR)", "?"},
		{"SELECT JSON_VALUE('[\"2020-02-28\"]', '$[0]' RETURNING DATE) + INTERVAL 1 DAY", "2020-02-29"},
		{"SELECT JSON_VALUE('[\"x\"]', '$[0]' RETURNING DATE DEFAULT DATE '1999-01-01' ON ERROR)", "1999-01-01"},
		{"SELECT JSON_VALUE(JSON_VALUE('{\"a\": {\"b\": 1}}', '$.a' RETURNING JSON), '$.c' RETURNING SIGNED DEFAULT -7 ON EMPTY) + 1", "-6"},
		{"SELECT JSON_VALUE(NULL, '$' ERROR ON EMPTY ERROR ON ERROR)", "NULL"},
		{"CREATE VIEW v AS SELECT JSON_VALUE(d, '$.k' RETURNING SIGNED DEFAULT 0 ON EMPTY) AS k FROM j; SELECT SUM(k) FROM v", "5"},
		{"CREATE TABLE g (d JSON, k INT AS (JSON_VALUE(d, '$.k' RETURNING SIGNED DEFAULT 8 ON EMPTY))); INSERT INTO g (d) VALUES ('{\"k\": 5}'), ('{}'); SELECT k FROM g", "5 8"},
		{"PREPARE p FROM 'SELECT JSON_VALUE(?, ''$'' RETURNING SIGNED DEFAULT 4 ON ERROR)'; SET @a = '\"x\"'; EXECUTE p USING @a", "4"},
	} {
		got := strings.ReplaceAll(strings.TrimSuffix(mustRun(t, s, tc.sql), "\n"), "\n", " ")
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
	for _, tc := range []struct {
		sql, at string
		code    sqlerr.Code
	}{
		{"SELECT JSON_VALUE('{}', '$.a' ERROR ON EMPTY)", "", 3966},
		{"SELECT JSON_VALUE('[1, 2]', '$[*]' ERROR ON ERROR)", "", 3967},
		{"SELECT JSON_VALUE('[\"x\"]', '$[0]' RETURNING SIGNED ERROR ON ERROR)", "", 3156},
		{"SELECT JSON_VALUE('x', '$' NULL ON ERROR)", "", 3141},
		{"SELECT JSON_VALUE('1', '$', 3)", "", 1582},
		{"SELECT JSON_VALUE('1', '$' RETURNING)", ")", 1064},
		{"SELECT JSON_VALUE('1', '$' RETURNING BLURB)", "BLURB", 1064},
		{"SELECT JSON_VALUE('1', '$' DEFAULT ON EMPTY)", "DEFAULT", 1064},
		{"SELECT JSON_VALUE('1', '$' NULL ON ERROR NULL ON EMPTY)", "NULL ON EMPTY", 1064},
		{"SELECT JSON_VALUE('1', '$' RETURNING SIGNED NULL ON EMPTY) FROM j WHERE nope", "nope", 1054},
	} {
		_, err := run(context.Background(), s, tc.sql)
		if e := sqlerr.From(err); err == nil || e.Code != tc.code || tc.at != "" && !strings.HasPrefix(tc.sql[e.Pos.Offset:], tc.at) {
			t.Errorf("%s: %v, want error %d at %q", tc.sql, err, tc.code, tc.at)
		}
	}
	const shown = "CREATE VIEW `v` (`k`) AS SELECT JSON_VALUE(`j`.`d`, _UTF8MB4'$.k' RETURNING SIGNED DEFAULT 0 ON EMPTY) AS `k` FROM `j`"
	if got := mustRun(t, s, "SHOW CREATE VIEW v"); !strings.Contains(got, strings.Replace(shown, "_UTF8MB4", "", 1)) {
		t.Error(got)
	}
	list, err := s.Parse("SELECT JSON_VALUE(d, '$.k'\nRETURNING SIGNED), 1 FROM j")
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Execute(context.Background(), list[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if got := res.Columns[0].Name; got != "JSON_VALUE(d, '$.k'\nRETURNING SIGNED)" {
		t.Errorf("the column is called %q", got)
	}
}

// As in MySQL: a DECIMAL keeps its digits in a JSON value, however often it is read again; a number of a string is a DOUBLE.
func TestDecimalsInJSON(t *testing.T) {
	s := newSession(t, database.Options{})
	mustRun(t, s, `CREATE TABLE t (d DECIMAL(10,2), g INT, j JSON); INSERT INTO t VALUES (2.00, 1, '{"a": 2.00}'), (3.50, 1, JSON_ARRAY(1.10)), (NULL, 2, NULL); CREATE TABLE kept AS SELECT JSON_ARRAYAGG(d) AS a FROM t`)
	for _, tc := range []struct{ sql, want string }{
		{"SELECT JSON_ARRAYAGG(d) FROM t", "[2.00, 3.50, null]"},
		{"SELECT JSON_OBJECTAGG(g, d) FROM t WHERE d < 3", `{"1": 2.00}`},
		{"SELECT g, JSON_ARRAYAGG(d) FROM t GROUP BY g ORDER BY g", "1|[2.00, 3.50] 2|[null]"},
		{"SELECT JSON_ARRAYAGG(JSON_ARRAY(d)) FROM t", "[[2.00], [3.50], [null]]"},
		{"SELECT JSON_ARRAYAGG(JSON_OBJECT('d', d)) FROM t", `[{"d": 2.00}, {"d": 3.50}, {"d": null}]`},
		{"SELECT JSON_SET(JSON_OBJECT('b', d), '$.a', d) FROM t WHERE d < 3", `{"a": 2.00, "b": 2.00}`},
		{"SELECT JSON_ARRAY_APPEND(JSON_ARRAY(d), '$', 1.00), JSON_INSERT(JSON_ARRAY(d), '$[1]', 0.10), JSON_REPLACE(JSON_ARRAY(d, d), '$[0]', 1.0) FROM t WHERE d < 3", "[2.00, 1.00]|[2.00, 0.10]|[1.0, 2.00]"},
		{"SELECT JSON_REMOVE(JSON_ARRAY(1.0, 2.00, 3.000), '$[1]'), JSON_MERGE_PRESERVE(JSON_ARRAY(d), '[2.00]'), JSON_MERGE_PATCH(JSON_OBJECT('a', d), '{\"b\": 1.50}') FROM t WHERE d < 3", `[1.0, 3.000]|[2.00, 2.0]|{"a": 2.00, "b": 1.5}`},
		{"SELECT JSON_EXTRACT(JSON_ARRAY(d), '$[0]'), JSON_TYPE(JSON_EXTRACT(JSON_ARRAY(d), '$[0]')), JSON_UNQUOTE(JSON_EXTRACT(JSON_ARRAY(d), '$[0]')), JSON_VALUE(JSON_ARRAY(d), '$[0]') FROM t WHERE d < 3", "2.00|DECIMAL|2.00|2.00"},
		{"SELECT JSON_EXTRACT(a, '$[0]'), a->'$[1]' FROM kept", "2.00|3.50"},
		{"SELECT JSON_EXTRACT(x.a, '$[0]') FROM (SELECT JSON_ARRAYAGG(d) AS a FROM t) AS x", "2.00"},
		{"SELECT j, JSON_EXTRACT(j, '$'), JSON_ARRAY(j) FROM t", `{"a": 2.0}|{"a": 2.0}|[{"a": 2.0}] [1.10]|[1.10]|[[1.10]] NULL|NULL|[null]`},
		{"SELECT JSON_EXTRACT('{\"a\": 2.00}', '$.a'), CAST('[2.00, 1e2]' AS JSON), JSON_EXTRACT(CAST('[2.00]' AS JSON), '$[0]')", "2.0|[2.0, 100.0]|2.0"},
		{"SELECT CAST(d AS JSON), CAST(1e0 AS JSON), CAST('[1e400]' AS JSON), CAST('\"<2.00>\"' AS JSON) FROM t WHERE d < 3", `2.00|1.0|[1e400]|"<2.00>"`},
		{"SELECT JSON_ARRAYAGG(1e0), JSON_ARRAYAGG(18446744073709551615), JSON_CONTAINS(JSON_ARRAYAGG(d), '2.0') FROM t WHERE d < 3", "[1.0]|[18446744073709551615]|1"},
	} {
		got := strings.ReplaceAll(strings.TrimSuffix(mustRun(t, s, tc.sql), "\n"), "\n", " ")
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.sql, got, tc.want)
		}
	}
}
