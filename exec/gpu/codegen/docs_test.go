package codegen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
)

// TestDocs holds the generated sections of docs/reference/gpu.md against the code. RADISH_UPDATE=1 writes them anew.
func TestDocs(t *testing.T) {
	const path = "../../../docs/reference/gpu.md"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, section := range map[string]string{"functions": functionTable(), "refusals": refusalTable(t)} {
		start, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(text, start)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no section of %s", path, name)
		}
		text = before + start + section + end + after
	}
	if text == string(raw) {
		return
	}
	if os.Getenv("RADISH_UPDATE") == "" {
		t.Fatalf("%s is not what the code says; run RADISH_UPDATE=1 go test ./exec/gpu/codegen -run TestDocs", path)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// refusalTable lists the reasons in words for which a pipeline has no kernel, as the package's source has them.
func refusalTable(t *testing.T) string {
	areas := []struct{ pattern, title string }{{"/codegen/", "expressions"}, {"/groupby/", "aggregations"}, {"/join/", "joins"}, {"", "pipelines"}}
	reasons := map[string][]string{}
	var files []string
	if err := filepath.WalkDir("../../gpu", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".go") {
			files = append(files, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		area := areas[slices.IndexFunc(areas, func(a struct{ pattern, title string }) bool { return strings.Contains(file, a.pattern) })].title
		ast.Inspect(tree, func(n ast.Node) bool {
			text := ""
			switch n := n.(type) {
			case *ast.CallExpr:
				if calledName(n.Fun) == "Refuse" {
					text = reasonText(n.Args[0])
				}
			case *ast.CompositeLit:
				if calledName(n.Type) == "Unsupported" && len(n.Elts) == 1 {
					text = reasonText(n.Elts[0])
				}
			}
			if strings.Trim(text, "… ") != "" && text != "not asked for" && !slices.Contains(reasons[area], text) {
				reasons[area] = append(reasons[area], text)
			}
			return true
		})
	}
	var b strings.Builder
	b.WriteString("| of | reason |\n|---|---|\n")
	for _, area := range slices.Sorted(maps.Keys(reasons)) {
		slices.Sort(reasons[area])
		for _, text := range reasons[area] {
			fmt.Fprintf(&b, "| %s | %s |\n", area, text)
		}
	}
	return b.String()
}

// calledName is the name of a function or type, without its package.
func calledName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

var verb = regexp.MustCompile("%[a-zA-Z]")

// reasonText is a message as the source has it, with an ellipsis for what is filled in.
func reasonText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return verb.ReplaceAllString(s, "…")
	case *ast.BinaryExpr:
		return reasonText(e.X) + reasonText(e.Y)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return reasonText(e.Args[0])
		}
	}
	return "…"
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
		if f.Spelling.Infix != "" {
			name = "`" + f.Spelling.Infix + "`"
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
	for _, c := range categories {
		r := rows[c]
		fmt.Fprintf(&b, "**%s**\n\n", c)
		for _, list := range []struct {
			where string
			names []string
		}{{"in kernels", r.kernels}, {"over a dictionary column", r.codes}, {"on the CPU only", r.cpu}} {
			if len(list.names) > 0 {
				fmt.Fprintf(&b, "- %s: %s\n", list.where, strings.Join(list.names, ", "))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("**What kernels do not take**\n\n")
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
