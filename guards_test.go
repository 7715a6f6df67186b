package radish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// unguarded are goroutines that need no guard, by file and what they run, and why.
var unguarded = map[string]string{
	"gpukernels/device.go func":    "one call of the library, made early; who needs its result makes it again and gets its error",
	"gpukernels/worker.go func":    "one starts processes, the other waits for the end of one: calls of os/exec",
	"gpukernels/compilers.go func": "hands what a benchmark asked for to the benchmark",
	"cmd/radish/main.go func":      "wait for Ctrl-C and other signals",
	"cmd/radish/shell.go func":     "waits for Ctrl-C",
}

// TestGoroutinesAreGuarded checks that whatever starts a goroutine guards it, so that a panic in it ends a statement and not the program: the
// function that is started, or one that it calls in its package, calls sqlerr.Guard or recover.
func TestGoroutinesAreGuarded(t *testing.T) {
	packages := map[string]*guards{}
	walkCode(t, func(name string, file *ast.File) {
		folder := path.Dir(name)
		if strings.HasPrefix(name, "cmd/radish-bench/") || strings.HasPrefix(name, "test/") {
			return // programs that measure and test, and that a panic may end
		}
		if packages[folder] == nil {
			packages[folder] = &guards{functions: map[string][]*ast.BlockStmt{}}
		}
		packages[folder].add(name, file)
	})
	started, used := 0, map[string]bool{}
	for _, g := range packages {
		for _, s := range g.starts {
			started++
			if g.guarded(s.run, 0) {
				continue
			}
			if key := s.file + " " + s.what; unguarded[key] != "" {
				used[key] = true
			} else {
				t.Errorf("%s starts a goroutine (%s) without sqlerr.Guard: a panic in it would end the program", s.file, s.what)
			}
		}
	}
	if started < 25 {
		t.Errorf("only %d statements that start goroutines were found", started)
	}
	for key := range unguarded {
		if !used[key] {
			t.Errorf("%s has nothing that is not guarded: take it out of unguarded", key)
		}
	}
}

// guards are the functions of a package and what it starts goroutines with.
type guards struct {
	functions map[string][]*ast.BlockStmt // by name, methods too, and functions that variables hold
	starts    []start
}

type start struct {
	file, what string
	run        ast.Expr // the function
}

// add takes in a file: go statements, and the calls of methods Go with one function, which are those of sync.WaitGroup, errgroup.Group and the like.
func (g *guards) add(name string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			if x.Body != nil {
				g.functions[x.Name.Name] = append(g.functions[x.Name.Name], x.Body)
			}
		case *ast.AssignStmt:
			for i, e := range x.Rhs {
				if f, ok := e.(*ast.FuncLit); ok && i < len(x.Lhs) {
					if v, ok := x.Lhs[i].(*ast.Ident); ok {
						g.functions[v.Name] = append(g.functions[v.Name], f.Body)
					}
				}
			}
		case *ast.GoStmt:
			g.starts = append(g.starts, start{name, called(x.Call.Fun), x.Call.Fun})
		case *ast.CallExpr:
			if s, ok := x.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Go" || s.Sel.Name == "TryGo" || s.Sel.Name == "AfterFunc") && len(x.Args) > 0 {
				run := x.Args[len(x.Args)-1]
				if s.Sel.Name != "AfterFunc" || called(run) == "func" && !trivial(run.(*ast.FuncLit)) {
					g.starts = append(g.starts, start{name, called(run), run})
				}
			}
		}
		return true
	})
}

// trivial says whether a function that a timer or the end of a context runs only wakes others, as by closing a channel or between Lock and Unlock.
func trivial(f *ast.FuncLit) bool { return len(f.Body.List) <= 3 }

// called names a function: "func" if it has no name.
func called(f ast.Expr) string {
	switch x := f.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return "func"
}

// guarded says whether a function calls sqlerr.Guard or recover, or another of the package that does.
func (g *guards) guarded(f ast.Expr, depth int) bool {
	if lit, ok := f.(*ast.FuncLit); ok {
		return g.guards(lit.Body, depth)
	}
	for _, b := range g.functions[called(f)] { // types are not known here: one of several of a name will do
		if g.guards(b, depth) {
			return true
		}
	}
	return false
}

func (g *guards) guards(body *ast.BlockStmt, depth int) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		switch name := called(call.Fun); {
		case name == "Guard" || name == "recover" || name == "guard":
			found = true
		case depth < 3 && g.functions[name] != nil:
			found = g.guarded(call.Fun, depth+1)
		}
		return !found
	})
	return found
}

// TestGuards checks that the test above can fail.
func TestGuards(t *testing.T) {
	for text, want := range map[string]bool{
		"func f() { go func() { work() }() }":                                                         false,
		"func f() { go func() { _ = sqlerr.Guard(work) }() }":                                         true,
		"func f() { var g errgroup.Group; g.Go(func() error { return work() }) }":                     false,
		"func f() { var g errgroup.Group; g.Go(func() error { return sqlerr.Guard(work) }) }":         true,
		"func f() { var w sync.WaitGroup; w.Go(work) }; func work() { defer func() { recover() }() }": true,
		"func f() { var w sync.WaitGroup; w.Go(work) }; func work() { other() }; func other() {}":     false,
		"func f() { go x.run() }; func (x X) run() { y() }; func y() { sqlerr.Guard(nil) }":           true,
		"func f() { run := func() {}; go run() }":                                                     false,
		"func f() { go elsewhere.Run() }":                                                             false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x;"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		g := &guards{functions: map[string][]*ast.BlockStmt{}}
		g.add("x.go", file)
		if len(g.starts) != 1 || g.guarded(g.starts[0].run, 0) != want {
			t.Errorf("%s: %v goroutines, guarded: %v", text, len(g.starts), !want)
		}
	}
}
