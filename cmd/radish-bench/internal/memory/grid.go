package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
)

// The grid is every operator over every kind of values, and every reader of files over every kind of file. Nobody chose its statements, so
// it finds what nobody thought of.

// memoryKind is a kind of values: rows of id, k (which repeats) and v, of which there are more than most limits allow.
type memoryKind struct {
	name, rows string
}

// memoryKinds are the kinds. n has 100,000 rows, and joined by k a million.
var memoryKinds = []memoryKind{
	{"integers", "SELECT a.id, a.k, a.id * 10 + b.id DIV 10000 AS v FROM n a JOIN n b ON a.k = b.k"},
	{"doubles", "SELECT a.id, a.k, a.f * b.id AS v FROM n a JOIN n b ON a.k = b.k"},
	{"decimals", "SELECT a.id, a.k, a.d * b.id AS v FROM n a JOIN n b ON a.k = b.k"},
	{"dates", "SELECT a.id, a.k, TIMESTAMPADD(SECOND, a.id * 10 + b.id DIV 10000, '2000-01-01 00:00:00') AS v FROM n a JOIN n b ON a.k = b.k"},
	{"short strings", "SELECT a.id, a.k, CONCAT(a.id, ' ', b.id) AS v FROM n a JOIN n b ON a.k = b.k"},
	{"strings of a table", "SELECT id, k, s AS v FROM n"},
	{"a million strings of 300 bytes", "SELECT a.id, a.k, CONCAT(REPEAT(MD5(a.id), 9), b.id) AS v FROM n a JOIN n b ON a.k = b.k"},
	{"strings by accents", "SELECT id, k, CONCAT(REPEAT('é', 500), id) COLLATE utf8mb4_0900_ai_ci AS v FROM n"},
	{"small documents", "SELECT id, k, JSON_OBJECT('id', id, 'list', JSON_ARRAY(id, k, s)) AS v FROM n"},
	{"strings of 3,200 bytes", "SELECT id, k, REPEAT(MD5(id), 100) AS v FROM n"},
	{"strings of 100 KB", "SELECT id, k, REPEAT(MD5(id), 3125) AS v FROM n LIMIT 4000"},
	{"strings of 1 MB", "SELECT id, k, REPEAT(MD5(id), 31250) AS v FROM n LIMIT 400"},
	{"strings of 10 MB", "SELECT id, k, REPEAT(MD5(id), 312500) AS v FROM n LIMIT 40"},
	{"strings of 30 MB", "SELECT id, k, REPEAT(MD5(id), 937500) AS v FROM n LIMIT 12"},
	{"few distinct strings", "SELECT id, k, REPEAT(MD5(id % 40), 10000) AS v FROM n LIMIT 20000"},
	{"bytes", "SELECT id, k, UNHEX(REPEAT(MD5(id), 100)) AS v FROM n"},
	{"documents of 1 MB", "SELECT id, k, CAST(CONCAT('[', REPEAT(CONCAT(id, ','), 150000), '1]') AS JSON) AS v FROM n LIMIT 100"},
}

// firstLong is the first kind of few rows with long values: of these each operator has one in the test that every change runs.
const firstLong = 9

// memoryOperators are statements over rows, which stand for $r.
var memoryOperators = []struct{ name, sql string }{
	{"result", "SELECT v FROM ($r) x"},
	{"sort", "SELECT v FROM ($r) x ORDER BY v"},
	{"sort by id", "SELECT v FROM ($r) x ORDER BY k DESC, id"},
	{"top 1,000", "SELECT v FROM ($r) x ORDER BY v LIMIT 1000"},
	{"DISTINCT", "SELECT DISTINCT v FROM ($r) x"},
	{"GROUP BY", "SELECT v, COUNT(*), MIN(id) FROM ($r) x GROUP BY v"},
	{"GROUP BY two", "SELECT k, v, COUNT(*) FROM ($r) x GROUP BY k, v"},
	{"ROLLUP", "SELECT k, v, COUNT(*) FROM ($r) x GROUP BY k, v WITH ROLLUP"},
	{"MIN and MAX", "SELECT MIN(v), MAX(v) FROM ($r) x"},
	{"MIN and MAX by group", "SELECT k, MIN(v), MAX(v), COUNT(v) FROM ($r) x GROUP BY k"},
	{"COUNT(DISTINCT)", "SELECT COUNT(DISTINCT v) FROM ($r) x"},
	{"COUNT(DISTINCT) by group", "SELECT k, COUNT(DISTINCT v, id) FROM ($r) x GROUP BY k"},
	{"GROUP_CONCAT", "SET group_concat_max_len = 4000000000; SELECT LENGTH(GROUP_CONCAT(v)) FROM ($r) x"},
	{"GROUP_CONCAT by group", "SET group_concat_max_len = 4000000000; SELECT k, GROUP_CONCAT(DISTINCT v ORDER BY id) FROM ($r) x GROUP BY k"},
	{"JSON_ARRAYAGG", "SELECT LENGTH(JSON_ARRAYAGG(v)) FROM ($r) x"},
	{"JSON_OBJECTAGG by group", "SELECT k, JSON_OBJECTAGG(id, v) FROM ($r) x GROUP BY k"},
	{"build side", "SELECT COUNT(*), MAX(x.v) FROM n STRAIGHT_JOIN ($r) x ON x.id = n.id"},
	{"LEFT JOIN", "SELECT x.v, y.v FROM ($r) x LEFT JOIN ($r) y ON x.id = y.id + 1"},
	{"join by the values", "SELECT COUNT(*) FROM ($r) x JOIN ($r) y ON x.v = y.v"},
	{"range join", "SELECT COUNT(*) FROM ($r) x JOIN ($r) y ON x.v < y.v AND x.k = y.k"},
	{"cross join", "SELECT COUNT(*) FROM (SELECT * FROM ($r) z LIMIT 500) x JOIN (SELECT * FROM ($r) z LIMIT 500) y ON CONCAT(x.v, 'x') < y.v"},
	{"IN of a subquery", "SELECT COUNT(*) FROM ($r) x WHERE v IN (SELECT v FROM ($r) y WHERE y.k > 5)"},
	{"NOT EXISTS", "SELECT COUNT(*) FROM ($r) x WHERE NOT EXISTS (SELECT 1 FROM ($r) y WHERE y.id = x.id + 1 AND y.v > x.v)"},
	{"LAG and LEAD", "SELECT LAG(v) OVER (ORDER BY id), LEAD(v, 3) OVER (ORDER BY id) FROM ($r) x"},
	{"windows by the values", "SELECT RANK() OVER (PARTITION BY k ORDER BY v), MAX(v) OVER (PARTITION BY k), FIRST_VALUE(v) OVER (ORDER BY v) FROM ($r) x"},
	{"MIN over a frame", "SELECT MIN(v) OVER (ORDER BY id ROWS BETWEEN 10 PRECEDING AND 2 FOLLOWING) FROM ($r) x"},
	{"UNION", "SELECT v FROM ($r) x UNION SELECT v FROM ($r) y WHERE id > 7"},
	{"INTERSECT", "SELECT v FROM ($r) x INTERSECT SELECT v FROM ($r) y WHERE id > 7"},
	{"EXCEPT ALL", "SELECT v FROM ($r) x EXCEPT ALL SELECT v FROM ($r) y WHERE id > 7"},
	{"common table", "WITH c AS ($r) SELECT COUNT(*) FROM c x JOIN c y ON x.id = y.id + 1 WHERE x.v >= y.v"},
	{"recursion", "WITH RECURSIVE c AS ((SELECT id, v FROM ($r) x) UNION DISTINCT SELECT id + 1, v FROM c WHERE id < 3) SELECT COUNT(*) FROM c"},
	{"correlated subquery", "SELECT id, (SELECT MAX(v) FROM ($r) y WHERE y.k <= x.k) FROM ($r) x"},
	{"CREATE TABLE AS", "CREATE TABLE c AS $r"},
	{"CREATE TABLE AS and its statistics", "CREATE TABLE c AS $r; ANALYZE TABLE c; SELECT COUNT(*) FROM c x JOIN c y ON x.id = y.id WHERE x.v > 'b' AND y.v < 'e'"},
	{"INSERT with a key", "CREATE TABLE c (id INT PRIMARY KEY, k INT, v LONGTEXT); INSERT IGNORE INTO c $r"},
	{"ON DUPLICATE KEY UPDATE", "CREATE TABLE c (id INT PRIMARY KEY, k INT, v LONGTEXT); INSERT INTO c $r ON DUPLICATE KEY UPDATE v = CONCAT(v, 'x')"},
	{"UPDATE by a join", "CREATE TABLE c AS SELECT id, k, CAST(s AS CHAR(100000000)) AS v FROM n; UPDATE c JOIN ($r) x ON c.id = x.id SET c.v = x.v"},
	{"DELETE", "CREATE TABLE c AS $r; DELETE FROM c WHERE id % 3 = 1; UPDATE c SET v = v WHERE id % 5 = 1; SELECT MAX(v) FROM c"},
	{"ALTER TABLE", "CREATE TABLE c AS $r; ALTER TABLE c MODIFY v LONGTEXT; ALTER TABLE c ADD COLUMN w LONGTEXT DEFAULT ('x')"},
	{"user variables", "SELECT MAX(v) FROM ($r) x INTO @x; SET @y = CONCAT(@x, 'a'), @z = HEX(@x); SELECT LENGTH(@y), LENGTH(@z)"},
	{"conditions", "SELECT COUNT(*) FROM ($r) x WHERE CONCAT(v, 'x') > 'b' OR v LIKE '%00%' OR v IN ('a', 'b', k) OR v BETWEEN k AND id"},
	{"CASE and casts", "SELECT LENGTH(CASE WHEN k % 2 THEN v ELSE UPPER(v) END), CAST(v AS SIGNED), CAST(v AS DATETIME), CAST(v AS DECIMAL(20, 3)), CAST(v AS TIME), v + 1e0 FROM ($r) x"},
}

// memoryFiles are kinds of files. A file is made row by row, before the peak is measured.
var memoryFiles = []struct {
	name   string
	rows   int
	fields func(i int) (number, text string)
}{
	{"short rows", 1_200_000, func(i int) (string, string) { return fmt.Sprint(i * 7), fmt.Sprintf("a text of its own %d", i*7919) }},
	{"few distinct strings", 1_200_000, func(i int) (string, string) {
		return fmt.Sprint(i % 100), fmt.Sprintf("one of many strings that come again %d", i%50)
	}},
	{"doubles", 2_000_000, func(i int) (string, string) { return fmt.Sprintf("%d.%06d", i, i), fmt.Sprint(float64(i) / 7) }},
	{"rows of 1 KB", 55_000, func(i int) (string, string) { return fmt.Sprint(i), strings.Repeat(fmt.Sprintf("%09d ", i), 100) }},
	{"rows of 1 MB", 60, func(i int) (string, string) { return fmt.Sprint(i), strings.Repeat(fmt.Sprintf("%09d ", i), 100_000) }},
	{"rows of 10 MB", 6, func(i int) (string, string) { return fmt.Sprint(i), strings.Repeat(fmt.Sprintf("%09d ", i), 1_000_000) }},
	{"a row of 55 MB", 1, func(i int) (string, string) { return fmt.Sprint(i), strings.Repeat("0123456789", 5_500_000) }},
	{"escapes", 3, func(i int) (string, string) { return fmt.Sprint(i), strings.Repeat(`\n\/\u00e9 `, 1_500_000) }},
}

// memoryFormats say how rows lie in a file of a format.
var memoryFormats = []struct{ ending, row string }{{"csv", "%s,%s\n"}, {"jsonl", `{"number": %s, "text": "%s"}` + "\n"}}

// memoryReaders are statements over a file, which stands for $f.
var memoryReaders = []struct{ name, sql string }{
	{"SELECT", "SELECT * FROM $f"},
	{"COUNT and MAX", "SELECT COUNT(*), MAX(a.column1) FROM $f AS a"},
	{"sort", "SELECT * FROM $f AS a ORDER BY 2, 1"},
	{"CREATE TABLE AS", "CREATE TABLE c AS SELECT * FROM $f"},
	{"INSERT", "CREATE TABLE c (number DOUBLE, text LONGTEXT); INSERT INTO c SELECT * FROM $f"},
	{"DISTINCT", "SELECT DISTINCT * FROM $f"},
	{"Parquet", "SELECT * FROM $f INTO OUTFILE '$o.parquet'; CREATE TABLE c AS SELECT * FROM `$o.parquet`"},
	{"Arrow", "SELECT * FROM $f INTO OUTFILE '$o.arrow'; CREATE TABLE c AS SELECT * FROM `$o.arrow`"},
}

// gridPatience is how long a statement of the grid may take.
const gridPatience = 20 * time.Second

// gridMemoryCases are the grid's statements.
func gridMemoryCases() (cases []memoryCase) {
	for i, op := range memoryOperators {
		for k, kind := range memoryKinds {
			cases = append(cases, memoryCase{patience: gridPatience, quick: k == firstLong+i%(len(memoryKinds)-firstLong),
				name: "grid: " + op.name + " / " + kind.name, sql: strings.ReplaceAll(op.sql, "$r", kind.rows)})
		}
	}
	for i, file := range memoryFiles {
		for k, format := range memoryFormats {
			for m, reader := range memoryReaders {
				sql := reader.sql
				if format.ending == "jsonl" {
					sql = strings.ReplaceAll(sql, "a.column1", "a.text")
				}
				cases = append(cases, memoryCase{patience: gridPatience, quick: m == i, name: "grid: " + reader.name + " / " + format.ending + ", " + file.name, client: fileReader(i, k, sql)})
			}
		}
	}
	return cases
}

// fileReader makes a file and runs a statement over it.
func fileReader(file, format int, sql string) func(ctx context.Context, c *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		folder, err := os.MkdirTemp("", "radish")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, "rows."+memoryFormats[format].ending)
		if err := writeMemoryFile(path, file, format); err != nil {
			return err
		}
		debug.FreeOSMemory()
		database.ResetPeakRSS()
		sql := strings.NewReplacer("$f", "`"+path+"`", "$o", filepath.Join(folder, "out")).Replace(sql)
		return c.query(ctx, sql)
	}
}

func writeMemoryFile(path string, file, format int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range memoryFiles[file].rows {
		number, text := memoryFiles[file].fields(i)
		fmt.Fprintf(w, memoryFormats[format].row, number, text)
	}
	return errors.Join(w.Flush(), f.Close())
}
