package parse

import (
	"strings"
	"unsafe"
)

// Piece is one statement of a longer text.
type Piece struct {
	Text       string // without the semicolon and the space and comments around the statement
	Offset     int    // where Text starts, in bytes
	Line       int    // the line where Text starts, from 1
	Terminated bool   // a semicolon follows, or the \g or \G of MySQL's client
	End        int    // what is behind that, in bytes of the whole text
	Vertical   bool   // it is \G, which asks for rows below each other
	tokens     []token
	rows       skipped // those without tokens
}

// cutter cuts a text into statements.
type cutter struct {
	text          string
	mode          Mode
	hasClientEnds bool                    // \G and \g end a statement too
	bare          bool                    // of a statement's tokens only the first and the last are kept
	skips         bool                    // the rows of a long INSERT get no tokens; see Piece.rows
	grow          func(bytes int64) error // is asked before many tokens are kept; nil: nobody counts them
	tokens        []token                 // of the current piece; a buffer at first
}

// tokensCounted is from how many tokens on their memory is counted.
const tokensCounted = 1 << 15

// each calls f with each statement; it stops when f returns false. The piece's tokens, whose offsets count from the start of the text,
// are valid during the call only. An error is grow's.
func (c *cutter) each(f func(Piece) bool) error {
	text := c.text
	s := newScanner(text, c.mode)
	line, lineEnd := 1, 0 // lines up to byte lineEnd are counted
	for {
		c.tokens = c.tokens[:0]
		s.bangStart, s.bangEnd = -1, 0
		isVertical := false
		var in insertRows
		t := s.next()
		for t.kind != tokEnd && (s.inBang || !t.isOp(';')) {
			next := s.next()
			if c.hasClientEnds && !s.inBang && t.isOp('\\') && next.kind == tokWord && next.start == t.end && strings.EqualFold(text[next.start:next.end], "g") {
				isVertical, t = text[next.start] == 'G', next
				break
			}
			if err := c.keep(t); err != nil {
				return err
			}
			if c.skips && in.firstEnds(text, t, len(c.tokens)) && s.bangStart < 0 {
				if rows, ok := s.rows(int(t.end), !c.hasClientEnds); ok {
					in.rows = rows
					in.rows.values = in.values
					next = s.next()
				}
			}
			t = next
		}
		if len(c.tokens) > 0 || s.bangStart >= 0 {
			start, end := s.bangStart, s.bangEnd
			if n := len(c.tokens); n > 0 {
				if start < 0 || int(c.tokens[0].start) < start {
					start = int(c.tokens[0].start)
				}
				end = max(end, int(c.tokens[n-1].end), in.rows.to)
			}
			line += strings.Count(text[lineEnd:start], "\n")
			lineEnd = start
			p := Piece{Text: text[start:end], Offset: start, Line: line, Terminated: t.kind != tokEnd, End: int(t.end), Vertical: isVertical, tokens: c.tokens, rows: in.rows}
			if !f(p) {
				return nil
			}
		}
		if t.kind == tokEnd {
			return nil
		}
	}
}

// keep adds a token.
func (c *cutter) keep(t token) error {
	if c.bare && len(c.tokens) == 2 {
		c.tokens[1] = t
		return nil
	}
	if n := len(c.tokens); n == cap(c.tokens) && n >= tokensCounted && c.grow != nil {
		if err := c.grow(2 * int64(n) * int64(unsafe.Sizeof(t))); err != nil {
			return err
		}
	}
	c.tokens = append(c.tokens, t)
	return nil
}

// insertRows looks for the end of the first row of INSERT ... VALUES.
type insertRows struct {
	inserts bool
	depth   int
	values  int // behind VALUES; 0: it did not come yet
	done    bool
	rows    skipped
}

// firstEnds is called with each token of a statement, and says whether it ends the first row. n is the tokens' number so far.
func (in *insertRows) firstEnds(text string, t token, n int) bool {
	if n == 1 {
		in.inserts = t.isWord(text, "INSERT") || t.isWord(text, "REPLACE")
	}
	if !in.inserts || in.done {
		return false
	}
	switch {
	case t.isOp('('):
		in.depth++
	case t.isOp(')'):
		in.depth--
		in.done = in.depth == 0 && in.values > 0
		return in.done
	case in.depth > 0:
	case t.kind == tokParam, in.values > 0: // between VALUES and its parenthesis there is ROW, for instance
		in.done = true
	case t.isWord(text, "VALUES"), t.isWord(text, "VALUE"):
		in.values = int(t.end)
	case t.key == kwSelect, t.key == kwSet, t.key == kwTable:
		in.done = true
	}
	return false
}

// Split cuts text into its statements at the semicolons, \g and \G outside strings, quoted names and comments. It parses nothing
// and never fails: a piece may be nonsense. Empty statements are left out.
func Split(text string, mode Mode) []Piece {
	var list []Piece
	c := cutter{text: text, mode: mode, hasClientEnds: true, skips: true, bare: true}
	_ = c.each(func(p Piece) bool { // nobody counts, so nothing fails
		p.tokens = nil
		list = append(list, p)
		return true
	})
	return list
}

// Incomplete says whether text that a person types needs more before it can be run: its last statement lacks a semicolon, \g or \G, or a string, a quoted
// name or a comment is open. Text of space and comments alone is complete.
func Incomplete(text string, mode Mode) bool {
	incomplete := false
	c := cutter{text: text, mode: mode, hasClientEnds: true, skips: true, bare: true}
	_ = c.each(func(p Piece) bool { // as above
		n := len(p.tokens)
		incomplete = !p.Terminated || n > 0 && p.tokens[n-1].kind == tokUnclosed
		return true
	})
	return incomplete
}
