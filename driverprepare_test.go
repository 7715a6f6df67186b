package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func TestDriverPrepare(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20))")
	insert, err := db.Prepare("INSERT INTO p VALUES (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	for i := range 100 {
		res, err := insert.Exec(i, fmt.Sprint("n", i))
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != 1 {
			t.Fatalf("%d rows affected", n)
		}
	}
	var dup *radish.Error
	if _, err := insert.Exec(5, "again"); !errors.As(err, &dup) || dup.Code != sqlerr.CodeDupEntry {
		t.Errorf("a duplicate key gives %v", err)
	}
	find, err := db.Prepare("SELECT name FROM p WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer find.Close()
	for _, i := range []int{3, 99, 0, 3} {
		var name string
		if err := find.QueryRow(i).Scan(&name); err != nil || name != fmt.Sprint("n", i) {
			t.Errorf("%d: %q, %v", i, name, err)
		}
	}
	if err := find.QueryRow(1000).Scan(new(string)); err != sql.ErrNoRows {
		t.Errorf("no row gives %v", err)
	}
	if _, err := db.Prepare("SELECT FROM"); !errors.Is(err, sqlerr.CodeParseError) {
		t.Errorf("Prepare of nonsense gives %v", err)
	}
}

// TestDriverPrepareChecks checks what Prepare refuses, and what it leaves to the run.
func TestDriverPrepareChecks(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20), d DATE)")
	for query, want := range map[string]error{
		"SELECT * FROM nosuch WHERE a = ?":                                         sqlerr.CodeNoSuchTable,
		"SELECT nam FROM p WHERE id = ?":                                           sqlerr.CodeUnknownColumn,
		"SELECT id FROM p WHERE nosuch(?) = 1":                                     sqlerr.CodeUnknownFunction,
		"SELECT ROUND(?, 1, 2) FROM p":                                             sqlerr.CodeWrongParamCount,
		"SELECT id, COUNT(*) FROM p WHERE id < ?":                                  sqlerr.CodeMixOfGroupFunc,
		"SELECT id FROM p WHERE id IN (SELECT ?, 2)":                               sqlerr.CodeOperandColumns,
		"SELECT ? UNION SELECT 1, 2":                                               sqlerr.CodeWrongNumberOfColumns,
		"INSERT INTO p VALUES (?)":                                                 sqlerr.CodeWrongValueCount,
		"INSERT INTO p (id, nme) VALUES (?, ?)":                                    sqlerr.CodeUnknownColumn,
		"INSERT INTO q VALUES (?)":                                                 sqlerr.CodeNoSuchTable,
		"DELETE FROM p WHERE nme = ? LIMIT ?":                                      sqlerr.CodeUnknownColumn,
		"UPDATE p SET nme = ? WHERE id = ?":                                        sqlerr.CodeUnknownColumn,
		"DELETE FROM p WHERE nme = ?":                                              sqlerr.CodeUnknownColumn,
		"SELECT * FROM `nosuch.csv`":                                               sqlerr.CodeFileNotFound,
		"SELECT id FROM p LIMIT ?; SELECT nme FROM p":                              sqlerr.CodeUnknownColumn,
		"SELECT ? FROM p GROUP BY name HAVING nme > ?":                             sqlerr.CodeUnknownColumn,
		"SELECT id FROM p WHERE id = ? ORDER BY 1, nosuch":                         sqlerr.CodeUnknownColumn,
		"SELECT (SELECT x.nosuch FROM p x WHERE x.id = ?)":                         sqlerr.CodeUnknownColumn,
		"SELECT /*+ SET_VAR(nosuch = 1) */ 1 FROM p":                               sqlerr.CodeUnknownVariable,
		"SELECT id FROM p; SELECT FROM p":                                          sqlerr.CodeParseError,
		"EXPLAIN SELECT nme FROM p":                                                nil,
		"CREATE TABLE q (a INT); INSERT INTO q VALUES (?)":                         nil,
		"SET @a = 1; SELECT nosuch FROM p":                                         nil,
		"SELECT id FROM p LIMIT ? OFFSET ?":                                        nil,
		"SELECT d + INTERVAL ? DAY, ADDDATE(?, d) FROM p":                          nil,
		"SELECT name LIKE ?, name REGEXP ?, id IN (?, ?)":                          sqlerr.CodeUnknownColumn,
		"SELECT name LIKE ?, name REGEXP ?, id IN (?) FROM p":                      nil,
		"INSERT INTO p VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE name = ?":          nil,
		"SELECT CAST(? AS DATE), -?, NOT ?, ROUND(?, ?), CASE ? WHEN ? THEN ? END": nil,
	} {
		stmt, err := db.Prepare(query)
		if want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", query, err)
		}
		if err == nil {
			stmt.Close()
		}
	}
	var e *radish.Error
	if _, err := db.Prepare("SELECT id,\n  nam FROM p"); !errors.As(err, &e) || e.Pos.Line != 2 || e.Pos.Column != 3 || !strings.Contains(e.Hint, "name") {
		t.Errorf("the error has no position or hint: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.PrepareContext(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Nothing was made, and no warning of a check is left.
	if _, err := db.Prepare("SELECT CAST('x' AS SIGNED) + ? FROM p"); err != nil {
		t.Error(err)
	}
	if err := db.QueryRow("SHOW WARNINGS").Scan(new(string), new(int), new(string)); err != sql.ErrNoRows {
		t.Errorf("warnings: %v", err)
	}
}

// TestDriverPrepareArguments checks that a prepared statement knows how many arguments it takes, named ones apart.
func TestDriverPrepareArguments(t *testing.T) {
	db := open(t, "")
	stmt, err := db.Prepare("SELECT CONCAT(?, @sep, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	for _, args := range [][]any{{}, {1}, {1, 2, 3}, {1, sql.Named("sep", 2)}} {
		if err := stmt.QueryRow(args...).Scan(new(string)); err == nil || !strings.Contains(err.Error(), "expected 2 arguments") {
			t.Errorf("%d arguments for 2 markers: %v", len(args), err)
		}
	}
	var got string
	if err := stmt.QueryRow(1, sql.Named("sep", "-"), "b").Scan(&got); err != nil || got != "1-b" {
		t.Errorf("%s, %v", got, err)
	}
	if err := stmt.QueryRow(1, struct{}{}).Scan(&got); err == nil || !strings.Contains(err.Error(), "argument 2") {
		t.Errorf("an argument without SQL type: %v", err)
	}
}

// TestDriverPrepareSchemaChange checks that a prepared statement follows changes of its table, and of the types of its
// arguments.
func TestDriverPrepareSchemaChange(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE p (a INT, b VARCHAR(5))")
	exec(t, db, "INSERT INTO p VALUES (1, 'x'), (2, '10')")
	stmt, err := db.Prepare("SELECT * FROM p WHERE b = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	columns := func(arg any) string {
		rows, err := stmt.Query(arg)
		if err != nil {
			return err.Error()
		}
		defer rows.Close()
		list, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range list {
			out = append(out, c.Name()+" "+c.DatabaseTypeName())
		}
		n := 0
		for rows.Next() {
			n++
		}
		return fmt.Sprint(out, n)
	}
	if got := columns("x"); got != "[a INT b VARCHAR] 1" {
		t.Error(got)
	}
	// A number compares as a number.
	if got := columns(10.0); got != "[a INT b VARCHAR] 1" {
		t.Error(got)
	}
	if got := columns(nil); got != "[a INT b VARCHAR] 0" {
		t.Error(got)
	}
	exec(t, db, "DROP TABLE p")
	if got := columns("x"); !strings.Contains(got, "p' doesn't exist") {
		t.Error(got)
	}
	exec(t, db, "CREATE TABLE p (b DATE, c DOUBLE, d INT)")
	exec(t, db, "INSERT INTO p VALUES ('2020-01-01', 1, 2)")
	if got := columns("2020-01-01"); got != "[b DATE c DOUBLE d INT] 1" {
		t.Error(got)
	}
}

// TestPrepareColumns checks the columns that are known before a statement runs.
func TestPrepareColumns(t *testing.T) {
	db, err := radish.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := c.Exec(ctx, "CREATE TABLE p (id INT NOT NULL, name VARCHAR(20), price DECIMAL(10,2))"); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"SELECT * FROM p": "0: id INT, name VARCHAR(20) NULL, price DECIMAL(10,2) NULL",
		"SELECT ? AS x, id, SUM(price) s FROM p WHERE name = ? GROUP BY id": "2: x NULL NULL, id INT, s DECIMAL(32,2) NULL",
		"SELECT CAST(? AS DATE) d, id = ? e FROM p":                         "2: d DATE NULL, e BOOLEAN NULL",
		"INSERT INTO p VALUES (?, ?, ?); SELECT id FROM p":                  "3: id INT",
		"DELETE FROM p WHERE id = ?":                                        "1: ",
		"SHOW TABLES":                                                       "0: ",
	} {
		s, err := c.Prepare(ctx, query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var cols []string
		for _, c := range s.Columns() {
			text := c.Name + " " + c.Type.String()
			if c.Nullable {
				text += " NULL"
			}
			cols = append(cols, text)
		}
		if got := fmt.Sprintf("%d: %s", s.Markers(), strings.Join(cols, ", ")); got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}
