// Package statements compares what statements do to tables with MariaDB: its tests play random ones, of a kind that package fuzz
// does not draw, in both engines and compare the tables after each.
package statements

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/test/oracle/mariadb"
)

// engines opens a new database in Radish and one in MariaDB, each with one connection; it skips the test where there is no MariaDB.
func engines(t *testing.T) (radish, maria *sql.Conn) {
	t.Helper()
	server, err := mariadb.Start(t.Context())
	if errors.Is(err, mariadb.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	one, err := sql.Open("radish", "")
	if err != nil {
		t.Fatal(err)
	}
	two, err := server.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close(); two.Close() })
	if radish, err = one.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if maria, err = two.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return radish, maria
}

// seed is RADISH_FUZZ_SEED, or 1.
func seed(t *testing.T) uint64 {
	n, err := strconv.ParseUint(os.Getenv("RADISH_FUZZ_SEED"), 10, 64)
	if err != nil {
		n = 1
	}
	t.Logf("RADISH_FUZZ_SEED=%d", n)
	return n
}

// rows returns what a query gives, as text.
func rows(t *testing.T, c *sql.Conn, query string) string {
	t.Helper()
	rs, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rs.Close()
	names, err := rs.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for rs.Next() {
		values := make([]sql.NullString, len(names))
		to := make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rs.Scan(to...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if v.Valid {
				fmt.Fprintf(&out, "%q ", v.String)
			} else {
				out.WriteString("NULL ")
			}
		}
		out.WriteByte('\n')
	}
	if err := rs.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// both runs a statement in both engines and fails unless both take it or both refuse it. It says whether they took it.
func both(t *testing.T, radish, maria *sql.Conn, statement string) bool {
	t.Helper()
	_, err := radish.ExecContext(context.Background(), statement)
	_, mariaErr := maria.ExecContext(context.Background(), statement)
	if (err == nil) != (mariaErr == nil) {
		t.Fatalf("%s: Radish says %v, MariaDB %v", statement, err, mariaErr)
	}
	return err == nil
}

// TestForeignKeys changes rows of tables that refer to each other by all kinds of foreign keys. A statement does not write rows of one
// table that refer to each other, as MariaDB checks them one by one, and does not move keys onto each other.
func TestForeignKeys(t *testing.T) {
	radish, maria := engines(t)
	first := seed(t)
	taken, refused := 0, 0
	for round := range uint64(40) {
		r := rand.New(rand.NewPCG(first, round))
		action := func() string { return []string{"RESTRICT", "CASCADE", "SET NULL", "NO ACTION"}[r.IntN(4)] }
		for _, s := range []string{
			"DROP TABLE IF EXISTS c, b, a",
			"CREATE TABLE a (id INT PRIMARY KEY, n VARCHAR(5), UNIQUE (n))",
			fmt.Sprintf("CREATE TABLE b (id INT PRIMARY KEY, n INT, CONSTRAINT bn FOREIGN KEY (n) REFERENCES a (id) ON DELETE %s ON UPDATE %s)", action(), action()),
			fmt.Sprintf("CREATE TABLE c (id INT PRIMARY KEY, n INT, m VARCHAR(9), FOREIGN KEY (n) REFERENCES b (id) ON DELETE %s ON UPDATE %s, FOREIGN KEY (m) REFERENCES a (n) ON DELETE %s ON UPDATE %s)",
				action(), action(), action(), action()),
		} {
			both(t, radish, maria, s)
		}
		for step := range 120 {
			table, id, other := string("abc"[r.IntN(3)]), r.IntN(12), r.IntN(14)
			text := fmt.Sprintf("'%d'", other)
			n := strconv.Itoa(other)
			if table == "a" {
				n = text
			}
			var s string
			switch r.IntN(13) {
			case 0, 1:
				s = fmt.Sprintf("INSERT INTO %s (id, n) VALUES (%d, %s), (%d, NULL)", table, id, n, r.IntN(12))
			case 2:
				s = fmt.Sprintf("INSERT INTO c (id, n, m) VALUES (%d, %d, '%d')", id, other, r.IntN(14))
			case 3:
				s = fmt.Sprintf("INSERT IGNORE INTO %s (id, n) VALUES (%d, %s), (%d, '%d')", table, id, n, r.IntN(12), r.IntN(12))
			case 4:
				s = fmt.Sprintf("INSERT INTO %s (id, n) VALUES (%d, '1') ON DUPLICATE KEY UPDATE n = %s", table, id, n)
			case 5:
				s = fmt.Sprintf("REPLACE INTO %s (id, n) VALUES (%d, %s)", table, id, n)
			case 6:
				s = fmt.Sprintf("DELETE FROM %s WHERE id BETWEEN %d AND %d", table, id, id+r.IntN(3))
			case 7:
				s = fmt.Sprintf("UPDATE %s SET n = %s WHERE id = %d", table, n, id)
			case 8:
				s = fmt.Sprintf("UPDATE %s SET id = id + 100 WHERE id >= %d AND id < 100", table, id)
			case 9:
				s = fmt.Sprintf("UPDATE c SET m = '%d' WHERE n = %d", other, id)
			case 11:
				s = fmt.Sprintf("UPDATE IGNORE c SET n = %d, id = id + %d, m = '%d' WHERE id <= %d ORDER BY id", other, r.IntN(3), r.IntN(14), id)
			case 12:
				s = fmt.Sprintf("INSERT IGNORE INTO c (id, n, m) VALUES (%d, %d, '1'), (%d, %d, '2') ON DUPLICATE KEY UPDATE id = id + 1, n = VALUES(n), m = '%d'", id, other, r.IntN(12), r.IntN(14), r.IntN(14))
			case 10:
				s = fmt.Sprintf("UPDATE %s SET id = id - 100 WHERE id BETWEEN 100 AND %d", table, 100+id)
			}
			if both(t, radish, maria, s) {
				taken++
			} else {
				refused++
			}
			for _, table := range []string{"a", "b", "c"} {
				query := "SELECT * FROM " + table + " ORDER BY id"
				if got, want := rows(t, radish, query), rows(t, maria, query); got != want {
					t.Fatalf("round %d, step %d: after %s\n%s gives\n%sand in MariaDB\n%s\n%s", round, step, s, query, got, want,
						rows(t, radish, "SHOW CREATE TABLE b")+rows(t, radish, "SHOW CREATE TABLE c"))
				}
			}
		}
	}
	t.Logf("%d statements were taken, %d refused", taken, refused)
	if taken < refused/4 || refused < taken/10 {
		t.Error("the statements test too little")
	}
}
