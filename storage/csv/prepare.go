package csv

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/radish-sql/radish/storage/textfile"
)

// encodings are those of texts that can be named, besides UTF-8, which has nil.
var encodings = map[string]encoding.Encoding{
	"utf-8":        nil,
	"utf-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"latin-1":      charmap.ISO8859_1,
	"iso-8859-1":   charmap.ISO8859_1,
	"iso-8859-15":  charmap.ISO8859_15,
	"windows-1252": charmap.Windows1252,
	"cp1252":       charmap.Windows1252,
	"windows-1250": charmap.Windows1250,
	"windows-1251": charmap.Windows1251,
	"cp437":        charmap.CodePage437,
	"cp850":        charmap.CodePage850,
}

// Encodings lists the encodings that can be named, for messages.
func Encodings() string {
	var names []string
	for name := range encodings {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// KnowsEncoding says whether texts in an encoding can be read.
func KnowsEncoding(name string) bool {
	_, ok := encodings[strings.ToLower(name)]
	return ok
}

// FromStart says whether a text in a file has to be read from its start: its lines end in CR, or it is in UTF-16, as a byte order mark says.
func FromStart(text io.ReaderAt, quote byte) bool {
	var mark [2]byte
	n, _ := text.ReadAt(mark[:], 0) // reading comes to an error again
	return isUTF16(mark[:n]) || EndsInCR(text, quote)
}

// Splits says whether the options let a text be cut anywhere between two records.
// Where errors are ignored a quote may stand anywhere, and only who comes from the start knows which are meant.
func (t *Texts) Splits() bool { return !t.opts.prepares() && !t.opts.IgnoresErrors }

// prepares says whether a text becomes another one before it is taken apart.
func (o *Options) prepares() bool {
	return o.leavesOut() || o.escape() != 0 || o.Encoding != "" && encodings[strings.ToLower(o.Encoding)] != nil
}

// leavesOut says whether lines are left out, with empty ones instead of them.
func (o *Options) leavesOut() bool { return o.Skip > 0 || o.Comment != 0 }

// isUTF16 says whether a text begins with the byte order mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
}

// prepared returns a source of UTF-8 whose records end in LF or CRLF, without lines that are to be left out; their line ends stay, so that lines keep their numbers.
func prepared(ctx context.Context, s textfile.Source, opts Options) textfile.Source {
	out := textfile.Source{Name: s.Name, Near: s.Near, Open: func(ctx context.Context) (io.ReadCloser, error) {
		in, err := s.Open(ctx)
		if err != nil {
			return nil, err
		}
		return readCloser{LineFeeds(unescaped(leaveOut(decoded(in, opts.Encoding), opts), opts), opts.cutAt()), in}, nil
	}}
	var head [2]byte
	if s.Near != nil {
		if n, err := s.Near(ctx, 0, head[:]); err == nil && isUTF16(head[:n]) {
			out.Near = nil
		}
	}
	if opts.prepares() {
		out.Near = nil
	}
	return out
}

// decoded returns a text in UTF-8. Without a name a byte order mark says that it is UTF-16.
func decoded(in io.Reader, name string) io.Reader {
	if e := encodings[strings.ToLower(name)]; e != nil {
		return transform.NewReader(in, e.NewDecoder())
	}
	r := bufio.NewReader(in)
	if head, _ := r.Peek(2); name == "" && isUTF16(head) {
		return transform.NewReader(r, encodings["utf-16"].NewDecoder())
	}
	return r
}

// leaveOut returns a text whose first lines, and those that begin with the comment character, are empty.
func leaveOut(in io.Reader, opts Options) io.Reader {
	if !opts.leavesOut() {
		return in
	}
	return &lineFilter{in: in, skip: opts.Skip, comment: opts.Comment, quote: opts.cutAt(), begins: true}
}

// lineFilter takes the text out of lines.
type lineFilter struct {
	in      io.Reader
	skip    int // lines that are still left out at the start
	comment byte
	quote   byte
	begins  bool // a line begins
	quoted  bool // it is inside a field in quotes
	drops   bool // the line is left out
}

func (r *lineFilter) Read(p []byte) (int, error) {
	for {
		n, err := r.in.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if r.begins {
				r.drops = r.skip > 0 || !r.quoted && r.comment != 0 && c == r.comment
			}
			switch r.begins = c == '\n'; {
			case r.begins && r.skip > 0:
				r.skip--
			case r.drops && !r.begins:
				continue
			case c == r.quote && r.quote != 0 && !r.drops:
				r.quoted = !r.quoted
			}
			p[kept] = c
			kept++
		}
		if kept > 0 || err != nil || n == 0 {
			return kept, err
		}
	}
}
