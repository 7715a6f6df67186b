package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// onConn runs f with a Conn of a pool.
func onConn(t *testing.T, pool *sql.DB, f func(c *radish.Conn)) {
	t.Helper()
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := radish.Raw(conn, func(c *radish.Conn) error { f(c); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestAppender compares what an Appender stores with what INSERTs of the same values do.
func TestAppender(t *testing.T) {
	pool := open(t, "?time_zone=Europe/Berlin")
	const columns = " (id BIGINT PRIMARY KEY, i INT, u BIGINT UNSIGNED, f DOUBLE, d DECIMAL(20,4), s VARCHAR(30), b BLOB, dt DATE, ts DATETIME(3), tm TIME, ok BOOLEAN, e ENUM('x','y'), def INT DEFAULT 7)"
	exec(t, pool, "CREATE TABLE a"+columns)
	exec(t, pool, "CREATE TABLE b"+columns)
	insert, err := pool.Prepare("INSERT INTO b (id, i, u, f, d, s, b, dt, ts, tm, ok, e) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	row := func(i int) []any {
		at := time.Date(2024, 3, 30, 23, 30, 0, 123456000, time.UTC).Add(time.Duration(i) * time.Hour)
		r := []any{i, i % 10, uint64(i) << 54, float64(i) / 3, fmt.Sprintf("%d.%04d", i, i), fmt.Sprint("s", i), []byte{byte(i), 0}, at, at, time.Duration(i) * time.Minute, i%2 == 0, "x"}
		switch i % 5 {
		case 1:
			for k := 1; k < len(r); k++ {
				r[k] = nil
			}
		case 2: // other types for the same columns
			r[1], r[4], r[5], r[7], r[8], r[11] = "12", decimal(t, "1.23456"), i, "2020-02-02", "2021-01-01 10:00:00", 2
		}
		return r
	}
	const rows = 500
	onConn(t, pool, func(c *radish.Conn) {
		a, err := c.NewAppender(context.Background(), "main.a", "id", "i", "u", "f", "d", "s", "b", "dt", "ts", "tm", "ok", "e")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := a.Append(row(i)...); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if a.Written() != rows {
			t.Errorf("%d rows written", a.Written())
		}
		if a.Append(row(1)...) == nil {
			t.Error("a closed appender takes rows")
		}
	})
	for i := range rows {
		if _, err := insert.Exec(row(i)...); err != nil {
			t.Fatal(i, err)
		}
	}
	a, b := textOf(t, pool, "SELECT * FROM a ORDER BY id"), textOf(t, pool, "SELECT * FROM b ORDER BY id")
	if a != b {
		t.Errorf("appended:\n%.600s\ninserted:\n%.600s", a, b)
	}
	if len(a) < rows*20 {
		t.Errorf("only %d bytes to compare", len(a))
	}
}

func TestAppenderErrors(t *testing.T) {
	pool := open(t, "")
	exec(t, pool, "CREATE TABLE a (id INT PRIMARY KEY, n INT NOT NULL)")
	ctx := context.Background()
	onConn(t, pool, func(c *radish.Conn) {
		if _, err := c.NewAppender(ctx, "nosuch"); !errors.Is(err, sqlerr.CodeNoSuchTable) {
			t.Errorf("no table: %v", err)
		}
		if _, err := c.NewAppender(ctx, "a", "id", "nosuch"); !errors.Is(err, sqlerr.CodeUnknownColumn) {
			t.Errorf("no column: %v", err)
		}
		for name, last := range map[string][]any{"duplicate": {1, 1}, "NULL": {2, nil}, "range": {2, 1 << 40}, "text": {"x", 1}} {
			a, err := c.NewAppender(ctx, "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Append(1, 1); err != nil {
				t.Fatal(err)
			}
			if err := a.Append(1); !errors.Is(err, sqlerr.CodeWrongValueCount) {
				t.Errorf("a short row: %v", err)
			}
			if err := a.Append(1, struct{}{}); err == nil {
				t.Error("a value without SQL type is taken")
			}
			err = a.Append(last...)
			if e := a.Close(); err == nil {
				err = e
			}
			var e *radish.Error
			if !errors.As(err, &e) || e.Pos.Known() || strings.Contains(err.Error(), "INSERT") {
				t.Errorf("%s: %v", name, err)
			}
			if err := a.Append(3, 3); err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("%s: after Close: %v", name, err)
			}
			if _, err := c.Exec(ctx, "DELETE FROM a"); err != nil {
				t.Fatal(err)
			}
		}
		done, cancel := context.WithCancel(ctx)
		a, err := c.NewAppender(done, "a")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := a.Append(5, 5); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
	if got := textOf(t, pool, "SELECT COUNT(*) FROM a"); got != "0" {
		t.Errorf("%s rows are left", got)
	}
}

// TestAppenderBulk appends more rows than are held at once, and Arrow records.
func TestAppenderBulk(t *testing.T) {
	pool := open(t, "")
	exec(t, pool, "CREATE TABLE a (x BIGINT, s VARCHAR(10))")
	const rows = 300_000
	onConn(t, pool, func(c *radish.Conn) {
		a, err := c.NewAppender(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := a.Append(i, "v"); err != nil {
				t.Fatal(err)
			}
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "q", Type: arrow.PrimitiveTypes.Int32}, {Name: "r", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for i := range 1000 {
			b.Field(0).(*array.Int32Builder).Append(int32(i))
			b.Field(1).AppendNull()
		}
		r, err := array.NewRecordReader(schema, []arrow.Record{b.NewRecord()})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		if err := a.AppendRecords(r); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if got, want := textOf(t, pool, "SELECT COUNT(*), COUNT(s), SUM(x) FROM a"), fmt.Sprintf("%d,%d,%d", rows+1000, rows, rows*(rows-1)/2+1000*999/2); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// BenchmarkAppender measures rows of three values.
func BenchmarkAppender(b *testing.B) {
	db, err := radish.Open("")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn()
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	if _, err := c.Exec(ctx, "CREATE TABLE a (x BIGINT, f DOUBLE, s VARCHAR(10))"); err != nil {
		b.Fatal(err)
	}
	a, err := c.NewAppender(ctx, "a")
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := a.Append(i, 1.5, "text"); err != nil {
			b.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
}
