//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// naming are all statements that name a file to be read: <F> stands for its name without an ending.
var naming = []string{
	"SELECT * FROM `<F>.csv`", "SELECT * FROM `<F>.parquet`", "SELECT * FROM `<F>.arrow`", "SELECT * FROM `<F>.jsonl`", "SELECT * FROM `<F>.csv.gz`", "SELECT * FROM `<F>.txt`",
	"SELECT * FROM `<F>*.csv`", "SELECT * FROM `<F>[.]csv`", "SELECT * FROM `<F>?csv`", "SELECT * FROM `<F>.weird`", "SELECT * FROM `<F>`", "SELECT * FROM `<F>.parquet.gz`",
	"TABLE `<F>.csv`", "WITH w AS (SELECT * FROM `<F>.csv`) SELECT 1", "SELECT (SELECT COUNT(*) FROM `<F>.csv`)", "SELECT * FROM t WHERE a IN (SELECT x FROM `<F>.csv`)",
	"SELECT * FROM t JOIN `<F>.csv` f ON f.x = t.a", "EXPLAIN SELECT * FROM `<F>.csv`", "EXPLAIN ANALYZE SELECT * FROM `<F>.csv`", "DESCRIBE `<F>.csv`", "SHOW COLUMNS FROM `<F>.csv`",
	"SHOW CREATE TABLE `<F>.csv`", "SHOW INDEX FROM `<F>.csv`", "CREATE TABLE n AS SELECT * FROM `<F>.csv`", "CREATE TABLE n LIKE `<F>.csv`", "CREATE VIEW n AS SELECT * FROM `<F>.csv`",
	"INSERT INTO t SELECT x FROM `<F>.csv`", "REPLACE INTO t SELECT x FROM `<F>.csv`", "UPDATE t, `<F>.csv` f SET a = 1", "DELETE t FROM t JOIN `<F>.csv` f ON 1", "DELETE FROM `<F>.csv`",
	"UPDATE `<F>.csv` SET x = 1", "INSERT INTO `<F>.csv` VALUES (1)", "DROP TABLE `<F>.csv`", "ALTER TABLE `<F>.csv` ADD COLUMN y INT", "TRUNCATE TABLE `<F>.csv`", "ANALYZE TABLE `<F>.csv`",
	"LOAD DATA INFILE '<F>.csv' INTO TABLE t", "LOAD DATA LOCAL INFILE '<F>.csv' INTO TABLE t", "LOAD DATA INFILE '<F>.csv.gz' INTO TABLE t", "LOAD DATA INFILE '<F>.weird' INTO TABLE t",
	"LOAD DATA INFILE '<F>.csv' REPLACE INTO TABLE t (@x) SET a = @x", "IMPORT INTO t FROM '<F>.csv'", "IMPORT INTO t FROM '<F>.parquet'", "IMPORT INTO t FROM '<F>.jsonl'",
	"IMPORT INTO t FROM '<F>.weird' FORMAT 'csv'", "IMPORT INTO t FROM '<F>.arrow'", "SELECT LOAD_FILE('<F>.csv')", "SET @x = (SELECT COUNT(*) FROM `<F>.csv`)", "DO (SELECT 1 FROM `<F>.csv`)",
	"PREPARE p FROM 'SELECT * FROM `<F>.csv`'", "SELECT x INTO @x FROM `<F>.csv`", "SELECT /*+ SET_VAR(radish_file_access='full') */ * FROM `<F>.csv`", "SELECT * FROM main.`<F>.csv`",
	"SET radish_file_access = '<F>.d'", "SET radish_file_access = 'read:F.d'", "CREATE FUNCTION f RETURNS STRING SONAME '<F>.so'", "INSTALL PLUGIN p SONAME '<F>.so'", "USE `<F>.csv`",
	"SELECT 1 INTO OUTFILE '<F>.csv'", "SELECT 1 INTO OUTFILE '<F>.parquet'", "SELECT 1 INTO OUTFILE '<F>'", "SELECT 'x' INTO DUMPFILE '<F>'", "TABLE t INTO OUTFILE '<F>.csv'",
	"SELECT * FROM information_schema.tables WHERE table_name = '<F>.csv'", "SELECT * FROM information_schema.radish_devices",
}

// hostile makes a folder of files with every ending, in a folder beside the one that is allowed, and returns both.
func hostile(t *testing.T) (allowed, secret string) {
	t.Helper()
	top := t.TempDir()
	allowed, secret = filepath.Join(top, "allowed"), filepath.Join(top, "secret")
	for _, dir := range []string{allowed, secret, filepath.Join(secret, "thxre.d")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, database.Options{Threads: 1})
	for _, ending := range []string{".csv", ".parquet", ".arrow", ".jsonl", ".csv.gz", ".txt", ".weird", "", ".so"} {
		fields := ""
		if ending == ".weird" || ending == ".so" {
			fields = " FIELDS TERMINATED BY ','"
		}
		mustRun(t, s, "SELECT 'do not tell' x INTO OUTFILE '"+filepath.Join(secret, "thxre"+ending)+"'"+fields)
		mustRun(t, s, "SELECT 7 x INTO OUTFILE '"+filepath.Join(allowed, "thxre"+ending)+"'"+fields)
	}
	if err := os.Symlink(secret, filepath.Join(allowed, "link")); err != nil {
		t.Fatal(err)
	}
	return allowed, secret
}

// Under no policy that refuses a folder does any statement tell what there is in it: with a name of a file that exists and one that does not,
// the result and the error are the same, up to the name.
func TestRefusedFilesTellNothing(t *testing.T) {
	allowed, secret := hostile(t)
	t.Chdir(filepath.Dir(secret))
	refused := 0
	for _, policy := range []string{"none", allowed, "read:" + allowed} {
		for _, folder := range []string{secret, "secret", "./allowed/../secret", filepath.Join(allowed, "link"), "allowed/link"} {
			if folder == "allowed/link" && policy == "none" {
				continue // the same as any
			}
			for _, sql := range naming {
				var outcome [2]string
				for i, name := range []string{"thxre", "fable"} {
					s := newSession(t, database.Options{Threads: 1, FileAccess: policy})
					mustRun(t, s, "CREATE TABLE t (a TEXT)")
					text, err := run(context.Background(), s, strings.ReplaceAll(sql, "<F>", filepath.Join(folder, name)))
					if errors.Is(err, sqlerr.CodeOptionPrevents) {
						refused++
					}
					if strings.Contains(text, "do not tell") || strings.Contains(fmt.Sprint(err), "do not tell") {
						t.Errorf("%s: %s of %s gives %s %v", policy, sql, folder, text, err)
					}
					outcome[i] = strings.ReplaceAll(fmt.Sprint(text, describeError(err)), name, "NAME")
				}
				if outcome[0] != outcome[1] && !strings.Contains(sql, "`<F>*.csv`") && !strings.Contains(sql, "[.]") && !strings.Contains(sql, "<F>?csv") ||
					outcome[0] != outcome[1] && !strings.Contains(folder, "link") { // a pattern over a link that leads out matches nothing
					t.Errorf("%s: %s of %s tells what there is:\n%s\n%s", policy, sql, folder, outcome[0], outcome[1])
				}
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d statements were refused", refused)
	}
	if left, _ := filepath.Glob(secret + "/.radish*"); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
	if left, _ := filepath.Glob(secret + "/fable*"); len(left) > 0 {
		t.Errorf("written: %s", left)
	}
}

// describeError is all that a person sees of an error.
func describeError(err error) string {
	if err == nil {
		return ""
	}
	e := sqlerr.From(err)
	return fmt.Sprint(e.Code, e.Message, e.Hint, e.Pos)
}

// What a policy allows works as it does without one.
func TestAllowedFiles(t *testing.T) {
	allowed, _ := hostile(t)
	t.Chdir(allowed)
	outs := 0
	for policy, writes := range map[string]bool{"full": true, "read": false, allowed: true, "read:" + allowed: false, "read:/usr," + allowed: true} {
		s := newSession(t, database.Options{Threads: 2, FileAccess: policy})
		mustRun(t, s, "CREATE TABLE t (x TEXT)")
		for sql, want := range map[string]string{
			"SELECT * FROM `thxre.csv`": "7\n", "SELECT * FROM `" + allowed + "/thxre.parquet`": "7\n", "SELECT * FROM `./thxr*.arrow`": "7\n",
			"LOAD DATA INFILE 'thxre.txt' INTO TABLE t IGNORE 1 LINES": "", "IMPORT INTO t FROM '" + allowed + "/thxre.jsonl'": "", "SELECT x FROM `thxre.csv.gz`": "7\n",
		} {
			got, err := run(context.Background(), s, sql)
			if err != nil || got != want {
				t.Errorf("%s: %s: %q %v", policy, sql, got, err)
			}
		}
		if got := mustRun(t, s, "SELECT COUNT(*) FROM t"); got != "2\n" {
			t.Errorf("%s: %s rows were loaded", policy, got)
		}
		outs++
		out := fmt.Sprintf("out%d.csv", outs)
		_, err := run(context.Background(), s, "SELECT 8 INTO OUTFILE '"+out+"'")
		if _, there := os.Stat(out); (err == nil) != writes || (there == nil) != writes || !writes && !errors.Is(err, sqlerr.CodeOptionPrevents) {
			t.Errorf("%s: writing: %v %v", policy, err, there)
		}
		if _, err := run(context.Background(), s, "SELECT 8 INTO OUTFILE 'thxre.csv'"); writes && !errors.Is(err, sqlerr.CodeFileExists) {
			t.Errorf("%s: a file that exists: %v", policy, err)
		}
	}
}

// A session narrows what it may do, for itself, and nothing takes that back. What others have read, named or prepared does not widen it.
func TestFileAccessNarrows(t *testing.T) {
	allowed, secret := hostile(t)
	s := newSession(t, database.Options{Threads: 2})
	ctx := context.Background()
	file := filepath.Join(secret, "thxre.csv")
	query := "SELECT * FROM `" + file + "`"
	mustRun(t, s, "CREATE VIEW v AS "+query)
	mustRun(t, s, "PREPARE p FROM '"+query+"'")
	for _, sql := range []string{query, "SELECT * FROM v", "EXECUTE p"} {
		if got := mustRun(t, s, sql); got != "do not tell\n" {
			t.Errorf("%s: %s", sql, got)
		}
	}
	other := s.engine.NewSession()
	if _, err := run(ctx, s, "SELECT /*+ SET_VAR(radish_file_access='none') */ * FROM v"); !errors.Is(err, sqlerr.CodeOptionPrevents) {
		t.Errorf("for a statement: %v", err)
	}
	mustRun(t, s, "SELECT * FROM v")
	for _, step := range []struct{ to, shows, priv string }{{"read", "read", ""}, {"read:" + allowed, "read:" + allowed, allowed}, {"none", "none", "NULL"}} {
		mustRun(t, s, "SET SESSION radish_file_access = '"+step.to+"'")
		if got := mustRun(t, s, "SELECT @@radish_file_access, @@secure_file_priv"); got != step.shows+"|"+step.priv+"\n" {
			t.Errorf("%s: %s", step.to, got)
		}
		for _, wider := range []string{"'full'", "full", "DEFAULT", "'/'", "'" + allowed + "'"} {
			for _, scope := range []string{"", "GLOBAL ", "SESSION ", "@@", "@@SESSION."} {
				if _, err := run(ctx, s, "SET "+scope+"radish_file_access = "+wider); err == nil {
					t.Errorf("%s became %s%s", step.to, scope, wider)
				}
			}
		}
		if _, err := run(ctx, s, "SELECT /*+ SET_VAR(radish_file_access='full') */ 1 INTO OUTFILE '"+secret+"/written.csv'"); err == nil {
			t.Errorf("%s: a hint widens it", step.to)
		}
		for _, sql := range []string{query, "SELECT * FROM v", "EXECUTE p"} {
			if _, err := run(ctx, s, sql); step.to != "read" && !errors.Is(err, sqlerr.CodeOptionPrevents) {
				t.Errorf("%s: %s: %v", step.to, sql, err)
			}
		}
	}
	if got := mustRun(t, other, query); got != "do not tell\n" {
		t.Errorf("another session: %s", got)
	}
	if _, err := New(database.Options{FileAccess: "/no/such/folder"}); err == nil {
		t.Error("a folder that does not exist")
	}
}

// What is no regular file is refused at once, whatever reads it; a pipe can be loaded, and the context or max_execution_time ends the wait for it.
func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo.csv")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	for name, target := range map[string]string{"zero.csv": "/dev/zero", "tty.csv": "/dev/tty", "dir.csv": "/tmp", "null.jsonl": "/dev/null", "fifo.parquet": fifo, "fifo.arrow": fifo, "fifo.csv.gz": fifo} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (x TEXT)")
	timed := func(limit time.Duration, sql string) error {
		t.Helper()
		begin := time.Now()
		_, err := run(context.Background(), s, sql)
		if took := time.Since(begin); took > limit {
			t.Errorf("%s took %s", sql, took)
		}
		return err
	}
	for _, name := range []string{"fifo.csv", "zero.csv", "tty.csv", "dir.csv", "null.jsonl", "fifo.parquet", "fifo.arrow", "fifo.csv.gz", "fif*.csv", "[fz]*.csv", "*.arrow"} {
		sql := "SELECT * FROM `" + filepath.Join(dir, name) + "`"
		if err := timed(5*time.Second, sql); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, name := range []string{"zero.csv", "tty.csv", "dir.csv"} {
		for _, sql := range []string{"LOAD DATA INFILE '%s' INTO TABLE t", "IMPORT INTO t FROM '%s'"} {
			if err := timed(5*time.Second, fmt.Sprintf(sql, filepath.Join(dir, name))); err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s of %s: %v", sql, name, err)
			}
		}
	}
	for _, sql := range []string{"LOAD DATA INFILE '" + fifo + "' INTO TABLE t", "LOAD DATA INFILE '" + fifo + ".gz' INTO TABLE t", "IMPORT INTO t FROM '" + fifo + "'"} {
		for _, writer := range []bool{false, true} {
			done := make(chan *os.File, 1)
			if writer { // that opens the pipe and says nothing
				go func() {
					f, _ := os.OpenFile(fifo, os.O_WRONLY, 0)
					done <- f
				}()
			}
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			begin := time.Now()
			_, err := run(ctx, s, sql)
			if took := time.Since(begin); !errors.Is(err, sqlerr.Cancelled) || took > 5*time.Second {
				t.Errorf("%s: %v after %s", sql, err, took)
			}
			if writer {
				(<-done).Close()
			}
			mustRun(t, s, "SET max_execution_time = 50")
			if err := timed(5*time.Second, sql); !errors.Is(err, sqlerr.Cancelled) {
				t.Errorf("%s with max_execution_time: %v", sql, err)
			}
			mustRun(t, s, "SET max_execution_time = 0")
		}
		go func() {
			if strings.Contains(sql, ".gz") {
				writeGzip(t, fifo, "piped\n")
			} else if err := os.WriteFile(fifo, []byte("piped\n"), 0); err != nil {
				t.Error(err)
			}
		}()
		mustRun(t, s, sql)
	}
	if got := mustRun(t, s, "SELECT x, COUNT(*) FROM t GROUP BY x"); got != "piped|3\n" {
		t.Errorf("loaded: %s", got)
	}
	if err := timed(5*time.Second, "SELECT 1 INTO OUTFILE '"+fifo+"'"); !errors.Is(err, sqlerr.CodeFileExists) {
		t.Errorf("a pipe to write to: %v", err)
	}
}

// Of the system's files some wait for what others write, though they look regular. Only a privileged process may read this one.
func TestFilesThatWait(t *testing.T) {
	const waits = "/proc/kmsg"
	if f, err := os.Open(waits); err != nil {
		t.Skip(err)
	} else {
		f.Close()
	}
	csv := filepath.Join(t.TempDir(), "waits.csv")
	if err := os.Symlink(waits, csv); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (x TEXT)")
	ends := func(ctx context.Context, sql string) {
		t.Helper()
		begin := time.Now()
		_, err := run(ctx, s, sql)
		if took := time.Since(begin); err == nil || took > 5*time.Second { // another error than the end of the wait: of what was read before
			t.Errorf("%s: %v after %s", sql, err, took)
		}
	}
	for _, sql := range []string{"SELECT * FROM `" + csv + "`", "LOAD DATA INFILE '" + waits + "' INTO TABLE t", "IMPORT INTO t FROM '" + csv + "'"} {
		mustRun(t, s, "SET max_execution_time = 50")
		ends(t.Context(), sql)
		mustRun(t, s, "SET max_execution_time = 0")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		ends(ctx, sql)
	}
}

// A file that is written while it is read is read again; one that never stays the same is an error, and no end that runs away is waited for.
func TestFilesThatChange(t *testing.T) {
	dir := t.TempDir()
	for _, change := range []struct {
		name string
		do   func(path string) error
	}{
		{"grows", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				fmt.Fprint(f, "1\n")
				err = f.Close()
			}
			return err
		}},
		{"shrinks", func(path string) error { return os.WriteFile(path, []byte("x\n1\n"), 0o644) }},
		{"is replaced", func(path string) error {
			old, err := os.Stat(path)
			if err == nil {
				err = os.WriteFile(path+".new", []byte(strings.Replace("x\n"+strings.Repeat("2\n", 100), "", "", 1)), 0o644)
			}
			if err == nil {
				err = os.Chtimes(path+".new", old.ModTime(), old.ModTime()) // the same size and time
			}
			if err == nil {
				err = os.Rename(path+".new", path)
			}
			return err
		}},
	} {
		for _, times := range []int{0, 1, 2, 1000} {
			path := filepath.Join(dir, fmt.Sprintf("%s%d.csv", change.name[:2], times))
			if err := os.WriteFile(path, []byte("x\n"+strings.Repeat("1\n", 100)), 0o644); err != nil {
				t.Fatal(err)
			}
			s := newSession(t, database.Options{Threads: 2})
			load, reads := s.engine.Files.Load, 0
			s.engine.Files.Load = func(ctx context.Context, set *files.Set, title string, ordinals []int) (*table.Version, error) {
				v, err := load(ctx, set, title, ordinals)
				if reads++; reads <= times {
					time.Sleep(2 * time.Millisecond)
					if err := change.do(path); err != nil {
						t.Error(err)
					}
				}
				return v, err
			}
			got, err := run(context.Background(), s, "SELECT COUNT(*), MIN(x), MAX(x) FROM `"+path+"`")
			now := newSession(t, database.Options{Threads: 1})
			want := mustRun(t, now, "SELECT COUNT(*), MIN(x), MAX(x) FROM `"+path+"`")
			switch {
			case times > 2:
				if err == nil || !strings.Contains(err.Error(), "changes while it is read") || reads != fileaccess.Reads {
					t.Errorf("a file that always %s: %q %v after %d reads", change.name, got, err, reads)
				}
			case err != nil || got != want || reads != times+1:
				t.Errorf("a file that %s %d times: %q %v, want %q; %d reads", change.name, times, got, err, want, reads)
			}
		}
	}
}

// A statement that writes a file and ends early leaves no part of it, and nobody sees one meanwhile.
func TestOutfileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE r (n INT)")
	mustRun(t, s, "INSERT INTO r WITH RECURSIVE c AS (SELECT 1 n UNION ALL SELECT n + 1 FROM c WHERE n < 1000) SELECT n FROM c")
	for _, ending := range []string{".csv", ".jsonl", ".parquet", ".arrow", ".csv.gz", ".txt", ""} {
		path := filepath.Join(dir, "big"+ending)
		endless := "SELECT a.n, REPEAT('x', 100) t FROM r a, r b, r c, r d"
		ctx, cancel := context.WithCancel(context.Background())
		seen := make(chan string)
		go func() {
			defer cancel()
			for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if _, err := os.Stat(path); err == nil {
					seen <- "it is there under its name"
					return
				}
				hidden, _ := filepath.Glob(dir + "/.radish-*.tmp")
				if len(hidden) > 0 {
					time.Sleep(20 * time.Millisecond)
					seen <- ""
					return
				}
			}
			seen <- "nothing was written"
		}()
		done := make(chan error, 1)
		go func() {
			_, err := run(ctx, s, endless+" INTO OUTFILE '"+path+"'")
			done <- err
		}()
		if problem := <-seen; problem != "" {
			t.Errorf("%s: %s", ending, problem)
		}
		if err := <-done; !errors.Is(err, sqlerr.Cancelled) {
			t.Errorf("%s: %v", ending, err)
		}
		for name, sql := range map[string]string{
			"an error behind some rows": "SELECT IF(n < 900, n, (SELECT 1 UNION ALL SELECT n)) FROM r",
			"no such column":            "SELECT nothing FROM (SELECT 1) x",
		} {
			if _, err := run(context.Background(), s, sql+" INTO OUTFILE '"+path+"'"); err == nil {
				t.Errorf("%s: %s is none", ending, name)
			}
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %s is left", ending, left)
		}
	}
}

// A name of no file is an error with the nearest name in its folder, where file_access lets that be read.
func TestNearestFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sales.csv", "stock.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a\n1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ access, sql, hint string }{
		{"full", "SELECT * FROM `DIR/sale.csv`", "did you mean 'sales.csv'?"},
		{"full", "SELECT * FROM `read_csv('DIR/slaes.csv')`", "did you mean 'sales.csv'?"},
		{"full", "LOAD DATA INFILE 'DIR/stok.csv' INTO TABLE t", "did you mean 'stock.csv'?"},
		{"full", "IMPORT INTO t FROM 'DIR/stocks.csv'", "did you mean 'stock.csv'?"},
		{"full", "SELECT * FROM `DIR/other.csv`", ""},
		{"full", "SELECT * FROM `DIR/none/sale.csv`", ""},
		{"DIR", "SELECT * FROM `DIR/sale.csv`", "did you mean 'sales.csv'?"},
		{"none", "SELECT * FROM `DIR/sale.csv`", "the program that opens the database says which files its statements may use"},
	} {
		s := newSession(t, database.Options{FileAccess: strings.ReplaceAll(c.access, "DIR", dir)})
		mustRun(t, s, "CREATE TABLE t (a TEXT)")
		_, err := run(context.Background(), s, strings.ReplaceAll(c.sql, "DIR", dir))
		var e *sqlerr.Error
		if !errors.As(err, &e) || e.Hint != c.hint {
			t.Errorf("%s, %s: %v, want the hint %q", c.access, c.sql, err, c.hint)
		}
	}
}
