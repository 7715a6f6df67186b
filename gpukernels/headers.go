package gpukernels

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// device holds what kernels include, so that a program needs no source tree.
//
//go:embed device/*.cuh
var device embed.FS

// headerFiles lists the device headers with their contents, by name.
var headerFiles = sync.OnceValue(func() []headerFile {
	var out []headerFile
	entries, err := device.ReadDir("device")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	for _, e := range entries {
		text, err := fs.ReadFile(device, path.Join("device", e.Name()))
		if err != nil {
			panic(err)
		}
		out = append(out, headerFile{e.Name(), text})
	}
	return out
})

type headerFile struct {
	name string
	text []byte
}

// headersHash stands for the headers' contents in the keys of caches.
var headersHash = sync.OnceValue(func() string {
	h := sha256.New()
	for _, f := range headerFiles() {
		fmt.Fprintf(h, "%s %d\n", f.name, len(f.text))
		h.Write(f.text)
	}
	return hex.EncodeToString(h.Sum(nil))
})

var (
	lineComment = regexp.MustCompile(`//[^\n]*`)
	identifier  = regexp.MustCompile(`[A-Za-z_]\w*`)
	// What a header defines stands at the beginning of a line: functions, constants, types, macros, and functions that a macro of arith.cuh makes.
	definition = regexp.MustCompile(`(?m)^(?:RADISH_(?:FN|LONG|NOINLINE)\s[^;{(]*?(\w+)\(|constexpr\s+\w+\s+([^;]+);|(?:struct|union)\s+(?:alignas\([^)]*\)\s+)?(\w+)|#define\s+(\w+)|RADISH_MATH_\d\((\w+)\))`)
)

// definedIn lists the headers that define a name. What radish.cuh includes is left out.
var definedIn = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	always := map[string]bool{"radish.cuh": true}
	for _, f := range headerFiles() {
		if f.name == "radish.cuh" {
			for _, m := range includeLine.FindAllSubmatch(f.text, -1) {
				always[string(m[1])] = true
			}
		}
	}
	for _, f := range headerFiles() {
		if always[f.name] {
			continue
		}
		for _, name := range headerNames(lineComment.ReplaceAllString(string(f.text), "")) {
			out[name] = append(out[name], f.name)
		}
	}
	return out
})

// headerNames are the names that a header, or a part of one, without comments, defines.
func headerNames(text string) []string {
	var names []string
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		switch {
		case m[2] != "": // a = 1, b = 2
			for _, one := range strings.Split(m[2], ",") {
				name, _, _ := strings.Cut(one, "=")
				names = append(names, strings.TrimSpace(name))
			}
		case m[5] != "":
			names = append(names, "math_"+m[5])
		default:
			names = append(names, m[1]+m[3]+m[4])
		}
	}
	return names
}

var includeLine = regexp.MustCompile(`(?m)^#include "(\w+\.cuh)"`)

// Includes returns the lines that include radish.cuh and the other headers whose functions, types and constants a source names. NVRTC reads the
// headers of one kernel after the other, so what a kernel does not need is better left out.
func Includes(source string) string {
	included.mutex.Lock()
	defer included.mutex.Unlock()
	lines, known := included.lines[source]
	if known {
		return lines
	}
	if len(included.lines) >= maxUnused { // of as many sources as kernels are kept for nobody
		clear(included.lines)
	}
	lines = findIncludes(source)
	included.lines[source] = lines
	return lines
}

// included remembers what Includes found: a query that runs again has the same kernels.
var included = struct {
	mutex sync.Mutex
	lines map[string]string // by source
}{lines: map[string]string{}}

func findIncludes(source string) string {
	used := map[string]bool{}
	for _, name := range identifier.FindAllString(lineComment.ReplaceAllString(source, ""), -1) {
		for _, header := range definedIn()[name] {
			used[header] = true
		}
	}
	lines := "#include \"radish.cuh\"\n"
	for _, f := range headerFiles() {
		if used[f.name] {
			lines += "#include \"" + f.name + "\"\n"
		}
	}
	return lines
}

// includeFolder is a folder on disk with the device headers, made when it is first needed.
type includeFolder struct {
	mutex sync.Mutex
	dir   string
}

// path returns the folder: in the cache, or a temporary one where there is no cache.
func (f *includeFolder) path() (string, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.dir != "" && (holdsHeaders(f.dir) || writeHeaders(f.dir) == nil) { // somebody may have emptied the cache
		return f.dir, nil
	}
	if cache := CacheFolder(); cache != "" {
		dir := filepath.Join(cache, "include-"+headersHash()[:16])
		if writeHeaders(dir) == nil {
			f.dir = dir
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp("", "radish-include-")
	if err == nil {
		err = writeHeaders(dir)
	}
	if err != nil {
		return "", fmt.Errorf("writing the device headers: %w", err)
	}
	f.dir = dir
	return dir, nil
}

// holdsHeaders says whether the headers are still there that were written before.
func holdsHeaders(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	for _, h := range headerFiles() {
		if !there[h.name] {
			return false
		}
	}
	return true
}

// writeHeaders makes a folder hold the headers. Other processes may be doing the same: each file appears whole, by a rename.
func writeHeaders(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, h := range headerFiles() {
		name := filepath.Join(dir, h.name)
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, h.text) {
			continue
		}
		if err := WriteWhole(name, h.text); err != nil {
			return err
		}
	}
	return nil
}

// WriteWhole writes a file so that nobody sees a part of it.
func WriteWhole(name string, data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = t.Write(data)
	if e := t.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		os.Remove(t.Name())
	}
	return err
}
