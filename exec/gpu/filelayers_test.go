package gpu_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The bounds of TestFilesPointDownward.
const (
	mostUpwardCalls = 5
	mostUpward      = 8 // of all references: to functions, types, constants and variables
)

// TestFilesPointDownward counts the references between the files of a package that point upward, for the packages of exec/gpu: from a file to one that lies above it.
// Files are laid out so that these are as few as can be. go test -v prints all of them. A function moves to another file where that takes a reference away and is natural.
func TestFilesPointDownward(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages for their types")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the Go command: ", err)
	}
	packages := listed(t, "./...")
	check := func(what string, most int, counts func(types.Object) bool) {
		all, upward := 0, 0
		for _, p := range packages {
			n, report := upwardReferences(fileReferences(t, p, counts))
			all, upward = all+n, upward+len(report)
			if len(report) > 0 {
				t.Logf("%s: %d of %d %s point upward\n  %s", p.ImportPath, len(report), n, what, strings.Join(report, "\n  "))
			}
		}
		t.Logf("%d of %d %s between files point upward", upward, all, what)
		if upward > most {
			t.Errorf("%d of %d %s between files of a package point upward; the bound is %d (-v lists them)", upward, all, what, most)
		}
	}
	check("calls", mostUpwardCalls, func(o types.Object) bool { _, ok := o.(*types.Func); return ok })
	check("references", mostUpward, func(types.Object) bool { return true })
}

// upwardReferences returns how many references there are, and those that point upward.
func upwardReferences(edges map[edge]map[string]bool) (n int, report []string) {
	order := layOut(edges)
	for e, names := range edges {
		if slices.Index(order, e.to) < slices.Index(order, e.from) {
			report = append(report, fmt.Sprintf("%s -> %s: %s", e.from, e.to, strings.Join(slices.Sorted(maps.Keys(names)), ", ")))
		}
	}
	slices.Sort(report)
	return len(edges), report
}

// edge is a reference from a file to another one of its package.
type edge struct{ from, to string }

// listedPackage is what go list says of a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	exports                 map[string]string // of all packages that are listed
}

// listed returns the packages of a pattern.
func listed(t *testing.T, pattern string) (all []*listedPackage) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", pattern)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listedPackage{exports: exports}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			all = append(all, p)
		}
	}
}

// fileReferences returns what the files of a package use of other ones: methods and what is declared at the top level, as far as it counts.
func fileReferences(t *testing.T, p *listedPackage, counts func(types.Object) bool) map[edge]map[string]bool {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) })}
	if _, err := config.Check(p.ImportPath, fset, files, info); err != nil {
		t.Fatal(err)
	}
	edges := map[edge]map[string]bool{}
	for id, object := range info.Uses {
		f, isFunc := object.(*types.Func)
		if isFunc {
			object = f.Origin()
		}
		if object.Pkg() == nil || object.Pkg().Path() != p.ImportPath || !isFunc && object.Parent() != object.Pkg().Scope() || !counts(object) {
			continue
		}
		e := edge{filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)}
		if e.from == e.to {
			continue
		}
		if edges[e] == nil {
			edges[e] = map[string]bool{}
		}
		edges[e][object.Name()] = true
	}
	return edges
}

// layOut orders files, callers first, so that as few references as possible point to a file before their own. It is exact: the best order of a set of files ends in
// some file, before which the others stand in their best order (Lawler 1964).
func layOut(edges map[edge]map[string]bool) (order []string) {
	var names []string
	for e := range edges {
		names = append(names, e.from, e.to)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, knot := range knots(names, edges) {
		order = append(order, bestOrder(knot, edges)...)
	}
	return order
}

// knots are the strongly connected components of a package's files, callers first.
func knots(names []string, edges map[edge]map[string]bool) (all [][]string) {
	reach := map[edge]bool{}
	for e := range edges {
		reach[e] = true
	}
	for _, by := range names {
		for _, a := range names {
			for _, b := range names {
				if reach[edge{a, by}] && reach[edge{by, b}] {
					reach[edge{a, b}] = true
				}
			}
		}
	}
	left := slices.Clone(names)
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(a string) bool { // whom nobody calls whom it does not reach
			return !slices.ContainsFunc(left, func(b string) bool { return reach[edge{b, a}] && !reach[edge{a, b}] })
		})
		first := left[i]
		in := func(b string) bool { return b == first || reach[edge{first, b}] && reach[edge{b, first}] }
		var knot []string
		for _, b := range left {
			if in(b) {
				knot = append(knot, b)
			}
		}
		all, left = append(all, knot), slices.DeleteFunc(left, in)
	}
	return all
}

// bestOrder orders the files of a knot.
func bestOrder(names []string, edges map[edge]map[string]bool) []string {
	n := len(names)
	calls := make([]uint32, n) // by file, those that it calls
	for i, a := range names {
		for j, b := range names {
			if edges[edge{a, b}] != nil {
				calls[i] |= 1 << j
			}
		}
	}
	cost, last := make([]uint16, 1<<n), make([]uint8, 1<<n)
	for set := uint32(1); set < 1<<n; set++ {
		cost[set] = 1<<16 - 1
		for rest := set; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros32(rest)
			before := set &^ (1 << i)
			if c := cost[before] + uint16(bits.OnesCount32(calls[i]&before)); c < cost[set] {
				cost[set], last[set] = c, uint8(i)
			}
		}
	}
	order := make([]string, n)
	for set, at := uint32(1)<<n-1, n-1; at >= 0; at-- {
		order[at] = names[last[set]]
		set &^= 1 << last[set]
	}
	return order
}
