package damage

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/files"
)

// The environment of a run.
const (
	asChild = "RADISH_DAMAGE_CHILD" // set: read files, see child
	// childLimit is the memory_limit of the child's databases.
	childLimit = "RADISH_DAMAGE_LIMIT"
	inFolder   = "RADISH_DAMAGE_SOURCES" // a folder of files to damage, besides those of the repository
	howMany    = "RADISH_DAMAGE_FILES"   // how many damaged files to read (300)
	howLong    = "RADISH_DAMAGE_SECONDS" // no further file is read after so many seconds (0: all are read)
	fromSeed   = "RADISH_DAMAGE_SEED"    // the seed (1)
	onlyFile   = "RADISH_DAMAGE_ONLY"    // the number of one file, which is kept
	limitMB    = 256                     // memory_limit of each child's database
	slack      = 100_000_000             // what a child may hold beyond its database's limit, in bytes
	addressMB  = 1800                    // ulimit -v of each child
	patience   = time.Minute             // for one file: processor time, and ten times as long by the clock
)

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		child(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// child reads the files whose names come in, and says of each the peak of resident memory in bytes and what happened: "error MESSAGE", "panic MESSAGE",
// "leak COUNT" or "rows DIGEST".
func child(in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		before := runtime.NumGoroutine()
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak is that of this file
		what := read(lines.Text())
		for end := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > before {
			what = fmt.Sprintf("leak %d goroutines", n-before)
		}
		fmt.Fprintln(out, peak(), what)
	}
}

// peak returns the peak of the process's resident memory, in bytes; 0 where the system does not tell.
func peak() (bytes int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscanf(line, "%d kB", &bytes)
	return bytes << 10
}

// read reads a file by a database of its own.
func read(path string) string {
	ctx := context.Background()
	db, err := sql.Open("radish", ":memory:?threads=2&memory_limit="+os.Getenv(childLimit))
	if err != nil {
		return "panic " + err.Error()
	}
	defer db.Close()
	columns := "*"
	streamed, serr := digestOf(ctx, db, "SELECT * FROM `"+path+"` LIMIT 1000000") // which scans read themselves, unless the file has to be read from its start
	digest, err := digestOf(ctx, db, "SELECT * FROM `"+path+"`")
	if errors.Is(err, sqlerr.NotSupported) { // there are columns of types that SQL lacks
		if columns, err = readable(ctx, db, path); err == nil {
			streamed, serr = digestOf(ctx, db, "SELECT "+columns+" FROM `"+path+"` LIMIT 1000000")
			digest, err = digestOf(ctx, db, "SELECT "+columns+" FROM `"+path+"`")
		}
	}
	switch {
	case errors.Is(serr, sqlerr.Internal):
		return "panic " + oneLine(serr)
	case err == nil && serr != nil:
		return "panic read into memory, and not by a scan: " + oneLine(serr)
	case err == nil && digest != streamed:
		return "panic read into memory it is " + digest + ", by a scan " + streamed
	case errors.Is(err, sqlerr.Internal):
		return "panic " + oneLine(err)
	case err != nil:
		return "error " + oneLine(err)
	}
	return "rows " + digest
}

// readable returns the columns of a file that have SQL types, for a select list.
func readable(ctx context.Context, db *sql.DB, path string) (string, error) {
	rows, err := db.QueryContext(ctx, "SHOW COLUMNS FROM `"+path+"`")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	list := []string{"COUNT(*) OVER ()"}
	for rows.Next() {
		var name string
		var rest [5]any
		if err := rows.Scan(&name, &rest[0], &rest[1], &rest[2], &rest[3], &rest[4]); err != nil {
			return "", err
		}
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		if _, err := db.PrepareContext(ctx, "SELECT "+quoted+" FROM `"+path+"`"); err == nil {
			list = append(list, quoted)
		}
	}
	return strings.Join(list, ", "), rows.Err()
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// digestOf returns a digest of a query's columns and rows.
func digestOf(ctx context.Context, db *sql.DB, query string) (string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return "", err
	}
	h := fnv.New64a()
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		fmt.Fprintln(h, c.Name(), c.DatabaseTypeName())
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		fmt.Fprintln(h, values...)
	}
	return fmt.Sprintf("%x", h.Sum64()), rows.Err()
}

// reader is a child process.
type reader struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err strings.Builder
}

func start(t *testing.T, memoryMB, addressMB int) *reader {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{cmd: exec.Command("sh", "-c", fmt.Sprintf("ulimit -v %d && exec \"$0\"", addressMB<<10), program)}
	// The child collects garbage as a program does whose user sets nothing: with a large GOGC it would fill its address space with garbage.
	// The C library reserves 64 MB for each thread, up to eight times the processors' number of them, of which none is used.
	r.cmd.Env = append(os.Environ(), asChild+"=1", fmt.Sprintf("%s=%dMB", childLimit, memoryMB), "GOGC=100", "GOMEMLIMIT=off", "MALLOC_ARENA_MAX=1")
	r.cmd.Stderr = &r.err
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// ask has the child read a file. It returns the peak of resident memory and what happened. A child that died ("fatal") or takes too long ("hang") is done with.
func (r *reader) ask(path string) (peak int64, answer string, alive bool) {
	if _, err := fmt.Fprintln(r.in, path); err != nil {
		return 0, r.end("fatal"), false
	}
	slow := r.watch()
	line, err := r.out.ReadString('\n')
	if killed := slow(); err != nil && killed {
		return 0, r.end("hang"), false
	} else if err != nil {
		return 0, r.end("fatal"), false
	}
	bytes, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
	peak, err = strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return 0, "fatal " + line, false
	}
	return peak, answer, true
}

// watch kills a child that computes or waits for too long. ended says that it has answered, and returns whether it was killed.
func (r *reader) watch() (ended func() bool) {
	begin, spent := time.Now(), processorTime(r.cmd.Process.Pid)
	var killed atomic.Bool
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Second / 4):
				if time.Since(begin) > 10*patience || processorTime(r.cmd.Process.Pid)-spent > patience {
					killed.Store(true)
					_ = r.cmd.Process.Kill()
					return
				}
			}
		}
	}()
	return func() bool {
		close(stop)
		<-stopped
		return killed.Load()
	}
}

// processorTime is what a process has spent computing, as Linux tells in hundredths of a second; 0 elsewhere.
func processorTime(pid int) time.Duration {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third one on
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100
}

func (r *reader) end(what string) string {
	_ = r.in.Close()
	_ = r.cmd.Wait() // how it ended is told by what it wrote
	text := strings.Join(strings.Fields(r.err.String()), " ")
	return what + " " + text[:min(len(text), 600)]
}

// source is a file to damage.
type source struct {
	path    string
	content []byte
	others  []*source // of the same format
	answer  string    // what reading it as it is gives
}

// format is what outcomes are counted by.
func (s *source) format() string {
	name := strings.TrimSuffix(strings.TrimSuffix(s.path, ".gz"), ".zst")
	return files.FormatOf(name).String()
}

// ending returns what has to stand behind the names of damaged copies.
func (s *source) ending() string {
	base := filepath.Base(s.path)
	return base[strings.Index(base, "."):]
}

// sources returns the files of the repository's tests, what Radish writes, and those of the environment's folder.
func sources(t *testing.T) (all []*source) {
	folder := t.TempDir()
	db, err := sql.Open("radish", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
		SELECT i AS id, CAST(i * 31 - 999 AS DECIMAL(12, 2)) / 8 AS amount, i / 8e0 AS x, CONCAT('few ', i % 5) AS few, IF(i % 7 = 3, NULL, CONCAT('a "text", of many ', i)) AS many,
		CAST('2001-02-03' AS DATE) + INTERVAL i DAY AS day, CAST(i AS DECIMAL(30, 3)) AS wide FROM n`)
	endings := []string{".tsv", ".csv.gz", ".csv.zst", ".jsonl.gz", ".json.zst"}
	for _, f := range files.Formats() {
		endings = append(endings, f.Endings()[0])
	}
	for _, ending := range endings {
		exec("SELECT * FROM t INTO OUTFILE '" + filepath.Join(folder, "radish"+ending) + "'")
	}
	patterns := []string{folder + "/*", "../../storage/parquet/testdata/v*.parquet", "../../storage/parquet/testdata/nested.parquet", "../../storage/parquet/testdata/pages.parquet",
		"../../storage/parquet/testdata/bloom.parquet", "../../storage/parquet/testdata/deep*.parquet", "../../storage/arrowipc/testdata/*.arrow*"}
	if more := os.Getenv(inFolder); more != "" {
		patterns = append(patterns, more+"/*.*")
	}
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", p, paths, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if path, err = filepath.Abs(path); err != nil {
				t.Fatal(err)
			}
			all = append(all, &source{path: path, content: content})
		}
	}
	for _, s := range all {
		for _, o := range all {
			if o.format() == s.format() {
				s.others = append(s.others, o)
			}
		}
	}
	return all
}

func number(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Damaged files of every format and writer are refused or give rows, in processes of bounded memory.
func TestDamage(t *testing.T) {
	if underRace {
		t.Skip("the race detector maps more address space than children may have here")
	}
	seed, files, only := number(t, fromSeed, 1), number(t, howMany, 300), number(t, onlyFile, -1)
	all := sources(t)
	first := start(t, limitMB, addressMB)
	for _, s := range all {
		var alive bool
		if _, s.answer, alive = first.ask(s.path); !alive || strings.HasPrefix(s.answer, "error ") && !strings.Contains(s.path, "nocolumns") {
			t.Fatalf("%s, undamaged: %s", s.path, s.answer)
		}
	}
	first.end("")
	// make returns a damaged file: all of it follows from the seed and its number.
	make := func(i int) (*source, []byte) {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		s := all[r.IntN(len(all))]
		return s, Change(r, s.path, s.content, s.others[r.IntN(len(s.others))].content)
	}
	folder := t.TempDir()
	counts := map[string]map[string]int{}
	var mu sync.Mutex
	var work sync.WaitGroup
	next := 0
	if only >= 0 {
		next, files = only, only+1
		folder = os.TempDir()
	}
	begin := time.Now()
	end := begin.Add(time.Duration(number(t, howLong, 0)) * time.Second)
	for w := range max(1, min(runtime.GOMAXPROCS(0), files-next)) {
		work.Go(func() {
			var r *reader
			defer func() {
				if r != nil {
					r.end("")
				}
			}()
			for {
				mu.Lock()
				i := next
				if i >= files || end.After(begin) && time.Now().After(end) {
					mu.Unlock()
					return
				}
				next++
				mu.Unlock()
				s, content := make(i)
				path := filepath.Join(folder, fmt.Sprintf("damaged%d%s", w, s.ending()))
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Error(err)
					return
				}
				if r == nil {
					r = start(t, limitMB, addressMB)
				}
				peak, answer, alive := r.ask(path)
				if peak > limitMB<<20+slack {
					answer = fmt.Sprintf("memory %d MB were resident under a limit of %d; then %s", peak/1_000_000, limitMB, answer)
				}
				if !alive {
					r = nil
				}
				what, _, _ := strings.Cut(answer, " ")
				switch what {
				case "rows":
					if what = "other data"; answer == s.answer || string(content) == string(s.content) {
						what = "right data"
					}
				case "error":
					if !strings.Contains(answer, filepath.Base(path)) {
						t.Errorf("file %d, of %s: the error does not name the file: %s", i, s.path, answer)
					}
				default:
					t.Errorf("file %d, of %s: %s\n\treplay: RADISH_DAMAGE_SEED=%d RADISH_DAMAGE_ONLY=%d go test ./test/damage -run TestDamage -v", i, s.path, answer, seed, i)
				}
				if only >= 0 {
					t.Logf("%s, of %s: %s", path, s.path, answer)
				}
				mu.Lock()
				if counts[s.format()] == nil {
					counts[s.format()] = map[string]int{}
				}
				counts[s.format()][what]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	t.Logf("seed %d, %d sources, %d damaged files, %.0f s", seed, len(all), next, time.Since(begin).Seconds())
	for _, format := range slices.Sorted(maps.Keys(counts)) {
		var parts []string
		for _, what := range []string{"error", "right data", "other data", "panic", "leak", "memory", "fatal", "hang"} {
			parts = append(parts, fmt.Sprintf("%s %d", what, counts[format][what]))
		}
		t.Logf("%-12s %s", format, strings.Join(parts, ", "))
	}
}
