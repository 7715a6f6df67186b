package clients

import (
	"context"
	"embed"
	"io/fs"
	"testing"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// TestGoose goes up through migrations, down again, and says where it is.
func TestGoose(t *testing.T) {
	db := open(t)
	ctx := context.Background()
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectMySQL, db, folder)
	if err != nil {
		t.Fatal(err)
	}
	results, err := p.Up(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 3 {
		t.Errorf("%d migrations went up", len(results))
	}
	var n int
	if err := db.QueryRow("SELECT COUNT(*) FROM cities WHERE country = 'none'").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	if v, err := p.GetDBVersion(ctx); err != nil || v != 3 {
		t.Errorf("version %d, %v", v, err)
	}
	if _, err := p.Down(ctx); err != nil {
		t.Fatal(err)
	}
	if v, err := p.GetDBVersion(ctx); err != nil || v != 2 {
		t.Errorf("version %d after going down, %v", v, err)
	}
	if _, err := p.Up(ctx); err != nil {
		t.Fatal(err)
	}
	status, err := p.Status(ctx)
	if err != nil || len(status) != 3 || status[2].State != goose.StateApplied {
		t.Errorf("status: %v, %v", status, err)
	}
}
