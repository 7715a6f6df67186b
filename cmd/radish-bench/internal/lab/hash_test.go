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

// The tables have all functions, the device's hashes are those of Go, and the page has what was printed.
func TestHash(t *testing.T) {
	gputest.EmulatedLibrary(t)
	page := t.TempDir() + "/hash.md"
	var out bytes.Buffer
	args := []string{"--device", "emulated", "--keys", "10", "--rows", "8", "--runs", "1", "--bytes", "4,8", "--functions", "mix,mix_word,xor_hw,fnv1a", "--markdown", page}
	if err := RunHash(t.Context(), args, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, tables := range map[string]int{"mix": 7, "mix_word": 7, "xor_hw": 14, "fnv1a": 14} { // seven for each width
		if n := strings.Count(string(text), "\n| "+name+" |"); n != tables {
			t.Errorf("%s is in %d tables, want %d\n%s", name, n, tables, text)
		}
		if n := strings.Count(out.String(), "\n"+name+" "); n != tables {
			t.Errorf("%s is printed %d times, want %d\n%s", name, n, tables, out.String())
		}
	}
	if !strings.Contains(string(text), "\n| random |") || !strings.Contains(out.String(), "compared with those of Go") {
		t.Errorf("no random hashes, or no verdict\n%s", out.String())
	}
	out.Reset()
	if err := RunHash(t.Context(), []string{"--device", "emulated", "--keys", "0", "--rows", "6", "--runs", "1", "--bytes", "4", "--widths", "32", "--shapes", "mix_word"}, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n4, "); n != 12 {
		t.Errorf("%d shapes, want 12\n%s", n, out.String())
	}
}

// Mistakes in the command line are refused before anything is measured.
func TestHashUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--functions", "md5"}, {"--widths", "16"}, {"--bytes", "0"}, {"--bytes", "a"}, {"--keys", "5"}, {"--rows", "30"}, {"--runs", "0"}, {"--device", "cpu"}, {"--shapes", "md5"},
	} {
		if err := RunHash(t.Context(), args, &bytes.Buffer{}); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
