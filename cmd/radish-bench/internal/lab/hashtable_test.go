package lab

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/cli"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// All tables are printed, written as markdown, and their answers checked.
func TestHashTable(t *testing.T) {
	gputest.EmulatedLibrary(t)
	page := t.TempDir() + "/tables.md"
	var out bytes.Buffer
	args := []string{"--device", "emulated", "--rows", "8", "--multi", "8", "--sizes", "6", "--runs", "1", "--loads", "0.5", "--windows", "1,4", "--partitions", "3", "--markdown", page}
	if err := RunHashTable(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Groups: 2^8", "Probing: 2^8", "Sizes: ", "Keys: 2^5", "Several rows", "Chains: ",
		"\n| 0.5 | group of 4 |", "\n| 0.5 | one thread | double |", "\n| 2^6 | one thread, 4 slots, 2^3 partitions |", "\n| zipf | 8 + 8 bytes | partitioned |", "\n| repeated, 2^8 rows | 1 | chains |", "\n| 2^8 | 2 | split over the blocks |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page has no %q\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "given up") {
		t.Errorf("a table was given up\n%s", text)
	}
}

// Mistakes in the command line are refused before anything is measured.
func TestHashTableUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--tables", "cuckoo"}, {"--rows", "30"}, {"--multi", "3"}, {"--sizes", "a"}, {"--loads", "1"}, {"--loads", "NaN"}, {"--windows", "3"}, {"--partitions", "11"}, {"--zipf", "-1"}, {"--runs", "0"}, {"--device", "cpu"},
	} {
		if err := RunHashTable(t.Context(), args, &bytes.Buffer{}); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
