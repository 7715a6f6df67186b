package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// The first two are the Reference Manual's (14.17.3); the others follow from its rules.
func TestJSONValue(t *testing.T) {
	s := session(t, Options{})
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
