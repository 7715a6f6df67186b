package bind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// testCatalog holds two empty tables and a view.
type testCatalog struct{}

func testTable(name string, key bool, cols ...table.ColumnDef) *table.Version {
	s := &table.Schema{Database: "db", Name: name, Columns: cols}
	if key {
		s.Keys = []table.Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}
	}
	return table.New(s)
}

var tables = map[string]*table.Version{
	"t": testTable("t", true,
		table.ColumnDef{Name: "id", Type: types.Int64}, table.ColumnDef{Name: "a", Type: types.Int32, Nullable: true},
		table.ColumnDef{Name: "d", Type: types.Decimal(15, 2), Nullable: true}, table.ColumnDef{Name: "s", Type: types.Varchar(10), Nullable: true},
		table.ColumnDef{Name: "day", Type: types.Date, Nullable: true}),
	"u": testTable("u", false,
		table.ColumnDef{Name: "id", Type: types.Int64, Nullable: true}, table.ColumnDef{Name: "b", Type: types.Int32, Nullable: true}),
}

func (testCatalog) Table(db, name string) (*table.Version, error) {
	if v := tables[strings.ToLower(name)]; v != nil {
		return v, nil
	}
	return nil, sqlerr.NoSuchTable(db+"."+name, "")
}

func (testCatalog) View(_, name string) (View, bool) {
	if name != "v" {
		return View{}, false
	}
	stmt, err := parse.One("SELECT a, count(*) FROM t GROUP BY a", parse.DefaultMode)
	return View{Select: stmt.Node, Columns: []string{"a", "n"}}, err == nil
}

func (testCatalog) File(string) (*table.Version, bool, error) { return nil, false, nil }
func (testCatalog) HasDatabase(db string) bool                { return db == "db" }
func (c testCatalog) Permanent() Catalog                      { return c }

func bindQuery(sql string) (*logical.Query, error) {
	stmt, err := parse.One(sql, parse.DefaultMode)
	if err != nil {
		return nil, err
	}
	ctx := &expr.Context{Ctx: context.Background(), Now: time.Unix(0, 0).UTC(), Location: time.UTC, SQLMode: expr.DefaultSQLMode, Warnings: &sqlerr.Warnings{}}
	b := &Binder{Catalog: testCatalog{}, Database: "db", Ctx: ctx, Locate: stmt.Locate}
	return b.Query(stmt.Node)
}

// TestPlans binds each statement of testdata/*.sql and compares the plan or the error with what stands below it.
// RADISH_UPDATE=1 writes the files anew.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
				sql, _, _ := strings.Cut(block, "\n----\n")
				out.WriteString(sql + "\n----\n" + planText(t, sql) + "\n\n")
			}
			if os.Getenv("RADISH_UPDATE") != "" {
				if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, want := strings.TrimSpace(out.String()), strings.TrimSpace(string(raw)); got != want {
				t.Errorf("plans differ; got:\n%s", got)
			}
		})
	}
}

func planText(t *testing.T, sql string) string {
	q, err := bindQuery(sql)
	if err != nil {
		var e *sqlerr.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v is no *sqlerr.Error", sql, err)
		}
		return "error: " + e.Error()
	}
	if err := logical.Check(q.Root); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
	var cols []string
	for i, c := range q.Cols {
		cols = append(cols, q.Names[i]+" "+c.Typ.String())
	}
	return strings.TrimSpace(logical.Format(q.Root)) + "\n=> " + strings.Join(cols, ", ")
}
