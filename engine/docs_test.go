package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/expr"
)

// TestDocs holds the generated sections of docs/reference against the code. RADISH_UPDATE=1 writes them anew.
func TestDocs(t *testing.T) {
	for page, sections := range map[string]map[string]string{
		"functions.md": {"functions": functionsTable()},
		"variables.md": {"variables": variablesTable(), "rules": rulesTable()},
	} {
		path := filepath.Join("..", "docs", "reference", page)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		for name, content := range sections {
			start := fmt.Sprintf("<!-- generated: %s -->\n", name)
			before, rest, ok := strings.Cut(text, start)
			_, after, ok2 := strings.Cut(rest, "<!-- end -->")
			if !ok || !ok2 {
				t.Fatalf("%s has no section %q", path, name)
			}
			text = before + start + strings.TrimSpace(content) + "\n<!-- end -->" + after
		}
		if text == string(raw) {
			continue
		}
		if os.Getenv("RADISH_UPDATE") == "" {
			t.Errorf("%s is not what the code says; run RADISH_UPDATE=1 go test ./engine -run TestDocs", path)
		} else if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// functionsTable returns the tables of functions, window functions and aggregates.
func functionsTable() string {
	var b strings.Builder
	category := ""
	row := func(syntax, aliases, doc string) {
		cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cell(syntax), cell(aliases), cell(doc))
	}
	heading := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n\n| syntax | other names | what it gives |\n|---|---|---|\n", s)
	}
	for _, f := range expr.Functions() {
		if f.Category != category {
			category = f.Category
			heading(category)
		}
		row(f.Syntax, strings.ToUpper(strings.Join(f.Aliases, ", ")), f.Doc)
	}
	heading("Window functions")
	for _, f := range expr.WindowFunctions() {
		row(f.Syntax, "", f.Doc)
	}
	heading("Aggregate functions")
	for _, f := range expr.Aggregates() {
		if f.Syntax == "" {
			continue
		}
		row(f.Syntax, strings.ToUpper(strings.Join(f.Aliases, ", ")), f.Doc)
	}
	return b.String()
}

func variablesTable() string {
	var b strings.Builder
	b.WriteString("| variable | initially | remarks |\n|---|---|---|\n")
	e, err := New(database.Options{Threads: 1})
	if err != nil {
		panic(err)
	}
	for i := range variables.All {
		v := &variables.All[i]
		initial := v.Initial(e.Database)
		if v.Name == "radish_threads" {
			initial = "the number of CPUs"
		}
		doc := v.Doc
		if v.ReadOnly {
			doc = strings.TrimPrefix(doc+"; read-only", "; ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", v.Name, strings.ReplaceAll(initial, ",", ", "), doc)
	}
	return b.String()
}

func rulesTable() string {
	var b strings.Builder
	b.WriteString("| rule | what it does |\n|---|---|\n")
	seen := map[string]bool{}
	for _, r := range rules.List() {
		if !seen[r.Name] {
			seen[r.Name] = true
			fmt.Fprintf(&b, "| %s | %s |\n", r.Name, brief(r.Doc))
		}
	}
	return b.String()
}

// brief is the beginning of a rule's comment that fits a cell: the first paragraph, else its first sentence, else what stands before the colon.
func brief(doc string) string {
	const longest = 160
	text, _, _ := strings.Cut(strings.TrimSpace(doc), "\n\n")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", "\\|")
	for _, end := range []string{". ", ": "} {
		if first, _, more := strings.Cut(text, end); more && utf8.RuneCountInString(text) > longest {
			text = first + "."
		}
	}
	return text
}
