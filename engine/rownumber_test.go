package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// TestRowNumbers looks at the row that a message names: that of VALUES or of what is read, however many batches and
// workers there are.
func TestRowNumbers(t *testing.T) {
	s := newSession(t, database.Options{Threads: 3})
	mustRun(t, s, "CREATE TABLE t (a INT, s VARCHAR(4)); CREATE TABLE u (n INT, s VARCHAR(20)); "+
		"CREATE TABLE k (id INT PRIMARY KEY, n TINYINT); INSERT INTO k VALUES (1, 1), (2, 2)")
	many := func(bad int) string {
		var b strings.Builder
		for i := 1; i <= 5000; i++ {
			if i > 1 {
				b.WriteByte(',')
			}
			text := "ok"
			if i == bad {
				text = "too long"
			}
			fmt.Fprintf(&b, "(%d, '%s')", i, text)
		}
		return b.String()
	}
	mustRun(t, s, "INSERT INTO u VALUES "+many(4321))
	for _, c := range []struct{ sql, want string }{
		{"INSERT INTO t VALUES (1, 'ok'), (2, 'too long')", "Data too long for column 's' at row 2"},
		{"INSERT INTO t VALUES " + many(4999), "Data too long for column 's' at row 4999"},
		{"INSERT INTO t VALUES (1, 'ok'), (2, 'ok'), (CONCAT('x', 1), 'ok')", "Incorrect integer value: 'x1' for column 'a' at row 3"},
		{"INSERT INTO t SELECT * FROM u", "Data too long for column 's' at row 4321"},
		{"INSERT INTO t SELECT * FROM u ORDER BY n DESC", "Data too long for column 's' at row 680"},
		{"INSERT INTO k VALUES (1, 1), (8, 1), (2, 2) ON DUPLICATE KEY UPDATE n = n * 100", "Out of range value for column 'n' at row 3"},
		{"INSERT INTO k SELECT a, a FROM (SELECT 1 AS a UNION SELECT 2) x ON DUPLICATE KEY UPDATE n = IF(id = 1, n + 1, 'x')", "Incorrect integer value: 'x' for column 'n' at row 2"},
		// The rows of a join and of a union have no numbers.
		{"INSERT INTO t SELECT 10, 'a' UNION ALL SELECT n, s FROM u", "Data too long for column 's'"},
		{"INSERT INTO t SELECT x.n, y.s FROM u x JOIN u y ON x.n DIV 2 = y.n DIV 2", "Data too long for column 's'"},
	} {
		_, err := run(context.Background(), s, c.sql)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %s", c.sql, err, c.want)
		}
	}
	if rows := values(t, s, "SELECT COUNT(*) FROM t"); rows[0][0].I != 0 {
		t.Errorf("%d rows were stored", rows[0][0].I)
	}
}
