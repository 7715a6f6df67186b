package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsAlgorithms checks that the tables of pages that say what EXPLAIN prints have the name of each algorithm, and no other. The names are read from the sources that print them.
func TestDocsAlgorithms(t *testing.T) {
	planned := func(algorithm string) (all []string) {
		list := captured(t, "planner/physical/pipeline.go", `(?s)func \(a `+algorithm+`\) String\(\) string \{\s*return \[\.\.\.\]string\{([^}]*)\}`)
		for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(strings.Join(list, ""), -1) {
			all = append(all, m[1])
		}
		return all
	}
	groups, joins := planned("AggAlgorithm"), planned("JoinAlgorithm")
	joins = append(joins, captured(t, "exec/gpu/join/*.go", `\bexplained:\s+"([^"]+)"`)...)
	joins = append(joins, captured(t, "exec/gpu/join/radix/doc.go", `\bMergeName\s+= "([^"]+)"`)...)
	slices.Sort(joins)
	if joins = slices.Compact(joins); len(groups) < 4 || len(joins) < 7 {
		t.Fatalf("only the joins %q and the aggregates %q were found", joins, groups)
	}
	for _, c := range []struct {
		page, head string
		want       []string
	}{
		{"docs/guide/performance.md", "join", joins}, {"docs/guide/performance.md", "aggregate", groups},
		{"docs/internals/joins.md", "EXPLAIN prints", joins}, {"docs/internals/group-by.md", "EXPLAIN prints", groups},
	} {
		text, err := os.ReadFile(c.page)
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		inTable := false
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(line, "|")
			switch {
			case len(cells) < 3:
				inTable = false
			case strings.TrimSpace(cells[1]) == c.head:
				inTable = true
			case inTable:
				for _, m := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
					listed[m[1]] = true
				}
			}
		}
		for _, name := range c.want {
			if !listed[name] {
				t.Errorf("no table of %s, headed %q, has %q, which EXPLAIN prints", c.page, c.head, name)
			}
			delete(listed, name)
		}
		for name := range listed {
			t.Errorf("a table of %s, headed %q, has %q, which EXPLAIN does not print", c.page, c.head, name)
		}
	}
}

// captured returns what the only group of an expression matches in some files. There has to be something.
func captured(t *testing.T, files, expression string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
	}
	if len(all) == 0 {
		t.Fatalf("nothing in %s is like %s", files, expression)
	}
	return all
}

// TestCommentsNameFiles checks that a file that a comment names lies beside it. One of another package is named with its path, or in a line or sentence that names the package.
func TestCommentsNameFiles(t *testing.T) {
	named := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "build"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		for _, c := range file.Comments {
			for _, name := range filesOf(c.Text(), strings.TrimSuffix(file.Name.Name, "_test")) {
				named++
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err == nil {
					continue
				}
				if _, err := os.Stat(name); err != nil || !strings.Contains(name, "/") {
					t.Errorf("%s: the comment names %s, which does not lie beside it: name its path or its package", set.Position(c.Pos()), name)
				}
			}
		}
		return nil
	})
	if err != nil || named < 300 {
		t.Errorf("%d files are named: %v", named, err)
	}
}

var (
	goFile      = regexp.MustCompile(`(?:^|[\s(\[:,'"])((?:[\w.-]+/)*\w[\w-]*\.go)\b`)
	packageName = regexp.MustCompile(`\b[Pp]ackages? (\w+)`)
	sentenceEnd = regexp.MustCompile(`[.!?:;]\s`)
)

// filesOf returns the files of its own package that a comment names, and those that it names by their path. A sentence that names another package may mean that one's.
func filesOf(comment, pkg string) (files []string) {
	var texts []string
	prose := ""
	for line := range strings.Lines(comment) {
		if strings.HasPrefix(line, "\t") { // a row of a table
			texts = append(texts, line)
		} else {
			prose += line
		}
	}
	for _, text := range append(texts, sentenceEnd.Split(prose, -1)...) {
		isOthers := slices.ContainsFunc(packageName.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] != pkg })
		for _, m := range goFile.FindAllStringSubmatch(text, -1) {
			if !isOthers || strings.Contains(m[1], "/") {
				files = append(files, m[1])
			}
		}
	}
	return files
}

// TestFilesOf checks what counts as a package's own file.
func TestFilesOf(t *testing.T) {
	for _, c := range []struct {
		comment string
		want    []string
	}{
		{"Package x opens (open.go). Package y closes: close.go", []string{"open.go", "close.go"}},
		{"Package x opens (open.go), as package y closes it (close.go).", nil},
		{"What package y says in say.go, and z/other.go.", []string{"z/other.go"}},
		{"Rows:\n\n\topen.go    opens\n\tpackage y  close.go\n", []string{"open.go"}},
		{"It is a.b.go, x.golden and *.go.", nil},
	} {
		if got := filesOf(c.comment, "x"); !slices.Equal(got, c.want) {
			t.Errorf("%q names %q, want %q", c.comment, got, c.want)
		}
	}
}
