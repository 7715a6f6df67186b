// Package others compares Radish with engines other than MariaDB: what they answer about the part of SQL that all of
// them understand alike. Its tests draw their statements with package fuzz, in a dialect of their own each.
package others

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/test/oracle/fuzz"
)

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// settings are those that TestFuzz of package fuzz has too.
func settings(t *testing.T, d *fuzz.Dialect, oracle func(context.Context) (*fuzz.Engine, error)) fuzz.Config {
	return fuzz.Config{
		Seed:     number(t, "RADISH_FUZZ_SEED", rand.Uint64()>>20),
		Schemas:  int(number(t, "RADISH_FUZZ_SCHEMAS", 0)),
		Time:     time.Duration(number(t, "RADISH_FUZZ_SECONDS", 10)) * time.Second,
		Failures: int(number(t, "RADISH_FUZZ_FAILURES", 10)),
		Workers:  runtime.GOMAXPROCS(0),
		Dialect:  d,
		Oracle:   oracle,
		Engine:   open("radish", nil),
	}
}

// compare judges Radish by an oracle. At least the part least of the statements must have got an answer from both.
func compare(t *testing.T, d *fuzz.Dialect, oracle func(context.Context) (*fuzz.Engine, error), least float64) {
	compareTwo(t, settings(t, d, oracle), least)
}

func compareTwo(t *testing.T, c fuzz.Config, least float64) {
	c.Found = func(f *fuzz.Failure) { t.Errorf("FAILURE %s: %s", f.Kind, f) }
	stats, err := fuzz.Run(t.Context(), c)
	if err != nil {
		t.Error(err)
	}
	t.Log(stats)
	if answered := stats.Answered(); float64(answered) < least*float64(stats.Queries) {
		t.Errorf("both answered %d of %d statements only", answered, stats.Queries)
	}
}

// open makes an engine of a driver's database in memory.
func open(driver string, rewrite func(string) string, setup ...string) func(context.Context) (*fuzz.Engine, error) {
	return func(ctx context.Context) (*fuzz.Engine, error) {
		db, err := sql.Open(driver, "")
		if err != nil {
			return nil, err
		}
		e, err := fuzz.NewEngine(ctx, db, setup...)
		if err == nil {
			e.Rewrite = rewrite
		}
		return e, err
	}
}
