package gpukernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compileLibrary makes a shared object of a C source.
func compileLibrary(t *testing.T, source string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: ", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "library.so")
	c := filepath.Join(dir, "library.c")
	if err := os.WriteFile(c, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", path, c).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestLoaderExplains opens what is no device library, or an older one, and wants the reason.
func TestLoaderExplains(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a library\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       []string
	}{
		{"missing", "/no/such/library.so", []string{"/no/such/library.so", "no such file"}},
		{"text", text, []string{text, "invalid ELF header"}},
		{"another", compileLibrary(t, "int f(void) { return 1; }"), []string{"no device library", "radish_gpu_abi_version"}},
		{"version", compileLibrary(t, "int radish_gpu_abi_version(void) { return 99; }"), []string{"version 99", fmt.Sprint("version ", abiVersion), "make gpu"}},
		{"functions", compileLibrary(t, fmt.Sprintf("int radish_gpu_abi_version(void) { return %d; }", abiVersion)), []string{"no function radish_gpu_sizeof", "make gpu"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(Options{Path: c.path})
			var le *LoadError
			if !errors.As(err, &le) || len(le.Attempts) != 1 || !errors.Is(err, ErrUnavailable) {
				t.Fatalf("error %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not mention %q", err, w)
				}
			}
		})
	}
}

// TestLoaderChecksSizes builds a library whose structs have other sizes.
func TestLoaderChecksSizes(t *testing.T) {
	source := fmt.Sprintf("long radish_gpu_sizeof(const char* n) { return 8; }\nint radish_gpu_abi_version(void) { return %d; }\n", abiVersion)
	for _, f := range functions[2:] {
		source += "int radish_gpu_" + f.name + "(void) { return 0; }\n"
	}
	_, err := Open(Options{Path: compileLibrary(t, source)})
	if err == nil || !strings.Contains(err.Error(), "radish_gpu_error has 8 bytes instead of 2048") {
		t.Errorf("error %v", err)
	}
}

// TestLoaderPlaces checks where a library is looked for, and in what order.
func TestLoaderPlaces(t *testing.T) {
	t.Setenv(LibraryVariable, "")
	got := candidates(Options{})
	if len(got) != 3 || got[2] != libraryName || !strings.HasSuffix(got[1], filepath.Join("build", libraryName)) {
		t.Errorf("in a source tree: %q", got)
	}
	t.Chdir(t.TempDir())
	if got := candidates(Options{}); len(got) != 2 {
		t.Errorf("elsewhere: %q", got)
	}
	t.Setenv(LibraryVariable, "/named.so")
	if got := candidates(Options{}); len(got) != 1 || got[0] != "/named.so" {
		t.Errorf("named: %q", got)
	}
	if got := candidates(Options{Path: "/argument.so"}); len(got) != 1 || got[0] != "/argument.so" {
		t.Errorf("given: %q", got)
	}
}

// TestBuildEmulatedWithoutCompiler wants the name of what is missing.
func TestBuildEmulatedWithoutCompiler(t *testing.T) {
	t.Setenv("RADISH_CXX", "/no/such/compiler")
	_, err := BuildEmulated(context.Background(), t.TempDir())
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "RADISH_CXX") {
		t.Errorf("error %v", err)
	}
}
