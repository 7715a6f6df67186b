package memory

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
)

// walkedKinds are the lengths of strings over which walkedOperators go.
var walkedKinds = []memoryKind{
	{"strings of 1 KB", "SELECT id, k, CONCAT(REPEAT(MD5(id), 32), id) AS v FROM n"},
	{"strings of 16 KB", "SELECT id, k, REPEAT(MD5(id), 500) AS v FROM n LIMIT 20000"},
	{"strings of 1 MB", "SELECT id, k, REPEAT(MD5(id), 31250) AS v FROM n LIMIT 400"},
	{"strings of 10 MB", "SELECT id, k, REPEAT(MD5(id), 312500) AS v FROM n LIMIT 40"},
}

// keyed makes a table to change, filled one with the rows.
const (
	keyed   = "CREATE TABLE c (id INT PRIMARY KEY, k INT, v LONGTEXT); "
	filled  = "CREATE TABLE c (id INT, k INT, v LONGTEXT); INSERT INTO c $r; "
	longest = "SET group_concat_max_len = 4000000000; "
)

// walkedOperators are classes of statements that keep strings, beside those of memoryOperators. $r stands for rows and $o for the path of a file
// without its ending.
var walkedOperators = []struct{ name, sql string }{
	{"LAG with a default", "SELECT LAG(v, 2, CONCAT(v, 'x')) OVER (PARTITION BY k % 3 ORDER BY v), " +
		"LEAD(CONCAT('y', v), 1, v) OVER (ORDER BY k, id) FROM ($r) x"},
	{"NTH_VALUE and LAST_VALUE", "SELECT NTH_VALUE(v, 3) OVER w, LAST_VALUE(CONCAT(v, 'x')) OVER w FROM ($r) x " +
		"WINDOW w AS (PARTITION BY k % 7 ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"},
	{"MAX over a range", "SELECT MAX(CONCAT(v, 'x')) OVER (ORDER BY k RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM ($r) x"},
	{"first row of each partition", "SELECT v FROM (SELECT v, ROW_NUMBER() OVER (PARTITION BY k % 50 ORDER BY v DESC) AS r FROM ($r) x) y WHERE r <= 2"},
	{"windows of groups", "SELECT v, SUM(COUNT(*)) OVER (ORDER BY v), DENSE_RANK() OVER (ORDER BY MAX(k)) FROM ($r) x GROUP BY v"},
	{"REPLACE", keyed + "REPLACE INTO c SELECT id DIV 2, k, v FROM ($r) x"},
	{"REPLACE of a filled table", keyed + "INSERT IGNORE INTO c $r; REPLACE INTO c SELECT id, k, REVERSE(v) FROM c"},
	{"ON DUPLICATE KEY of strings that grow", keyed + "INSERT INTO c SELECT id % 3, k, v FROM ($r) x ON DUPLICATE KEY UPDATE v = CONCAT(c.v, VALUES(v))"},
	{"UPDATE twice", filled + "UPDATE c SET v = CONCAT(v, 'x'); UPDATE c SET v = REVERSE(v) ORDER BY v DESC LIMIT 1000"},
	{"UPDATE and ROLLBACK", filled + "BEGIN; UPDATE c SET v = CONCAT('x', v) WHERE id % 2; DELETE FROM c WHERE v < 'x'; ROLLBACK; " +
		"SELECT COUNT(*) FROM c"},
	{"UPDATE of single rows", filled + "UPDATE c SET v = CONCAT('x', v) WHERE id = 1003; " +
		"UPDATE c SET v = CONCAT('y', v) WHERE id = 1004; UPDATE c SET v = CONCAT('z', v) WHERE id = 1005; " +
		"SELECT MAX(v) FROM c"},
	{"DELETE by a join", filled + "DELETE c FROM c JOIN ($r) x ON c.v = x.v WHERE x.k % 2; SELECT COUNT(*) FROM c"},
	{"DELETE ORDER BY LIMIT", filled + "DELETE FROM c ORDER BY v LIMIT 100; DELETE FROM c WHERE v IN (SELECT MAX(v) FROM ($r) x GROUP BY k % 20)"},
	{"OUTFILE, CSV", "$r INTO OUTFILE '$o.csv'"},
	{"OUTFILE, gzip", "$r INTO OUTFILE '$o.csv.gz'"},
	{"OUTFILE, JSON", "$r INTO OUTFILE '$o.json'"},
	{"OUTFILE, JSON lines in zstd", "$r INTO OUTFILE '$o.jsonl.zst'"},
	{"OUTFILE, Parquet", "$r INTO OUTFILE '$o.parquet'"},
	{"OUTFILE, Parquet, sorted", "SELECT * FROM ($r) x ORDER BY v INTO OUTFILE '$o.parquet'"},
	{"OUTFILE, Arrow", "$r INTO OUTFILE '$o.arrow'"},
	{"OUTFILE, lines", "SELECT v, HEX(v) FROM ($r) x INTO OUTFILE '$o.txt' FIELDS TERMINATED BY '|' ENCLOSED BY '\"' ESCAPED BY '\\\\'"},
	{"OUTFILE and LOAD DATA", "$r INTO OUTFILE '$o.txt' FIELDS TERMINATED BY '\t'; " +
		keyed + "LOAD DATA INFILE '$o.txt' REPLACE INTO TABLE c FIELDS TERMINATED BY '\t' (id, k, @v) " +
		"SET v = CONCAT(@v, 'x')"},
	{"UNION ALL, sorted", "SELECT v FROM ($r) x UNION ALL SELECT CONCAT(v, 'x') FROM ($r) y ORDER BY 1 DESC"},
	{"INTERSECT ALL", "SELECT v FROM ($r) x INTERSECT ALL (SELECT v FROM ($r) y UNION ALL SELECT v FROM ($r) z)"},
	{"EXCEPT of one's own", "SELECT v FROM ($r) x EXCEPT SELECT v FROM ($r) y WHERE id % 3"},
	{"view read twice", "CREATE VIEW w AS $r; SELECT COUNT(*) FROM w x JOIN w y ON x.id = y.id + 1 WHERE x.v <> y.v"},
	{"common table read three times", "WITH c AS (SELECT id, v, COUNT(*) OVER () AS n FROM ($r) x) " +
		"SELECT v FROM c WHERE n > 5 UNION ALL SELECT MAX(v) FROM c UNION ALL SELECT v FROM c WHERE id % 2"},
	{"GROUP_CONCAT of distinct ones in order", longest + "SELECT LENGTH(GROUP_CONCAT(DISTINCT v ORDER BY v DESC SEPARATOR 'a long separator')) FROM ($r) x"},
	{"GROUP_CONCAT of four groups", longest + "SELECT k % 4 AS g, GROUP_CONCAT(v) FROM ($r) x GROUP BY g"},
	{"JSON_ARRAYAGG by group", longest + "SELECT k % 4 AS g, JSON_ARRAYAGG(JSON_OBJECT('v', v)) FROM ($r) x GROUP BY g"},
	{"JSON_OBJECTAGG by the values", longest + "SELECT LENGTH(JSON_OBJECTAGG(v, id)) FROM ($r) x"},
	{"other aggregates", "SELECT k % 9 AS g, ARG_MAX(v, id), MODE(v), QUANTILE_DISC(v, 0.4), ANY_VALUE(v), " +
		"APPROX_COUNT_DISTINCT(v) FROM ($r) x GROUP BY g"},
	{"two sorts of strings", "SELECT v FROM (SELECT CONCAT(v, id) AS v, REVERSE(v) AS w FROM ($r) x ORDER BY v LIMIT 1000000) y ORDER BY w"},
	{"correlated GROUP_CONCAT", longest + "SELECT id, (SELECT GROUP_CONCAT(y.v) FROM ($r) y WHERE y.k = x.k) FROM ($r) x"},
	{"next row by a subquery", "SELECT id, (SELECT y.v FROM ($r) y WHERE y.id > x.id ORDER BY y.id LIMIT 1) FROM ($r) x"},
	{"LATERAL top 2", "SELECT x.id, y.v FROM ($r) x, LATERAL (SELECT z.v FROM ($r) z WHERE z.k % 10 = x.k % 10 AND z.id > x.id ORDER BY z.v LIMIT 2) y"},
	{"ANY and ALL", "SELECT COUNT(*) FROM ($r) x WHERE v >= ALL (SELECT v FROM ($r) y WHERE y.k % 3 = 1) " +
		"OR v = ANY (SELECT CONCAT(v, 'x') FROM ($r) z)"},
	{"EXECUTE by 100 MB", "PREPARE p FROM 'SELECT v FROM ($r) x WHERE v < ? ORDER BY v'; SET @p = REPEAT('z', 100000000); " +
		"EXECUTE p USING @p; EXECUTE p USING @p"},
	{"EXECUTE of INSERT", "CREATE TABLE c (v LONGTEXT); PREPARE p FROM 'INSERT INTO c VALUES (?), (CONCAT(?, 1))'; " +
		"SELECT MAX(v) FROM ($r) x INTO @p; EXECUTE p USING @p, @p; EXECUTE p USING @p, @p; EXECUTE p USING @p, @p"},
	{"generated columns", "CREATE TABLE c (id INT, k INT, v LONGTEXT, w LONGTEXT AS (REVERSE(v)) STORED, " +
		"x LONGTEXT AS (CONCAT(v, 'x'))); INSERT INTO c (id, k, v) $r; SELECT MAX(w), MIN(x) FROM c"},
	{"CHECKs and defaults", "CREATE TABLE c (id INT, k INT, v LONGTEXT, w LONGTEXT DEFAULT (REPEAT('x', 1000)), " +
		"CHECK (CONCAT(v, 'x') <> w)); INSERT INTO c (id, k, v) $r; SELECT COUNT(DISTINCT v, w) FROM c"},
}

// walkedCases are the statements of walkedOperators, rows that a program reads slowly, and files of long lines.
func walkedCases() (cases []memoryCase) {
	for _, op := range walkedOperators {
		for _, kind := range walkedKinds {
			statement := strings.ReplaceAll(op.sql, "$r", kind.rows)
			cases = append(cases, memoryCase{patience: gridPatience, name: "walk: " + op.name + " / " + kind.name, client: besideFiles(statement)})
		}
	}
	for _, kind := range walkedKinds {
		cases = append(cases,
			memoryCase{name: "walk: rows read slowly / " + kind.name, client: pooled(readSlowly("SELECT id, k, v FROM (" + kind.rows + ") x ORDER BY v"))},
			memoryCase{name: "walk: four results read by turns / " + kind.name, client: pooled(readByTurns(kind.rows))})
	}
	for _, ending := range []string{"parquet", "arrow", "csv", "jsonl.zst"} {
		cases = append(cases, memoryCase{name: "walk: OUTFILE of 500 columns, " + ending, client: wide("SELECT * FROM c INTO OUTFILE '$o." + ending + "'")})
	}
	for _, changed := range []struct{ name, sql string }{
		{"INSERT", "INSERT INTO c SELECT * FROM c"},
		{"INSERT twice", "INSERT INTO c SELECT * FROM c; INSERT INTO c SELECT * FROM c"},
		{"INSERT of single rows", "INSERT INTO c SELECT * FROM c LIMIT 1; INSERT INTO c SELECT * FROM c LIMIT 1; INSERT INTO c SELECT * FROM c LIMIT 1"},
		{"UPDATE of some", "UPDATE c SET c1 = c1 + 1, c250 = c0, c499 = -c499 WHERE c3 % 2"},
		{"UPDATE of all", "UPDATE c SET " + eachColumn("c%[1]d = c%[1]d + 1")},
		{"DELETE", "DELETE FROM c WHERE c3 % 3 = 0; DELETE FROM c WHERE c5 % 2"},
		{"groups", "SELECT COUNT(*) FROM (SELECT c0 % 100, " + eachColumn("MAX(c%[1]d)") + " FROM c GROUP BY 1) x"},
		{"sort", "SELECT COUNT(c499) FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY c7 % 1000, c0) AS r FROM c) x WHERE r > 5"},
		{"join", "SELECT COUNT(a.c499 + b.c499) FROM (SELECT * FROM c ORDER BY c1 LIMIT 100000) a JOIN c b ON a.c0 = b.c0"},
	} {
		cases = append(cases, memoryCase{name: "walk: " + changed.name + ", 500 columns", client: wide(changed.sql)})
	}
	return append(cases,
		memoryCase{name: "walk: a thousand decimals", client: decimals},
		memoryCase{
			name: "walk: LOAD DATA of a line of 10 million fields",
			client: inFolder(oneLine, "CREATE TABLE c (id INT, v LONGTEXT); "+
				"LOAD DATA INFILE '$o.csv' IGNORE INTO TABLE c FIELDS TERMINATED BY ','"),
		},
		memoryCase{name: "walk: 3000 files", client: inFolder(manyFiles, "SELECT COUNT(*), MAX(b) FROM `$o*.csv`")},
		memoryCase{name: "walk: LATERAL groups of every outer row", sql: "SELECT COUNT(*), SUM(s) FROM (SELECT id * 7 % 20000 AS v FROM n LIMIT 6000) a, " +
			"LATERAL (SELECT b.id % 777 AS g, SUM(b.k) AS s FROM (SELECT id, k, id * 13 % 20000 AS v FROM n LIMIT 20000) b WHERE b.v < a.v GROUP BY g) x"},
		memoryCase{name: "walk: a prepared SELECT of 100 MB", client: pooled(prepared("SELECT COUNT(*) FROM n WHERE s < ? OR LENGTH(?) = 3", 2))},
		memoryCase{name: "walk: a prepared INSERT of 100 MB", client: pooled(prepared("INSERT INTO c VALUES (?)", 1))},
		memoryCase{name: "walk: a prepared UPDATE to 100 MB", client: pooled(prepared("UPDATE n SET s = LEFT(?, 10), k = LENGTH(CONCAT(?, 'x'))", 2))},
		memoryCase{name: "walk: LOAD DATA of lines of 50 MB", client: longLines("csv", "LOAD DATA INFILE '$p' INTO TABLE c FIELDS TERMINATED BY ','")},
		memoryCase{name: "walk: LOAD DATA of lines of 50 MB, SET", client: longLines("csv", "LOAD DATA INFILE '$p' INTO TABLE c FIELDS TERMINATED BY ',' (id, @v) SET v = UPPER(@v)")},
		memoryCase{name: "walk: IMPORT INTO of lines of 50 MB", client: longLines("csv", "IMPORT INTO c FROM '$p' FORMAT 'csv'")},
		memoryCase{name: "walk: SELECT of lines of 50 MB", client: longLines("csv", "SELECT * FROM `$p`")},
		memoryCase{name: "walk: documents of 20 MB", client: longLines("jsonl", "SELECT * FROM `$p`")},
		memoryCase{name: "walk: fields of documents of 20 MB", client: longLines("jsonl", "SELECT id, JSON_LENGTH(list), JSON_EXTRACT(list, '$[5].a') FROM `$p`")},
		memoryCase{name: "walk: an array of documents of 20 MB", client: longLines("json", "CREATE TABLE d AS SELECT * FROM `$p`")},
		memoryCase{name: "walk: IMPORT INTO of documents of 20 MB", client: longLines("jsonl", "CREATE TABLE d (id INT, list JSON, text LONGTEXT); IMPORT INTO d FROM '$p' FORMAT 'jsonl'")},
	)
}

// besideFiles runs statements with a folder for files.
func besideFiles(statement string) func(context.Context, *memoryClient) error {
	return inFolder(nil, statement)
}

// oneLine makes a file of a line of 40 MB.
func oneLine(path string) error {
	return os.WriteFile(path+".csv", []byte(strings.Repeat("1,2;", 10_000_000)), 0o600)
}

// manyFiles makes files of one row.
func manyFiles(path string) error {
	for i := range 3000 {
		if err := os.WriteFile(fmt.Sprint(path, i, ".csv"), fmt.Appendf(nil, "a,b\n%d,text %d\n", i, i), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// inFolder runs statements with a folder for files. $o begins their names there. Unless it is nil, files makes some first, whose memory does not count.
func inFolder(files func(path string) error, statement string) func(context.Context, *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		folder, err := os.MkdirTemp("", "radish")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		path := filepath.Join(folder, "out")
		if files != nil {
			if err := files(path); err != nil {
				return err
			}
			debug.FreeOSMemory()
			database.ResetPeakRSS()
		}
		return c.query(ctx, strings.ReplaceAll(statement, "$o", path))
	}
}

// eachColumn lists what the format says of each column of c.
func eachColumn(format string) string {
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf(format, i))
	}
	return strings.Join(all, ", ")
}

// wide runs a statement over the table c of 500 columns, which take a quarter of the limit while they are not encoded.
func wide(statement string) func(context.Context, *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		columns := eachColumn("id * (%[1]d + 1) + id %% (%[1]d + 7) AS c%[1]d")
		return besideFiles(fmt.Sprintf("CREATE TABLE c AS SELECT %s FROM n LIMIT %d; %s", columns, c.limit/16000, statement))(ctx, c)
	}
}

// decimals fills a table of 1,000 columns, changes some rows and adds a column.
func decimals(ctx context.Context, c *memoryClient) error {
	list := make([]string, 1000)
	for i := range list {
		list[i] = fmt.Sprintf("CAST(id * %d.25 AS DECIMAL(30, 2)) AS c%d", i+1, i)
	}
	err := c.query(ctx, fmt.Sprintf("CREATE TABLE c AS SELECT %s FROM n LIMIT %d; INSERT INTO c SELECT * FROM c; INSERT INTO c SELECT * FROM c; "+
		"UPDATE c SET c1 = c1 + 1; DELETE FROM c WHERE c0 < 1300", strings.Join(list, ", "), c.limit/100_000))
	if err != nil {
		return err
	}
	return c.query(ctx, "ALTER TABLE c ADD COLUMN z INT; SELECT COUNT(*) FROM c")
}

// readSlowly reads rows of a sorted result, and waits between them.
func readSlowly(statement string) func(context.Context, *memoryClient, *sql.DB) error {
	return func(ctx context.Context, _ *memoryClient, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		defer rows.Close()
		for n := 0; rows.Next() && n < 200; n++ {
			var id, k int
			var v string
			if err := rows.Scan(&id, &k, &v); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return rows.Err()
	}
}

// readByTurns reads a row of each of four results in turn.
func readByTurns(statement string) func(context.Context, *memoryClient, *sql.DB) error {
	return func(ctx context.Context, _ *memoryClient, db *sql.DB) error {
		var open []*sql.Rows
		for range 4 {
			rows, err := db.QueryContext(ctx, statement)
			if err != nil {
				return err
			}
			defer rows.Close()
			open = append(open, rows)
		}
		for range 40 {
			for _, rows := range open {
				var id, k int
				var v sql.RawBytes
				if !rows.Next() {
					return rows.Err()
				}
				if err := rows.Scan(&id, &k, &v); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// prepared executes a statement five times with a string of 100 MB for each of its parameters.
func prepared(statement string, parameters int) func(context.Context, *memoryClient, *sql.DB) error {
	return func(ctx context.Context, c *memoryClient, db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "CREATE TABLE c (v LONGTEXT)"); err != nil {
			return err
		}
		text := strings.Repeat("a", 100_000_000)
		*c.own = int64(len(text))
		s, err := db.PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		defer s.Close()
		args := make([]any, parameters)
		for i := range args {
			args[i] = text
		}
		for range 5 {
			rows, err := s.QueryContext(ctx, args...)
			if err != nil {
				return err
			}
			for rows.Next() {
			}
			if err := rows.Close(); err != nil {
				return err
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		return nil
	}
}

// longLines makes a file of three lines of 50 MB, or of five documents of 20 MB, for a statement that names it $p.
func longLines(ending, statement string) func(context.Context, *memoryClient) error {
	write := func(path string) error {
		f, err := os.Create(path + "." + ending)
		if err != nil {
			return err
		}
		if ending == "csv" {
			for i := range 3 {
				fmt.Fprintf(f, "%d,%s\n", i, strings.Repeat("0123456789", 5_000_000))
			}
		} else {
			item, open, next, end := `{"a": 12345, "b": "text", "c": [1, 2, 3]}`, "", "\n", "\n"
			if ending == "json" {
				open, next, end = "[", ",\n", "]\n"
			}
			fmt.Fprint(f, open)
			for i := range 5 {
				if i > 0 {
					fmt.Fprint(f, next)
				}
				fmt.Fprintf(f, `{"id": %d, "list": [%s%s], "text": "%s"}`, i, strings.Repeat(item+", ", 230_000), item, strings.Repeat("0123456789", 1_000_000))
			}
			fmt.Fprint(f, end)
		}
		return f.Close()
	}
	return inFolder(write, "CREATE TABLE c (id INT, v LONGTEXT); "+strings.ReplaceAll(statement, "$p", "$o."+ending))
}
