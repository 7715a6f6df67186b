package jsondoc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// drawJSON writes a random document, with spaces, escapes and keys that stand twice.
func drawJSON(r *rand.Rand, depth int) string {
	space := func() string {
		return strings.Repeat(" ", max(0, r.IntN(6)-4)) + strings.Repeat("\n", max(0, r.IntN(9)-7))
	}
	text := func() string {
		return [...]string{`"a"`, `"b"`, `""`, `"ü"`, `"\u00e4\ud83d\ude00"`, `"\ud800"`, `"q\"\\\/\n"`, "\"\xff\"", `"key"`, `"c c"`}[r.IntN(10)]
	}
	if depth == 0 || r.IntN(4) == 0 {
		return space() + [...]string{"null", "true", "false", "0", "-0", "12", "-3.50", "1e3", "2E-2", "18446744073709551615", "1e400", text(), text()}[r.IntN(13)] + space()
	}
	var parts []string
	object := r.IntN(2) == 0
	for range r.IntN(4) {
		part := drawJSON(r, depth-1)
		if object {
			part = space() + text() + space() + ":" + part
		}
		parts = append(parts, part)
	}
	if object {
		return space() + "{" + strings.Join(parts, ",") + space() + "}"
	}
	return "[" + space() + strings.Join(parts, ",") + "]" + space()
}

// The reader takes what encoding/json takes and reads the same; paths that are followed while a document is read find what they find in its
// tree.
func TestJSONReader(t *testing.T) {
	const seed = 9
	r := rand.New(rand.NewPCG(seed, 0))
	c := nobody{}
	valid := 0
	for round := range 30_000 {
		text := drawJSON(r, 1+r.IntN(4))
		if r.IntN(3) == 0 {
			b := []byte(text)
			at := r.IntN(len(b))
			switch r.IntN(3) {
			case 0:
				b[at] = `{}[]",:\0e.-+u1 tnf`[r.IntN(19)]
			case 1:
				b = append(b[:at], b[at+1:]...)
			default:
				b = b[:at]
			}
			text = string(b)
		}
		name := fmt.Sprintf("seed %d, round %d: %q", seed, round, text)
		if _, found := Find(c, text, nil); found != json.Valid([]byte(text)) {
			t.Fatalf("%s: Find takes it for valid: %v", name, found)
		}
		skip := NewReader(c, text)
		if got, want := skip.skip(0) && skip.Ended(), json.Valid([]byte(text)); got != want {
			t.Fatalf("%s: valid is %v, want %v", name, got, want)
		}
		tree := NewReader(c, text)
		v, err := tree.Value(0)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(text)) {
			if v != nil && tree.Ended() {
				t.Fatalf("%s: is read as %s", name, v)
			}
			continue
		}
		valid++
		checkAsJSON(t, name, text)
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		want, err := decode(c, d, 0, false)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil || v.String() != want.String() {
			t.Fatalf("%s: %v, want %s", name, v, want)
		}
		path := "$"
		for range r.IntN(4) {
			path += [...]string{".a", ".b", ".key", `."c c"`, `."ü"`, `.""`, "[0]", "[1]", "[2]"}[r.IntN(9)]
		}
		p, err := ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		var there []string
		p.Seek(want, func(v *Value) { there = append(there, v.String()) })
		seek := NewReader(c, text)
		found, ok := seek.Seek(p, 0)
		if !ok || !seek.Ended() || (found == "") != (len(there) == 0) {
			t.Fatalf("%s: %s finds %q, want %q", name, path, found, there)
		}
		if scanned, ok := Find(c, text, p); !ok || scanned != found {
			t.Fatalf("%s: %s finds %q by scanning (%v), want %q", name, path, scanned, ok, found)
		}
		if found != "" {
			got := NewReader(c, found)
			if v, err := got.Value(0); err != nil || v.String() != there[0] {
				t.Fatalf("%s: %s finds %q, want %q", name, path, found, there)
			}
		}
	}
	if valid < 10_000 {
		t.Fatalf("%d documents are valid", valid)
	}
	for depth := range 3 {
		n := MaxDepth - 1 + depth
		text := strings.Repeat("[", n) + strings.Repeat("]", n)
		_, err := Parse(c, text, "f", 1)
		if (err != nil) != (n > MaxDepth) {
			t.Errorf("%d arrays in each other: %v", n, err)
		}
	}
}

// checkAsJSON checks that a document has the same value as a string and as a value of type JSON, without DECIMALs, and that its other bytes stay.
func checkAsJSON(t *testing.T, name, text string) {
	t.Helper()
	made, err := AsJSON(nobody{}, text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Parse(nobody{}, text, "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Reread(nobody{}, made, "f", 1)
	if err != nil || !same(got, want) {
		t.Fatalf("%s: %s is read again as %s (%v), want %s", name, made, got, err, want)
	}
	others := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("+-.eE0123456789", r) {
				return -1
			}
			return r
		}, s)
	}
	if others(made) != others(text) {
		t.Fatalf("%s: becomes %s", name, made)
	}
}

func same(a, b *Value) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Keys, b.Keys) && slices.EqualFunc(a.Items, b.Items, same)
}

// DECIMALs keep their digits when a value of type JSON is read again; numbers of strings do not.
func TestDecimalsOfJSONValues(t *testing.T) {
	const text = `[2.00, -0.10, 2.5, 1e2, 12345678901234567890.1, 1.0, {"a": 0.000}]`
	for _, tc := range []struct {
		read func(Statement, string, string, int) (*Value, error)
		want string
	}{
		{Parse, `[2.0, -0.1, 2.5, 100.0, 1.2345678901234567e19, 1.0, {"a": 0.0}]`}, {Reread, `[2.00, -0.10, 2.5, 100.0, 12345678901234567890.1, 1.0, {"a": 0.000}]`},
	} {
		for _, text := range []string{text, text + strings.Repeat(" ", 300<<10)} {
			if v, err := tc.read(nobody{}, text, "f", 1); err != nil || v.String() != tc.want {
				t.Errorf("%v (%v), want %s", v, err, tc.want)
			}
		}
	}
}
