package gpu

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
)

// TestDocs holds the generated section of docs/gpu.md against the code. RADISH_UPDATE=1 writes it anew.
func TestDocs(t *testing.T) {
	const path = "../../docs/gpu.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const start, end = "<!-- generated: functions -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(string(raw), start)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no section of functions", path)
	}
	text := before + start + functionTable() + end + after
	if text == string(raw) {
		return
	}
	if os.Getenv("RADISH_UPDATE") == "" {
		t.Fatalf("%s is not what the code says; run RADISH_UPDATE=1 go test ./exec/gpu -run TestDocs", path)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// functionTable lists the registry's functions by where they can be computed.
func functionTable() string {
	type row struct{ kernels, codes, cpu []string }
	rows := map[string]*row{}
	var categories, notes []string
	for _, f := range expr.Functions() {
		r := rows[f.Category]
		if r == nil {
			r = &row{}
			rows[f.Category] = r
			categories = append(categories, f.Category)
		}
		name := strings.ToUpper(f.Name)
		if f.Infix != "" {
			name = "`" + strings.ReplaceAll(f.Infix, "|", "\\|") + "`"
		}
		k, ok := functions[f.Name]
		switch {
		case ok && k.limit != "":
			if !slices.Contains(notes, k.limit) {
				notes = append(notes, k.limit)
			}
			r.kernels = append(r.kernels, fmt.Sprintf("%s (%d)", name, slices.Index(notes, k.limit)+1))
		case ok:
			r.kernels = append(r.kernels, name)
		case f.Volatile:
			r.cpu = append(r.cpu, name)
		default:
			r.codes = append(r.codes, name)
		}
	}
	slices.Sort(categories)
	var b strings.Builder
	b.WriteString("| functions | in kernels | over a dictionary column | on the CPU only |\n|---|---|---|---|\n")
	for _, c := range categories {
		r := rows[c]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c, strings.Join(r.kernels, ", "), strings.Join(r.codes, ", "), strings.Join(r.cpu, ", "))
	}
	b.WriteString("\nWhat kernels do not take:\n\n")
	for i, n := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, n)
	}
	return b.String()
}

// Every name that kernels have code for is a function of the registry.
func TestFunctionsAreOfTheRegistry(t *testing.T) {
	for name := range functions {
		f := expr.Lookup(name)
		if name == "div_cut" { // the form in which a quotient is computed with; nobody writes it
			continue
		}
		if f == nil || f.Name != name {
			t.Errorf("there is no function %q", name)
		}
	}
}
