package parse

import "strings"

// tokenKind is what a token is, as far as splitting, guarding and refusing need to know.
type tokenKind uint8

const (
	tokEnd      tokenKind = iota // end of the text
	tokWord                      // an identifier or keyword without quotes
	tokQuoted                    // an identifier in backticks, or in double quotes under ANSI_QUOTES
	tokString                    // a string literal
	tokNumber                    // a numeric literal, X'...', B'...', or an identifier that starts with a digit
	tokVariable                  // @name or @@name
	tokParam                     // ?
	tokHint                      // an optimizer hint, with its comment marks
	tokOp                        // one of <=> << >> <= >= <> != || && := :: -> ->> or a single character
	tokUnclosed                  // a string, quoted identifier or comment without an end; always the last token
)

// token is a piece of text[start:end]. Of a word, key says which of the words in keywords it is; of an operator, op is
// its first character and op2 its second, if it has one.
type token struct {
	kind       tokenKind
	key        keyword
	op, op2    byte
	start, end int32
}

// isWord says whether the token is a word of text, in any case.
func (t token) isWord(text, want string) bool {
	return t.kind == tokWord && strings.EqualFold(text[t.start:t.end], want)
}

func (t token) isOp(c byte) bool { return t.kind == tokOp && t.op == c && t.op2 == 0 }

// scanner cuts text into tokens just as the parser's own lexer does (strings, comments, quoting, /*! ... */ read as
// code), without building values. It costs a small part of the parser's time, so every statement passes through it.
type scanner struct {
	text          string
	pos           int
	hasEscapes    bool // \ escapes in strings
	hasANSIQuotes bool // "..." is an identifier
	inBang        bool // inside /*! ... */
	bangOpen      int  // offset of the last /*!
	bangStart     int  // offset of the first /*! of the current statement, -1 if none
	bangEnd       int  // offset behind the last */ of a /*!
}

func newScanner(text string, mode Mode) *scanner {
	return &scanner{text: text, hasEscapes: !mode.HasNoBackslashEscapesMode(), hasANSIQuotes: mode.HasANSIQuotesMode(), bangStart: -1}
}

const (
	classSpace = 1 << iota
	classIdent // may continue an identifier
	classDigit
)

var charClass = func() (t [256]uint8) {
	for _, c := range " \t\n\v\f\r" {
		t[c] = classSpace
	}
	for c := range 256 {
		switch {
		case c >= '0' && c <= '9':
			t[c] = classIdent | classDigit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == '$', c >= 0x80:
			t[c] = classIdent
		}
	}
	// Latin-1's next line and no-break space: in text that is not UTF-8 the parser's lexer takes these bytes for space
	// where a token may start.
	t[0x85] |= classSpace
	t[0xA0] |= classSpace
	return t
}()

func (s *scanner) skip(class uint8) {
	for s.pos < len(s.text) && charClass[s.text[s.pos]]&class != 0 {
		s.pos++
	}
}

func (s *scanner) at(offset int) byte {
	if offset < len(s.text) {
		return s.text[offset]
	}
	return 0
}

// next returns the next token. Behind the text's end it goes on returning tokEnd.
func (s *scanner) next() token {
	for {
		s.skip(classSpace)
		start := s.pos
		if start >= len(s.text) {
			if s.inBang {
				s.inBang = false
				return s.token(tokUnclosed, s.bangOpen)
			}
			return token{kind: tokEnd, start: int32(start), end: int32(start)}
		}
		c := s.text[start]
		switch {
		case charClass[c]&classDigit != 0:
			s.number()
			return s.token(tokNumber, start)
		case charClass[c]&classIdent != 0:
			s.skip(classIdent)
			if s.pos == start+1 && s.at(s.pos) == '\'' && strings.IndexByte("xXbB", c) >= 0 {
				t := s.quoted(tokNumber, false)
				t.start = int32(start)
				return t
			}
			t := s.token(tokWord, start)
			t.key = lookupKeyword(s.text[start:s.pos])
			return t
		}
		switch c {
		case '\'':
			return s.quoted(tokString, s.hasEscapes)
		case '"':
			if s.hasANSIQuotes {
				// The parser's lexer reads the escapes of a string here, too.
				return s.quoted(tokQuoted, s.hasEscapes)
			}
			return s.quoted(tokString, s.hasEscapes)
		case '`':
			return s.quoted(tokQuoted, false)
		case '@':
			return s.variable()
		case '?':
			s.pos++
			return s.token(tokParam, start)
		case '.':
			if charClass[s.at(start+1)]&classDigit != 0 && !s.afterName(start) {
				s.number()
				return s.token(tokNumber, start)
			}
		case '#':
			s.line()
			continue
		case '-':
			if s.at(start+1) == '-' && (start+2 >= len(s.text) || charClass[s.text[start+2]]&classSpace != 0) {
				s.line()
				continue
			}
		case '*':
			if s.inBang && s.at(start+1) == '/' {
				s.inBang = false
				s.pos += 2
				s.bangEnd = s.pos
				continue
			}
		case '/':
			if s.at(start+1) == '*' {
				if t, ok := s.comment(); ok {
					return t
				}
				continue
			}
		}
		return s.operator(c)
	}
}

func (s *scanner) token(kind tokenKind, start int) token {
	return token{kind: kind, start: int32(start), end: int32(s.pos)}
}

// afterName says whether a point at offset follows a name at once, so that digits behind it belong to a name.
func (s *scanner) afterName(offset int) bool {
	if offset == 0 {
		return false
	}
	c := s.text[offset-1]
	return c == '`' || s.hasANSIQuotes && c == '"' || charClass[c]&classIdent != 0
}

// number passes over digits, a point, digits, an exponent and whatever may continue an identifier.
func (s *scanner) number() {
	s.skip(classDigit)
	if s.at(s.pos) == '.' {
		s.pos++
		s.skip(classDigit)
	}
	if c := s.at(s.pos); c == 'e' || c == 'E' {
		p := s.pos + 1
		if c := s.at(p); c == '+' || c == '-' {
			p++
		}
		if charClass[s.at(p)]&classDigit != 0 {
			s.pos = p
		}
	}
	s.skip(classIdent)
}

// quoted passes over a quoted string or name; the quote doubled stands for itself.
func (s *scanner) quoted(kind tokenKind, hasEscapes bool) token {
	start, quote := s.pos, s.text[s.pos]
	for p := start + 1; p < len(s.text); p++ {
		switch c := s.text[p]; {
		case c == quote:
			if s.at(p+1) != quote {
				s.pos = p + 1
				return s.token(kind, start)
			}
			p++
		case c == '\\' && hasEscapes:
			p++
		}
	}
	s.pos = len(s.text)
	return s.token(tokUnclosed, start)
}

func (s *scanner) variable() token {
	start := s.pos
	s.pos++
	if s.at(s.pos) == '@' {
		s.pos++
	}
	switch s.at(s.pos) {
	case '\'', '"', '`':
		t := s.quoted(tokVariable, s.hasEscapes && s.text[s.pos] != '`')
		t.start = int32(start)
		return t
	}
	for s.pos < len(s.text) && (s.text[s.pos] == '.' || charClass[s.text[s.pos]]&classIdent != 0) {
		s.pos++
	}
	return s.token(tokVariable, start)
}

// line passes over the rest of the line.
func (s *scanner) line() {
	if i := strings.IndexByte(s.text[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
	} else {
		s.pos = len(s.text)
	}
}

// comment passes over a /* comment. It returns a token if that was an optimizer hint, or has no end. The inside of
// /*! and of the parser's own /*T! is code.
func (s *scanner) comment() (token, bool) {
	start := s.pos
	rest := s.text[start+2:]
	if strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "T!") {
		s.pos += 3
		if rest[0] == 'T' {
			s.pos++
			if s.at(s.pos) == '[' {
				if i := strings.IndexByte(s.text[s.pos:], ']'); i >= 0 {
					s.pos += i + 1
				}
			}
		} else if isVersion(s.text[s.pos:]) {
			s.pos += 5
		}
		s.inBang, s.bangOpen = true, start
		if s.bangStart < 0 {
			s.bangStart = start
		}
		return token{}, false
	}
	i := strings.Index(rest, "*/")
	if i < 0 {
		s.pos = len(s.text)
		return s.token(tokUnclosed, start), true
	}
	s.pos = start + 2 + i + 2
	if rest[0] == '+' {
		return s.token(tokHint, start), true
	}
	return token{}, false
}

// isVersion says whether text begins with the five digits of /*!40101.
func isVersion(text string) bool {
	for i := range 5 {
		if i >= len(text) || charClass[text[i]]&classDigit == 0 {
			return false
		}
	}
	return true
}

var longOperators = []string{"<=>", "->>", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", ":=", "::", "->"}

func (s *scanner) operator(c byte) token {
	start := s.pos
	s.pos++
	switch s.at(s.pos) {
	case '=', '>', '<', '|', '&', ':':
		for _, op := range longOperators {
			if strings.HasPrefix(s.text[start:], op) {
				s.pos = start + len(op)
				break
			}
		}
	}
	t := s.token(tokOp, start)
	t.op = c
	if s.pos > start+1 {
		t.op2 = s.text[start+1]
	}
	return t
}
