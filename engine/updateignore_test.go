package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// The warnings that statements with IGNORE leave, as MariaDB counts and numbers them (its 4025 for CHECK is MySQL's 3819); what they do to rows is in test/sqllogic.
func TestIgnoreWarnings(t *testing.T) {
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, `
		CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, s TINYINT, u VARCHAR(5), ts TIMESTAMP NULL DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP, UNIQUE KEY (u));
		INSERT INTO t (id, n, s, u) VALUES (1,1,1,'a'),(2,2,2,'b'),(3,3,3,'c'),(4,4,4,'d');
		CREATE TABLE c (id INT PRIMARY KEY, tid INT, v INT NOT NULL, CHECK (v < 100), FOREIGN KEY (tid) REFERENCES t (id));
		INSERT INTO c VALUES (1,1,1),(2,1,2),(3,2,3),(4,3,4)`)
	for _, c := range []struct {
		sql      string
		affected int64
		want     string // the first words of each warning
	}{
		{"UPDATE IGNORE t SET n = NULL, s = 500 WHERE id <= 3", 3, `
			1048 Column 'n' cannot be null
			1264 Out of range value for column 's' at row 1
			1048 Column 'n' cannot be null
			1264 Out of range value for column 's' at row 2
			1048 Column 'n' cannot be null
			1264 Out of range value for column 's' at row 3`},
		{"UPDATE IGNORE t SET n = 'seven' ORDER BY id", 1, `
			1366 Incorrect integer value: 'seven' for column 'n' at row 1
			1366 Incorrect integer value: 'seven' for column 'n' at row 2
			1366 Incorrect integer value: 'seven' for column 'n' at row 3
			1366 Incorrect integer value: 'seven' for column 'n' at row 4`},
		{"UPDATE IGNORE t SET s = '1000x', u = 'toolong' WHERE id = 1", 1, `
			1264 Out of range value for column 's' at row 1
			1265 Data truncated for column 'u' at row 1`},
		{"UPDATE IGNORE t SET s = s + 200 ORDER BY id", 1, `
			1264 Out of range value for column 's' at row 1
			1264 Out of range value for column 's' at row 2
			1264 Out of range value for column 's' at row 3
			1264 Out of range value for column 's' at row 4`},
		{"UPDATE IGNORE t JOIN c ON c.tid = t.id SET c.v = 150", 0, strings.Repeat("3819 Check constraint 'c_chk_1' is violated.\n", 4)},
		{"UPDATE IGNORE t JOIN c ON c.tid = t.id SET c.v = NULL", 4, strings.Repeat("1048 Column 'v' cannot be null\n", 4)},
		{"UPDATE IGNORE t JOIN c ON c.tid = t.id SET t.id = t.id + 10", 0, strings.Repeat("1451 Cannot delete or update a parent row\n", 3)},
		{"UPDATE IGNORE c SET tid = 99 WHERE id >= 3", 0, strings.Repeat("1452 Cannot add or update a child row\n", 2)},
		{"DELETE IGNORE FROM t WHERE id IN (1, 4)", 1, "1451 Cannot delete or update a parent row"},
		{"DELETE IGNORE t, c FROM t JOIN c ON c.tid = t.id WHERE c.id = 3", 1, "1451 Cannot delete or update a parent row"},
		{"INSERT IGNORE INTO t (id, n, s, u) VALUES (1,'x',900,'a'),(5,NULL,1000,'qqqqqqqqqq'),(6,'y','y','b')", 1, `
			1366 Incorrect integer value: 'x' for column 'n' at row 1
			1366 Incorrect integer value: 'y' for column 'n' at row 3
			1264 Out of range value for column 's' at row 1
			1264 Out of range value for column 's' at row 2
			1366 Incorrect integer value: 'y' for column 's' at row 3
			1265 Data truncated for column 'u' at row 2
			1062 Duplicate entry '1' for key 't.PRIMARY'
			1048 Column 'n' cannot be null
			1062 Duplicate entry 'b' for key 't.u'`},
		{"INSERT IGNORE INTO c SELECT id + 10, id, 'many' FROM t WHERE id < 3", 2, `
			1366 Incorrect integer value: 'many' for column 'v'
			1366 Incorrect integer value: 'many' for column 'v'`},
	} {
		mustRun(t, s, c.sql)
		affected := s.Last.RowCount
		var got []string
		for _, w := range s.Warnings() {
			got = append(got, fmt.Sprintf("%d %s", w.Code, w.Message))
		}
		want := strings.Split(strings.TrimSpace(c.want), "\n")
		ok := affected == c.affected && len(got) == len(want)
		for i := range got {
			ok = ok && strings.HasPrefix(got[i], strings.TrimSpace(want[i]))
		}
		if !ok {
			t.Errorf("%s: %d rows, warnings\n%s\nwant %d,\n%s", c.sql, affected, strings.Join(got, "\n"), c.affected, c.want)
		}
	}
	if got := mustRun(t, s, "SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE ts > '2020-01-01'"); got != "1,2,3\n" {
		t.Errorf("ON UPDATE CURRENT_TIMESTAMP changed the rows %s", got)
	}
}
