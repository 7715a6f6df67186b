package files

import (
	"os"
	"strings"
	"testing"
)

// TestFormatsAreDescribed checks that the list says all of each format, and that the docs have a row for each ending in both of their tables.
func TestFormatsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/files.md")
	if err != nil {
		t.Fatal(err)
	}
	read, written, ok := strings.Cut(string(page), "\n## Formats that are written\n")
	if !ok {
		t.Fatal("docs/reference/files.md has no section \"Formats that are written\"")
	}
	for _, f := range Formats() {
		d := formats[f]
		if d.name == "" || len(d.endings) == 0 || d.open == nil || (d.write == nil) == (d.writeText == nil) {
			t.Errorf("format %d (%s) is not described in full", f, d.name)
		}
		for _, ending := range f.Endings() {
			if got := FormatOf("x" + ending); got != f {
				t.Errorf("%s is taken for %s, not %s", ending, got, f)
			}
			for where, table := range map[string]string{"read": read, "written": written} {
				if !strings.Contains(table, "`"+ending+"`") {
					t.Errorf("docs/reference/files.md does not say that %s is %s", ending, where)
				}
			}
		}
	}
}

// Who names a file whose ending tells no format learns what helps.
func TestWhyUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"a.xlsx": "save it as CSV", "b.ODS": "save it as CSV", "geo.geojson": "read_csv('geo.geojson'), read_ndjson, read_json", "x.gz": ".csv, .txt", "sales.ZIP": "unpack it first", "sales.tar": "unpack it first",
	} {
		if got := WhyUnknown(name); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
