package csv

import (
	"bufio"
	"io"
)

// lineEndSample is how many bytes of a text are looked at for its line ends.
const lineEndSample = 64 << 10

// LineFeeds returns a text whose records end in LF or CRLF: if the beginning of the text has CRs outside quotes, and no LF, each CR outside quotes becomes a LF.
// quote 0 is none.
func LineFeeds(in io.Reader, quote byte) io.Reader {
	// Peek may fail behind what it returns. Reading comes to that again.
	r := bufio.NewReaderSize(in, lineEndSample)
	if head, _ := r.Peek(lineEndSample); endsInCR(head, quote) {
		return &crReader{in: r, quote: quote}
	}
	return r
}

// readCloser closes what it does not read from.
type readCloser struct {
	io.Reader
	io.Closer
}

// EndsInCR says whether the lines of a text in a file end in CR.
func EndsInCR(text io.ReaderAt, quote byte) bool {
	head := make([]byte, lineEndSample)
	n, _ := text.ReadAt(head, 0) // reading comes to an error again
	return endsInCR(head[:n], quote)
}

// endsInCR says whether the lines of a text end in CR.
func endsInCR(text []byte, quote byte) bool {
	quoted, found := false, false
	for i, c := range text {
		switch {
		case c == quote && quote != 0:
			quoted = !quoted
		case quoted:
		case c == '\n':
			return false
		case c == '\r':
			found = found || i+1 < len(text) || len(text) < lineEndSample // at the sample's end a LF may follow
		}
	}
	return found
}

// crReader turns CRs outside quotes into LFs.
type crReader struct {
	in     io.Reader
	quote  byte
	quoted bool
}

func (r *crReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	for i, c := range p[:n] {
		switch {
		case c == r.quote && r.quote != 0:
			r.quoted = !r.quoted
		case c == '\r' && !r.quoted:
			p[i] = '\n'
		}
	}
	return n, err
}
