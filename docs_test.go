package radish_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/radish-sql/radish"
)

// TestDocsNameTests checks that every test that the tables of docs/reference/driver.md and docs/reference/shell.md name exists where they say: in the folder
// that stands before it, else in the root package and cmd/radish; and that what other shells and drivers have is either here with a
// test, or refused with a reason.
func TestDocsNameTests(t *testing.T) {
	defined := map[string]bool{} // by folder and name
	for _, folder := range []string{".", "engine", "cmd/radish", "cmd/radish/internal/prompt", "test/clients", "arrow18"} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", folder, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				defined[folder+" "+string(m[1])] = true
			}
		}
	}
	named, rows := 0, 0
	for name, folder := range map[string]string{"docs/reference/driver.md": ".", "docs/reference/shell.md": "cmd/radish"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			cells := regexp.MustCompile(`[^\\]\|`).Split(line, -1)
			if strings.HasPrefix(line, "| library") {
				folder = "test/clients"
			}
			if !strings.HasPrefix(line, "| ") || len(cells) < 7 {
				continue
			}
			rows++
			here, tests := strings.TrimSpace(cells[len(cells)-3]), strings.TrimSpace(cells[len(cells)-2])
			for _, m := range regexp.MustCompile(`(?:([\w/]+): )?(Test[A-Z]\w+)`).FindAllStringSubmatch(tests, -1) {
				named++
				if where := cmp.Or(m[1], folder); !defined[where+" "+m[2]] {
					t.Errorf("%s names %s, which is not in %s", name, m[2], where)
				}
			}
			if tests == "" && !strings.HasPrefix(here, "no") {
				t.Errorf("%s: no test shows %q", name, strings.TrimSpace(cells[0]))
			}
			if tests == "" && here == "no" {
				t.Errorf("%s does not say why there is no %q", name, strings.TrimSpace(cells[0]))
			}
		}
	}
	if named < 90 || rows < 90 {
		t.Errorf("only %d tests are named in %d rows", named, rows)
	}
}

// docPages returns the text of README.md and of every page under docs, by path.
func docPages(t *testing.T) map[string]string {
	paths := []string{"README.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 20 {
		t.Fatalf("only the pages %v: %v", paths, err)
	}
	pages := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = string(text)
	}
	return pages
}

// docCode splits a page into its prose, the lines of its code blocks (fenced or indented by four spaces) and its code spans. The prose keeps
// the spans.
func docCode(page string) (prose, lines, spans []string) {
	fenced, blank := false, true
	for _, line := range strings.Split(page, "\n") {
		indented := strings.HasPrefix(line, "    ") && (blank || len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "    "))
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced || indented:
			lines = append(lines, line)
		default:
			prose = append(prose, line)
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				spans = append(spans, m[1])
			}
		}
		blank = strings.TrimSpace(line) == ""
	}
	return prose, lines, spans
}

var (
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	docLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docInCode = regexp.MustCompile(`\bdocs/[a-z0-9/-]+\.(?:md|svg)`)
)

// docAnchor is the anchor of a heading, as GitHub makes it.
func docAnchor(heading string) string {
	heading = strings.ToLower(strings.ReplaceAll(heading, "`", ""))
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N}_\- ]`).ReplaceAllString(heading, ""), " ", "-")
}

// TestDocsLinks checks that every link between pages leads to a file and a heading that exist, and that every page can be reached from README.md.
func TestDocsLinks(t *testing.T) {
	pages := docPages(t)
	anchors, linked := map[string]bool{}, map[string]bool{"README.md": true}
	for path, page := range pages {
		prose, _, _ := docCode(page)
		for _, line := range prose {
			if text, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
				anchors[path+"#"+docAnchor(text)] = true
			}
		}
	}
	for path, page := range pages {
		prose, _, _ := docCode(page)
		for _, m := range docLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(strings.Join(prose, "\n"), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			linked[target] = true
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: there is no such file", path, m[1])
			} else if anchor != "" && !anchors[target+"#"+anchor] {
				t.Errorf("%s links to %s: there is no such heading", path, m[1])
			}
		}
	}
	for path := range pages {
		if !linked[path] {
			t.Errorf("no page links to %s", path)
		}
	}
}

// TestDocsNamedInCode checks that pages that comments and messages name exist.
func TestDocsNamedInCode(t *testing.T) {
	named := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name := d.Name(); err == nil && (name == "build" || name == "docs" || name != "." && strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return err
		}
		if !slices.Contains([]string{".go", ".cuh", ".h", ".cpp", ".cu", ".sh", ".sql", ".test", ".golden"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, page := range docInCode.FindAllString(string(text), -1) {
			named++
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s names %s, which is not there", path, page)
			}
		}
		return nil
	})
	if err != nil || named < 10 {
		t.Errorf("%d pages are named: %v", named, err)
	}
}

// TestDocsNamedFiles checks that source files that comments and pages name by their last element exist somewhere in the tree.
func TestDocsNamedFiles(t *testing.T) {
	comment := regexp.MustCompile(`//.*`)
	source := regexp.MustCompile(`[\w-]+\.(?:go|cuh)\b`)
	exists, named := map[string]bool{}, map[string]string{} // named: where, by name
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name := d.Name(); err == nil && (name == "build" || name != "." && strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return err
		}
		exists[d.Name()] = true
		ending := filepath.Ext(path)
		if !slices.Contains([]string{".go", ".cuh", ".md"}, ending) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if ending != ".md" {
			text = bytes.Join(comment.FindAll(text, -1), []byte("\n"))
		}
		for _, name := range source.FindAllString(string(text), -1) {
			named[name] = path
		}
		return nil
	})
	if err != nil || len(named) < 50 {
		t.Fatalf("only %d files are named: %v", len(named), err)
	}
	for name, where := range named {
		if !exists[name] {
			t.Errorf("%s names %s, which is not there", where, name)
		}
	}
}

// TestDocsNamedPaths checks that files and folders that pages name by their path are there: lists of what a new thing takes stand in docs/internals.
func TestDocsNamedPaths(t *testing.T) {
	path := regexp.MustCompile("`((?:cmd|column|docs|engine|exec|gpukernels|planner|sql|storage|test)/[\\w./-]*[\\w])`")
	checked := 0
	for page, text := range docPages(t) {
		if strings.HasPrefix(page, "docs/results/") { // which tell of how it was
			continue
		}
		for _, m := range path.FindAllStringSubmatch(text, -1) {
			checked++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d paths are named", checked)
	}
}

// TestDocsTables checks that no cell of a table is longer than a reader can take in at a glance.
func TestDocsTables(t *testing.T) {
	const longest = 160
	for path, page := range docPages(t) {
		prose, _, _ := docCode(page)
		for _, line := range prose {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			for _, cell := range strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|") {
				if cell = strings.TrimSpace(cell); utf8.RuneCountInString(cell) > longest {
					t.Errorf("%s: a cell has %d characters: %.60s...", path, utf8.RuneCountInString(cell), cell)
				}
			}
		}
	}
}

// TestDocsCommands checks that what pages tell readers to type exists: targets of make, flags of radish, commands of its shell, commands and flags
// of radish-bench, steps of run.sh, and the folders that go test and go doc get.
func TestDocsCommands(t *testing.T) {
	known := knownCommands(t)
	checked := 0
	for path, page := range docPages(t) {
		_, lines, spans := docCode(page)
		if path == "docs/reference/shell.md" { // other shells' commands stand in the columns before Radish's
			_, _, spans = docCode(regexp.MustCompile(`(?m)^(\|[^|\n]*){5}`).ReplaceAllString(page, ""))
		}
		for _, text := range append(lines, spans...) {
			for _, word := range commandWords(text) {
				checked++
				if !known[word] {
					t.Errorf("%s: %q does not exist, in %q", path, word, text)
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d words of commands were found", checked)
	}
}

// TestDocsPrograms checks that whole Go programs that pages show compile.
func TestDocsPrograms(t *testing.T) {
	var files []string
	for path, page := range docPages(t) {
		for i, m := range regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$").FindAllStringSubmatch(page, -1) {
			file := filepath.Join(t.TempDir(), fmt.Sprintf("%s%d.go", docAnchor(filepath.Base(path)), i))
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	if len(files) < 2 {
		t.Errorf("only %d programs were found", len(files))
	}
	for _, file := range files {
		if out, err := osexec.Command("go", "vet", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(file), err, out)
		}
	}
}

// TestDocsExports checks that the guide or the package's comment names each function of this package and each method of DB.
func TestDocsExports(t *testing.T) {
	docs := ""
	for _, path := range []string{"docs/guide/driver.md", "docs/guide/performance.md", "docs/reference/driver.md", "doc.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs += string(text)
	}
	found := 0
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (?:\(\w+ \*DB\) )?([A-Z]\w*)\(`).FindAllStringSubmatch(string(text), -1) {
			if found++; !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(docs) {
				t.Errorf("no page about Go programs names %s of %s", m[1], path)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d names were found", found)
	}
}

// TestDocsReasons checks that docs/reference/gpu.md has each reason and error about GPUs that a statement may show. Those for which a pipeline has no
// kernel are generated (see exec/gpu/codegen).
func TestDocsReasons(t *testing.T) {
	page, err := os.ReadFile("docs/reference/gpu.md")
	if err != nil {
		t.Fatal(err)
	}
	others := []string{ // hints, bugs, and what no statement shows
		"it is 'all', or numbers", "it can be …", "SET radish_device =", "SELECT status FROM", "information_schema.radish_devices has", "it is a file in the folder", "which radish_file_access =",
		"a test wants it", "a result of … columns", "groups that are read on the CPU", "a sink of the GPU", "no GPU runs the exchange", "radish_device = 'auto' uses the CPU", "reads … of columns in",
		"radish_device is 'gpu_strict'", "WITH RECURSIVE on the GPU",
		"which writes what it measures", "the figures serve this process only", "ns, CPU with … threads",
	}
	found := 0
	for _, path := range []string{
		"engine/query/auto.go", "engine/query/gpu.go", "engine/variables/gpus.go", "engine/calibrate.go", "exec/gpu/place.go", "exec/gpu/refusals.go", "exec/gpu/run.go", "exec/gpu/runshortage.go", "exec/gpu/fleet.go",
		"exec/gpu/placement/choose.go",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		code := regexp.MustCompile(`(?m)(^|\s)//.*$`).ReplaceAllString(string(text), "")
		for _, m := range regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(code, -1) {
			reason := strings.Trim(regexp.MustCompile(`%[.\d]*[a-z]`).ReplaceAllString(m[1], "…"), " ;,")
			if len(strings.Fields(reason)) < 4 || slices.ContainsFunc(others, func(o string) bool { return strings.Contains(reason, o) }) {
				continue
			}
			if found++; !strings.Contains(string(page), reason) {
				t.Errorf("docs/reference/gpu.md does not have %q of %s", reason, path)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d reasons were found", found)
	}
}

// TestDocsFolders checks that folders and files of the source tree that pages name exist. Results name those of their day.
func TestDocsFolders(t *testing.T) {
	inTree := regexp.MustCompile(`^(?:cmd|docs|engine|exec|gpukernels|planner|sql|storage|test)(?:/[\w.-]+)+$`)
	named := 0
	for path, page := range docPages(t) {
		if strings.HasPrefix(path, "docs/results/") {
			continue
		}
		_, _, spans := docCode(page)
		for _, span := range spans {
			if !inTree.MatchString(span) {
				continue
			}
			named++
			if _, err := os.Stat(span); err != nil {
				t.Errorf("%s names %s, which is not there", path, span)
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d folders are named", named)
	}
}

// commandWords returns what a line that a reader may type asks of programs of this repository, each as "program word".
func commandWords(text string) (words []string) {
	text = strings.TrimSpace(text)
	for _, prompt := range []string{"$ ", "radish> "} {
		text = strings.TrimPrefix(text, prompt)
	}
	if m := regexp.MustCompile(`^\.([a-z]+)( |$)`).FindStringSubmatch(text); m != nil && !fileEnding[m[1]] {
		return []string{"shell ." + m[1]}
	}
	text = regexp.MustCompile(`"[^"]*"|'[^']*'`).ReplaceAllString(text, "_")
	text, _, _ = strings.Cut(text, " #")
	for _, part := range regexp.MustCompile(`\||&&|;`).Split(text, -1) {
		fields := strings.Fields(part)
		for len(fields) > 1 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(fields[0]) {
			fields = fields[1:]
		}
		if len(fields) < 2 {
			continue
		}
		program := filepath.Base(fields[0])
		if program == "go" {
			program, fields = "go "+fields[1], fields[1:]
		}
		switch program {
		case "make", "run.sh":
			for _, f := range fields[1:] {
				if regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(f) {
					words = append(words, program+" "+f)
				}
			}
		case "radish-bench":
			if regexp.MustCompile(`^[a-z]+$`).MatchString(fields[1]) {
				words = append(words, program+" "+fields[1])
			}
			fallthrough
		case "radish":
			for _, f := range fields[1:] {
				if strings.HasPrefix(f, "-") && f != "-" && f != "--" {
					flag, _, _ := strings.Cut(f, "=")
					words = append(words, program+" --"+strings.TrimLeft(flag, "-"))
				}
			}
		case "go test", "go build", "go run":
			for _, f := range fields[1:] {
				if strings.HasPrefix(f, "./") {
					words = append(words, "folder "+strings.TrimSuffix(strings.TrimSuffix(f, "..."), "/"))
				}
			}
		}
	}
	return words
}

// fileEnding has the endings of files, which pages write as commands of the shell are written.
var fileEnding = map[string]bool{}

func init() {
	for _, ending := range strings.Fields("csv tsv psv txt json jsonl ndjson parquet pq arrow feather ipc arrows gz zst md html sql log out so radish") {
		fileEnding[ending] = true
	}
}

// knownCommands reads from the sources which targets, flags and commands there are, each as commandWords writes them.
func knownCommands(t *testing.T) map[string]bool {
	known := map[string]bool{"radish --help": true, "radish-bench --h": true}
	add := func(program, pattern, expression string) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		found := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(expression).FindAllSubmatch(text, -1) {
				known[fmt.Sprintf("%s%s", program, m[1])], found = true, found+1
			}
		}
		if found == 0 {
			t.Fatalf("%s has nothing like %s", pattern, expression)
		}
	}
	add("make ", "Makefile", `(?m)^([a-z-]+):`)
	add("run.sh ", "gpukernels/bundle/run.sh", `(?m)^#     ([a-z]+) `)
	add("radish --", "cmd/radish/main.go", `\s--?([a-z][a-z-]*)`)
	add("shell .", "cmd/radish/commands_*.go", `\{"([a-z]+)", `)
	add("radish-bench ", "cmd/radish-bench/main.go", `\{"([a-z]+)", `)
	add("radish-bench --", "cmd/radish-bench/internal/*/*.go", `fs\.\w+\((?:&[\w.]+, )?"([a-z-]+)"`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			known["folder ./"+path], known["folder "+path] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	known["folder ./"] = true
	return known
}

// TestDocsSQL runs the blocks of SQL in the guide and the reference, those of a page in one database and an empty folder.
func TestDocsSQL(t *testing.T) {
	ran := 0
	for path, page := range docPages(t) {
		blocks := regexp.MustCompile("(?ms)^```sql\n(.*?)^```$").FindAllStringSubmatch(page, -1)
		if len(blocks) == 0 || strings.HasPrefix(path, "docs/internals") {
			continue
		}
		t.Run(path, func(t *testing.T) {
			t.Chdir(t.TempDir())
			db, err := radish.Open("?device=cpu")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			conn, err := db.Conn()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for _, b := range blocks {
				ran++
				if _, err := conn.Exec(context.Background(), b[1]); err != nil {
					t.Errorf("%v, in\n%s", err, b[1])
				}
			}
		})
	}
	if ran < 10 {
		t.Errorf("only %d blocks were run", ran)
	}
}

// TestPackageDocsListFiles checks that a package's comment that lists its files, in a table, lists all of them.
func TestPackageDocsListFiles(t *testing.T) {
	name := regexp.MustCompile(`[\w-]+\.go\b`)
	listed := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "build" || path != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}
		var product []string
		comment, rows := "", 0
		for _, file := range files {
			if base := filepath.Base(file); !strings.HasSuffix(base, "_test.go") && base != "doc.go" {
				product = append(product, base)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			head, _, _ := strings.Cut("\n"+string(text), "\npackage ")
			comment += head
			for _, line := range strings.Split(head, "\n") {
				if strings.HasPrefix(line, "//\t") && name.MatchString(line) {
					rows++
				}
			}
		}
		if rows < 3 { // it mentions files, and lists none
			return nil
		}
		listed++
		named := name.FindAllString(comment, -1)
		for _, file := range product {
			if file = strings.Replace(file, "_other.go", "_linux.go", 1); !slices.Contains(named, file) {
				t.Errorf("the comment of package %s lists files and leaves %s out", path, file)
			}
		}
		return nil
	})
	if err != nil || listed < 15 {
		t.Errorf("only %d packages list their files: %v", listed, err)
	}
}
