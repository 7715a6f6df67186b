package bind

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// FuzzBind binds any text that the parser takes: it must end in a plan that passes the checker or in an error that is
// the user's, never in a panic.
func FuzzBind(f *testing.F) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(raw), "\n\n") {
			sql, _, _ := strings.Cut(block, "\n----\n")
			f.Add(sql)
		}
	}
	f.Fuzz(func(t *testing.T, sql string) {
		watchdog := time.AfterFunc(10*time.Second, func() { panic("bound for 10 s: " + sql) })
		defer watchdog.Stop()
		q, err := bindQuery(sql)
		if err != nil {
			var e *sqlerr.Error
			if !errors.As(err, &e) {
				t.Fatalf("%q: %v is no *sqlerr.Error", sql, err)
			}
			if e.Kind == sqlerr.Internal {
				t.Fatalf("%q: %v", sql, err)
			}
			return
		}
		if err := logical.Check(q.Root); err != nil {
			t.Fatalf("%q: %v", sql, err)
		}
	})
}
