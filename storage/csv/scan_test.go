package csv

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/storage/textfile"
)

// bareEnd is where a bare field ends, found byte by byte.
func bareEnd(text []byte, at int, opts Options) int {
	for at < len(text) && text[at] != opts.delimiter() && text[at] != '\n' && (opts.NoQuote || text[at] != opts.quote()) {
		at++
	}
	return at
}

// Bare fields end where a look at each byte finds their end, wherever the scanner has been before; passing over fields goes as far as taking them.
func TestFieldEnds(t *testing.T) {
	r := testRand(t)
	for round := range 3000 {
		opts := Options{Delimiter: ",;|\t"[r.IntN(4)], NoQuote: r.IntN(4) == 0}
		letters := []byte{opts.Delimiter, '\n', '\r', '"', 'a', opts.Delimiter - 1, opts.Delimiter + 1, '\n' + 1, '"' + 1, 0x80, 0xff, 0}
		if r.IntN(2) == 0 {
			letters = append(letters, bytes.Repeat([]byte{'b'}, 1+r.IntN(200))...)
		}
		text := make([]byte, r.IntN(400))
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		s := newScanner(opts, &textfile.Block{Text: text})
		for range 60 {
			jump(r, s)
			switch r.IntN(3) {
			case 0:
				if got, want := s.fieldEnd(), bareEnd(text, s.at, opts); got != want {
					t.Fatalf("round %d, %q from %d on: a field ends at %d, want %d", round, text, s.at, got, want)
				} else if got < len(text) && r.IntN(4) > 0 {
					s.at = got + 1
				}
			default:
				n, want, at := r.IntN(7), 0, s.at
				for ; want < n; want++ {
					end := bareEnd(text, at, opts)
					if end == len(text) || text[end] != opts.delimiter() {
						break
					}
					at = end + 1
				}
				from := s.at
				if got := s.pass(n); got != want || s.at != at {
					t.Fatalf("round %d, %q from %d on: %d fields of %d passed, to %d; want %d to %d", round, text, from, got, n, s.at, want, at)
				}
			}
		}
	}
}

// jump moves the scanner now and then, forwards and back.
func jump(r *rand.Rand, s *scanner) {
	if r.IntN(5) == 0 {
		s.at = r.IntN(len(s.Text) + 1)
	}
}
