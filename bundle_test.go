package radish_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSanitizedTests checks that the GPU bundle's script names tests that exist, in packages that the bundle takes along: -run passes over names that nothing has.
func TestSanitizedTests(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("gpukernels/bundle", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	folders := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+(?:/[a-z]+)*) \S+$`).FindAllStringSubmatch(read("make.sh"), -1) {
		folders[strings.ReplaceAll(m[1], "/", "-")] = m[1]
	}
	checked := 0
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+) \d+ (\S+)$`).FindAllStringSubmatch(read("run.sh"), -1) {
		folder, ok := folders[m[1]]
		if !ok {
			t.Errorf("make.sh packs no %s", m[1])
			continue
		}
		files, err := filepath.Glob(folder + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, name := range files {
			part, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(part)
		}
		for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(m[2], -1) {
			if checked++; !strings.Contains(text.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("run.sh sanitizes %s, which %s does not have", name, folder)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d names were found", checked)
	}
}
