package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// script cuts what a reader gives into statements. It reads no further than it must, so that a program that writes
// statements into a pipe gets each result before it writes the next. It holds little more than one statement, so that
// a dump of any size can be run.
type script struct {
	r    io.Reader
	mode func() scriptMode       // may change from statement to statement
	hold func(bytes int64) error // is told how much buf takes, and refuses it; nil: nobody counts

	buf     string           // from the start of a line on: what held holds
	held    *strings.Builder // which grows by appending, so that a long statement is not copied at each read
	line    int              // the line where buf starts, from 1
	at      int              // buf up to here has been given out
	atEnd   bool
	chunk   []byte
	scanned int // len(buf) when it was last cut in vain

	lineFrom, lineSeen int // where the last line of buf[:lineSeen] starts

	pieces     []parse.Piece // of buf[piecesAt:], still to be given out
	piecesAt   int
	piecesLine int // the line of piecesAt
	piecesMode scriptMode
}

// scriptMode is the part of a session's sql_mode that decides where statements end.
type scriptMode = parse.Mode

// scriptStatement is one statement of a script, or a line with a command of the shell.
type scriptStatement struct {
	isCommand bool   // text is a dot and a command
	tall      bool   // it ends in \G: its rows are printed vertically
	made      bool   // by a command: positions in it are none that anyone has written
	text      string // as it is to be parsed
	context   string // text with the rest of the line before it
	offset    int    // of text in context
	line      int    // where text starts, from 1
}

const (
	chunkBytes = 1 << 18
	// Up to this size a buffer is cut after each read; above, only when it has grown by half or seems to end in a
	// statement, since one huge statement would be scanned again and again.
	eagerBytes = 1 << 20
)

func newScript(r io.Reader, mode func() scriptMode) *script {
	return &script{r: r, mode: mode, line: 1, chunk: make([]byte, chunkBytes), held: new(strings.Builder)}
}

// next returns the next statement; ok is false at the end. The last one needs no semicolon.
func (s *script) next() (st scriptStatement, ok bool, err error) {
	for {
		st, isCommand, more := s.commandLine()
		if isCommand && !more && st.text == "" {
			continue
		}
		if isCommand && !more {
			return st, true, nil
		}
		if isCommand {
			if err := s.read(); err != nil {
				return st, false, err
			}
			s.cut()
			continue
		}
		if len(s.pieces) > 0 && s.mode() != s.piecesMode {
			s.cut()
		}
		if len(s.pieces) > 0 {
			p := s.pieces[0]
			s.pieces = s.pieces[1:]
			start := s.piecesAt + p.Offset
			end := start + len(p.Text)
			s.at = s.piecesAt + p.End
			lineStart := s.lineStart(start)
			context := s.buf[lineStart:end]
			if len(s.buf) > 4*len(context) {
				context = strings.Clone(context) // what is kept of it, as names are, does not keep the buffer
			}
			return scriptStatement{
				text: context[start-lineStart:], tall: p.Vertical, context: context, offset: start - lineStart, line: s.piecesLine + p.Line - 1,
			}, true, nil
		}
		if s.atEnd {
			return st, false, nil
		}
		if err := s.read(); err != nil {
			return st, false, err
		}
		if s.worthCutting() {
			s.cut()
			if s.scanned = 0; len(s.pieces) == 0 {
				s.scanned = len(s.buf)
			}
		}
	}
}

// lineStart returns where the line of a byte of buf starts. Of a long line no byte is looked at twice.
func (s *script) lineStart(at int) int {
	if at < s.lineSeen {
		s.lineFrom, s.lineSeen = 0, 0
	}
	if i := strings.LastIndexByte(s.buf[s.lineSeen:at], '\n'); i >= 0 {
		s.lineFrom = s.lineSeen + i + 1
	}
	s.lineSeen = at
	return s.lineFrom
}

// commandLine returns the line that comes next if it is a command of the shell where a statement could begin, or what people type for one (see typedAs). more
// says that its end has not been read.
func (s *script) commandLine() (st scriptStatement, ok, more bool) {
	start := s.at
	if len(s.pieces) > 0 {
		start = s.piecesAt + s.pieces[0].Offset
	} else {
		start += len(s.buf[s.at:]) - len(strings.TrimLeft(s.buf[s.at:], "; \t\r\n"))
	}
	rest := s.buf[start:]
	if rest == "" || !mayBeCommand(rest) {
		return st, false, false
	}
	line, _, complete := strings.Cut(rest, "\n")
	if !complete && !s.atEnd && (strings.IndexByte(`.\?`, rest[0]) >= 0 || !strings.Contains(line, ";")) {
		return st, true, true
	}
	text, isCommand, ok := typedAs(line)
	if !ok {
		return st, false, false
	}
	lineStart := strings.LastIndexByte(s.buf[:start], '\n') + 1
	context := strings.TrimRight(s.buf[lineStart:start+len(line)], " \t\r")
	st = scriptStatement{isCommand: isCommand, made: !isCommand, text: text, context: context, line: s.line + strings.Count(s.buf[:start], "\n")}
	s.at = start + len(line)
	s.pieces, s.scanned = nil, 0
	s.cut()
	return st, true, false
}

// mayBeCommand says whether a line could be one of a command, by its first characters: most lines are statements, and are not cut.
func mayBeCommand(rest string) bool {
	switch rest[0] {
	case '.', '\\', '?':
		return true
	case 'q', 'Q', 'e', 'E', 'h', 'H', 's', 'S', 'u', 'U':
		for _, word := range []string{"quit", "exit", "help", "source", "system", "use"} {
			if len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
				return len(rest) == len(word) || strings.IndexByte(" \t;\r\n", rest[len(word)]) >= 0
			}
			if len(rest) < len(word) && strings.EqualFold(rest, word[:len(rest)]) {
				return true // its end has not been read
			}
		}
	}
	return false
}

// read drops the lines that have been given out and appends what the reader has.
func (s *script) read() error {
	keep := strings.LastIndexByte(s.buf[:s.at], '\n') + 1
	s.line += strings.Count(s.buf[:keep], "\n")
	n, err := s.r.Read(s.chunk)
	read := s.chunk[:n]
	if s.buf == "" && s.line == 1 {
		read = bytes.TrimPrefix(read, []byte("\ufeff")) // a byte order mark
	}
	if e := s.grow(keep, n); e != nil {
		s.buf = ""
		s.held.Reset()
		return e
	}
	s.at -= keep
	s.lineFrom, s.lineSeen = 0, max(s.lineSeen-keep, 0) // keep is where a line starts
	s.held.Write(read)
	s.buf = s.held.String()
	if err == io.EOF {
		s.atEnd, err = true, nil
	}
	return err
}

// grow drops what stands before keep, and makes held large enough for n bytes more. What has been given out keeps its memory.
func (s *script) grow(keep, n int) error {
	rest := s.buf[keep:]
	size := len(rest) + n
	if keep == 0 && size <= s.held.Cap() {
		return nil
	}
	size = max(size, len(rest)+len(rest)/2)
	if err := s.count(len(rest) + size); err != nil { // while it is copied
		return err
	}
	held := new(strings.Builder)
	held.Grow(size)
	held.WriteString(rest)
	s.held = held
	return s.count(held.Cap())
}

// count tells of so many bytes of buffers. Shorter ones than eagerBytes are not worth it.
func (s *script) count(bytes int) error {
	if s.hold == nil {
		return nil
	}
	if bytes < eagerBytes {
		bytes = 0
	}
	return s.hold(int64(bytes))
}

func (s *script) worthCutting() bool {
	return s.atEnd || len(s.buf) < eagerBytes || len(s.buf) > s.scanned+s.scanned/2 ||
		strings.HasSuffix(strings.TrimRight(s.buf[max(0, len(s.buf)-64):], " \t\r\n"), ";")
}

// cut finds the complete statements of what has not been given out.
func (s *script) cut() {
	s.piecesAt, s.piecesMode = s.at, s.mode()
	s.piecesLine = s.line + strings.Count(s.buf[:s.at], "\n")
	s.pieces = parse.Split(s.buf[s.at:], s.piecesMode)
	if n := len(s.pieces); n > 0 && !s.atEnd && !s.pieces[n-1].Terminated {
		s.pieces = s.pieces[:n-1]
	}
}

// position returns the position of a byte of the statement's text, counted in the whole source. Its Offset is one of the
// context's, for the caret.
func (st scriptStatement) position(offset int) sqlerr.Position {
	p := sqlerr.PositionAt(st.context, st.offset+offset)
	p.Line += st.line - 1
	return p
}
