package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/radish-sql/radish/sql/parse"
)

func defaultMode() parse.Mode { return parse.DefaultMode }

// TestScriptChunks cuts strings that come in pieces of every size, and compares with cutting the whole text.
func TestScriptChunks(t *testing.T) {
	const text = "SELECT 1;;\n-- comment; with a semicolon\nSELECT ';' ;SELECT\n\n`;`\n; /* ; */ SELECT \"a\n;\" ; ünï; SELECT '\\G', 1 \\G\nSELECT 2\\G SELECT \\ G; last"
	readers := map[string]func() io.Reader{
		"whole":   func() io.Reader { return strings.NewReader(text) },
		"bytes":   func() io.Reader { return iotest.OneByteReader(strings.NewReader(text)) },
		"halves":  func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) },
		"dataEOF": func() io.Reader { return iotest.DataErrReader(strings.NewReader(text)) },
	}
	seed := rand.Uint64()
	readers[fmt.Sprintf("random %d", seed)] = func() io.Reader { return &randomReader{text, rand.New(rand.NewPCG(seed, 0))} }
	want := parse.Split(text, parse.DefaultMode)
	if len(want) != 9 {
		t.Fatalf("Split finds %d statements", len(want))
	}
	for name, reader := range readers {
		s := newScript(reader(), defaultMode)
		for i, w := range want {
			st, ok, err := s.next()
			if err != nil || !ok {
				t.Fatalf("%s: statement %d: %v, %v", name, i, ok, err)
			}
			if st.text != w.Text || st.tall != (i == 5 || i == 6) || st.line != w.Line || !strings.HasSuffix(st.context, st.text) {
				t.Errorf("%s: statement %d is %q at line %d, want %q at %d", name, i, st.text, st.line, w.Text, w.Line)
			}
			if p := st.position(0); p.Line != w.Line || st.context[p.Offset:] != w.Text {
				t.Errorf("%s: statement %d has its position at %v", name, i, p)
			}
		}
		if _, ok, err := s.next(); ok || err != nil {
			t.Errorf("%s: the end: %v, %v", name, ok, err)
		}
	}
}

type randomReader struct {
	text string
	rng  *rand.Rand
}

func (r *randomReader) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p, r.text[:min(len(r.text), r.rng.IntN(7))])
	r.text = r.text[n:]
	return n, nil
}

// TestScriptMode changes the mode between two statements of one chunk.
func TestScriptMode(t *testing.T) {
	mode := parse.DefaultMode
	s := newScript(strings.NewReader(`first; SELECT 'a\'; second; third'`), func() parse.Mode { return mode })
	if st, _, _ := s.next(); st.text != "first" {
		t.Fatal(st.text)
	}
	var err error
	if mode, err = parse.ParseMode("NO_BACKSLASH_ESCAPES"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`SELECT 'a\'`, "second", "third'"} {
		if st, _, _ := s.next(); st.text != want {
			t.Errorf("got %q, want %q", st.text, want)
		}
	}
}

// TestScriptReadError reports what the reader fails with, after the statements before.
func TestScriptReadError(t *testing.T) {
	s := newScript(io.MultiReader(strings.NewReader("SELECT 1; SELECT"), iotest.ErrReader(io.ErrClosedPipe)), defaultMode)
	if st, ok, err := s.next(); !ok || err != nil || st.text != "SELECT 1" {
		t.Errorf("%v, %v, %v", st, ok, err)
	}
	if _, ok, err := s.next(); ok || err != io.ErrClosedPipe {
		t.Errorf("%v, %v", ok, err)
	}
}

// What a script holds of a statement counts, and one that does not fit ends the script. Short statements of a long text are not counted.
func TestScriptCountsWhatItHolds(t *testing.T) {
	const most = 4 << 20
	for _, c := range []struct {
		text string
		want int // statements
		fits bool
	}{
		{strings.Repeat("SELECT 1;\n", 1<<16), 1 << 16, true},
		{"SELECT 1; SELECT '" + strings.Repeat("a", 2<<20) + "'; SELECT 3", 3, true},
		{"SELECT 1; SELECT '" + strings.Repeat("a", 2*most) + "'; SELECT 3", 1, false},
	} {
		s := newScript(strings.NewReader(c.text), func() scriptMode { return parse.DefaultMode })
		s.hold = func(bytes int64) error {
			if bytes > most {
				return errors.New("too long")
			}
			return nil
		}
		n := 0
		for {
			_, ok, err := s.next()
			if !ok {
				if (err == nil) != c.fits || n != c.want {
					t.Errorf("%.30s: %d statements, error %v", c.text, n, err)
				}
				break
			}
			n++
		}
	}
}
