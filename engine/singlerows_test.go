package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// singleRowTables have keys of several types, and rules that changes of their rows must keep.
const singleRowTables = `
	CREATE TABLE parent (id INT PRIMARY KEY, n INT);
	CREATE TABLE t (
		id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(12) COLLATE utf8mb4_general_ci UNIQUE, a INT NOT NULL, b BIGINT UNSIGNED, price DECIMAL(8,2), day DATE,
		twice INT AS (a * 2), kind ENUM('x', 'y', 'z'), parent INT, ratio DOUBLE,
		UNIQUE KEY ab (a, b), UNIQUE KEY (price), UNIQUE KEY (day), CHECK (a < 900), FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE SET NULL ON UPDATE CASCADE);
	INSERT INTO parent VALUES (1, 1), (2, 2), (3, 3), (4, 4);
	INSERT INTO t (id, name, a, b, price, day, kind, parent, ratio) VALUES (1, 'One', 1, 1, 1.5, '2024-01-01', 'x', 1, 0.5), (2, 'two', 1, 2, 2.5, '2024-01-02', 'y', 2, 1.5)`

// singleRowStatements have markers for the values of random kinds that follow them.
var singleRowStatements = []struct{ text, kinds string }{
	{"SELECT * FROM t WHERE id = ?", "i"}, {"SELECT name, a + 1, twice FROM t WHERE ? = id AND a > ?", "ii"}, {"SELECT id, price FROM t WHERE name = ?", "s"},
	{"SELECT id FROM t WHERE a = ? AND b = ?", "ii"}, {"SELECT id FROM t WHERE b = ? AND a = ? AND kind = 'x'", "ii"}, {"SELECT a FROM t WHERE id IN (?, ?, ?) ORDER BY a DESC, id", "iii"},
	{"SELECT id, day FROM t WHERE id = ? OR id = ? LIMIT 1", "ii"}, {"SELECT id FROM t WHERE price = ?", "d"}, {"SELECT id FROM t WHERE day = ?", "t"}, {"SELECT id FROM t WHERE id = ? AND name LIKE 't%'", "i"},
	{"SELECT id, ? FROM t WHERE id = ?", "si"}, {"SELECT COUNT(*) FROM t WHERE id = ?", "i"}, {"SELECT id FROM t WHERE id BETWEEN ? AND ?", "ii"}, {"SELECT name FROM t WHERE id = 1 ORDER BY id LIMIT 1", ""},
	{"SELECT t.id, p.n FROM t JOIN parent p ON p.id = t.parent WHERE t.id = ?", "i"}, {"SELECT id FROM t WHERE id = ? AND parent = (SELECT MIN(id) FROM parent)", "i"},
	{"SELECT id, name FROM t WHERE a = ? AND b IN (?, ?) ORDER BY name", "iii"}, {"SELECT id FROM t WHERE ratio = ? AND id = ?", "fi"},
	{"INSERT INTO t (name, a, b) VALUES (?, ?, ?)", "sii"}, {"INSERT INTO t (id, a, b, price) VALUES (?, ? + 1, ?, ?)", "iiid"}, {"INSERT INTO t (a, kind, parent) VALUES (?, 'y', ?)", "ii"},
	{"INSERT INTO t (a, day, ratio) VALUES (?, ?, ?), (?, NULL, 2.5)", "itfi"}, {"INSERT IGNORE INTO t (id, a, name) VALUES (?, ?, ?)", "iis"}, {"REPLACE INTO t (id, a, b) VALUES (?, ?, ?)", "iii"},
	{"INSERT INTO t (id, a, b, name) VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE a = VALUES(a) + 1, name = VALUES(name)", "iiis"}, {"INSERT INTO t (id, a) VALUES (?, ?) ON DUPLICATE KEY UPDATE b = ?", "iii"},
	{"UPDATE t SET a = a + ? WHERE id = ?", "ii"}, {"UPDATE t SET name = ?, price = ? WHERE id = ?", "sdi"}, {"UPDATE t SET a = ?, b = a + 1 WHERE name = ?", "is"}, {"UPDATE t SET id = ? WHERE id = ?", "ii"},
	{"UPDATE t SET ratio = ratio * ?, kind = 'z' WHERE a = ? AND b = ?", "fii"}, {"UPDATE t SET parent = ? WHERE id = ?", "ii"}, {"UPDATE t SET day = ? WHERE id IN (?, ?)", "tii"},
	{"UPDATE parent SET id = ? WHERE id = ?", "pp"}, {"UPDATE parent SET n = n + 1 WHERE id = ?", "p"}, {"INSERT INTO parent VALUES (?, ?)", "pi"}, {"DELETE FROM parent WHERE id = ?", "p"},
	{"DELETE FROM t WHERE id = ?", "i"}, {"DELETE FROM t WHERE name = ? AND a = ?", "si"}, {"DELETE FROM t WHERE a = ? AND b = ? LIMIT 1", "ii"}, {"UPDATE t SET a = 5 WHERE id = ? LIMIT ?", "ii"},
	{"BEGIN", ""}, {"COMMIT", ""}, {"ROLLBACK", ""}, {"SET sql_mode = ''", ""}, {"SET sql_mode = DEFAULT", ""}, {"SET foreign_key_checks = 1 - @@foreign_key_checks", ""},
	{"ALTER TABLE t ADD COLUMN more INT", ""}, {"ALTER TABLE t DROP COLUMN more", ""}, {"ALTER TABLE t DROP INDEX name, ADD UNIQUE KEY name (name)", ""},
}

// randomMarker returns a value of a kind, now and then of another type.
func randomMarker(r *rand.Rand, kind rune) types.Value {
	n := r.Int64N(40)
	switch r.IntN(24) {
	case 0:
		return types.NullOf(types.Null)
	case 1:
		return types.StringValue(fmt.Sprint(n))
	case 2:
		return types.FloatValue(float64(n) / 2)
	case 3:
		return types.UintValue(1<<63 + uint64(n))
	case 4:
		return types.IntValue(-n << 30)
	case 5:
		return types.Value{Type: types.Blob, S: fmt.Sprint("n", n)}
	}
	switch kind {
	case 's':
		return types.StringValue([]string{"n", "N", "One", "ONE", "two", "TWO", "a name that is too long"}[r.IntN(7)] + strings.Repeat(fmt.Sprint(n%5), r.IntN(2)))
	case 'f':
		return types.FloatValue(float64(n) / 4)
	case 'd':
		return types.Value{Type: types.Decimal(4, 2), I: 25 * n}
	case 't':
		if n%2 == 0 {
			return types.StringValue(fmt.Sprintf("2024-01-%02d", 1+n%28))
		}
		return types.Value{Type: types.DatetimeFsp(0), I: types.DatetimeOfDate(19723 + n)}
	case 'p':
		return types.IntValue(n % 6)
	}
	return types.IntValue(n)
}

// seenOf is all that a program sees of a statement. Warnings of constants count only where there are rows: plans convert constants without.
func seenOf(s *Session, stmt parse.Statement, params []types.Value) string {
	ctx := context.Background()
	res, err := s.Execute(ctx, stmt, params)
	out, some := "", err != nil
	if err == nil {
		out = fmt.Sprintf("%d affected, id %d", res.RowsAffected, res.LastInsertID)
		for _, c := range res.Columns {
			out += fmt.Sprintf(", %s %s", c.Name, c.Type)
		}
		var rows string
		if rows, err = lines(ctx, res); err == nil {
			out += "\n" + rows
			some = rows != "" || res.RowsAffected > 0
		}
	}
	if err != nil {
		out = sqlerr.From(err).Error()
	}
	if some {
		var warnings []string // in any order: plans convert constants first
		for _, w := range s.Warnings() {
			warnings = append(warnings, fmt.Sprintf("\n%s %d %s", w.Level, w.Code, w.Message))
		}
		slices.Sort(warnings)
		out += strings.Join(warnings, "")
	}
	return rowOfMessage.ReplaceAllString(out, "")
}

// rowOfMessage is the number of a row in messages: a plan counts those of the table, or none.
var rowOfMessage = regexp.MustCompile(` at row \d+`)

// TestSingleRows runs random statements in two databases: in one directly and from what the session keeps, in the other by plans that are made
// each time. Statements are prepared or come as strings again and again; what a program sees of them, and all rows, are the same.
func TestSingleRows(t *testing.T) {
	steps := 6000
	if testing.Short() {
		steps = 1500
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 19))
			direct, planned := newSession(t, database.Options{Threads: 1}), newSession(t, database.Options{Threads: 1})
			var prepared [2][]parse.Statement
			for i, s := range []*Session{direct, planned} {
				for _, text := range strings.Split(singleRowTables, ";\n") {
					mustRun(t, s, text)
				}
				for _, st := range singleRowStatements {
					list, err := s.Parse(st.text)
					if err != nil {
						t.Fatal(err)
					}
					prepared[i] = append(prepared[i], list[0])
				}
			}
			mustRun(t, planned, "SET radish_disabled_rules = 'direct_queries'")
			for step := range steps {
				k := r.IntN(len(singleRowStatements))
				if k >= len(singleRowStatements)-9 && r.IntN(8) > 0 {
					k = r.IntN(18) // those that define or set something are rare
				}
				var params []types.Value
				for _, kind := range singleRowStatements[k].kinds {
					params = append(params, randomMarker(r, kind))
				}
				a, b := prepared[0][k], prepared[1][k]
				if r.IntN(2) == 0 {
					list, err := direct.Parse(singleRowStatements[k].text)
					if err != nil {
						t.Fatal(err)
					}
					a = list[0]
				}
				if have, want := seenOf(direct, a, params), seenOf(planned, b, params); have != want {
					t.Fatalf("step %d: %s with %v gives\n%s\nwant\n%s", step, singleRowStatements[k].text, params, have, want)
				}
				if step%50 == 0 {
					for _, name := range []string{"t", "parent"} {
						if have, want := mustRun(t, direct, "SELECT * FROM "+name), mustRun(t, planned, "SELECT * FROM "+name); have != want {
							t.Fatalf("step %d: %s has\n%s\nwant\n%s", step, name, have, want)
						}
					}
				}
			}
			if len(direct.Plans.Plans) == 0 || len(direct.Plans.Texts) == 0 {
				t.Error("the session keeps no statement")
			}
		})
	}
}
