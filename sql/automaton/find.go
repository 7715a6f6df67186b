package automaton

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Regexp is a pattern, ready to be looked for. It belongs to one goroutine.
type Regexp struct {
	forward  *machine
	backward *machine // of the mirrored pattern: finds where a match begins; nil: not made yet
	parsed   *syntax.Regexp
	prefix   string // every match begins with it
	whole    bool   // the prefix is all of the pattern
	anchored bool   // matches begin where the text does
}

// Compile returns nil for a pattern, as regexp.Compile takes it, that is wrong, or too long for an automaton.
func Compile(pattern string) *Regexp {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	r := &Regexp{parsed: parsed.Simplify()}
	if r.forward = newMachine(r.parsed, false); r.forward == nil {
		return nil
	}
	r.prefix, r.whole = r.forward.prog.Prefix()
	r.anchored = r.forward.prog.StartCond()&syntax.EmptyBeginText != 0
	r.forward.open = !r.anchored
	return r
}

// Match says whether some part of s matches. ok is false if the automaton would be too large: it is so for all strings from then on.
func (r *Regexp) Match(s string) (matches, ok bool) {
	if r.whole && r.prefix != "" {
		return strings.Contains(s, r.prefix), true
	}
	end, ok := r.endFrom(s, 0, true)
	return end >= 0, ok
}

// Find returns the bytes of the first match of s that begins at or after from; a start of -1: there is none. ok is as for Match.
func (r *Regexp) Find(s string, from int) (start, end int, ok bool) {
	if r.whole && r.prefix != "" {
		at := strings.Index(s[from:], r.prefix)
		if at < 0 {
			return -1, -1, true
		}
		return from + at, from + at + len(r.prefix), true
	}
	if end, ok = r.endFrom(s, from, false); end < 0 || !ok {
		return -1, -1, ok
	}
	if r.anchored {
		return 0, end, true
	}
	start, ok = r.startOf(s, from, end)
	return start, end, ok
}

// endFrom returns where the first match at or after from ends, or, if any will do, some position where one does; -1: there is none.
func (r *Regexp) endFrom(s string, from int, any bool) (end int, ok bool) {
	m := r.forward
	if r.anchored && from > 0 {
		return -1, true
	}
	if r.prefix != "" {
		at := strings.Index(s[from:], r.prefix)
		if at < 0 {
			return -1, true
		}
		from += at
	}
	last := rune(-1)
	if from > 0 {
		last, _ = utf8.DecodeLastRuneInString(s[:from])
	}
	at, width, end := m.startAt(last), m.width, -1
	for i := from; i < len(s) && at != dead; {
		class, size := 0, 1
		if c := s[i]; c < utf8.RuneSelf {
			class = int(m.ascii[c])
		} else {
			var wide rune
			wide, size = utf8.DecodeRuneInString(s[i:])
			class = int(m.wideClass(wide))
		}
		t := m.next[int(at)*width+class]
		if t == unknown {
			t = m.take(at, class)
		}
		if t&1 != 0 {
			if end = i; any {
				return end, true
			}
		}
		at = t >> 1
		i += size
	}
	if at != dead && m.endsAt(at) {
		end = len(s)
	}
	return end, !m.full
}

// endsAt says whether a state matches at the end of the text.
func (m *machine) endsAt(s int32) bool {
	t := m.next[int(s)*m.width+m.end]
	if t == unknown {
		t = m.take(s, m.end)
	}
	return t&1 != 0
}

// startOf returns the first position at or after from where a match begins that ends at end.
func (r *Regexp) startOf(s string, from, end int) (start int, ok bool) {
	if r.backward == nil {
		if r.backward = newMachine(mirrored(r.parsed), true); r.backward == nil {
			return -1, false
		}
	}
	m := r.backward
	comes := rune(-1)
	if end < len(s) {
		comes, _ = utf8.DecodeRuneInString(s[end:])
	}
	at, start := m.startAt(comes), -1
	for i := end; at != dead; {
		if i == 0 {
			if m.endsAt(at) {
				start = 0
			}
			break
		}
		c, size := rune(s[i-1]), 1
		class := 0
		if c < utf8.RuneSelf {
			class = int(m.ascii[c])
		} else {
			c, size = utf8.DecodeLastRuneInString(s[:i])
			class = int(m.wideClass(c))
		}
		t := m.next[int(at)*m.width+class]
		if t == unknown {
			t = m.take(at, class)
		}
		if t&1 != 0 {
			start = i
		}
		if i == from {
			break
		}
		at = t >> 1
		i -= size
	}
	return start, !m.full && start >= 0
}

// mirrored returns the expression that matches the strings of e read from their ends.
func mirrored(e *syntax.Regexp) *syntax.Regexp {
	m := *e
	m.Sub = make([]*syntax.Regexp, len(e.Sub))
	for i, sub := range e.Sub {
		at := i
		if e.Op == syntax.OpConcat {
			at = len(e.Sub) - 1 - i
		}
		m.Sub[at] = mirrored(sub)
	}
	switch e.Op {
	case syntax.OpLiteral:
		m.Rune = make([]rune, len(e.Rune))
		for i, r := range e.Rune {
			m.Rune[len(e.Rune)-1-i] = r
		}
	case syntax.OpBeginText:
		m.Op = syntax.OpEndText
	case syntax.OpEndText:
		m.Op = syntax.OpBeginText
	case syntax.OpBeginLine:
		m.Op = syntax.OpEndLine
	case syntax.OpEndLine:
		m.Op = syntax.OpBeginLine
	}
	return &m
}
