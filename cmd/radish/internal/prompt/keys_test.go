package prompt

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// Keys and pastes give the same whatever the pieces in which the terminal sends them.
func TestKeyReader(t *testing.T) {
	const seed = 20260104
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	paste := string(keyPaste)
	for _, tc := range []struct {
		typed, want string
		pastes      []string
	}{
		{"SEL\tx\x1b[A\x1bb\r", "SEL\tx\x1b[A\x1bb\r", nil},
		{"a" + pasteBegins + "SELECT\t1;\r\n\tü\nx\ry\x7f\x01\x1b[A" + pasteEnds + "\tb", "a" + paste + "\tb", []string{"SELECT\t1;\n\tü\nx\ny[A"}},
		{pasteBegins + pasteEnds + pasteBegins + "\r" + pasteEnds + "\n", paste + paste + "\n", []string{"", "\n"}},
		{pasteBegins + "\x1b[200" + pasteEnds + "\x1b[201~", paste + "\x1b[201~", []string{"[200"}},
		{"\x1b\rx\x1b[3~y\x1b[5~\x1b[6~\x1b[1~\x1b[4~\x1b[1;5C\x00", string(keyBreak) + "x" + string(keyDelete) + "y" + string(keyOlder) + string(keyNewer) + "\x01\x05\x1bf", nil},
		{"\x18\x05\x18x\x1b[3", string(keyEdit) + "\r\x18x", nil},
	} {
		for range 200 {
			var pieces []io.Reader
			for rest := tc.typed; rest != ""; {
				n := 1 + r.IntN(len(rest))
				if rest[n-1] == '\x1b' {
					n++ // a terminal writes ESC and what follows together
				}
				pieces = append(pieces, strings.NewReader(rest[:n]))
				rest = rest[n:]
			}
			k := &keyReader{in: io.MultiReader(pieces...)}
			got, err := io.ReadAll(k)
			if err != nil && !errors.Is(err, io.EOF) || string(got) != tc.want {
				t.Fatalf("%q in %d pieces: %q, %v; want %q", tc.typed, len(pieces), got, err, tc.want)
			}
			for _, want := range tc.pastes {
				if got := decode(string(k.nextPaste())); got != want {
					t.Fatalf("%q in %d pieces: pasted %q, want %q", tc.typed, len(pieces), got, want)
				}
			}
			if rest := k.nextPaste(); rest != nil {
				t.Fatalf("%q: pasted %q, too", tc.typed, string(rest))
			}
		}
	}
}

// Ctrl-C ends a paste whose end never comes.
func TestKeyReaderOpenPaste(t *testing.T) {
	k := &keyReader{in: io.MultiReader(strings.NewReader(pasteBegins+"SELECT"), strings.NewReader("\x03"), strings.NewReader("x"))}
	if got, err := io.ReadAll(k); err != nil || string(got) != "\x03x" {
		t.Errorf("%q, %v", got, err)
	}
}
