package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

func newTable(db, name string) *table.Version {
	return table.New(&table.Schema{Database: db, Name: name, Columns: []table.ColumnDef{{Name: "a", Type: types.Int64}},
		Keys: []table.Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}})
}

// change is one step of TestNames: what is done, and the error that must come of it.
type change struct {
	name string
	do   func(*catalog.Snapshot) (*catalog.Snapshot, error)
	want error
	text string
}

func TestNames(t *testing.T) {
	c := catalog.New("Shop")
	view := func(db, name string, replace bool) func(*catalog.Snapshot) (*catalog.Snapshot, error) {
		return func(s *catalog.Snapshot) (*catalog.Snapshot, error) {
			return s.CreateView(&catalog.View{Database: db, Name: name, SQL: "SELECT 1"}, replace)
		}
	}
	create := func(db, name string) func(*catalog.Snapshot) (*catalog.Snapshot, error) {
		return func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.CreateTable(newTable(db, name)) }
	}
	drop := func(db, name string) func(*catalog.Snapshot) (*catalog.Snapshot, error) {
		return func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.DropTable(db, name) }
	}
	for _, step := range []change{
		{"table", create("shop", "Orders"), nil, ""},
		{"again, in other letters", create("SHOP", "ORDERS"), sqlerr.CodeTableExists, "'ORDERS'"},
		{"in no database", create("", "x"), sqlerr.CodeNoDatabaseSelected, ""},
		{"in an unknown database", create("shpo", "x"), sqlerr.CodeUnknownDatabase, "did you mean 'Shop'"},
		{"view over a table's name", view("shop", "orders", true), sqlerr.CodeTableExists, ""},
		{"view", view("shop", "Recent", false), nil, ""},
		{"view again", view("shop", "recent", false), sqlerr.CodeTableExists, ""},
		{"view replaced", view("shop", "recent", true), nil, ""},
		{"table over a view's name", create("shop", "RECENT"), sqlerr.CodeTableExists, ""},
		{"drop a view as a table", drop("shop", "recent"), sqlerr.CodeUnknownTable, ""},
		{"drop a misspelt table", drop("shop", "order"), sqlerr.CodeUnknownTable, "did you mean 'Orders'"},
		{"database", func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.WithDatabase("other") }, nil, ""},
		{"database again", func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.WithDatabase("OTHER") }, sqlerr.CodeDBCreateExists, ""},
		{"rename", func(s *catalog.Snapshot) (*catalog.Snapshot, error) {
			return s.RenameTable("shop", "orders", "other", "o2")
		}, nil, ""},
		{"rename to a taken name", func(s *catalog.Snapshot) (*catalog.Snapshot, error) {
			return s.RenameTable("other", "o2", "shop", "recent")
		}, sqlerr.CodeTableExists, ""},
		{"replace what is gone", func(s *catalog.Snapshot) (*catalog.Snapshot, error) {
			return s.ReplaceTable(newTable("shop", "orders"))
		}, sqlerr.CodeNoSuchTable, ""},
		{"replace", func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.ReplaceTable(newTable("other", "O2")) }, nil, ""},
		{"drop an unknown database", func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.WithoutDatabase("none") }, sqlerr.CodeDBDropExists, ""},
		{"drop an unknown view", func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.DropView("shop", "recnt") }, sqlerr.CodeUnknownTable, "did you mean 'recent'"},
	} {
		before := c.Load()
		err := c.Update(step.do)
		switch {
		case step.want == nil && err != nil:
			t.Fatalf("%s: %v", step.name, err)
		case step.want != nil && (!errors.Is(err, step.want) || !strings.Contains(err.Error(), step.text)):
			t.Fatalf("%s: %v, want %v with %q", step.name, err, step.want, step.text)
		case step.want != nil && c.Load() != before:
			t.Fatalf("%s: failed, and changed the catalog", step.name)
		case step.want == nil && c.Load() == before:
			t.Fatalf("%s: there is no new snapshot", step.name)
		}
	}
	s := c.Load()
	if got := fmt.Sprint(s.Databases(), s.Tables("shop"), s.Views("SHOP"), s.Tables("other"), s.Tables("none")); got != "[other Shop] [] [recent] [O2] []" {
		t.Error(got)
	}
	if v, err := s.Table("OTHER", "o2"); err != nil || v.Schema.Name != "O2" {
		t.Error(v, err)
	}
	if _, err := s.Table("shop", "recent"); !errors.Is(err, sqlerr.CodeWrongObject) {
		t.Error(err)
	}
	if v, err := s.View("shop", "RECENT"); err != nil || v.Name != "recent" || v.Database != "Shop" {
		t.Error(v, err)
	}
	if _, err := s.Table("shop", "o2"); err == nil || !strings.Contains(err.Error(), "did you mean 'other.o2'") {
		t.Error(err)
	}
}

// Writers append consecutive numbers to two tables in one Update each; every reader, at any moment, must find in both
// tables exactly the numbers 0..n-1 for one and the same n.
func TestReadersSeeWholeSnapshots(t *testing.T) {
	c := catalog.New("d")
	for _, name := range []string{"a", "b"} {
		if err := c.Update(func(s *catalog.Snapshot) (*catalog.Snapshot, error) { return s.CreateTable(newTable("d", name)) }); err != nil {
			t.Fatal(err)
		}
	}
	const writers, writes = 4, 150
	ctx, cancel := context.WithCancel(context.Background())
	var writing, reading sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range writes {
				err := c.Update(func(s *catalog.Snapshot) (*catalog.Snapshot, error) {
					for _, name := range []string{"a", "b"} {
						v, err := s.Table("d", name)
						if err != nil {
							return nil, err
						}
						next := column.New(types.Int64, 1)
						next.I64[0] = v.Rows()
						if v, err = v.Append(&column.Batch{N: 1, Cols: []*column.Vector{next}}); err != nil {
							return nil, err
						}
						if s, err = s.ReplaceTable(v); err != nil {
							return nil, err
						}
					}
					return s, nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 4 {
		reading.Go(func() {
			for ctx.Err() == nil {
				s := c.Load()
				a, errA := s.Table("d", "a")
				b, errB := s.Table("d", "b")
				if errA != nil || errB != nil || a.Rows() != b.Rows() {
					t.Errorf("%v, %v: torn snapshot", errA, errB)
					return
				}
				got := numbers(a)
				for i, x := range got {
					if x != int64(i) {
						t.Errorf("row %d is %d", i, x)
						return
					}
				}
				if !slices.Equal(got, numbers(b)) || int64(len(got)) != a.Rows() {
					t.Error("the tables differ")
					return
				}
				if st := a.Stats(0); st.Rows != a.Rows() || st.Rows > 0 && st.Max.I != a.Rows()-1 {
					t.Errorf("statistics of %d rows: %+v", a.Rows(), st)
					return
				}
			}
		})
	}
	writing.Wait()
	cancel()
	reading.Wait()
	if v, _ := c.Load().Table("d", "a"); v.Rows() != writers*writes {
		t.Errorf("%d rows: a write was lost", v.Rows())
	}
}

func numbers(v *table.Version) []int64 {
	var out []int64
	x := &column.Vector{}
	for _, g := range v.Groups() {
		g.Columns[0].Decode(x, 0, g.Rows)
		out = append(out, x.I64[:g.Rows]...)
	}
	return out
}
