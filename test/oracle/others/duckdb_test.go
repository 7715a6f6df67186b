//go:build cgo

package others

import (
	"context"
	"regexp"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/radish-sql/radish/test/oracle/fuzz"
)

// duckDB has wide decimals, dates and all set operations. DuckDB 1.5 counts -1 rows in COUNT(*) OVER (ORDER BY id ROWS BETWEEN 4 FOLLOWING AND 1
// FOLLOWING), and takes PARTITION BY a, a for PARTITION BY a, b where a select has both. ROLLUP over no rows has a total there, as in the
// standard, and none in MySQL: rollups ask for HAVING COUNT(*) > 0.
var duckDB = fuzz.Dialect{Dates: true, Wide: true, Functions: true, Quantified: true, Nested: true, Windows: true, Intervals: true, Rollup: true}

// duckDBSpelling is how DuckDB writes what it has under another name.
var duckDBSpelling = fuzz.Spelled(
	" <=> ", " IS NOT DISTINCT FROM ", " AS SIGNED)", " AS BIGINT)", "CHAR_LENGTH(", "LENGTH(", "UNIQUE KEY", "UNIQUE",
	"TINYINT UNSIGNED", "UTINYINT", "BIGINT UNSIGNED", "UBIGINT", "INT UNSIGNED", "UINTEGER",
)

// TestDuckDB compares Radish with DuckDB. Decimals of 38 digits, sums of 128 bits and variances are its alone, and it has
// none of MariaDB's errors that package fuzz steps around.
func TestDuckDB(t *testing.T) {
	c := settings(t, &duckDB, openDuckDB())
	c.Without = regexp.MustCompile(unequalInExists)
	compareTwo(t, c, 0.9)
}

// unequalInExists is what DuckDB 1.5 answers wrongly, and 2.0 as Radish does: EXISTS by <> beside another inequality finds too few rows.
const unequalInExists = `EXISTS \(SELECT [^()]*WHERE [^()]*<>`

// TestDuckDBSpecial has NaN, infinities and -0 in columns, which DuckDB orders as Radish does. Frames of RANGE with distances are left out: for
// a row with NaN, DuckDB gives one of its equals where Radish, as PostgreSQL, gives all.
//
// Variances are left out, too: of one infinite value DuckDB's is 0, and others are errors, where IEEE's arithmetic, PostgreSQL and Radish give NaN.
func TestDuckDBSpecial(t *testing.T) {
	c := settings(t, &duckDB, openDuckDB())
	c.Special, c.Without = true, regexp.MustCompile(`RANGE [^)]*[0-9]|(VAR|STDDEV)_(POP|SAMP)\(|`+unequalInExists)
	compareTwo(t, c, 0.9)
}

func openDuckDB() func(context.Context) (*fuzz.Engine, error) {
	start := open("duckdb", duckDBSpelling, "SET threads = 1", "SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
	return func(ctx context.Context) (*fuzz.Engine, error) {
		e, err := start(ctx)
		if err == nil {
			e.Judge = true // GROUP BY ROLLUP stands for WITH ROLLUP
		}
		return e, err
	}
}
