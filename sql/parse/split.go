package parse

import "strings"

// Piece is one statement of a longer text.
type Piece struct {
	Text       string // without the semicolon and the space and comments around the statement
	Offset     int    // where Text starts, in bytes
	Line       int    // the line where Text starts, from 1
	Terminated bool   // a semicolon follows, or the \g or \G of MySQL's client
	End        int    // what is behind that, in bytes of the whole text
	Vertical   bool   // it is \G, which asks for rows below each other
	tokens     []token
}

// pieces cuts text into statements and calls f with each; it stops when f returns false. The piece's tokens, whose
// offsets count from the start of text, are valid during the call only; they lie in buffer, which is returned as it has
// grown. client says that \G and \g end a statement too.
func pieces(text string, mode Mode, client bool, buffer []token, f func(Piece) bool) []token {
	s := newScanner(text, mode)
	tokens := buffer
	line, lineEnd := 1, 0 // lines up to byte lineEnd are counted
	for {
		tokens = tokens[:0]
		s.bangStart, s.bangEnd = -1, 0
		vertical := false
		t := s.next()
		for t.kind != tokEnd && (s.inBang || !t.isOp(';')) {
			next := s.next()
			if client && !s.inBang && t.isOp('\\') && next.kind == tokWord && next.start == t.end && strings.EqualFold(text[next.start:next.end], "g") {
				vertical, t = text[next.start] == 'G', next
				break
			}
			tokens = append(tokens, t)
			t = next
		}
		if len(tokens) > 0 || s.bangStart >= 0 {
			start, end := s.bangStart, s.bangEnd
			if n := len(tokens); n > 0 {
				if start < 0 || int(tokens[0].start) < start {
					start = int(tokens[0].start)
				}
				end = max(end, int(tokens[n-1].end))
			}
			line += strings.Count(text[lineEnd:start], "\n")
			lineEnd = start
			if !f(Piece{Text: text[start:end], Offset: start, Line: line, Terminated: t.kind != tokEnd, End: int(t.end), Vertical: vertical, tokens: tokens}) {
				return tokens
			}
		}
		if t.kind == tokEnd {
			return tokens
		}
	}
}

// Split cuts text into its statements at the semicolons, \g and \G outside strings, quoted names and comments. It parses nothing
// and never fails: a piece may be nonsense. Empty statements are left out.
func Split(text string, mode Mode) []Piece {
	var list []Piece
	pieces(text, mode, true, nil, func(p Piece) bool {
		p.tokens = nil
		list = append(list, p)
		return true
	})
	return list
}

// Incomplete says whether a person who typed text has to go on before it can be run: its last statement lacks a
// semicolon, \g or \G, or a string, a quoted name or a comment is open. Space and comments alone are complete.
func Incomplete(text string, mode Mode) bool {
	incomplete := false
	pieces(text, mode, true, nil, func(p Piece) bool {
		n := len(p.tokens)
		incomplete = !p.Terminated || n > 0 && p.tokens[n-1].kind == tokUnclosed
		return true
	})
	return incomplete
}
