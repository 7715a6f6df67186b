package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// JSON functions give the same for a path that all rows share as for paths of a column, in which they look row by row.
func TestJSONPathsOfColumns(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, `CREATE TABLE d (id INT, js TEXT); INSERT INTO d VALUES (1, '{"a": [1, "x", {"b": 2}], "b": {"c": "x", "d": null}}'), (2, '{"a": {"k": 1, "j": 2, "k": 3}, "b": 1.50}'),
		(3, '{"a": "x\\u0041", "b": [[12], "x"]}'), (4, NULL), (5, '[1, 2, 12]'), (6, '"x"'), (7, '{"b": 18446744073709551615, "a": -0}'), (8, '  {"a" : [ ] , "b":{ } } '), (9, '{"a": true, "b": 12.0}'), (10, 'null')`)
	mustRun(t, s, "CREATE TABLE p AS SELECT '$' AS p UNION ALL SELECT '$.a' UNION ALL SELECT '$.b' UNION ALL SELECT '$.a[0]' UNION ALL SELECT '$.b.c' UNION ALL SELECT '$[1]' UNION ALL SELECT '$.b[last]'")
	functions := []string{
		"JSON_LENGTH(js, %s)", "JSON_KEYS(js, %s)", `JSON_CONTAINS(js, '"x"', %s)`, `JSON_CONTAINS(js, '12', %s)`, `JSON_CONTAINS(js, '{"c": "x"}', %s)`, `JSON_CONTAINS(js, '12.0', %s)`,
		"JSON_CONTAINS_PATH(js, 'one', %s)", "JSON_CONTAINS_PATH(js, 'all', %s, '$.a')", "JSON_CONTAINS_PATH(js, 'ONE', '$.b', %s)", "JSON_VALUE(js, %s)", "JSON_EXTRACT(js, %s)",
		"JSON_TYPE(JSON_EXTRACT(js, %s))", "JSON_VALID(JSON_EXTRACT(js, %s))", "JSON_LENGTH(CAST(js AS JSON), %s)",
	}
	for _, path := range strings.Fields(mustRun(t, s, "SELECT p FROM p")) {
		for _, f := range functions {
			same := fmt.Sprintf("SELECT id, %s FROM d ORDER BY id", fmt.Sprintf(f, "'"+path+"'"))
			each := fmt.Sprintf("SELECT id, %s FROM d JOIN p ON p.p = '%s' ORDER BY id", fmt.Sprintf(f, "CONCAT(p.p, SUBSTRING('', id))"), path)
			if strings.HasPrefix(f, "JSON_VALUE") { // its path is a literal
				each = fmt.Sprintf("SELECT id, IF(JSON_TYPE(JSON_EXTRACT(js, '%s')) IN ('ARRAY', 'OBJECT', 'NULL'), NULL, JSON_UNQUOTE(JSON_EXTRACT(js, '%s'))) FROM d ORDER BY id", path, path)
			}
			if got, want := mustRun(t, s, same), mustRun(t, s, each); got != want {
				t.Errorf("%s gives\n%s, and row by row\n%s", same, got, want)
			}
		}
	}
	for sql, want := range map[string]string{
		"SELECT GROUP_CONCAT(JSON_LENGTH(js) ORDER BY id), GROUP_CONCAT(JSON_TYPE(js) ORDER BY id) FROM d": "2,2,2,3,1,2,2,2,1|OBJECT,OBJECT,OBJECT,ARRAY,STRING,OBJECT,OBJECT,OBJECT,NULL",
		"SELECT GROUP_CONCAT(JSON_LENGTH(js, '$.a') ORDER BY id) FROM d":                                   "3,2,1,1,0,1",
		"SELECT SUM(JSON_VALID(js)), SUM(JSON_VALID(CONCAT(js, ','))) FROM d":                              "9|0",
	} {
		if got := strings.TrimSpace(mustRun(t, s, sql)); got != want {
			t.Errorf("%s gives %s, want %s", sql, got, want)
		}
	}
	mustRun(t, s, "INSERT INTO d VALUES (11, '{\"a\": 1')")
	for sql, want := range map[string]string{
		"SELECT JSON_LENGTH(js, '$.a') FROM d":           "Invalid JSON text in argument 1 to function json_length",
		"SELECT JSON_CONTAINS(js, '{', '$.') FROM d":     "Invalid JSON text in argument 2 to function json_contains",
		"SELECT JSON_CONTAINS(js, '1', '$.a') FROM d":    "Invalid JSON text in argument 1 to function json_contains",
		"SELECT JSON_CONTAINS_PATH(js, 'x', '$') FROM d": "oneOrAll",
		"SELECT JSON_LENGTH(js, '$.') FROM d":            "Invalid JSON path expression",
	} {
		if _, err := run(t.Context(), s, sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", sql, err, want)
		}
	}
}
