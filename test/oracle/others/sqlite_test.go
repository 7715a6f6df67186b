package others

import (
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/radish-sql/radish/test/oracle/fuzz"
)

// sqlite has integers, doubles and text.
var sqlite = fuzz.Dialect{Windows: true, Repeated: true, Reversed: true, Keyed: true}

var sqliteSpelling = fuzz.Spelled(" <=> ", " IS NOT DISTINCT FROM ", " AS SIGNED)", " AS BIGINT)", "CHAR_LENGTH(", "LENGTH(", "UNIQUE KEY", "UNIQUE")

var openSQLite = open("sqlite", sqliteSpelling, "PRAGMA case_sensitive_like = ON")

// TestSQLite compares Radish with SQLite.
func TestSQLite(t *testing.T) { compare(t, &sqlite, openSQLite, 0.9) }

// TestFindsPlantedBugs judges a Radish whose statements are bent on their way.
func TestFindsPlantedBugs(t *testing.T) {
	for _, bug := range [][2]string{{" LEFT JOIN ", " JOIN "}, {"COUNT(DISTINCT ", "COUNT("}, {"INTERSECT", "UNION"}, {" DESC", ""}} {
		c := settings(t, &sqlite, openSQLite)
		c.Time, c.Failures, c.Schemas, c.Workers = 30*time.Second, 1, 0, 1
		c.Engine = open("radish", fuzz.Spelled(bug[0], bug[1]))
		stats, err := fuzz.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(stats.Failures) == 0 {
			t.Errorf("%s for %s: not found in %d queries", bug[1], bug[0], stats.Queries)
		}
	}
}
