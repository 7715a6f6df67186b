package main

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// A paste gives the same whatever the pieces in which the terminal sends it, and keys before and behind it are left alone.
func TestPasteReader(t *testing.T) {
	const seed = 20260104
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tab := string(pastedTab)
	for _, tc := range []struct{ typed, want string }{
		{"SEL\tx\x1b[A\x1bb\r", "SEL\tx\x1b[A\x1bb\r"},
		{"a" + pasteBegins + "SELECT\t1;\r\n\tü\nx\ry\x7f\x03\x1b[A" + pasteEnds + "\tb", "aSELECT" + tab + "1;\r" + tab + "ü\rx\ry[A\tb"},
		{pasteBegins + pasteEnds + pasteBegins + "\r" + pasteEnds + "\n", "\r\n"},
		{pasteBegins + "\x1b[200" + pasteEnds + "\x1b[201~", "[200\x1b[201~"},
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
			p := &pasteReader{in: io.MultiReader(pieces...)}
			got, err := io.ReadAll(p)
			if err != nil && !errors.Is(err, io.EOF) || string(got) != tc.want {
				t.Fatalf("%q in %d pieces: %q, %v; want %q", tc.typed, len(pieces), got, err, tc.want)
			}
		}
	}
}

// What is pasted is run as it stands, tabs included: none completes a word, and one in a string stays.
func TestShellPaste(t *testing.T) {
	s := startShell(t)
	s.do("CREATE TABLE z (id INT);", "OK")
	s.write(pasteBegins + "SELECT 5 AS\tx;\r\nSELECT id\tFROM z\r\n\tWHERE id\tIS NULL;\r\nSELECT HEX('\t') AS\ttab, 'SEL" + "\t" + "' s;\r" + pasteEnds)
	s.expect("| 5 |")
	s.expect("0 rows")
	s.expect("| 09 ")
	s.expect(defaultPrompt)
	s.write("SELE\t")
	s.expect("SELECT")
	s.write(ctrlC + ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// .edit gives the last statement to the editor, all its lines, and runs what comes back; so it does again.
func TestShellEdit(t *testing.T) {
	s := startShell(t, "VISUAL=", `EDITOR=sed -i -e 's/20/40/' -e 's/2;/3;/'`)
	s.write("SELECT 20\r + 2;\r")
	s.expect(" 22 |")
	s.expect(defaultPrompt)
	s.write(".edit\r")
	s.expect("SELECT 40\r\n + 3;\r\n")
	s.expect(" 43 |")
	s.expect(defaultPrompt)
	s.write("\\e\r")
	s.expect(" 43 |")
	s.expect(defaultPrompt)
	s.write(ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if _, stderr, code := runRadish(t, ".edit\n"); code != exitFailed || !strings.Contains(stderr, ".edit is for the shell") {
		t.Errorf("in a script: exit %d, %s", code, stderr)
	}
}
