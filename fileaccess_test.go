package radish_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The option and the name's value bound what the sessions of a database may do with files, on all connections of a pool, and two that share a
// database have each their own.
func TestFileAccess(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder, "x.csv"), []byte("x\n7\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	count := func(db *sql.DB, file string) (n int, err error) {
		return n, db.QueryRow("SELECT COUNT(*) FROM `" + file + "`").Scan(&n)
	}
	trusted := open(t, "shared_files")
	exec(t, trusted, "CREATE VIEW v AS SELECT * FROM `"+dir+"/in/x.csv`")
	for name, tc := range map[string]struct{ in, out, write bool }{
		"full": {true, true, true}, "read": {true, true, false}, "none": {}, dir + "/in": {true, false, true}, "in": {true, false, true}, "read:in": {true, false, false},
		"read:in," + dir + "/out": {true, true, false}, "": {}, "nonsense": {}, "/no/such": {},
	} {
		db, err := sql.Open("radish", "shared_files?file_access="+url.QueryEscape(name))
		if name == "" || name == "nonsense" || name == "/no/such" {
			if err == nil || !strings.Contains(err.Error(), "file_access") {
				t.Errorf("file_access=%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxIdleConns(0) // each statement in a session of its own
		t.Chdir(os.TempDir()) // which changes nothing
		for file, may := range map[string]bool{dir + "/in/x.csv": tc.in, dir + "/out/x.csv": tc.out, dir + "/in/../out/x.csv": tc.out} {
			if _, err := count(db, file); (err == nil) != may || !may && !errors.Is(err, sqlerr.CodeOptionPrevents) {
				t.Errorf("%s: %s: %v", name, file, err)
			}
		}
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM v").Scan(&n); (err == nil) != tc.in {
			t.Errorf("%s: a view of another's: %v", name, err)
		}
		target := dir + "/in/new.csv"
		if _, err := db.Exec("SELECT 1 INTO OUTFILE '" + target + "'"); (err == nil) != tc.write {
			t.Errorf("%s: writing: %v", name, err)
		}
		_ = os.Remove(target)
		if _, err := db.Exec("SET radish_file_access = 'full'"); (err == nil) != (name == "full") {
			t.Errorf("%s: wider: %v", name, err)
		}
		db.Close()
		t.Chdir(dir)
	}
	if n, err := count(trusted, "in/x.csv"); n != 1 || err != nil {
		t.Errorf("the database that all was shared with: %d %v", n, err)
	}
	for access, want := range map[string]bool{"none": false, "in": true, "full": true} {
		db, err := radish.Open("?file_access=full", radish.WithFileAccess(access)) // the option counts
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(context.Background(), "SELECT * FROM `in/x.csv`")
		if (err == nil) != want {
			t.Errorf("%s: %v", access, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, access := range []string{"", "nonsense"} {
		if _, err := radish.Open("", radish.WithFileAccess(access)); err == nil {
			t.Errorf("%q opens a database", access)
		}
	}
}
