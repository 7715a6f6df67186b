//go:build cgo

package others

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAnalystsAsDuckDB compares what analysts know from DuckDB and MySQL lacks, over random rows. Of a single row, or equal ones, CORR and REGR_SLOPE are NULL here, as
// the standard has them, and NaN in DuckDB.
func TestAnalystsAsDuckDB(t *testing.T) {
	duck, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer duck.Close()
	radish, err := sql.Open("radish", "?time_zone=UTC&device=cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer radish.Close()
	seed := number(t, "RADISH_FUZZ_SEED", rand.Uint64())
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]string, 3000)
	value := func(text string) string {
		if r.IntN(10) == 0 {
			return "NULL"
		}
		return text
	}
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %s, %s, %s, %s, %s)", i, value(fmt.Sprint(r.IntN(20))), value(fmt.Sprint(r.NormFloat64()*100)), value(fmt.Sprintf("%.2f", r.Float64()*50)),
			value(fmt.Sprintf("'w%d'", r.IntN(50))), value(fmt.Sprintf("'2024-%02d-%02d'", 1+r.IntN(12), 1+r.IntN(28))))
	}
	for _, db := range []*sql.DB{duck, radish} {
		db.SetMaxOpenConns(1)
		for _, s := range []string{"CREATE TABLE t (id INT, g INT, x DOUBLE, m DECIMAL(10,2), s VARCHAR(10), d DATE)", "INSERT INTO t VALUES " + strings.Join(rows, ", ")} {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	pairs := []string{"CORR", "COVAR_POP", "COVAR_SAMP", "REGR_AVGX", "REGR_AVGY", "REGR_COUNT", "REGR_INTERCEPT", "REGR_R2", "REGR_SLOPE", "REGR_SXX", "REGR_SXY", "REGR_SYY"}
	var items []string
	for _, f := range pairs {
		items = append(items, f+"(x, m)")
	}
	all := strings.Join(items, ", ")
	part := fmt.Sprintf("%.3f", r.Float64())
	for _, query := range []string{
		"SELECT " + all + " FROM t", "SELECT g, " + all + " FROM t GROUP BY g ORDER BY g",
		"SELECT g, MEDIAN(x), QUANTILE_CONT(x, " + part + "), QUANTILE_DISC(m, " + part + "), QUANTILE_DISC(s, " + part + "), QUANTILE_DISC(d, " + part + ") FROM t GROUP BY g ORDER BY g",
		"SELECT MEDIAN(x), QUANTILE_CONT(x, " + part + "), QUANTILE_DISC(id, " + part + ") FROM t",
		"SELECT g, ARG_MIN(id, x), ARG_MAX(s, x), MAX_BY(d, id), MIN_BY(x, id) FROM t GROUP BY g ORDER BY g",
		"SELECT g, COUNT(*) FILTER (WHERE x > 0), SUM(m) FILTER (WHERE s < 'w3'), MAX(d) FILTER (WHERE x < m), MEDIAN(x) FILTER (WHERE id % 2 = 0) FROM t GROUP BY g ORDER BY g",
		"SELECT id, SUM(m) FILTER (WHERE x > 0) OVER (PARTITION BY g ORDER BY id) FROM t ORDER BY id",
		"SELECT * EXCLUDE (x, s) FROM t ORDER BY id", "SELECT id, t.* EXCLUDE (id, d) FROM t ORDER BY id",
		"SELECT g, id FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY id DESC) <= 2 ORDER BY g, id",
		"SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 100 QUALIFY RANK() OVER (ORDER BY COUNT(*)) <= 3 ORDER BY g",
		"SELECT g, s, COUNT(*) AS n, MAX(m) FROM t WHERE g IS NOT NULL AND s IS NOT NULL GROUP BY ALL ORDER BY ALL",
		"SELECT g % 3 AS h, COUNT(s) AS n FROM t WHERE g IS NOT NULL GROUP BY ALL ORDER BY h",
		"SELECT i, COUNT(id) FROM generate_series(-3, 30, 3) AS r(i) LEFT JOIN t ON g = i GROUP BY i ORDER BY i",
		"SELECT column_name, min, max, count FROM (SUMMARIZE t) WHERE column_name <> 'x'",
	} {
		want, wantErr := numbersOf(duck, query)
		got, gotErr := numbersOf(radish, query)
		if wantErr != nil || gotErr != nil || !sameNumbers(got, want) {
			t.Errorf("seed %d, %s:\nRadish %.600s %v\nDuckDB %.600s %v", seed, query, got, gotErr, want, wantErr)
		}
	}
	approximate(t, radish)
}

// approximate compares what need not be equal.
func approximate(t *testing.T, radish *sql.DB) {
	var exact, about float64
	if err := radish.QueryRow("SELECT COUNT(DISTINCT id), APPROX_COUNT_DISTINCT(id) FROM t").Scan(&exact, &about); err != nil || math.Abs(about-exact) > 0.08*exact {
		t.Errorf("about %v of %v, %v", about, exact, err)
	}
	for _, sample := range []string{"TABLESAMPLE 30 PERCENT", "TABLESAMPLE BERNOULLI (30)", "TABLESAMPLE reservoir(30%)"} {
		var n int
		if err := radish.QueryRow("SELECT COUNT(*) FROM t " + sample).Scan(&n); err != nil || n < 700 || n > 1100 {
			t.Errorf("%s: %d of 3,000 rows, %v", sample, n, err)
		}
	}
}

// sameNumbers compares what numbersOf gives. Numbers may differ in the last of nine digits, where one is rounded up and the other down.
func sameNumbers(x, y string) bool {
	xs, ys := strings.Split(x, "|"), strings.Split(y, "|")
	return slices.EqualFunc(xs, ys, func(x, y string) bool {
		if x == y {
			return true
		}
		a, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		b, err2 := strconv.ParseFloat(strings.TrimSpace(y), 64)
		return err == nil && err2 == nil && strings.HasPrefix(x, "\n") == strings.HasPrefix(y, "\n") && math.Abs(a-b) <= 2e-8*math.Max(math.Abs(a), math.Abs(b))
	})
}

// numbersOf returns rows as a text. NULL comes last in both, and numbers have nine digits.
func numbersOf(db *sql.DB, query string) (string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range columns {
		targets[i] = &values[i]
	}
	var first, last strings.Builder
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return "", err
		}
		out := &last
		if values[0] == nil {
			out = &first
		}
		for _, v := range values {
			text := csvValue(v, "")
			if s, is := v.(interface{ Float64() float64 }); is { // DuckDB's decimals
				text = fmt.Sprint(s.Float64())
			}
			if x, err := strconv.ParseFloat(text, 64); err == nil {
				text = strconv.FormatFloat(x, 'g', 9, 64)
			}
			out.WriteString(text + "|")
		}
		out.WriteString("\n")
	}
	return last.String() + first.String(), rows.Err()
}
