package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// website serves a folder's files and notes which ranges are asked for.
type website struct {
	*httptest.Server
	dir string

	mu     sync.Mutex
	before func()     // each answer
	asked  [][2]int64 // first and last byte
}

// beforeEach has f run before each answer. Answers to requests of a statement that has ended may still come to it.
func (w *website) beforeEach(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = f
}

func serveFolder(t *testing.T, dir string) *website {
	t.Helper()
	w := &website{dir: dir, before: func() {}}
	files := http.FileServer(http.Dir(dir))
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		before := w.before
		w.mu.Unlock()
		before()
		span := [2]int64{0, -1}
		fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &span[0], &span[1])
		w.mu.Lock()
		w.asked = append(w.asked, span)
		w.mu.Unlock()
		files.ServeHTTP(out, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// ranges returns what was asked for since it was called last, without the requests that only find out how large a file is.
func (w *website) ranges() (all [][2]int64, looks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, span := range w.asked {
		if span == [2]int64{0, 0} {
			looks++
		} else {
			all = append(all, span)
		}
	}
	w.asked = nil
	return all, looks
}

// remoteRows makes a table of rows of several types.
func remoteRows(t *testing.T, s *Session, rows int) {
	t.Helper()
	mustRun(t, s, "CREATE TABLE r (n BIGINT, f DOUBLE, d DATE, t VARCHAR(80), x DECIMAL(12,2))")
	mustRun(t, s, fmt.Sprintf("INSERT INTO r SELECT n, n / 7, DATE '2024-01-01' + INTERVAL n %% 1000 DAY, "+
		"IF(n %% 10 = 3, NULL, CONCAT(MD5(n), ',', MD5(n + 1))), n / 3 FROM generate_series(1, %d) AS c(n)", rows))
}

// A file at an address is the file: all formats, small and large ones, which scans read piece by piece.
func TestRemoteFiles(t *testing.T) {
	dir := t.TempDir()
	site := serveFolder(t, dir)
	for _, rows := range []int{0, 1, 1000, 200_000} {
		s := newSession(t, database.Options{Threads: 4, FileAccess: "full," + site.URL + "/"})
		remoteRows(t, s, rows)
		for _, ending := range []string{"csv", "csv.gz", "tsv", "jsonl", "jsonl.zst", "json", "parquet", "arrow", "arrows"} {
			if rows == 0 && strings.HasPrefix(ending, "json") {
				continue // without objects there are no columns
			}
			if rows > 1000 && strings.Contains(ending, ".") {
				continue // what is packed comes in one stream, large or small
			}
			if rows > 1000 && testing.Short() && !slices.Contains([]string{"csv", "parquet", "arrow"}, ending) {
				continue // the race detector takes 10 s for each
			}
			name := fmt.Sprintf("x%d.%s", rows, ending)
			mustRun(t, s, "SELECT * FROM r INTO OUTFILE '"+filepath.Join(dir, name)+"'")
			for _, query := range []string{
				"SELECT COUNT(*) FROM FILE", "SELECT COUNT(*), SUM(n), MIN(f), MAX(d), MIN(t), COUNT(t), SUM(x) FROM FILE", "SELECT * FROM FILE ORDER BY n DESC LIMIT 3", "SELECT d, COUNT(*) FROM FILE WHERE n % 1000 = 7 GROUP BY d ORDER BY d LIMIT 4",
				"SELECT t FROM FILE WHERE n = 777", "DESCRIBE FILE",
			} {
				want := mustRun(t, s, strings.ReplaceAll(query, "FILE", "`"+filepath.Join(dir, name)+"`"))
				if got := mustRun(t, s, strings.ReplaceAll(query, "FILE", "`"+site.URL+"/"+name+"`")); got != want {
					t.Errorf("%s of %s:\n%.300s\nwant\n%.300s", query, name, got, want)
				}
			}
		}
	}
	s := newSession(t, database.Options{Threads: 2, FileAccess: "none," + site.URL + "/"})
	mustRun(t, s, "CREATE TABLE l (n BIGINT, f DOUBLE, d DATE, t VARCHAR(80), x DECIMAL(12,2))")
	mustRun(t, s, "LOAD DATA INFILE '"+site.URL+"/x1000.csv' INTO TABLE l FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES (n, f, d, @t, x)")
	mustRun(t, s, "IMPORT INTO l FROM '"+site.URL+"/x1000.parquet' FORMAT 'parquet'")
	mustRun(t, s, "CREATE VIEW v AS SELECT * FROM `read_csv('"+site.URL+"/x1000.csv?version=2', header = true)`")
	if got, want := mustRun(t, s, "SELECT COUNT(*), SUM(n) FROM l UNION ALL SELECT COUNT(*), SUM(n) FROM v"), "2000|1001000\n1000|500500"; strings.TrimSpace(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Objects of S3 are tables as files at other addresses are; the package that reads them tests signatures.
func TestS3Files(t *testing.T) {
	dir := t.TempDir()
	const odd = "bucket/year=2024/at=10%3A00/a +b?#%41 é&;=,'"
	if err := os.MkdirAll(filepath.Join(dir, odd), 0o700); err != nil {
		t.Fatal(err)
	}
	site := serveFolder(t, dir)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_REGION": "", "AWS_ENDPOINT_URL_S3": site.URL} {
		t.Setenv(name, value)
	}
	s := newSession(t, database.Options{Threads: 2, FileAccess: "full,s3://bucket/year=2024"})
	remoteRows(t, s, 1000)
	for _, name := range []string{"bucket/year=2024/at=10%3A00/r.parquet", "bucket/year=2024/at=10%3A00/r.csv", "bucket/year=2024/at=10%3A00/r.jsonl.gz",
		odd + "/r?.parquet", odd + "/r#.csv", odd + "/r+%2F.csv.gz", odd + "/?.jsonl"} {
		mustRun(t, s, "SELECT * FROM r INTO OUTFILE '"+strings.ReplaceAll(filepath.Join(dir, name), "'", "''")+"'")
		if got := strings.TrimSpace(mustRun(t, s, "SELECT COUNT(*), SUM(n), MIN(year), MIN(at) FROM `s3://"+name+"`")); got != "1000|500500|2024|10:00" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if _, err := run(context.Background(), s, "SELECT * FROM `s3://bucket/year=2024/r.parquet?s3_secret_access_key=secret`"); err == nil || !strings.Contains(err.Error(), "has no query") || strings.Contains(err.Error(), "secret") {
		t.Errorf("with a query: %v", err)
	}
	if _, err := run(context.Background(), s, "SELECT * FROM `s3://bucket/r.csv`"); !errors.Is(err, sqlerr.CodeOptionPrevents) {
		t.Errorf("read against the policy: %v", err)
	}
}

// A pattern of objects is a table, whose folders are partitions; each object that a query wants is asked for as often as if it were named, and its state not at all.
func TestS3Patterns(t *testing.T) {
	dir := t.TempDir()
	var keys []string
	site := httptest.NewServer(nil)
	t.Cleanup(site.Close)
	asked := map[string]int{}
	var mu sync.Mutex
	objects := http.FileServer(http.Dir(dir))
	site.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if asked[r.URL.Path]++; r.URL.RawQuery == "" {
			w.Header().Set("Etag", `"`+filepath.Base(r.URL.Path)+`"`)
			objects.ServeHTTP(w, r)
			return
		}
		fmt.Fprint(w, "<ListBucketResult>")
		for _, key := range keys {
			info, err := os.Stat(filepath.Join(dir, "bucket", key))
			if err != nil {
				t.Error(err)
			} else if strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
				fmt.Fprintf(w, "<Contents><Key>%s</Key><ETag>&quot;%s&quot;</ETag><Size>%d</Size></Contents>", key, filepath.Base(key), info.Size())
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
	})
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_REGION": "", "AWS_ENDPOINT_URL_S3": site.URL} {
		t.Setenv(name, value)
	}
	s := newSession(t, database.Options{Threads: 2, FileAccess: "full,s3://bucket/sales"})
	for year := 2023; year <= 2025; year++ {
		for _, ending := range []string{"parquet", "csv", "jsonl.gz"} {
			key := fmt.Sprintf("sales/year=%d/part-0.%s", year, ending)
			keys = append(keys, key)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, "bucket", key)), 0o700); err != nil {
				t.Fatal(err)
			}
			mustRun(t, s, fmt.Sprintf("SELECT n, n %% 7 AS k FROM generate_series(%d, %d) AS c(n) INTO OUTFILE '%s'", year*10, year*10+999, filepath.Join(dir, "bucket", key)))
		}
	}
	for _, ending := range []string{"parquet", "csv", "jsonl.gz"} {
		clear(asked)
		if got, want := strings.TrimSpace(mustRun(t, s, "SELECT year, COUNT(*), MIN(n) FROM `s3://bucket/sales/**/*."+ending+"` WHERE year >= 2024 GROUP BY year ORDER BY year")), "2024|1000|20240\n2025|1000|20250"; got != want {
			t.Errorf("%s: %s, want %s", ending, got, want)
		}
		if ending == "parquet" && (asked["/bucket/sales/year=2023/part-0.parquet"] > 1 || asked["/bucket/sales/year=2024/part-0.parquet"] > 2 || asked["/bucket/"] != 1) {
			t.Errorf("%s: asked %v", ending, asked)
		}
	}
	for pattern, want := range map[string]string{"sales/none*.csv": "no file matches", "*/x.csv": "is refused"} {
		if _, err := run(context.Background(), s, "SELECT * FROM `s3://bucket/"+pattern+"`"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}

// A query reads the footer and the chunks of the columns that it wants, each in one request.
func TestRemoteReadsWhatItNeeds(t *testing.T) {
	dir := t.TempDir()
	site := serveFolder(t, dir)
	s := newSession(t, database.Options{Threads: 4, FileAccess: "full," + site.URL})
	var columns []string
	for i := range 20 {
		columns = append(columns, fmt.Sprintf("CRC32(CONCAT(n, '-%d')) c%d", i, i))
	}
	remoteRows(t, s, 150_000)
	path := filepath.Join(dir, "wide.parquet")
	mustRun(t, s, "SELECT "+strings.Join(columns, ", ")+" FROM r INTO OUTFILE '"+path+"'")
	const query = "SELECT SUM(c7) FROM `%s/wide.parquet`"
	want := mustRun(t, s, fmt.Sprintf(query, dir))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunks := map[[2]int64]int{}
	bytes := int64(0)
	for g := range f.NumRowGroups() {
		c, err := f.MetaData().RowGroup(g).ColumnChunk(7)
		if err != nil {
			t.Fatal(err)
		}
		begin := c.DataPageOffset()
		if c.HasDictionaryPage() {
			begin = min(begin, c.DictionaryPageOffset())
		}
		chunks[[2]int64{begin, begin + c.TotalCompressedSize() - 1}] = 0
		bytes += c.TotalCompressedSize()
	}
	const tail = 64 << 10
	site.ranges()
	if got := mustRun(t, s, fmt.Sprintf(query, site.URL)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	asked, looks := site.ranges()
	footers, all := 0, int64(0)
	for _, span := range asked {
		all += span[1] - span[0] + 1
		if _, ok := chunks[span]; ok {
			chunks[span]++
		} else if span == [2]int64{info.Size() - tail, info.Size() - 1} {
			footers++
		} else {
			t.Errorf("bytes %d to %d are neither the footer nor column 7", span[0], span[1])
		}
	}
	for span, times := range chunks {
		if times != 1 {
			t.Errorf("the chunk at byte %d was read %d times", span[0], times)
		}
	}
	if footers != 1 || looks != 1 {
		t.Errorf("the footer was read %d times, and the file was looked at %d times", footers, looks)
	}
	t.Logf("%d bytes in %d requests, %d looks, of a file of %d; the column has %d in %d row groups", all, len(asked), looks, info.Size(), bytes, len(chunks))
	// Little memory is no error: less is read at once.
	small := newSession(t, database.Options{Threads: 2, FileAccess: "full," + site.URL, MemoryLimit: 6 << 20})
	for _, location := range []string{dir, site.URL} {
		if got, err := run(context.Background(), small, fmt.Sprintf(strings.Replace(query, "SUM(c7)", "SUM(c7), COUNT(*), MAX(c8), MIN(c9)", 1), location)); err != nil || !strings.HasPrefix(got, strings.TrimSpace(want)+"|150000|") {
			t.Errorf("with 6 MB, %s: %s, %v", location, got, err)
		}
	}
	// The same again: the file is known, and whether it has changed is all that is asked.
	for range 3 {
		site.ranges()
		mustRun(t, s, fmt.Sprintf(query, site.URL))
	}
	if asked, looks := site.ranges(); len(asked) > 0 || looks != 1 {
		t.Errorf("a column in memory was read again: %v, %d looks", asked, looks)
	}
	// Another column of the known file: neither its footer nor more than one look.
	mustRun(t, s, strings.ReplaceAll(fmt.Sprintf(query, site.URL), "c7", "c8"))
	asked, looks = site.ranges()
	if len(asked) != len(chunks) || looks != 1 {
		t.Errorf("another column came in %d requests and %d looks; it has %d row groups", len(asked), looks, len(chunks))
	}
	// A file that is named twice is looked at once.
	mustRun(t, s, fmt.Sprintf("SELECT COUNT(*) FROM `%[1]s/wide.parquet` a JOIN `%[1]s/wide.parquet` b ON a.c1 = b.c2", site.URL))
	if _, looks = site.ranges(); looks != 1 {
		t.Errorf("a file that is joined with itself was looked at %d times", looks)
	}
}

// A file that changes while a statement reads it is read again as a whole, or the statement fails.
func TestRemoteFilesThatChange(t *testing.T) {
	for _, ending := range []string{"csv", "jsonl", "parquet", "arrow"} {
		dir := t.TempDir()
		site := serveFolder(t, dir)
		s := newSession(t, database.Options{Threads: 2, FileAccess: "full," + site.URL})
		name := filepath.Join(dir, "x."+ending)
		var mu sync.Mutex // of what requests change
		version := 0
		change := func() {
			version++
			writer := newSession(t, database.Options{Threads: 1})
			remoteRows(t, writer, 2000+version)
			mustRun(t, writer, fmt.Sprintf("SELECT * FROM r INTO OUTFILE '%s' OVERWRITE", name))
			at := time.Unix(1e9+int64(version), 0)
			if err := os.Chtimes(name, at, at); err != nil {
				t.Error(err)
			}
		}
		change()
		for at := 1; at <= 8; at++ {
			requests := 0
			site.beforeEach(func() {
				mu.Lock()
				defer mu.Unlock()
				if requests++; requests == at {
					change()
				}
			})
			got, err := run(context.Background(), s, "SELECT COUNT(*), MAX(n) FROM `"+site.URL+"/x."+ending+"`")
			site.beforeEach(func() {})
			mu.Lock()
			now := fmt.Sprintf("%d|%d", 2000+version, 2000+version)
			if was := fmt.Sprintf("%d|%d", 1999+version, 1999+version); err != nil || strings.TrimSpace(got) != now && (requests > at || strings.TrimSpace(got) != was) {
				t.Errorf("%s changes at request %d of %d: %q, %v, want %s", ending, at, requests, got, err, now)
			}
			mu.Unlock()
		}
		site.beforeEach(func() {
			mu.Lock()
			defer mu.Unlock()
			change()
		})
		if got, err := run(context.Background(), s, "SELECT COUNT(*), MAX(n) FROM `"+site.URL+"/x."+ending+"`"); err == nil || !strings.Contains(err.Error(), "changes while it is read") {
			t.Errorf("%s changes all the time: %q, %v", ending, got, err)
		}
		site.beforeEach(func() {})
	}
}

// No message, plan or warning has an address's password or query.
func TestRemoteSecrets(t *testing.T) {
	dir := t.TempDir()
	site := serveFolder(t, dir)
	for name, text := range map[string]string{
		"good.csv": "a,b\n1,x\n2,y\n", "bad.csv": "a,b\n1,x\n2\n", "odd.jsonl": "{\"a\":1}\n{\n", "bad.parquet": "PAR1PAR1", "cut.parquet": "PAR1\xff\xff\x00\x00PAR1", "bad.arrow": "ARROW1xxxxxxxxxxxxxxxxARROW1", "bad.csv.gz": "no", "empty.json": "",
		"late.csv": "a\n" + strings.Repeat("1\n", 300_000) + "oops\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, database.Options{Threads: 2, FileAccess: "full," + site.URL})
	mustRun(t, s, "CREATE TABLE l (a INT, b INT)")
	begin := strings.Replace(site.URL, "http://", "http://user:secret@", 1) + "/"
	shown := 0
	for _, name := range []string{"good.csv", "bad.csv", "odd.jsonl", "bad.parquet", "cut.parquet", "bad.arrow", "bad.csv.gz", "empty.json", "late.csv", "none.csv", "*.csv", "none", "x.csv.bz2", "x.parquet.gz", "x.xlsx"} {
		url := begin + name + "?secret#secret"
		for _, sql := range []string{
			"SELECT * FROM `" + url + "`", "SELECT nothing FROM `" + url + "`", "SELECT SUM(a) FROM `" + url + "`", "EXPLAIN SELECT * FROM `" + url + "`", "EXPLAIN ANALYZE SELECT COUNT(*) FROM `" + url + "`", "DESCRIBE `" + url + "`",
			"SELECT * FROM `read_csv('" + url + "', nothing = 1)`", "SELECT * FROM `read_csv('" + url + "', types = 'INT')`", "SELECT * FROM `read_csv('" + url + "', ignore_errors = true)`", "SELECT * FROM `read_parquet('" + url + "')`", "SELECT * FROM `read_arrow('" + url + "')`", "SELECT * FROM `read_ndjson('" + url + "')`",
			"LOAD DATA INFILE '" + url + "' INTO TABLE l", "IMPORT INTO l FROM '" + url + "'", "SELECT 1 INTO OUTFILE '" + url + "'", "SET radish_file_access = 'full," + url + "'", "SET radish_file_access = '" + url + "'",
		} {
			out, err := run(context.Background(), s, sql)
			text := fmt.Sprintf("%s\n%v\n%s", out, err, mustRun(t, s, "SHOW WARNINGS"))
			if strings.Contains(text, "secret") {
				t.Errorf("%s:\n%.600s", sql, text)
			}
			if strings.Contains(text, "'"+site.URL) {
				shown++
			}
		}
	}
	if shown < 100 {
		t.Errorf("only %d messages name an address", shown)
	}
	other := newSession(t, database.Options{Threads: 2})
	if _, err := run(context.Background(), other, "SELECT * FROM `"+begin+"good.csv?secret`"); !errors.Is(err, sqlerr.CodeOptionPrevents) || strings.Contains(err.Error(), "secret") {
		t.Errorf("without permission: %v", err)
	}
}

// A statement that waits for a server ends within 100 ms of its context. Other programs may delay it, but not each time.
func TestRemoteStatementsEnd(t *testing.T) {
	const most = 100 * time.Millisecond
	dir := t.TempDir()
	site := serveFolder(t, dir)
	s := newSession(t, database.Options{Threads: 2, FileAccess: "full," + site.URL})
	remoteRows(t, s, 200_000)
	step, endings := 1, []string{"csv", "parquet", "arrow", "csv.gz"}
	if testing.Short() { // the race detector takes 20 s to compress these rows
		step, endings = 3, endings[:3]
	}
	for _, ending := range endings {
		mustRun(t, s, "SELECT * FROM r INTO OUTFILE '"+filepath.Join(dir, "x."+ending)+"'")
		for at := 1; at < 8; at += step {
			late := most + 1
			for try := 0; try < 10 && late > most; try++ {
				late = remoteLate(t, site, ending, at)
			}
			if late > most {
				t.Errorf("%s, request %d: ended after %s, and so each time before", ending, at, late)
			}
		}
	}
}

// remoteLate cancels a statement over a file of a server 20 ms after one of its requests, which gets no answer, as those behind it. It returns how long the statement took from then on.
func remoteLate(t *testing.T, site *website, ending string, at int) (late time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var mu sync.Mutex
	var ended time.Time
	requests := 0
	site.beforeEach(func() {
		mu.Lock()
		requests++
		hangs := requests >= at
		if requests == at {
			time.AfterFunc(20*time.Millisecond, func() {
				mu.Lock()
				ended = time.Now()
				mu.Unlock()
				cancel()
			})
		}
		mu.Unlock()
		if hangs {
			<-ctx.Done()
		}
	})
	own := newSession(t, database.Options{Threads: 2, FileAccess: "full," + site.URL})
	_, err := run(ctx, own, "SELECT SUM(n), MAX(t) FROM `"+site.URL+"/x."+ending+"`")
	mu.Lock()
	defer mu.Unlock()
	if ended.IsZero() { // it needed fewer requests
		return 0
	}
	if !errors.Is(err, sqlerr.Cancelled) {
		t.Errorf("%s, request %d: %v", ending, at, err)
	}
	return time.Since(ended)
}
