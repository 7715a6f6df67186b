package radish_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocsNameTests checks that every test that the tables of docs/driver.md and docs/shell.md name exists.
func TestDocsNameTests(t *testing.T) {
	defined := map[string]bool{}
	for _, folder := range []string{".", "engine", "cmd/radish", "test/clients"} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", folder, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				defined[string(m[1])] = true
			}
		}
	}
	named := 0
	for _, name := range []string{"docs/driver.md", "docs/shell.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(text), -1) {
			named++
			if !defined[test] {
				t.Errorf("%s names %s, which does not exist", name, test)
			}
		}
	}
	if named < 60 {
		t.Errorf("only %d tests are named", named)
	}
}
