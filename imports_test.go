package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/radish-sql/radish"

// layers says what the packages of a folder may import of this module, besides their own folder's packages. The first
// entry that fits counts. "." is package radish; a folder stands for all below it. What a folder may import stands above it.
var layers = []struct {
	folder string
	may    []string
}{
	{"sql/types", nil},
	{"sql/sqlerr", nil},
	{"sql/parse", []string{"sql/types", "sql/sqlerr"}},
	{"sql/interrupt", []string{"sql/sqlerr"}},
	{"sql/automaton", nil},
	{"sql/jsondoc", []string{"sql/types", "sql/sqlerr", "sql/interrupt"}},
	{"sql/jsontable", []string{"sql/types", "sql/sqlerr", "sql/interrupt", "sql/jsondoc"}},
	{"column", []string{"sql/types"}},
	{"sql/expr", []string{"sql/types", "sql/sqlerr", "sql/interrupt", "sql/jsondoc", "column"}},
	{"sql/functions", []string{"sql/types", "sql/sqlerr", "sql/interrupt", "sql/automaton", "sql/jsondoc", "sql/expr", "column"}},
	{"storage", []string{"column", "sql/types", "sql/sqlerr"}},
	{"planner", []string{"sql", "column", "storage/table", "storage/catalog"}},
	{"exec/memory", []string{"sql/sqlerr"}},
	{"exec/profile", nil},
	{"exec/workqueue", []string{"sql/sqlerr"}},
	{"exec/schedule", []string{"column", "exec/memory", "exec/profile", "planner", "sql", "storage/table"}},
	{"exec/cpu/tempfile", []string{"sql/sqlerr"}},
	{"exec/cpu/task", []string{"column", "exec/memory", "exec/schedule", "sql", "exec/cpu/tempfile"}},
	{"exec/cpu/vec", []string{"column", "sql", "exec/cpu/task"}},
	{"exec/cpu/keyhash", []string{"column", "sql", "exec/cpu/vec"}},
	{"exec/cpu/radix", []string{"column", "exec/cpu/task"}},
	{"exec/cpu/rowstore", []string{"column", "exec/memory", "sql", "exec/cpu/task", "exec/cpu/vec"}},
	{"exec/cpu/spill", []string{"column", "exec/memory", "sql", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/keyhash"}},
	{"exec/cpu/rowsort", []string{"column", "sql", "exec/cpu/task", "exec/cpu/vec"}},
	{"exec/cpu/grouptable", []string{"column", "planner", "sql", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/keyhash"}},
	{"exec/cpu/accumulate", []string{"column", "exec/memory", "planner", "sql", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/keyhash", "exec/cpu/rowstore", "exec/cpu/rowsort", "exec/cpu/grouptable"}},
	{"exec/cpu/pipeline", []string{"column", "planner", "sql", "exec/cpu/task", "exec/cpu/rowstore"}},
	{"exec/cpu/scan", []string{"column", "exec/memory", "planner", "sql", "storage", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/rowstore", "exec/cpu/pipeline"}},
	{"exec/cpu/join", []string{"column", "exec/memory", "planner", "sql", "storage", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/keyhash", "exec/cpu/radix", "exec/cpu/rowstore", "exec/cpu/spill", "exec/cpu/rowsort", "exec/cpu/pipeline"}},
	{"exec/cpu/groupby", []string{"column", "exec/memory", "planner", "sql", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/keyhash", "exec/cpu/rowstore", "exec/cpu/spill", "exec/cpu/grouptable", "exec/cpu/accumulate", "exec/cpu/pipeline"}},
	{"exec/cpu/orderby", []string{"column", "exec/memory", "exec/schedule", "planner", "sql", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/keyhash", "exec/cpu/rowstore", "exec/cpu/rowsort", "exec/cpu/pipeline"}},
	{"exec/cpu/window", []string{"column", "exec/memory", "planner", "sql", "exec/cpu/task", "exec/cpu/vec", "exec/cpu/rowstore", "exec/cpu/rowsort", "exec/cpu/accumulate", "exec/cpu/orderby", "exec/cpu/pipeline"}},
	{"exec/cpu", []string{"column", "exec/memory", "exec/profile", "exec/schedule", "planner", "sql", "storage"}},
	{"exec/gpu/form", []string{"column", "sql/types", "storage"}},
	{"exec/gpu/codegen/lookup", []string{"column", "exec/gpu/form", "sql"}},
	{"exec/gpu/codegen", []string{"column", "exec/gpu/form", "sql"}},
	{"exec/gpu/kernel", []string{"column", "exec/gpu/codegen", "exec/gpu/form", "planner", "sql", "storage"}},
	{"exec/gpu/partition", []string{"exec/gpu/codegen", "exec/gpu/form", "exec/gpu/kernel", "sql"}},
	{"exec/gpu/groupby", []string{"column", "exec/gpu/codegen", "exec/gpu/form", "exec/gpu/kernel", "exec/gpu/partition", "planner", "sql", "storage"}},
	{"exec/gpu/join/radix", []string{"exec/gpu/codegen", "exec/gpu/form", "exec/gpu/kernel", "exec/gpu/partition", "planner", "sql"}},
	{"exec/gpu/join", []string{"exec/gpu/codegen", "exec/gpu/form", "exec/gpu/kernel", "exec/gpu/partition", "planner", "sql"}},
	{"exec/gpu/sort", []string{"exec/gpu/codegen", "exec/gpu/form", "exec/gpu/kernel", "planner/physical", "sql"}},
	{"gpukernels", nil},
	{"exec/gpu/residency", []string{"column", "exec/gpu/form", "exec/memory", "exec/workqueue", "gpukernels", "sql/sqlerr", "sql/types", "storage"}},
	{"exec/gpu/devicemem", []string{"exec/gpu/kernel", "exec/gpu/residency", "exec/memory", "gpukernels"}},
	{"exec/gpu/results", []string{"column", "exec/gpu/devicemem", "exec/gpu/form", "exec/gpu/kernel", "exec/gpu/residency", "gpukernels", "sql", "storage"}},
	{"exec/gpu/rowsort", []string{"exec/gpu/form", "exec/gpu/kernel", "exec/gpu/sort", "gpukernels"}},
	{"exec/gpu/program", []string{
		"column", "exec/gpu/codegen", "exec/gpu/form", "exec/gpu/groupby", "exec/gpu/join", "exec/gpu/kernel", "exec/gpu/sort", "planner", "sql", "storage",
	}},
	{"exec/gpu/load", []string{"exec/gpu/kernel", "exec/gpu/program", "exec/gpu/rowsort", "exec/gpu/sort", "gpukernels", "planner/physical", "sql/sqlerr"}},
	{"exec/gpu/measure", []string{"gpukernels"}},
	{"exec/gpu/control", []string{"exec/gpu/devicemem", "exec/gpu/kernel", "exec/gpu/program", "gpukernels"}},
	{"exec/gpu/sizes", []string{"exec/gpu/kernel", "exec/gpu/program", "planner/physical", "storage/table"}},
	{"exec/gpu/outofcore", []string{"exec/gpu/form", "exec/gpu/residency", "planner", "sql", "storage"}},
	{"exec/gpu/run", []string{
		"column", "exec/gpu/codegen", "exec/gpu/control", "exec/gpu/devicemem", "exec/gpu/form", "exec/gpu/groupby", "exec/gpu/join", "exec/gpu/kernel", "exec/gpu/load", "exec/gpu/measure", "exec/gpu/outofcore", "exec/gpu/partition", "exec/gpu/program", "exec/gpu/residency", "exec/gpu/results", "exec/gpu/rowsort", "exec/gpu/sizes", "exec/gpu/sort",
		"exec/memory", "gpukernels",
		"planner", "sql", "storage",
	}},
	{"exec/gpu/exchange", []string{"exec/gpu/devicemem", "exec/gpu/form", "exec/gpu/results", "exec/gpu/run", "gpukernels", "planner/physical", "sql"}},
	{"exec/gpu/hashlab", []string{"gpukernels", "sql/sqlerr"}},
	{"exec/gpu/tablelab", []string{"gpukernels", "sql/sqlerr"}},
	{"exec/gpu/placement", []string{"gpukernels", "planner", "sql", "storage/encoding"}}, // gpukernels: for WriteWhole
	{"exec/gpu", []string{"column", "exec/memory", "exec/profile", "exec/schedule", "exec/workqueue", "gpukernels", "planner", "sql", "storage"}},
	{"exec", []string{"column", "gpukernels", "planner", "sql", "storage"}},
	{"engine/definition", []string{"sql", "storage"}},
	{"engine/ddl", []string{"engine/definition", "planner/bind", "planner/logical", "sql", "storage/catalog", "storage/table"}},
	{"engine/direct", []string{"column", "planner/logical", "sql", "storage"}},
	{"engine/calibrate", []string{"exec/gpu", "exec/profile", "exec/schedule", "planner/cost", "planner/physical", "sql/sqlerr", "sql/types", "storage/encoding", "storage/table"}},
	{"engine/observe", []string{"exec/profile", "sql/sqlerr"}},
	{"engine/plans", []string{"engine/direct", "exec/memory", "planner/bind", "planner/logical", "planner/physical", "sql", "storage/catalog", "storage/table"}},
	{"engine/targets", []string{"sql/parse", "sql/sqlerr", "storage/table"}},
	{"engine/locks", []string{"sql/sqlerr", "storage/catalog"}},
	{"engine/stored", []string{"exec/memory", "storage"}},
	{"engine/filecache", []string{"engine/stored", "exec/memory", "planner/physical", "sql/sqlerr", "storage"}},
	{"engine/infoschema", []string{"column", "exec/gpu", "sql", "storage"}},
	{"engine/write", []string{"column", "engine/definition", "exec/memory", "planner", "sql", "storage"}},
	{"engine/result", []string{"column", "exec/profile", "sql"}},
	{"engine/background", []string{"exec/gpu", "exec/workqueue", "sql/sqlerr"}},
	{"engine/values", []string{"exec/memory", "sql"}},
	{"engine/udf", []string{"sql", "storage/table"}},
	{"engine/database", []string{"engine/background", "engine/calibrate", "engine/filecache", "engine/infoschema", "engine/locks", "engine/plans", "engine/stored", "engine/udf", "exec/gpu", "exec/memory", "planner/cost", "sql", "storage/catalog", "storage/fileaccess"}},
	{"engine/variables", []string{"engine/database", "engine/values", "exec/gpu", "planner/rules", "sql", "storage/fileaccess"}},
	{"engine/session", []string{
		"column", "engine/database", "engine/filecache", "engine/infoschema", "engine/locks", "engine/observe", "engine/plans", "engine/result", "engine/targets", "engine/values", "engine/variables", "engine/write",
		"exec/cpu/scan", "exec/gpu", "exec/memory", "gpukernels", "planner/bind", "planner/logical", "planner/physical", "sql", "storage",
	}},
	{"engine/query", []string{
		"column", "engine/calibrate", "engine/database", "engine/direct", "engine/infoschema", "engine/observe", "engine/plans", "engine/result", "engine/session", "engine/variables", "exec", "planner", "sql", "storage/catalog", "storage/table",
	}},
	{"engine/change", []string{
		"column", "engine/ddl", "engine/query", "engine/result", "engine/session", "engine/targets", "engine/write", "exec/schedule", "planner/bind", "planner/logical", "sql", "storage",
	}},
	{"engine/define", []string{"engine/change", "engine/ddl", "engine/query", "engine/result", "engine/session", "engine/write", "planner/logical", "sql", "storage/catalog", "storage/table"}},
	{"engine/fileio", []string{"column", "engine/change", "engine/definition", "engine/query", "engine/result", "engine/session", "exec/memory", "sql", "storage"}},
	{"engine/assign", []string{"column", "engine/query", "engine/result", "engine/session", "engine/values", "engine/variables", "exec/memory", "sql"}},
	{"engine/show", []string{"engine/definition", "engine/infoschema", "engine/query", "engine/result", "engine/session", "engine/variables", "sql", "storage/catalog", "storage/table"}},
	{"engine", []string{"column", "exec", "planner", "sql", "storage"}},
	{".", []string{"column", "engine", "sql", "storage"}},
	{"docs/plots/chart", nil},
	{"cmd", []string{".", "column", "docs/plots/chart", "engine", "exec", "gpukernels", "planner", "sql", "storage"}},
	{"docs", []string{"exec/gpu/hashlab"}},
	{"test", []string{".", "column", "engine", "exec", "gpukernels", "planner", "sql", "storage"}},
}

// within says whether a package lies in a folder.
func within(pkg, folder string) bool {
	return pkg == folder || folder != "." && strings.HasPrefix(pkg, folder+"/")
}

// TestLayersAreOrdered checks that layers are listed from the bottom up.
func TestLayersAreOrdered(t *testing.T) {
	above := map[string]bool{}
	for _, l := range layers {
		above[l.folder] = true
	}
	for _, l := range layers {
		delete(above, l.folder)
		for _, m := range l.may {
			if above[m] {
				t.Errorf("%s may import %s, which stands below it in the list", l.folder, m)
			}
		}
	}
}

// TestImportDirections checks that imports point one way: cmd, radish, engine, exec, planner, sql, and down to storage.
func TestImportDirections(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || otherModule(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		checkBlocks(t, name, fset, file)
		pkg := path.Dir(filepath.ToSlash(name))
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if target != module && !strings.HasPrefix(target, module+"/") {
				continue
			}
			target = strings.TrimPrefix(strings.TrimPrefix(target, module), "/")
			if target == "" {
				target = "."
			}
			checked++
			if reason := refuse(pkg, target, strings.HasSuffix(name, "_test.go")); reason != "" {
				t.Errorf("%s imports %s: %s", name, target, reason)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Errorf("only %d imports were found", checked)
	}
}

// checkBlocks wants a file's imports in at most three blocks, which empty lines separate: of the standard library, of other modules, of this one.
func checkBlocks(t *testing.T, name string, fset *token.FileSet, file *ast.File) {
	t.Helper()
	lastKind, lastLine := -1, 0
	for _, spec := range file.Imports {
		target, line := strings.Trim(spec.Path.Value, `"`), fset.Position(spec.Pos()).Line
		kind := 0
		if first, _, _ := strings.Cut(target, "/"); target == module || strings.HasPrefix(target, module+"/") {
			kind = 2
		} else if strings.Contains(first, ".") {
			kind = 1
		}
		if separate := line > lastLine+1; lastLine > 0 && (kind < lastKind || separate != (kind > lastKind)) {
			t.Errorf("%s:%d: imports stand in three blocks: of the standard library, of other modules, of this one", name, line)
		}
		lastKind, lastLine = kind, line
	}
}

// TestTPCHIsLeftOut checks that a program that imports package radish does not carry the generator of TPC-H's data, which registers itself
// where it is imported.
func TestTPCHIsLeftOut(t *testing.T) {
	linked, todo := map[string]bool{}, []string{"."}
	for len(todo) > 0 {
		pkg := todo[0]
		todo = todo[1:]
		if linked[pkg] {
			continue
		}
		linked[pkg] = true
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range file.Imports {
				if target, inside := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); inside {
					todo = append(todo, target)
				}
			}
		}
	}
	if !linked["engine"] || !linked["sql/functions/stringfn"] {
		t.Errorf("only %d packages were found", len(linked))
	}
	if linked["storage/tpch"] {
		t.Error("package radish imports storage/tpch")
	}
}

// otherModule says whether a folder is the root of a module of its own.
func otherModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return folder != "." && err == nil
}

// refuse says why a package may not import another, "" if it may. Tests may import what their package may not, to have
// something to compare with, but not a command's packages.
func refuse(pkg, target string, test bool) string {
	if within(target, "cmd") && !within(pkg, "cmd") {
		return "commands are the outermost layer"
	}
	if test {
		return ""
	}
	for _, l := range layers {
		if !within(pkg, l.folder) {
			continue
		}
		if target != "." && within(target, l.folder) {
			return ""
		}
		for _, m := range l.may {
			if within(target, m) {
				return ""
			}
		}
		return l.folder + " may import only " + strings.Join(l.may, ", ")
	}
	return "the package belongs to no layer; add it to the list in imports_test.go"
}

// TestRefuse checks that the test above can fail.
func TestRefuse(t *testing.T) {
	for _, tt := range []struct {
		pkg, target string
		test, ok    bool
	}{
		{"planner/rules", "exec/cpu", false, false}, {"planner/rules", "planner/logical", false, true},
		{"sql/types", "column", false, false}, {"column", "sql/types", false, true},
		{"storage/table", "sql/expr", false, false}, {"storage/table", "sql/expr", true, true},
		{"exec/cpu", "engine", false, false}, {"engine", ".", false, false}, {"engine/infoschema", "engine", false, false}, {"engine/infoschema", "planner/bind", false, false}, {"engine", "engine/infoschema", false, true}, {"engine/ddl", "engine", false, false}, {"engine/ddl", "engine/write", false, false}, {"engine", "engine/ddl", false, true}, {"engine/write", "engine", false, false}, {"engine/plans", "engine", false, false}, {"engine/plans", "exec", false, false}, {"engine/filecache", "engine", false, false}, {"engine/stored", "engine/filecache", false, false}, {"engine/write", "exec", false, false}, {"engine/write", "engine/infoschema", false, false}, {"engine/database", "engine/session", false, false}, {"engine/variables", "engine/session", false, false}, {"engine/session", "engine/query", false, false}, {"engine/session", "exec/schedule", false, false}, {"engine/query", "engine/change", false, false}, {"engine/change", "engine/define", false, false}, {"engine/show", "engine", false, false}, {"engine/define", "engine/change", false, true}, {".", "engine", false, true},
		{".", "cmd/radish", true, false}, {"cmd/radish", ".", false, true}, {"newfolder", "sql/types", false, false},
		{"exec/gpu/program", "gpukernels", false, false}, {"exec/gpu/kernel", "exec/gpu/groupby", false, false}, {"exec/gpu/groupby", "exec/gpu/program", false, false}, {"exec/gpu/join", "exec/gpu/groupby", false, false}, {"exec/gpu/join", "exec/gpu/program", false, false},
		{"exec/gpu/program", "exec/gpu/residency", false, false}, {"exec/gpu/codegen", "gpukernels", false, false}, {"exec/gpu/codegen", "exec/gpu", false, false},
		{"exec/gpu/form", "exec/gpu", false, false}, {"exec/gpu/form", "gpukernels", false, false}, {"exec/gpu/residency", "exec/gpu", false, false}, {"exec/gpu/residency", "exec/gpu/run", false, false},
		{"exec/gpu/run", "exec/gpu", false, false}, {"exec/gpu/run", "exec/cpu", false, false}, {"exec/gpu/program", "exec/gpu/run", false, false},
		{"exec/gpu/placement", "exec/gpu", false, false}, {"exec/gpu/placement", "exec/gpu/run", false, false}, {"exec/gpu/placement", "exec/schedule", false, false},
		{"exec/gpu/residency", "planner/physical", false, false}, {"exec/gpu/residency", "exec/gpu/form", false, true}, {"exec/gpu", "exec/gpu/form", false, true}, {"exec/gpu", "exec/cpu", false, false}, {"exec/gpu", "exec/schedule", false, true},
		{"exec/schedule", "exec/cpu", false, false}, {"exec/schedule", "exec/gpu", false, false}, {"exec/cpu/join", "exec/cpu/scan", false, false}, {"exec/cpu/join", "exec/cpu/rowsort", false, true},
		{"sql/expr", "sql/parse", false, false}, {"sql/expr", "sql/functions", false, false}, {"sql/functions", "sql/expr", false, true},
		{"sql/jsondoc", "sql/expr", false, false}, {"storagebox", "sql/types", false, false},
	} {
		if reason := refuse(tt.pkg, tt.target, tt.test); (reason == "") != tt.ok {
			t.Errorf("%s importing %s: %q", tt.pkg, tt.target, reason)
		}
	}
}
