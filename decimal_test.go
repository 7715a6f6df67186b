package radish_test

import (
	"database/sql"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/radish-sql/radish"
)

// TestDecimal takes numbers through text, a table, and back, and compares with math/big.
func TestDecimal(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE d (a DECIMAL(38,10), b DECIMAL(9,2) NULL)")
	for _, text := range []string{"0", "-12.50", "99999999999999999999999999.9999999999", "0.0000000001", "-1", "1234567890123456789012345678.0123456789"} {
		d, err := radish.ParseDecimal(text)
		if err != nil || d.String() != text {
			t.Fatalf("%s: %s, %v", text, d, err)
		}
		exact, _ := new(big.Rat).SetString(text)
		if d.Rat().Cmp(exact) != 0 {
			t.Errorf("%s: Rat is %s", text, d.Rat())
		}
		if want, _ := exact.Float64(); d.Float64() != want {
			t.Errorf("%s: Float64 is %v, want %v", text, d.Float64(), want)
		}
		exec(t, db, "DELETE FROM d")
		exec(t, db, "INSERT INTO d VALUES (?, NULL)", d)
		var back radish.Decimal
		var null sql.Null[radish.Decimal]
		var float float64
		if err := db.QueryRow("SELECT a, b, a FROM d").Scan(&back, &null, &float); err != nil {
			t.Fatal(err)
		}
		if back.Cmp(d) != 0 || null.Valid || float != d.Float64() {
			t.Errorf("%s: got %s, %v, %v", text, back, null, float)
		}
	}
	var sum sql.Null[radish.Decimal]
	if err := db.QueryRow("SELECT ? + ?", decimal(t, "0.1"), decimal(t, "0.20")).Scan(&sum); err != nil || sum.V != decimal(t, "0.30") {
		t.Errorf("0.1 + 0.20 is %v, %v", sum, err)
	}
	out, err := json.Marshal(map[string]radish.Decimal{"x": decimal(t, "1.50")})
	if err != nil || string(out) != `{"x":"1.50"}` {
		t.Errorf("as JSON: %s, %v", out, err)
	}
	var in struct{ X radish.Decimal }
	if err := json.Unmarshal(out, &in); err != nil || in.X != decimal(t, "1.50") {
		t.Errorf("from JSON: %v, %v", in, err)
	}
	for _, bad := range []string{"", "x", "1.2.3", "1e60"} {
		if d, err := radish.ParseDecimal(bad); err == nil {
			t.Errorf("%q is read as %s", bad, d)
		}
	}
	if err := db.QueryRow("SELECT CAST(NULL AS DECIMAL(5,2))").Scan(new(radish.Decimal)); err == nil {
		t.Error("NULL scans into a Decimal")
	}
	if d, err := radish.NewDecimal(-125, 2); err != nil || d.String() != "-1.25" || d.Scale() != 2 {
		t.Errorf("NewDecimal: %v, %v", d, err)
	}
}

func decimal(t *testing.T, s string) radish.Decimal {
	t.Helper()
	d, err := radish.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDriverJSON binds and scans json.RawMessage.
func TestDriverJSON(t *testing.T) {
	db := open(t, "")
	exec(t, db, "CREATE TABLE j (a JSON, b JSON)")
	in := json.RawMessage(`{"k": [1, 2]}`)
	exec(t, db, "INSERT INTO j VALUES (?, ?)", in, json.RawMessage(nil))
	var out json.RawMessage
	var null sql.Null[json.RawMessage]
	if err := db.QueryRow("SELECT a, b FROM j").Scan(&out, &null); err != nil {
		t.Fatal(err)
	}
	var value struct{ K []int }
	if err := json.Unmarshal(out, &value); err != nil || len(value.K) != 2 || null.Valid {
		t.Errorf("got %s, %v, %v", out, null, err)
	}
	var text string
	if err := db.QueryRow("SELECT a FROM j").Scan(&text); err != nil || text != string(out) {
		t.Errorf("as a string: %s, %v", text, err)
	}
}
