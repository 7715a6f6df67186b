package gpukernels

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExcerpt wants of an excerpt that it holds what the source names, all that this names in turn, and nothing of the emulated device.
func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		source     string
		ends       string // what becomes of it
		has, lacks []string
	}{
		{"RADISH_KERNEL(k, 1) { *as_pointer<const u64>(p.w[0]) = 1; }", "RADISH_KERNEL(k, 1) { *reinterpret_cast<const u64*>(p.w[0]) = 1; }",
			[]string{"#define RADISH_KERNEL(name, words) extern", "typedef unsigned long long u64;", "struct Params"}, []string{"atomicAdd", "emulated", "as_pointer"}},
		{"RADISH_KERNEL(k, 1) { for (Tiles<8> t(a, b, c); t.next();) { math_sin(1); } }",
			"RADISH_KERNEL(k, 1) { for (Tiles<8> t(a, b, c); t.next();) { math_sin(1); } }", []string{"struct Tiles", "struct Span", "RADISH_MATH_1(sin)", "#define RADISH_MATH_1"},
			[]string{"RADISH_MATH_1(cos)", "load_items", "__builtin_"}},
		{"struct S {\n  RADISH_FN u64 one(u32 row) const { return raised(0); }\n};\nRADISH_FN void two(u64 (&a)[2]) {\n}\nRADISH_NOINLINE int three() { return 3; }\nRADISH_KERNEL(k, 1) {}",
			"struct S {\n  RADISH_FN u64 one(u32 row) const {" + impure + " return raised(0); }\n};\nRADISH_FN void two(u64 (&a)[2]) {" + impure + "\n}\nRADISH_NOINLINE int three() { return 3; }\nRADISH_KERNEL(k, 1) {}",
			[]string{"RADISH_FN bool raised(const Error* e) {" + impure + " return"}, []string{"nanoseconds", "atomic_cas"}},
		{"RADISH_KERNEL(k, 1) { Row r = group_row(1, 2); } // compact_tile", "RADISH_KERNEL(k, 1) { Row r = group_row(1, 2); } // compact_tile", []string{"#ifdef RADISH_WIDE_ROWS", "typedef u64 Row;", "struct alignas(16) Row {"}, []string{"compact_tile"}},
	} {
		got := excerpt("#define RADISH_ITEMS 8\n#include \"radish.cuh\"\n#include \"tile.cuh\"\n\n" + c.source)
		if !strings.HasPrefix(got, "#define RADISH_ITEMS 8\n#line ") || !strings.Contains(got, "#line 2 \"pipeline.cu\"") || !strings.HasSuffix(got, c.ends) || strings.Contains(got, "#include") {
			t.Errorf("%s\nhas this excerpt:\n%s", c.source, got)
		}
		for _, text := range c.has {
			if !strings.Contains(got, text) {
				t.Errorf("%s\nhas an excerpt without %q:\n%s", c.source, text, got)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(strings.ReplaceAll(strings.TrimSuffix(got, c.ends), impure, ""), text) {
				t.Errorf("%s\nhas an excerpt with %q:\n%s", c.source, text, got)
			}
		}
	}
	if text := "no header"; excerpt(text) != text {
		t.Error("a source without headers has changed")
	}
}

// TestExcerptItems takes the headers apart and wants each line of code in one item, and each definition named once in a file, or overloaded.
func TestExcerptItems(t *testing.T) {
	seen := map[string]map[int]bool{}
	for _, x := range excerptItems() {
		if seen[x.file] == nil {
			seen[x.file] = map[int]bool{}
		}
		for i := range strings.Count(x.text, "\n") {
			if seen[x.file][x.line+i] {
				t.Errorf("%s:%d is in two items", x.file, x.line+i)
			}
			seen[x.file][x.line+i] = true
		}
		if x.always && !strings.HasPrefix(x.text, "#") && !strings.HasPrefix(x.text, "static_assert") {
			t.Errorf("%s:%d defines nothing that is known:\n%s", x.file, x.line, x.text)
		}
	}
	begins := regexp.MustCompile(`^(RADISH_FN|RADISH_LONG|RADISH_NOINLINE|RADISH_MATH|template|struct|union|enum|constexpr|typedef|#define)\b`)
	emulated := regexp.MustCompile(`(?s)#ifdef RADISH_EMULATED\n.*?(#else|#endif)\n`) // at the top level and within functions
	for _, f := range headerFiles() {
		plain := emulated.ReplaceAllStringFunc(string(f.text), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
		for i, line := range slices.Collect(strings.Lines(plain)) {
			if begins.MatchString(line) && !seen[f.name][i+1] {
				t.Errorf("%s:%d is in no item: %s", f.name, i+1, line)
			}
		}
	}
}
