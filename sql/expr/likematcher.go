package expr

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// LikeMatcher is a compiled LIKE pattern: % matches any string, _ one character, and the escape character takes the next one literally.
//
// A pattern without _ is a list of literal segments between %s. The first must begin the string unless a % precedes it, and the last must end it. Those
// between are searched from left to right, each at its first position. Other patterns go through the general matcher.
type LikeMatcher struct {
	segments  []string
	hasPrefix bool // the first segment is anchored: no % before it
	hasSuffix bool // the last is
	tokens    []likeToken
	byBytes   bool // characters are bytes
}

// likeToken is a literal, or one of the two wildcards.
type likeToken struct {
	literal string
	isOne   bool // _
	isAny   bool // %
}

// likeTokens is how many tokens a pattern has at most.
func likeTokens(pattern string) int {
	return 2*(strings.Count(pattern, "%")+strings.Count(pattern, "_")) + 1
}

// likeBytes is how many bytes compiling a pattern takes at most: its tokens, its segments, and literals, of which none is below 8 bytes.
func likeBytes(pattern string) int {
	n := likeTokens(pattern)
	return n*int(unsafe.Sizeof(likeToken{})+unsafe.Sizeof("")+8) + 2*len(pattern)
}

// CompileLike compiles a pattern. hasEscape is false for an empty ESCAPE. byBytes says that a character is a byte (BLOB).
func CompileLike(pattern string, escape rune, hasEscape, byBytes bool) *LikeMatcher {
	p := &LikeMatcher{byBytes: byBytes, tokens: make([]likeToken, 0, likeTokens(pattern))}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			p.tokens = append(p.tokens, likeToken{literal: lit.String()})
			lit.Reset()
		}
	}
	ones := false
	for i := 0; i < len(pattern); {
		r, size := rune(pattern[i]), 1
		if !byBytes {
			r, size = utf8.DecodeRuneInString(pattern[i:])
		}
		switch {
		case hasEscape && r == escape && i+size < len(pattern):
			i += size
			_, next := utf8.DecodeRuneInString(pattern[i:])
			if byBytes {
				next = 1
			}
			lit.WriteString(pattern[i : i+next])
			i += next
			continue
		case r == '%':
			flush()
			if n := len(p.tokens); n == 0 || !p.tokens[n-1].isAny {
				p.tokens = append(p.tokens, likeToken{isAny: true})
			}
		case r == '_':
			flush()
			p.tokens = append(p.tokens, likeToken{isOne: true})
			ones = true
		default:
			lit.WriteString(pattern[i : i+size])
		}
		i += size
	}
	flush()
	if ones {
		return p
	}
	for _, t := range p.tokens {
		if !t.isAny {
			p.segments = append(p.segments, t.literal)
		}
	}
	n := len(p.tokens)
	p.hasPrefix = n == 0 || !p.tokens[0].isAny
	p.hasSuffix = n == 0 || !p.tokens[n-1].isAny
	if n == 0 {
		p.segments = []string{""}
	}
	p.tokens = nil
	return p
}

// Match says whether the whole of s matches.
func (p *LikeMatcher) Match(s string) bool {
	if p.tokens != nil {
		return p.matchTokens(s)
	}
	seg := p.segments
	if len(seg) == 1 {
		switch {
		case p.hasPrefix && p.hasSuffix:
			return s == seg[0]
		case p.hasPrefix:
			return strings.HasPrefix(s, seg[0])
		case p.hasSuffix:
			return strings.HasSuffix(s, seg[0])
		}
		return strings.Contains(s, seg[0])
	}
	if p.hasPrefix {
		if !strings.HasPrefix(s, seg[0]) {
			return false
		}
		s, seg = s[len(seg[0]):], seg[1:]
	}
	if p.hasSuffix {
		last := seg[len(seg)-1]
		if !strings.HasSuffix(s, last) {
			return false
		}
		s, seg = s[:len(s)-len(last)], seg[:len(seg)-1]
	}
	for _, t := range seg {
		i := strings.Index(s, t)
		if i < 0 {
			return false
		}
		s = s[i+len(t):]
	}
	return true
}

// matchTokens is the general matcher: on a mismatch it goes back to the last % only, which then takes one character
// more. An earlier % need not be tried again, because the later one can take whatever it could. A literal after a % is
// searched, so that the % takes all up to it at once.
func (p *LikeMatcher) matchTokens(s string) bool {
	tok, at := 0, 0
	star, resume := -1, 0
	for {
		matched := false
		if tok == len(p.tokens) {
			if at == len(s) {
				return true
			}
		} else {
			t := p.tokens[tok]
			switch {
			case t.isAny:
				star, resume = tok, at
				if tok++; tok == len(p.tokens) {
					return true
				}
				matched = true
			case t.isOne && at < len(s):
				at += p.width(s[at:])
				tok++
				matched = true
			case !t.isOne && strings.HasPrefix(s[at:], t.literal):
				at += len(t.literal)
				tok++
				matched = true
			}
		}
		if !matched {
			if star < 0 || resume >= len(s) {
				return false
			}
			resume += p.width(s[resume:])
			at, tok = resume, star+1
		}
		if tok == star+1 {
			if lit := p.tokens[tok].literal; lit != "" {
				i := strings.Index(s[at:], lit)
				if i < 0 {
					return false
				}
				resume, at = at+i, at+i
			}
		}
	}
}

func (p *LikeMatcher) width(s string) int {
	if p.byBytes || s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}
