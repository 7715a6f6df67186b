package radish_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameTests checks that every test that the tables of docs/reference/driver.md and docs/reference/shell.md name exists where they say: in the folder
// that stands before it, else in the root package and cmd/radish; and that what other shells and drivers have is either here with a
// test, or refused with a reason.
func TestDocsNameTests(t *testing.T) {
	defined := map[string]bool{} // by folder and name
	for _, folder := range []string{".", "engine", "cmd/radish", "cmd/radish/internal/prompt", "test/clients"} {
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
				defined[folder+" "+string(m[1])] = true
			}
		}
	}
	named, rows := 0, 0
	for name, folder := range map[string]string{"docs/reference/driver.md": ".", "docs/reference/shell.md": "cmd/radish"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			cells := regexp.MustCompile(`[^\\]\|`).Split(line, -1)
			if strings.HasPrefix(line, "| library") {
				folder = "test/clients"
			}
			if !strings.HasPrefix(line, "| ") || len(cells) < 7 {
				continue
			}
			rows++
			here, tests := strings.TrimSpace(cells[len(cells)-3]), strings.TrimSpace(cells[len(cells)-2])
			for _, m := range regexp.MustCompile(`(?:([\w/]+): )?(Test[A-Z]\w+)`).FindAllStringSubmatch(tests, -1) {
				named++
				if where := cmp.Or(m[1], folder); !defined[where+" "+m[2]] {
					t.Errorf("%s names %s, which is not in %s", name, m[2], where)
				}
			}
			if tests == "" && !strings.HasPrefix(here, "no") {
				t.Errorf("%s: no test shows %q", name, strings.TrimSpace(cells[0]))
			}
			if tests == "" && here == "no" {
				t.Errorf("%s does not say why there is no %q", name, strings.TrimSpace(cells[0]))
			}
		}
	}
	if named < 90 || rows < 90 {
		t.Errorf("only %d tests are named in %d rows", named, rows)
	}
}
