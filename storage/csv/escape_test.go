package csv

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Escapes are taken out of fields in quotes, wherever reads of the text end. The expected texts were worked out by hand.
func TestEscapesTakenOut(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`"x\"y",\,1` + "\n", `"x""y",\,1` + "\n"},
		{`"p\\",\` + "\r\n" + `"\n"`, `"p\",\` + "\r\n" + `"n"`},
		{`"a""\"b";"\""`, `"a""""b";""""`},
		{`x"\"y,"\"z"`, `x"\"y,"""z"`}, // the first quote opens no field
		{"\ufeff" + `"\""`, `""""`},
		{`"\`, `"`},
		{"", ""},
	} {
		for name, reads := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "with its end": iotest.DataErrReader} {
			got, err := io.ReadAll(unescaped(reads(strings.NewReader(tc.in)), Options{Escape: '\\'}))
			if err != nil || string(got) != tc.want {
				t.Errorf("%q, %s: %q, %v, want %q", tc.in, name, got, err, tc.want)
			}
		}
	}
}
