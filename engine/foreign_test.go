package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Foreign keys as MySQL's manual has them (section 15.1.20.5); test/oracle plays random statements against MariaDB's.
func TestForeignKeys(t *testing.T) {
	const tables = `CREATE TABLE p (id INT PRIMARY KEY, u VARCHAR(10) UNIQUE, v INT);
		INSERT INTO p VALUES (1, 'one', 0), (2, 'two', 0), (3, NULL, 0);
		CREATE TABLE c (id INT PRIMARY KEY, pid INT, n INT, CONSTRAINT f FOREIGN KEY (pid) REFERENCES p (id))`
	for _, tc := range []struct{ name, setup, script string }{
		{"a row needs the row that it refers to", tables, `
			a INSERT INTO c VALUES (1, 1, 0), (2, NULL, 0)
			a INSERT INTO c VALUES (3, 9, 0) => error 1452
			a INSERT INTO c SELECT id + 10, id, 0 FROM p
			a UPDATE c SET pid = 9 WHERE id = 1 => error 1452
			a UPDATE c SET pid = 2, n = 1 WHERE id = 1
			a REPLACE INTO c VALUES (1, 9, 0) => error 1452
			a INSERT INTO c VALUES (1, 1, 0) ON DUPLICATE KEY UPDATE pid = 9 => error 1452
			a INSERT INTO c VALUES (1, 9, 0) ON DUPLICATE KEY UPDATE n = 5
			a SELECT GROUP_CONCAT(id, ':', IFNULL(pid, '-'), ':', n ORDER BY id) FROM c => 1:2:5,2:-:0,11:1:0,12:2:0,13:3:0`},
		{"a row that is referred to stays", tables, `
			a INSERT INTO c VALUES (1, 1, 0)
			a DELETE FROM p WHERE id = 1 => error 1451
			a DELETE FROM p => error 1451
			a UPDATE p SET id = 7 WHERE id = 1 => error 1451
			a UPDATE p SET v = 1, id = id
			a UPDATE p SET id = 8 WHERE id = 2
			a REPLACE INTO p VALUES (1, 'x', 0) => error 1451
			a REPLACE INTO p VALUES (3, 'x', 0)
			a INSERT INTO p VALUES (1, 'x', 0) ON DUPLICATE KEY UPDATE id = 9 => error 1451
			a INSERT INTO p VALUES (1, 'one', 0) ON DUPLICATE KEY UPDATE v = 9
			a DELETE FROM p WHERE id = 8
			a DELETE p, c FROM p JOIN c ON c.pid = p.id
			a SELECT GROUP_CONCAT(id, u, v ORDER BY id) FROM p => 3x0
			a SELECT COUNT(*) FROM c => 0`},
		{"INSERT IGNORE leaves rows out", tables + `; CREATE TABLE tree (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES tree (id))`, `
			a INSERT IGNORE INTO c VALUES (1, 9, 0), (1, 1, 1), (2, NULL, 2), (3, 9, 3)
			a SELECT COUNT(*) FROM c => 2
			a INSERT IGNORE INTO tree VALUES (1, 1), (2, 1), (3, 9), (4, 3)
			a SELECT GROUP_CONCAT(id ORDER BY id) FROM tree => 1,2
			a INSERT IGNORE INTO tree VALUES (5, 6) 
			a SHOW WARNINGS => Warning|1452|Cannot add or update a child row: a foreign key constraint fails (` + "`main`.`tree`, CONSTRAINT `tree_ibfk_1` FOREIGN KEY (`up`) REFERENCES `tree` (`id`))"},
		{"CASCADE", `CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY, aid INT, FOREIGN KEY (aid) REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE);
			CREATE TABLE c (id INT PRIMARY KEY, bid INT, FOREIGN KEY (bid) REFERENCES b (id) ON DELETE CASCADE);
			INSERT INTO a VALUES (1), (2), (3); INSERT INTO b VALUES (10, 1), (11, 1), (12, 2), (13, NULL); INSERT INTO c VALUES (100, 10), (101, 12), (102, NULL)`, `
			a UPDATE a SET id = id + 100 WHERE id < 3
			a SELECT GROUP_CONCAT(id, ':', IFNULL(aid, '-') ORDER BY id) FROM b => 10:101,11:101,12:102,13:-
			a DELETE FROM a WHERE id = 101
			a SELECT GROUP_CONCAT(id ORDER BY id) FROM b => 12,13
			a SELECT GROUP_CONCAT(id ORDER BY id) FROM c => 101,102
			a REPLACE INTO a VALUES (102)
			a SELECT GROUP_CONCAT(id ORDER BY id) FROM b => 13
			a SELECT GROUP_CONCAT(id ORDER BY id) FROM c => 102`},
		{"SET NULL", `CREATE TABLE a (x INT, y INT, PRIMARY KEY (x, y)); CREATE TABLE b (id INT PRIMARY KEY, x INT, y INT, FOREIGN KEY (x, y) REFERENCES a (x, y) ON DELETE SET NULL ON UPDATE SET NULL);
			INSERT INTO a VALUES (1, 1), (1, 2), (2, 1); INSERT INTO b VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 9, NULL)`, `
			a INSERT INTO b VALUES (5, 2, 2) => error 1452
			a DELETE FROM a WHERE y = 2
			a UPDATE a SET x = 3 WHERE x = 2
			a SELECT GROUP_CONCAT(id, ':', IFNULL(x, '-'), IFNULL(y, '-') ORDER BY id) FROM b => 1:11,2:--,3:--,4:9-`},
		{"RESTRICT stops a cascade", `CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY, aid INT, FOREIGN KEY (aid) REFERENCES a (id) ON DELETE CASCADE);
			CREATE TABLE c (id INT PRIMARY KEY, bid INT, FOREIGN KEY (bid) REFERENCES b (id) ON DELETE RESTRICT);
			INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (10, 1), (11, 2); INSERT INTO c VALUES (100, 10)`, `
			a DELETE FROM a WHERE id = 1 => error 1451
			a DELETE FROM a WHERE id = 2
			a SELECT COUNT(*) FROM b => 1`},
		{"a tree", `CREATE TABLE t (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES t (id) ON DELETE CASCADE ON UPDATE CASCADE);
			INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2), (4, 3), (5, NULL)`, `
			a INSERT INTO t VALUES (8, 8)
			a UPDATE t SET id = 9 WHERE id = 2 => error 1451
			a UPDATE t SET id = 9 WHERE id = 4
			a UPDATE t SET up = 7 WHERE id = 5 => error 1452
			a DELETE FROM t WHERE id = 2
			a SELECT GROUP_CONCAT(id ORDER BY id) FROM t => 1,5,8
			a DELETE FROM t
			a SELECT COUNT(*) FROM t => 0`},
		{"foreign_key_checks = 0", tables, `
			a SET foreign_key_checks = 0
			a INSERT INTO c VALUES (1, 9, 0)
			a DELETE FROM p WHERE id = 1
			a TRUNCATE p
			a DROP TABLE p
			a SET foreign_key_checks = ON
			a INSERT INTO c VALUES (2, 9, 0) => error 1452
			a UPDATE c SET n = 1
			a INSERT IGNORE INTO c VALUES (2, 9, 0)
			a SELECT COUNT(*) FROM c => 1
			a CREATE TABLE p (id BIGINT PRIMARY KEY) => error 3780
			a CREATE TABLE p (x INT PRIMARY KEY) => error 3734
			a CREATE TABLE p (id INT, KEY (id)) => error 1822
			a CREATE TABLE p (id INT PRIMARY KEY)
			a INSERT INTO c VALUES (2, 9, 0) => error 1452
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES nowhere (x)) => error 1824
			a SET foreign_key_checks = 0
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES nowhere (x))
			a INSERT INTO d VALUES (1)`},
		{"tables that are referred to", tables, `
			a TRUNCATE p => error 1701
			a DROP TABLE p => error 3730
			a DROP TABLE p, c
			a CREATE DATABASE other
			a CREATE TABLE other.p (id INT PRIMARY KEY)
			a CREATE TABLE c (pid INT, FOREIGN KEY (pid) REFERENCES other.p (id))
			a DROP DATABASE other => error 3730
			a INSERT INTO c VALUES (1) => error 1452
			a INSERT INTO other.p VALUES (1)
			a INSERT INTO c VALUES (1)
			a CREATE TABLE other.c2 (pid INT, FOREIGN KEY (pid) REFERENCES p (id))
			a INSERT INTO other.c2 VALUES (2) => error 1452
			a DROP TABLE other.c2
			a RENAME TABLE other.p TO q
			a DELETE FROM q => error 1451
			a DROP DATABASE other`},
		{"definitions that cannot be", tables + `; CREATE TABLE n (x INT, y INT NOT NULL, UNIQUE (x, y)); CREATE VIEW w AS SELECT id FROM p`, `
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES nowhere (x)) => error 1824
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES w (id)) => error 1347
			a CREATE TABLE d (x INT, FOREIGN KEY (y) REFERENCES p (id)) => error 1072
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES p (nothing)) => error 3734
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES p (v)) => error 1822
			a CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES n (x)) => error 1822
			a CREATE TABLE d (x INT UNSIGNED, FOREIGN KEY (x) REFERENCES p (id)) => error 3780
			a CREATE TABLE d (x VARCHAR(200), FOREIGN KEY (x) REFERENCES p (u))
			a CREATE TABLE e (x INT, FOREIGN KEY (x) REFERENCES p (id, v)) => error 1239
			a CREATE TABLE e (x INT NOT NULL, FOREIGN KEY (x) REFERENCES p (id) ON DELETE SET NULL) => error 1830
			a CREATE TABLE e (x INT, FOREIGN KEY (x) REFERENCES p (id) ON DELETE SET DEFAULT) => error 1215
			a CREATE TABLE e (x INT, CONSTRAINT f FOREIGN KEY (x) REFERENCES p (id)) => error 1826
			a CREATE TABLE e (x INT, CONSTRAINT g FOREIGN KEY (x) REFERENCES p (id), CONSTRAINT g FOREIGN KEY (x) REFERENCES p (id)) => error 1826
			a CREATE TABLE e (x INT CHECK (x > 0), FOREIGN KEY (x) REFERENCES p (id) ON UPDATE CASCADE) => error 3823
			a CREATE TABLE e (x INT REFERENCES p (id))
			a INSERT INTO e VALUES (99)
			a CREATE TABLE g (x INT, FOREIGN KEY (x) REFERENCES p (id)) SELECT 1 AS x UNION SELECT 9 => error 1452
			a CREATE TABLE g (x INT, FOREIGN KEY (x) REFERENCES p (id)) SELECT 1 AS x`},
		{"ALTER TABLE", tables + `; INSERT INTO c VALUES (1, 1, 9)`, `
			a ALTER TABLE c ADD FOREIGN KEY (n) REFERENCES p (id) => error 1452
			a UPDATE c SET n = 2
			a ALTER TABLE c ADD FOREIGN KEY (n) REFERENCES p (id) ON DELETE CASCADE
			a DELETE FROM p WHERE id = 2
			a SELECT COUNT(*) FROM c => 0
			a ALTER TABLE c DROP INDEX f => error 1553
			a ALTER TABLE c DROP COLUMN pid => error 1828
			a ALTER TABLE p DROP COLUMN id => error 1829
			a ALTER TABLE p DROP PRIMARY KEY => error 1553
			a DROP INDEX f ON c => error 1553
			a ALTER TABLE c MODIFY pid BIGINT => error 3780
			a ALTER TABLE p MODIFY id BIGINT => error 3780
			a ALTER TABLE p RENAME COLUMN id TO pk
			a INSERT INTO c VALUES (1, 7, NULL) => error 1452
			a ALTER TABLE c RENAME TO cc
			a ALTER TABLE c DROP FOREIGN KEY f => error 1146
			a ALTER TABLE cc DROP FOREIGN KEY nothing => error 1091
			a ALTER TABLE cc DROP FOREIGN KEY f, DROP INDEX f
			a INSERT INTO cc VALUES (1, 7, NULL)
			a ALTER TABLE cc DROP CONSTRAINT cc_ibfk_1
			a INSERT INTO cc VALUES (2, 7, 7)
			a DROP TABLE p`},
		{"collations", `CREATE TABLE p (id VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY); INSERT INTO p VALUES ('a'), ('B');
			CREATE TABLE c (id INT PRIMARY KEY, pid VARCHAR(20) COLLATE utf8mb4_general_ci, FOREIGN KEY (pid) REFERENCES p (id) ON UPDATE CASCADE)`, `
			a INSERT INTO c VALUES (1, 'A'), (2, 'b')
			a INSERT INTO c VALUES (3, 'c') => error 1452
			a DELETE FROM p WHERE id = 'a' => error 1451
			a UPDATE p SET id = 'x' WHERE id = 'A'
			a SELECT GROUP_CONCAT(pid ORDER BY id) FROM c => x,b
			a CREATE TABLE d (pid VARCHAR(10) COLLATE utf8mb4_bin, FOREIGN KEY (pid) REFERENCES p (id)) => error 3780`},
		{"what others did meanwhile", tables, `
			a BEGIN
			a INSERT INTO c VALUES (1, 1, 0)
			b DELETE FROM p WHERE id = 1
			a COMMIT => error 1213
			a SELECT COUNT(*) FROM c => 0
			a BEGIN
			a DELETE FROM p WHERE id = 2
			b INSERT INTO c VALUES (2, 2, 0)
			a COMMIT => error 1213
			a BEGIN
			a INSERT INTO c VALUES (3, 3, 0)
			b INSERT INTO p VALUES (4, NULL, 0)
			b UPDATE p SET v = 1
			a COMMIT
			a BEGIN
			b BEGIN
			a UPDATE c SET pid = 4 WHERE id = 3
			b DELETE FROM p WHERE id = 4
			b COMMIT
			a COMMIT => error 1213
			a BEGIN
			a INSERT INTO c VALUES (5, 2, 0)
			b UPDATE p SET id = 20 WHERE id = 3 => error 1451
			b CREATE TABLE d (x INT, FOREIGN KEY (x) REFERENCES p (id))
			a DELETE FROM c WHERE id = 2
			a COMMIT
			a BEGIN
			a DELETE FROM c
			a DELETE FROM p WHERE id = 2
			b INSERT INTO d VALUES (2)
			a COMMIT => error 1213
			a SELECT GROUP_CONCAT(id, pid ORDER BY id) FROM c => 33,52`},
		{"the deletion of a group of rows and new ones meanwhile", `CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (pid INT, FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE);
			INSERT INTO p SELECT i FROM generate_series(1, 10000) AS n(i); INSERT INTO c SELECT id FROM p`, `
			a BEGIN
			a DELETE FROM p WHERE id < 9000
			a SELECT COUNT(*) FROM c => 1001
			b INSERT INTO c VALUES (5)
			a COMMIT => error 1213
			a BEGIN
			a DELETE FROM p WHERE id < 9000
			b INSERT INTO c VALUES (9500)
			a COMMIT => error 1213
			a DELETE FROM p WHERE id < 9000
			a SELECT COUNT(*) FROM c => 1002`},
	} {
		t.Run(tc.name, func(t *testing.T) { play(t, tc.setup, tc.script) })
	}
}

// What SHOW and information_schema say.
func TestForeignKeyDefinitions(t *testing.T) {
	play(t, `CREATE TABLE p (a INT, b VARCHAR(5), PRIMARY KEY (a, b))`, `
		a CREATE TABLE c (x INT, y VARCHAR(5), z INT, CONSTRAINT f FOREIGN KEY (x, y) REFERENCES p (a, b) ON DELETE CASCADE ON UPDATE SET NULL, FOREIGN KEY k (z) REFERENCES q (z)) => error 1824
		a CREATE TABLE q (z INT UNIQUE)
		a CREATE TABLE c (x INT, y VARCHAR(5), z INT, CONSTRAINT f FOREIGN KEY (x, y) REFERENCES p (a, b) ON DELETE CASCADE ON UPDATE SET NULL, FOREIGN KEY (z) REFERENCES q (z))
		a SELECT constraint_name, column_name, ordinal_position, position_in_unique_constraint, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE table_name = 'c' AND column_name = 'y' => f|y|2|2|p|b
		a SELECT constraint_name, unique_constraint_name, match_option, update_rule, delete_rule, table_name, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_name = 'c_ibfk_1' => c_ibfk_1|z|NONE|NO ACTION|NO ACTION|c|q
		a SELECT update_rule, delete_rule FROM information_schema.referential_constraints WHERE constraint_name = 'f' => SET NULL|CASCADE
		a SELECT COUNT(*) FROM information_schema.table_constraints WHERE constraint_type = 'FOREIGN KEY' => 2
		a SELECT GROUP_CONCAT(index_name, seq_in_index ORDER BY 1) FROM information_schema.statistics WHERE table_name = 'c' => f1,f2,z1
		a RENAME TABLE p TO other, c TO d
		a SELECT GROUP_CONCAT(constraint_name, referenced_table_name ORDER BY 1) FROM information_schema.referential_constraints => d_ibfk_1q,fother
		a CREATE TABLE copy LIKE d
		a SELECT COUNT(*) FROM information_schema.referential_constraints => 2`)
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.NewSession()
	mustRun(t, s, "CREATE TABLE p (a INT PRIMARY KEY); CREATE TABLE c (x INT, CONSTRAINT f FOREIGN KEY (x) REFERENCES p (a) ON DELETE CASCADE ON UPDATE RESTRICT)")
	v, err := e.Catalog.Load().Table("main", "c")
	if err != nil {
		t.Fatal(err)
	}
	text := definition.CreateTableSQL(v)
	if want := "  KEY `f` (`x`),\n  CONSTRAINT `f` FOREIGN KEY (`x`) REFERENCES `p` (`a`) ON DELETE CASCADE ON UPDATE RESTRICT\n"; !strings.Contains(text, want) {
		t.Errorf("%s lacks %s", text, want)
	}
	mustRun(t, s, "DROP TABLE c; "+text)
}

// Random changes of three tables that refer to each other, in bulk and row by row, in transactions of two sessions: whatever
// happens, no reference may be left without its row, and a statement that fails must not change anything.
func TestForeignKeysRandom(t *testing.T) {
	failed := map[sqlerr.Code]int{}
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, uint64(setting(t, "RADISH_SEED", 1))))
		actions := []string{"RESTRICT", "CASCADE", "SET NULL", "NO ACTION"}
		action := func() string { return actions[r.IntN(len(actions))] }
		e, err := New(database.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		sessions := []*Session{e.NewSession(), e.NewSession()}
		mustRun(t, sessions[0], "CREATE TABLE a (id INT PRIMARY KEY, n INT)")
		mustRun(t, sessions[0], fmt.Sprintf("CREATE TABLE b (id INT PRIMARY KEY, n INT, FOREIGN KEY (n) REFERENCES a (id) ON DELETE %s ON UPDATE %s)", action(), action()))
		mustRun(t, sessions[0], fmt.Sprintf("CREATE TABLE c (id INT PRIMARY KEY, n INT, m INT, FOREIGN KEY (n) REFERENCES b (id) ON DELETE %s ON UPDATE %s, FOREIGN KEY (m) REFERENCES a (id) ON DELETE %s ON UPDATE %s)",
			action(), action(), action(), action()))
		ids := 30
		if seed%2 == 1 {
			ids = 20000 // the joins, not the look-ups
			for _, table := range []string{"a (id, n)", "b (id, n)", "c (id, n)"} {
				mustRun(t, sessions[0], "INSERT INTO "+table+" SELECT i, i DIV 2 FROM generate_series(0, 19999) AS n(i)")
			}
		}
		for step := range 300 {
			s, id, other := sessions[r.IntN(2)], r.IntN(ids), r.IntN(ids+3)
			table := string("abc"[r.IntN(3)])
			var sql string
			switch r.IntN(12) {
			case 0, 1:
				sql = fmt.Sprintf("INSERT INTO %s (id, n) VALUES (%d, %d), (%d, NULL)", table, id, other, r.IntN(ids))
			case 2:
				sql = fmt.Sprintf("INSERT IGNORE INTO %s (id, n) VALUES (%d, %d), (%d, %d)", table, id, other, r.IntN(ids), r.IntN(ids))
			case 3:
				sql = fmt.Sprintf("INSERT INTO %s (id, n) VALUES (%d, 1) ON DUPLICATE KEY UPDATE id = %d, n = %d", table, id, r.IntN(ids), other)
			case 4:
				sql = fmt.Sprintf("REPLACE INTO %s (id, n) VALUES (%d, %d)", table, id, other)
			case 5:
				sql = fmt.Sprintf("DELETE FROM %s WHERE id BETWEEN %d AND %d", table, id, id+r.IntN(5))
			case 6:
				sql = fmt.Sprintf("UPDATE %s SET n = %d WHERE id = %d", table, other, id)
			case 7:
				sql = fmt.Sprintf("UPDATE %s SET id = id + %d WHERE id >= %d", table, 1+r.IntN(3), id)
			case 8:
				sql = fmt.Sprintf("UPDATE c SET m = %d WHERE n = %d", other, id)
			case 9:
				sql = "BEGIN"
			case 10:
				sql = "COMMIT"
			case 11:
				sql = []string{"ROLLBACK", "DELETE b, c FROM b JOIN c ON c.n = b.id WHERE b.id > " + fmt.Sprint(id), "UPDATE a JOIN b ON b.n = a.id SET a.id = a.id + 40000 WHERE b.id < 3"}[r.IntN(3)]
			}
			if _, err := run(context.Background(), s, sql); err != nil {
				failed[sqlerr.From(err).Code]++
			}
			if step%10 > 0 {
				continue
			}
			for _, who := range sessions {
				for _, k := range [][3]string{{"b", "n", "a"}, {"c", "n", "b"}, {"c", "m", "a"}} {
					got, err := run(context.Background(), who, fmt.Sprintf("SELECT COUNT(*) FROM %s x LEFT JOIN %s y ON y.id = x.%s WHERE x.%s IS NOT NULL AND y.id IS NULL", k[0], k[2], k[1], k[1]))
					if err != nil || strings.TrimSpace(got) != "0" {
						t.Fatalf("seed %d, step %d, %s: %s rows of %s refer to no row of %s by %s (%v)", seed, step, sql, got, k[0], k[2], k[1], err)
					}
				}
			}
		}
		for _, s := range sessions {
			s.Close()
		}
		e.Close()
	}
	for code := range failed {
		switch code {
		case sqlerr.CodeDupEntry, sqlerr.CodeNoReferencedRow, sqlerr.CodeRowIsReferenced, sqlerr.CodeLockDeadlock:
		default:
			t.Errorf("%d errors %d", failed[code], code)
		}
	}
	if failed[sqlerr.CodeNoReferencedRow] == 0 || failed[sqlerr.CodeRowIsReferenced] == 0 || failed[sqlerr.CodeLockDeadlock] == 0 {
		t.Errorf("the statements test too little: %v", failed)
	}
}

// Sessions that insert rows and others that delete what those refer to, at the same time, in transactions and without: no reader, at any
// moment, finds a row that refers to nothing.
func TestForeignKeysConcurrent(t *testing.T) {
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	setup := e.NewSession()
	mustRun(t, setup, "CREATE TABLE p (id INT PRIMARY KEY, v INT); CREATE TABLE c (pid INT, FOREIGN KEY (pid) REFERENCES p (id)); CREATE TABLE d (pid INT, FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE)")
	seed := uint64(setting(t, "RADISH_SEED", 1))
	end := time.Now().Add(time.Duration(setting(t, "RADISH_FOREIGN_SECONDS", 1) * float64(time.Second)))
	var wg sync.WaitGroup
	var done, conflicts atomic.Int64
	for w := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			s := e.NewSession()
			defer s.Close()
			for time.Now().Before(end) || conflicts.Load() == 0 && time.Now().Before(end.Add(20*time.Second)) { // a busy machine is slow
				var script []string
				for range 1 + r.IntN(3) {
					id := r.IntN(12)
					script = append(script, []string{
						fmt.Sprintf("INSERT IGNORE INTO p VALUES (%d, 0)", id),
						fmt.Sprintf("DELETE FROM p WHERE id = %d", id),
						fmt.Sprintf("INSERT INTO c VALUES (%d)", id),
						fmt.Sprintf("INSERT INTO d VALUES (%d), (%d)", id, id),
						fmt.Sprintf("DELETE FROM c WHERE pid = %d", id),
						fmt.Sprintf("UPDATE p SET v = v + 1 WHERE id = %d", id),
					}[r.IntN(6)])
				}
				if r.IntN(3) > 0 {
					script = append(append([]string{"BEGIN"}, script...), "COMMIT")
				}
				for _, sql := range script {
					_, err := run(context.Background(), s, sql)
					switch {
					case err == nil:
						done.Add(1)
					case errors.Is(err, sqlerr.CodeLockDeadlock):
						conflicts.Add(1)
					case !errors.Is(err, sqlerr.CodeNoReferencedRow) && !errors.Is(err, sqlerr.CodeRowIsReferenced):
						t.Errorf("seed %d: %s: %v", seed, sql, err)
						return
					}
				}
				got, err := run(context.Background(), s, "SELECT (SELECT COUNT(*) FROM c LEFT JOIN p ON p.id = pid WHERE id IS NULL) + (SELECT COUNT(*) FROM d LEFT JOIN p ON p.id = pid WHERE id IS NULL)")
				if err != nil || strings.TrimSpace(got) != "0" {
					t.Errorf("seed %d: %s rows refer to nothing (%v)", seed, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if done.Load() == 0 || conflicts.Load() == 0 {
		t.Errorf("%d statements, %d conflicts: the test tests nothing", done.Load(), conflicts.Load())
	}
}
