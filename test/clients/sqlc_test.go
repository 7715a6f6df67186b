package clients

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"testing"
	"time"

	"github.com/radish-sql/radish/test/clients/sqlcgen"
)

//go:embed sqlcgen/schema.sql
var sqlcSchema string

// TestSqlc runs the code that sqlc v1.30 has generated, with and without prepared statements.
func TestSqlc(t *testing.T) {
	for _, name := range []string{"plain", "prepared"} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			ctx := context.Background()
			exec(t, db, sqlcSchema)
			q := sqlcgen.New(db)
			if name == "prepared" {
				var err error
				if q, err = sqlcgen.Prepare(ctx, db); err != nil {
					t.Fatal(err)
				}
				defer q.Close()
			}
			runSqlc(t, ctx, db, q)
		})
	}
}

func runSqlc(t *testing.T, ctx context.Context, db *sql.DB, q *sqlcgen.Queries) {
	var ids []int64
	for _, a := range []sqlcgen.CreateAuthorParams{{Name: "Ada", Country: sql.NullString{String: "UK", Valid: true}}, {Name: "Zoë"}} {
		res, err := q.CreateAuthor(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		id, err := res.LastInsertId()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	day := time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)
	for i, price := range []string{"10.50", "4.25", "7.00"} {
		err := q.CreateBook(ctx, sqlcgen.CreateBookParams{
			ID: int64(i + 1), AuthorID: ids[i%2], Title: string(rune('A' + i)), Price: price,
			Published: sql.NullTime{Time: day.AddDate(0, i, 0), Valid: i > 0}, Meta: json.RawMessage(`{"pages": 10}`),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	author, err := q.GetAuthor(ctx, ids[1])
	if err != nil || author.Name != "Zoë" || author.Country.Valid {
		t.Errorf("author: %v, %v", author, err)
	}
	if _, err := q.GetAuthor(ctx, 99); err != sql.ErrNoRows {
		t.Errorf("no author: %v", err)
	}
	british, err := q.BooksByCountry(ctx, sql.NullString{String: "UK", Valid: true})
	if err != nil || len(british) != 2 || british[0].Price != "10.50" || british[1].Title != "C" {
		t.Errorf("books by country: %v, %v", british, err)
	}
	in, err := q.BooksIn(ctx, []int64{1, 3, 9})
	if err != nil || len(in) != 2 || in[0].Published.Valid || !in[1].Published.Time.Equal(day.AddDate(0, 2, 0)) || string(in[1].Meta) == "" {
		t.Errorf("books of a list: %v, %v", in, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := q.WithTx(tx).Reprice(ctx, sqlcgen.RepriceParams{Factor: "2", Author: ids[0]})
	if err != nil || n != 2 {
		t.Errorf("reprice: %d, %v", n, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	totals, err := q.Totals(ctx)
	if err != nil || len(totals) != 2 || totals[0].Total != 35 || totals[0].Books != 2 || totals[1].Total != 4.25 {
		t.Errorf("totals: %v, %v", totals, err)
	}
	if count, err := q.CountBooks(ctx); err != nil || count != 3 {
		t.Errorf("count: %d, %v", count, err)
	}
}
