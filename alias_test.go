package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestAliasesShowTheirFields checks that the comment of each type that package radish takes from another one names its fields, since go doc shows no
// more of it.
func TestAliasesShowTheirFields(t *testing.T) {
	checked := 0
	for _, file := range parseFolder(t, ".") {
		folders := map[string]string{}
		for _, spec := range file.Imports {
			target, _ := strconv.Unquote(spec.Path.Value)
			if below, ours := strings.CutPrefix(target, module+"/"); ours {
				folders[filepath.Base(below)] = below
			}
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, s := range decl.Specs {
				spec := s.(*ast.TypeSpec)
				of, ok := spec.Type.(*ast.SelectorExpr)
				if !ok || !spec.Assign.IsValid() || !spec.Name.IsExported() || folders[of.X.(*ast.Ident).Name] == "" {
					continue
				}
				checked++
				doc := decl.Doc.Text() + spec.Doc.Text()
				for _, name := range fieldsOf(t, folders[of.X.(*ast.Ident).Name], of.Sel.Name) {
					if !strings.Contains(doc, "\t"+name+" ") {
						t.Errorf("the comment of %s does not name its field %s", spec.Name.Name, name)
					}
				}
			}
		}
	}
	if checked < 2 {
		t.Errorf("only %d types were looked at", checked)
	}
}

// parseFolder parses the files of a package that are no tests.
func parseFolder(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, e.Name()), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// fieldsOf returns the exported fields of a struct; none for other types.
func fieldsOf(t *testing.T, folder, name string) (fields []string) {
	t.Helper()
	for _, file := range parseFolder(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, id := range f.Names {
						if id.IsExported() {
							fields = append(fields, id.Name)
						}
					}
				}
			}
			return false
		})
	}
	return fields
}
