package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// What a reader can hold in mind at once. The last two bound each package of exec/gpu, of engine and below.
const (
	mostLinesOfFile     = 600
	mostLinesOfFunction = 80
	mostFields          = 20
	mostFilesOfPackage  = 20
	mostLinesOfPackage  = 5500
)

// TestSizes bounds the size of files, functions, structs, and packages of the GPU's executor and of the engine. Tests and generated code are not counted.
func TestSizes(t *testing.T) {
	files, lines := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || otherModule(name)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		n, pkg := set.File(file.Pos()).LineCount(), path.Dir(filepath.ToSlash(name))
		files[pkg], lines[pkg] = files[pkg]+1, lines[pkg]+n
		if n > mostLinesOfFile {
			t.Errorf("%s has %d lines, more than %d", name, n, mostLinesOfFile)
		}
		ast.Inspect(file, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.FuncDecl:
				if n := set.Position(x.End()).Line - set.Position(x.Pos()).Line + 1; n > mostLinesOfFunction {
					t.Errorf("%s: %s has %d lines, more than %d", set.Position(x.Pos()), x.Name.Name, n, mostLinesOfFunction)
				}
			case *ast.StructType:
				if n := x.Fields.NumFields(); n > mostFields {
					t.Errorf("%s: the struct has %d fields, more than %d", set.Position(x.Pos()), n, mostFields)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Errorf("only %d packages were found", len(files))
	}
	for pkg := range files {
		if (within(pkg, "exec/gpu") || within(pkg, "engine")) && (files[pkg] > mostFilesOfPackage || lines[pkg] > mostLinesOfPackage) {
			t.Errorf("%s has %d files and %d lines, more than %d or %d", pkg, files[pkg], lines[pkg], mostFilesOfPackage, mostLinesOfPackage)
		}
	}
}
