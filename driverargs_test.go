package radish_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

type celsius float64

type label string

// money is a driver.Valuer, as decimal types of other packages are.
type money int64

func (m money) Value() (driver.Value, error) { return fmt.Sprintf("%d.%02d", m/100, m%100), nil }

// TestDriverArguments sends Go values through a marker and compares what SQL makes of them.
func TestDriverArguments(t *testing.T) {
	db := open(t, "")
	n, s := 7, "p"
	var none *int
	var nobody *money
	for _, tt := range []struct {
		arg  any
		want string
	}{
		{nil, "NULL"}, {none, "NULL"}, {nobody, "NULL"}, {[]byte(nil), "NULL"}, {sql.NullString{}, "NULL"},
		{true, "1"}, {false, "0"},
		{int8(-5), "-5"}, {int32(1 << 30), "1073741824"}, {n, "7"}, {&n, "7"},
		{uint8(255), "255"}, {uint64(math.MaxUint64), "18446744073709551615"}, {uint(3), "3"},
		{float32(0.5), "0.5"}, {1e100, "1e100"}, {celsius(36.6), "36.6"},
		{"it's", "it's"}, {&s, "p"}, {label("l"), "l"}, {[]byte("bytes"), "bytes"},
		{money(12345), "123.45"}, {sql.NullInt64{Int64: 9, Valid: true}, "9"},
		{time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), "2020-01-02 03:04:05"},
		{time.Date(2020, 1, 2, 3, 4, 5, 678901000, time.FixedZone("", 3600)), "2020-01-02 02:04:05.678901"},
		{90*time.Minute + 500*time.Millisecond, "01:30:00.500000"},
	} {
		var got string
		if err := db.QueryRow("SELECT COALESCE(CAST(? AS CHAR), 'NULL')", tt.arg).Scan(&got); err != nil {
			t.Errorf("%T %v: %v", tt.arg, tt.arg, err)
		} else if got != tt.want {
			t.Errorf("%T %v: got %s, want %s", tt.arg, tt.arg, got, tt.want)
		}
	}
	// A small unsigned argument is a BIGINT: the difference may be negative.
	var diff int64
	if err := db.QueryRow("SELECT ? - 10", uint(3)).Scan(&diff); err != nil || diff != -7 {
		t.Errorf("uint(3) - 10: %d, %v", diff, err)
	}
	for _, bad := range []any{struct{}{}, []int{1}, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 900 * time.Hour} {
		if err := db.QueryRow("SELECT ?", bad).Scan(new(any)); err == nil {
			t.Errorf("%T %v is taken", bad, bad)
		} else if !strings.Contains(err.Error(), "argument 1") {
			t.Errorf("%T %v: the error does not name the argument: %v", bad, bad, err)
		}
	}
}

// TestDriverSpecialFloats takes NaN, the infinities and -0 through arguments, an Appender, tables, Arrow and results.
func TestDriverSpecialFloats(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE a (i INT, x DOUBLE)")
	all := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}
	same := func(a, b float64) bool { return a != a && b != b || a == b && math.Signbit(a) == math.Signbit(b) }
	for i, x := range all {
		var got float64
		if err := db.QueryRow("SELECT ?", x).Scan(&got); err != nil || !same(got, x) {
			t.Errorf("%v comes back as %v, %v", x, got, err)
		}
		exec(t, db, "INSERT INTO a VALUES (?, ?)", i, x)
	}
	onConn(t, db, func(c *radish.Conn) {
		a, err := c.NewAppender(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range all {
			if err := errors.Join(a.Append(i, x), a.Append(i, float32(x))); err != nil {
				t.Error(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		records, err := c.QueryArrow(context.Background(), "SELECT i, x FROM a")
		if err != nil {
			t.Fatal(err)
		}
		defer records.Release()
		rows := 0
		for records.Next() {
			r := records.Record()
			for k := range int(r.NumRows()) {
				i, x := r.Column(0).(*array.Int32).Value(k), r.Column(1).(*array.Float64).Value(k)
				if !same(x, all[i]) {
					t.Errorf("Arrow has %v for %v", x, all[i])
				}
				rows++
			}
		}
		if rows != 3*len(all) || records.Err() != nil {
			t.Errorf("%d rows in Arrow, %v", rows, records.Err())
		}
	})
	for i, x := range all {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM a WHERE x = ? AND i = ?", x, i).Scan(&n); err != nil || n != 3 {
			t.Errorf("%d rows equal to %v, %v", n, x, err)
		}
	}
}

func TestDriverNamedArguments(t *testing.T) {
	db := open(t, "")
	var got string
	err := db.QueryRow("SELECT CONCAT(@a, '-', ?, '-', @b)", sql.Named("b", "y"), 1, sql.Named("a", "x")).Scan(&got)
	if err != nil || got != "x-1-y" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestDriverArgumentCount(t *testing.T) {
	db := open(t, "")
	for _, args := range [][]any{{}, {1}, {1, 2, 3}} {
		err := db.QueryRow("SELECT ? + ?", args...).Scan(new(any))
		if !errors.Is(err, sqlerr.CodeWrongArguments) {
			t.Errorf("%d arguments for 2 markers: %v", len(args), err)
		}
	}
}
