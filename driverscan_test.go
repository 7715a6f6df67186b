package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// scanned reads one value as a T, and NULL as none.
func scanned[T comparable](t *testing.T, db *sql.DB, expression string, want T) {
	t.Helper()
	var got T
	var here, none sql.Null[T]
	if err := db.QueryRow("SELECT "+expression+", "+expression+", NULL").Scan(&got, &here, &none); err != nil {
		t.Errorf("%s as %T: %v", expression, want, err)
	} else if got != want || here.V != want || !here.Valid || none.Valid {
		t.Errorf("%s as %T: %v, %v, %v", expression, want, got, here, none)
	}
}

// TestDriverScan reads values of SQL as the Go types that people scan into.
func TestDriverScan(t *testing.T) {
	db := open(t, "?time_zone=Europe/Berlin")
	scanned(t, db, "CAST(12.50 AS DECIMAL(6,2))", "12.50")
	scanned(t, db, "CAST(12.50 AS DECIMAL(6,2))", 12.5)
	scanned(t, db, "CAST(12.50 AS DECIMAL(6,2))", decimal(t, "12.50"))
	scanned(t, db, "7", int8(7))
	scanned(t, db, "7", uint16(7))
	scanned(t, db, "7", float32(7))
	scanned(t, db, "7", "7")
	scanned(t, db, "7 > 3", true)
	scanned(t, db, "18446744073709551615", uint64(1<<64-1))
	scanned(t, db, "1.5e300", 1.5e300)
	scanned(t, db, "'text'", "text")
	scanned(t, db, "CAST('x' AS BINARY)", "x")
	var when, moment time.Time
	var raw sql.RawBytes
	rows, err := db.Query("SELECT DATE '2024-07-01', TIMESTAMP '2024-07-01 12:30:00.250000', 'raw'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&when, &moment, &raw); err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	if !when.Equal(time.Date(2024, 7, 1, 0, 0, 0, 0, zone)) || !moment.Equal(time.Date(2024, 7, 1, 12, 30, 0, 250_000_000, zone)) || string(raw) != "raw" {
		t.Errorf("got %v, %v, %s", when, moment, raw)
	}
	if err := db.QueryRow("SELECT 300").Scan(new(int8)); err == nil {
		t.Error("300 fits an int8")
	}
}

// TestDriverPool checks what the pool asks of connections, and what an INSERT answers.
func TestDriverPool(t *testing.T) {
	own, err := radish.Open("")
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(own.Connector())
	defer db.Close()
	ctx, cancel := context.WithCancel(context.Background())
	if err := db.PingContext(ctx); err != nil {
		t.Errorf("ping: %v", err)
	}
	cancel()
	if err := db.PingContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled ping: %v", err)
	}
	exec(t, db, "CREATE TABLE k (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	for _, want := range []int64{1, 3} {
		res := exec(t, db, "INSERT INTO k (v) VALUES (1), (2)")
		id, err := res.LastInsertId()
		n, err2 := res.RowsAffected()
		if id != want || n != 2 || err != nil || err2 != nil {
			t.Errorf("id %d, %d rows, %v, %v", id, n, err, err2)
		}
	}
	// A connection that goes back to the pool within a transaction leaves nothing open.
	db.SetMaxOpenConns(1)
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"START TRANSACTION", "DELETE FROM k"} {
		if _, err := c.ExecContext(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	if got := textOf(t, db, "SELECT COUNT(*) FROM k"); got != "4" {
		t.Errorf("%s rows after a transaction that nobody ended", got)
	}
	own.Close()
	if err := db.Ping(); err == nil {
		t.Error("a closed database answers")
	}
	if _, err := db.Exec("SELECT 1"); err == nil || errors.Is(err, sqlerr.Internal) {
		t.Errorf("a closed database: %v", err)
	}
}
