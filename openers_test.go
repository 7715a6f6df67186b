package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// openers are the functions that open, list, look for or change files by name, those that reach for a network, and those that start programs, which could.
var openers = map[string][]string{
	"os": {
		"Chmod", "Chdir", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "DirFS", "Lchown", "Link", "Lstat", "Mkdir", "MkdirAll", "MkdirTemp", "Open", "OpenFile", "OpenInRoot", "OpenRoot",
		"ReadDir", "ReadFile", "Readlink", "Remove", "RemoveAll", "Rename", "StartProcess", "Stat", "Symlink", "Truncate", "WriteFile",
	},
	"path/filepath":         {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"io/ioutil":             {"ReadAll", "ReadDir", "ReadFile", "TempDir", "TempFile", "WriteFile"},
	"os/exec":               {"Command", "CommandContext"},
	"plugin":                {"Open"},
	"syscall":               {"Creat", "Exec", "ForkExec", "Open", "Openat", "Stat", "Lstat", "Unlink", "Rename", "Link", "Symlink", "Mknod", "Mkfifo"},
	"golang.org/x/sys/unix": {"Creat", "Open", "Openat", "Openat2", "Stat", "Lstat", "Fstatat", "Unlink", "Rename", "Link"},
	"github.com/apache/arrow/go/v17/parquet/file": {"OpenParquetFile"},
	"net":      {"Dial", "Listen"}, // the engine knows no network
	"net/http": {"Client", "DefaultClient", "DefaultTransport", "Dir", "FileServer", "Get", "Head", "ListenAndServe", "ListenAndServeTLS", "NewRequest", "NewRequestWithContext", "Post", "PostForm", "Serve", "ServeFile", "ServeTLS", "Transport"},
	// What opens any file, for who is not asked by SQL.
	module + "/storage/fileaccess": {"Full"},
}

// mayOpen are the folders and files that use openers, and why that is no way around storage/fileaccess.
var mayOpen = map[string]string{
	"storage/fileaccess/":     "it opens for all others",
	"storage/internal/":       "helps tests",
	"storage/tpch/answers.go": "reads the published answers for radish-bench, which names them",
	"engine/database/":        "the default of a program that says nothing",
	"exec/cpu/tempfile/":      "a session's temporary folder, which its policy has let be written to",
	"exec/gpu/placement/":     "what was measured and learned is kept in a folder that no statement names",
	"gpukernels/":             "the library, its headers and the compiled kernels lie in folders that no statement names",
	"cmd/radish/":             "the shell's own files",
	"cmd/radish-bench/":       "runs no statements but its own",
	"docs/plots/":             "draws the documentation's pictures, and runs no statements",
}

// TestFilesAreOpenedInOnePlace checks that nothing but storage/fileaccess opens the files that statements name.
func TestFilesAreOpenedInOnePlace(t *testing.T) {
	used := map[string]int{}
	walkCode(t, func(name string, file *ast.File) {
		for _, x := range opens(file) {
			reason := ""
			for of := range mayOpen {
				if name == of || strings.HasSuffix(of, "/") && strings.HasPrefix(name, of) {
					reason = of
				}
			}
			if used[reason]++; reason == "" {
				t.Errorf("%s uses %s: a file that a statement names is opened by a fileaccess.Policy; any other belongs into mayOpen, with a reason", name, x)
			}
		}
	})
	for of := range mayOpen {
		if used[of] == 0 {
			t.Errorf("%s opens nothing: take it out of mayOpen", of)
		}
	}
}

// walkCode parses each file of the module that is no test.
func walkCode(t *testing.T, visit func(name string, file *ast.File)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || otherModule(name)) {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		visit(filepath.ToSlash(name), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Errorf("only %d files were found", files)
	}
}

// opens returns the openers that a file uses, whatever it calls their packages.
func opens(file *ast.File) (list []string) {
	packages := map[string]string{}
	for _, spec := range file.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(target)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if openers[target] != nil {
			packages[name] = target
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(openers[packages[x.Name]], s.Sel.Name) {
				list = append(list, packages[x.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	if packages["."] != "" {
		list = append(list, "everything of "+packages["."])
	}
	return list
}

// TestOpens checks that the test above can fail.
func TestOpens(t *testing.T) {
	for text, want := range map[string]string{
		`import "os"; var f, _ = os.Open("x")`:                                         "os.Open",
		`import o "os"; func g() { f := o.ReadFile; _, _ = f("x") }`:                   "os.ReadFile",
		`import "net/http"; var f, _ = http.Get("x"); var n = http.StatusOK`:           "net/http.Get",
		`import . "os"; var f, _ = Open("x")`:                                          "everything of os",
		`import "path/filepath"; var f, _ = filepath.Glob("x"); var g = filepath.Base`: "path/filepath.Glob",
		`import "os"; var f = os.Getenv("x"); type T struct { *os.File }`:              "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x;"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(opens(file), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
