package groupby

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/sql/types"
)

// Every case gives its totals, on the emulated device and on the CPU.
func TestGroupBy(t *testing.T) {
	gputest.Emulated(t)
	path := filepath.Join(t.TempDir(), "table.md")
	var out bytes.Buffer
	args := []string{"--rows", "30000", "--device", "emulated", "--runs", "1", "--crossover", "--markdown", path}
	if err := Run(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n, want := strings.Count(out.String(), "✓ totals, CPU"), 2*len(groupCases(1)); n != want {
		t.Errorf("%d results are marked as right, want %d\n%s", n, want, out.String())
	}
	if !strings.Contains(out.String(), "the device is") {
		t.Errorf("nothing is said of the crossover\n%s", out.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, want := strings.Count(string(text), "\n| "), 2+2*len(groupCases(1))+1+3; n != want { // two heads, the cases, the wide one, three sizes
		t.Errorf("%d rows of tables, want %d\n%s", n, want, text)
	}
}

// With many rows for each of many keys, the groups take most of a block's shared memory.
func TestGroupByLargeTable(t *testing.T) {
	gputest.Emulated(t)
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--rows", "5.2e6", "--cases", "1e4", "--device", "emulated", "--runs", "0", "--cpu-runs", "0"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := strings.Count(out.String(), "✓ totals"); n != 2 {
		t.Errorf("%d results are marked as right, want 2\n%s", n, out.String())
	}
}

// Totals that are off by a row are noticed, whichever column it is.
func TestGroupTotals(t *testing.T) {
	db, err := database.Open(database.Settings{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := &Bench{DB: db}
	for _, d := range []drawn.GroupData{{Rows: 5000, Groups: 300}, {Rows: 5000, Groups: 900, Hashed: 32}, {Rows: 5000, Groups: 900, Hashed: 64}, {Rows: 5000, Groups: 400, Spread: drawn.ZipfKeys}} {
		err := b.WithTable(t.Context(), d, "t", func(totals *drawn.GroupTotals) error {
			rows, _, err := db.Query(t.Context(), Queries("t")[1].check)
			if err != nil {
				return err
			}
			if err := totals.Verify(rows, true); err != nil {
				t.Errorf("%v: %v", d, err)
			}
			if err := totals.Verify(rows[1:], true); err == nil {
				t.Errorf("%v: a missing bucket passed", d)
			}
			for c := range rows[0] {
				good := rows[7][c]
				rows[7][c] = types.IntValue(12345)
				if err := totals.Verify(rows, true); err == nil {
					t.Errorf("%v: a wrong column %d passed", d, c+1)
				}
				rows[7][c] = good
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestGroupData(t *testing.T) {
	const draws = 200_000
	weights := []float64{10, 1, 4, 0.5, 3, 1.5}
	a := drawn.NewAlias(len(weights), func(i int) float64 { return weights[i] })
	counts := make([]float64, len(weights))
	for i := range uint64(draws) {
		counts[a.Draw(drawn.SplitMix(2*i), drawn.SplitMix(2*i+1))]++
	}
	for i, w := range weights {
		// Of 200,000 draws, five standard deviations are less than 0.006 of all.
		if got, want := counts[i]/draws, w/20; math.Abs(got-want) > 0.006 {
			t.Errorf("weight %v was drawn in %.4f of all cases, want %.4f", w, got, want)
		}
	}
	g := drawn.GroupData{Rows: 4000, Groups: 1001, Spread: drawn.RunKeys}.Generator()
	runs, last := 1, g(0)
	for i := int64(1); i < 4000; i++ {
		switch key := g(i); {
		case key == last:
		case key == last+1:
			runs++
			last = key
		default:
			t.Fatalf("key %d follows %d", key, last)
		}
	}
	if runs != 1000 {
		t.Errorf("%d runs of 4000 rows", runs)
	}
}

func TestGroupByCommandLine(t *testing.T) {
	for _, args := range [][]string{{"--rows", "0"}, {"--rows", "many"}, {"--cases", "1e5"}} {
		if err := Run(t.Context(), args, io.Discard); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
