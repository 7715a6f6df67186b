package clients

import (
	"database/sql"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

type sale struct {
	ID     int64           `db:"id"`
	Region string          `db:"region"`
	Day    time.Time       `db:"day"`
	Amount float64         `db:"amount"`
	Note   sql.NullString  `db:"note"`
	Rate   sql.NullFloat64 `db:"rate"`
}

// TestSqlx loads structs, reads them back, and asks with names, lists and maps.
func TestSqlx(t *testing.T) {
	db := sqlx.NewDb(open(t), "mysql")
	db.MustExec("CREATE TABLE sales (id BIGINT PRIMARY KEY, region VARCHAR(20), day DATE, amount DECIMAL(10,2), note TEXT, rate DOUBLE)")
	day := time.Date(2024, 2, 28, 0, 0, 0, 0, time.UTC)
	in := []sale{
		{1, "north", day, 10.25, sql.NullString{}, sql.NullFloat64{Float64: 1.5, Valid: true}},
		{2, "south", day.AddDate(0, 0, 1), 20.50, sql.NullString{String: "x", Valid: true}, sql.NullFloat64{}},
		{3, "north", day.AddDate(0, 0, 2), 30.75, sql.NullString{}, sql.NullFloat64{}},
	}
	if _, err := db.NamedExec("INSERT INTO sales (id, region, day, amount, note, rate) VALUES (:id, :region, :day, :amount, :note, :rate)", in); err != nil {
		t.Fatal(err)
	}
	var all []sale
	if err := db.Select(&all, "SELECT * FROM sales ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[0] != in[0] || all[1] != in[1] || all[2] != in[2] {
		t.Errorf("got %v", all)
	}
	var one sale
	if err := db.Get(&one, "SELECT * FROM sales WHERE day > ? ORDER BY amount DESC LIMIT 1", day); err != nil || one.ID != 3 {
		t.Errorf("got %v, %v", one, err)
	}
	if err := db.Get(&one, "SELECT * FROM sales WHERE id = 99"); err != sql.ErrNoRows {
		t.Errorf("no row gives %v", err)
	}
	query, args, err := sqlx.In("SELECT COUNT(*) FROM sales WHERE region IN (?) AND id IN (?)", []string{"north", "east"}, []int{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.Get(&n, db.Rebind(query), args...); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	rows, err := db.NamedQuery("SELECT region, SUM(amount) AS total FROM sales WHERE day >= :from GROUP BY region ORDER BY region", map[string]any{"from": day})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]string{}
	for rows.Next() {
		row := map[string]any{}
		if err := rows.MapScan(row); err != nil {
			t.Fatal(err)
		}
		got[row["region"].(string)] = row["total"].(string)
	}
	if rows.Err() != nil || got["north"] != "41.00" || got["south"] != "20.50" {
		t.Errorf("groups: %v, %v", got, rows.Err())
	}
	tx := db.MustBegin()
	if _, err := tx.NamedExec("UPDATE sales SET amount = amount * 2 WHERE region = :r", map[string]any{"r": "north"}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	stmt, err := db.PrepareNamed("SELECT SUM(amount) FROM sales WHERE region = :region")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var total float64
	if err := stmt.Get(&total, map[string]any{"region": "north"}); err != nil || total != 41 {
		t.Errorf("after a rollback: %v, %v", total, err)
	}
}
