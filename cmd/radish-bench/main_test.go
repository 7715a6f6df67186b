package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"tpch", "--query", "23"}, {"tpch", "stray"}, {"tpch", "--nosuch"}, {"export"}, {"oracle"}, {"nosuch"}, nil,
	} {
		if status := run(t.Context(), args); status != exitUsage {
			t.Errorf("%q: exit status %d, want %d", args, status, exitUsage)
		}
	}
	if status := run(t.Context(), []string{"tpch", "-h"}); status != 0 {
		t.Errorf("-h: exit status %d", status)
	}
}

// TestFamiliesStandApart checks that a family of commands imports only what all share. auto borrows the workloads of others.
func TestFamiliesStandApart(t *testing.T) {
	const below = "github.com/radish-sql/radish/cmd/radish-bench/internal/"
	shared := []string{"answers", "beside", "cli", "database", "drawn", "peers", "report", "workload"}
	files, err := filepath.Glob("internal/*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		pkg := filepath.Base(filepath.Dir(name))
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if target, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), below); ok && pkg != "auto" && !slices.Contains(shared, target) {
				t.Errorf("%s imports %s", name, target)
			}
		}
	}
}
