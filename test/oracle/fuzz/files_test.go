package fuzz

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rung is a kind of value in a text file, wider than the one before it on its ladder.
type rung struct {
	decl  string // of a column that holds these values and those of the rungs below
	draw  func(r *rand.Rand) string
	plain bool // JSON writes the values without quotes
}

var (
	smallInts  = rung{"BIGINT", func(r *rand.Rand) string { return fmt.Sprint(r.IntN(40) - 9) }, true}
	largeInts  = rung{"BIGINT", func(r *rand.Rand) string { return fmt.Sprint(r.Int64N(1<<40) - 1<<39) }, true}
	hundredths = rung{"DECIMAL(30,6)", func(r *rand.Rand) string { return fmt.Sprintf("%d.%02d", r.IntN(90), r.IntN(100)) }, true}
	millionths = rung{"DECIMAL(30,6)", func(r *rand.Rand) string { return fmt.Sprintf("-%d.%06d", 1+r.IntN(90000), r.IntN(1e6)) }, true}
	powers     = rung{"DOUBLE", func(r *rand.Rand) string { return fmt.Sprintf("%d.5e%d", r.IntN(9), r.IntN(12)) }, true}
	dates      = rung{"DATE", func(r *rand.Rand) string { return pick(r, days) }, false}
	instants   = rung{"DATETIME", func(r *rand.Rand) string { return pick(r, days) + " " + pick(r, times) }, false}
	strs       = rung{"TEXT", func(r *rand.Rand) string {
		return pick(r, []string{"x", "none", "hello world", "a_b%c", "grün", "12x", "n/a"})
	}, false}

	ladders = [][]rung{
		{smallInts, largeInts, hundredths, millionths}, {smallInts, powers}, {smallInts, hundredths, powers}, {smallInts, strs}, {hundredths, strs}, {largeInts, hundredths, strs},
		{dates, instants}, {dates, strs}, {dates, instants, strs}, {strs}, {smallInts, largeInts}, {hundredths, millionths, strs},
	}
)

// textColumn is a column of a file whose later rows have wider types than the first.
type textColumn struct {
	ladder []rung
	from   []int // the row from which on a rung is drawn
	nulls  int   // percent
	values []string
	isNull []bool
	plain  []bool
	widest int
}

func drawTextColumn(r *rand.Rand, rows int) *textColumn {
	c := &textColumn{ladder: pick(r, ladders), nulls: pick(r, []int{0, 0, 10, 60})}
	for range c.ladder {
		c.from = append(c.from, r.IntN(rows+rows/4+1))
	}
	c.from[0] = 0
	rare := pick(r, []int{1, 3, 1000, rows})
	for i := range rows {
		at := 0
		for n := range c.ladder {
			if n > 0 && i >= c.from[n] && (i == c.from[n] || r.IntN(rare+1) == 0) {
				at = n
			}
		}
		null := i > 0 && r.IntN(100) < c.nulls
		if !null {
			c.widest = max(c.widest, at)
		}
		c.values, c.isNull, c.plain = append(c.values, c.ladder[at].draw(r)), append(c.isNull, null), append(c.plain, c.ladder[at].plain)
	}
	return c
}

// writeText writes the columns as CSV or JSON lines, behind a column that counts the rows.
func writeText(path string, columns []*textColumn, rows int) error {
	var b strings.Builder
	json := strings.HasSuffix(path, ".jsonl")
	if !json {
		b.WriteString("i")
		for j := range columns {
			fmt.Fprintf(&b, ",c%d", j)
		}
		b.WriteByte('\n')
	}
	for i := range rows {
		if json {
			fmt.Fprintf(&b, `{"i": %d`, i)
		} else {
			fmt.Fprint(&b, i)
		}
		for j, c := range columns {
			switch {
			case !json && c.isNull[i]:
				b.WriteByte(',')
			case !json:
				b.WriteString("," + c.values[i])
			case c.isNull[i] && i%2 == 0:
				fmt.Fprintf(&b, `, "c%d": null`, j)
			case c.isNull[i]: // no key at all
			case c.plain[i]:
				fmt.Fprintf(&b, `, "c%d": %s`, j, c.values[i])
			default:
				fmt.Fprintf(&b, `, "c%d": "%s"`, j, c.values[i])
			}
		}
		if json {
			b.WriteByte('}')
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// TestFilesBesideTables asks a file and a table of the same values the same, for RADISH_FUZZ_SECONDS (10, with -short 2) from RADISH_FUZZ_SEED on.
// One file in twelve is so long that a sample of it does not show all types.
func TestFilesBesideTables(t *testing.T) {
	seconds := uint64(10)
	if testing.Short() {
		seconds = 2
	}
	seed := number(t, "RADISH_FUZZ_SEED", rand.Uint64()>>20)
	end := time.Now().Add(time.Duration(number(t, "RADISH_FUZZ_SECONDS", seconds)) * time.Second)
	files, asked := 0, 0
	for ; time.Now().Before(end) && !t.Failed(); seed++ {
		asked += fileBesideTable(t, seed)
		files++
	}
	t.Logf("%d files, %d queries", files, asked)
}

func fileBesideTable(t *testing.T, seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 0))
	rows := 1 + r.IntN(300)
	if r.IntN(12) == 0 {
		rows = 25000 + r.IntN(15000)
	}
	var columns []*textColumn
	decls := "i BIGINT"
	for j := range 1 + r.IntN(4) {
		c := drawTextColumn(r, rows)
		columns = append(columns, c)
		decls += fmt.Sprintf(", c%d %s", j, c.ladder[c.widest].decl)
	}
	path := filepath.Join(t.TempDir(), "f"+pick(r, []string{".csv", ".jsonl"}))
	if err := writeText(path, columns, rows); err != nil {
		t.Fatal(err)
	}
	e, err := radish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	statements := []string{"CREATE TABLE t (" + decls + ")"}
	for first := 0; first < rows; first += 5000 {
		var all []string
		for i := first; i < min(first+5000, rows); i++ {
			row := fmt.Sprint(i)
			for _, c := range columns {
				if c.isNull[i] {
					row += ", NULL"
				} else {
					row += ", '" + c.values[i] + "'"
				}
			}
			all = append(all, "("+row+")")
		}
		statements = append(statements, "INSERT INTO t VALUES "+strings.Join(all, ", "))
	}
	for _, s := range statements {
		if err := e.Exec(t.Context(), s); err != nil {
			t.Fatalf("seed %d: %.300s: %v", seed, s, err)
		}
	}
	queries := []string{"SELECT * FROM @", "SELECT COUNT(*), SUM(i) FROM @"}
	for range 6 {
		j := r.IntN(len(columns))
		c, some := fmt.Sprintf("c%d", j), columns[j].values[r.IntN(rows)]
		queries = append(queries, strings.NewReplacer("#", c, "$", "'"+some+"'").Replace(pick(r, []string{
			"SELECT i, # FROM @ WHERE # = $", "SELECT i FROM @ WHERE # > $", "SELECT #, COUNT(*) FROM @ GROUP BY #", "SELECT MIN(#), MAX(#), COUNT(#), COUNT(DISTINCT #) FROM @", "SELECT DISTINCT # FROM @",
			"SELECT # FROM @ ORDER BY #, i LIMIT 20", "SELECT i, # FROM @ WHERE # IS NULL", "SELECT a.i, a.# FROM @ AS a JOIN @ AS b ON a.i = b.i + 1 WHERE a.# = b.#", "SELECT #, i FROM @ WHERE i BETWEEN 10 AND 400",
		})))
	}
	r.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	for _, q := range queries {
		want, err := e.Query(t.Context(), strings.ReplaceAll(q, "@", "t"))
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, q, err)
		}
		text := strings.ReplaceAll(q, "@", "`"+path+"`")
		got, err := e.Query(t.Context(), text)
		if err != nil && rows > 20000 && strings.Contains(err.Error(), path) {
			got, err = e.Query(t.Context(), text) // rows had left when a wider value came; the next statement knows of it
		}
		if err != nil {
			t.Errorf("seed %d, %s: %s: %v", seed, decls, text, err)
		} else if d := differ(want, got, nil); d != "" {
			t.Errorf("seed %d, %s, %d rows: %s: %s\nwant: %s\ngot: %s\nmissing: %stoo many: %s", seed, decls, rows, text, d, want, got, want.only(got), got.only(want))
		}
	}
	return len(queries)
}
