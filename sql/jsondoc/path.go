package jsondoc

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// jsonLeg is a step of a JSON path.
type jsonLeg struct {
	Kind     legKind
	Key      string
	From, to jsonIndex // of a range; of a cell from is the index
}

// jsonIndex is an array index, counted from the end if last is set.
type jsonIndex struct {
	n    int
	Last bool
}

func (x jsonIndex) In(length int) int {
	if x.Last {
		return length - 1 - x.n
	}
	return x.n
}

type legKind uint8

const (
	LegKey      legKind = iota
	legAnyKey           // .*
	LegCell             // [n]
	legAnyCell          // [*]
	legRange            // [m to n]
	legEllipsis         // **
)

type Path []jsonLeg

// Wild says whether the path may find several values.
func (p Path) Wild() bool {
	for _, l := range p {
		if l.Kind != LegKey && l.Kind != LegCell {
			return true
		}
	}
	return false
}

// ParsePath reads a path such as $.a."b c"[0][last-1][*]**.d.
func ParsePath(s string) (Path, error) {
	r := &pathReader{s: s}
	r.space()
	if !r.take("$") {
		return nil, r.problem()
	}
	var path Path
	for r.space(); r.at < len(r.s); r.space() {
		var leg jsonLeg
		ok := true
		switch {
		case r.take("**"):
			leg.Kind = legEllipsis
		case r.take("."):
			r.space()
			if r.take("*") {
				leg.Kind = legAnyKey
			} else {
				leg.Key, ok = r.key()
			}
		case r.take("["):
			leg, ok = r.cell()
		default:
			ok = false
		}
		if !ok {
			return nil, r.problem()
		}
		path = append(path, leg)
	}
	if len(path) > 0 && path[len(path)-1].Kind == legEllipsis {
		return nil, r.problem()
	}
	return path, nil
}

type pathReader struct {
	s  string
	at int
}

func (r *pathReader) problem() error {
	return sqlerr.New(codePath, sqlerr.User, "Invalid JSON path expression. The error is around character position %d.", r.at).
		WithHint("a path is written as in '$.key[0]'")
}

func (r *pathReader) space() {
	for r.at < len(r.s) && strings.IndexByte(" \t\r\n", r.s[r.at]) >= 0 {
		r.at++
	}
}

func (r *pathReader) take(s string) bool {
	if strings.HasPrefix(r.s[r.at:], s) {
		r.at += len(s)
		return true
	}
	return false
}

// key reads the name of a member, in quotes unless it is an identifier.
func (r *pathReader) key() (string, bool) {
	if r.at < len(r.s) && r.s[r.at] == '"' {
		end := r.at + 1
		for end < len(r.s) && r.s[end] != '"' {
			if r.s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(r.s) {
			return "", false
		}
		v, err := Parse(nobody{}, r.s[r.at:end+1], "path", 1)
		r.at = end + 1
		if err != nil {
			return "", false
		}
		return v.Text, true
	}
	start := r.at
	for r.at < len(r.s) {
		c := r.s[r.at]
		isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
		if !isLetter && (c < '0' || c > '9' || r.at == start) {
			break
		}
		r.at++
	}
	return r.s[start:r.at], r.at > start
}

func (r *pathReader) cell() (leg jsonLeg, ok bool) {
	r.space()
	if r.take("*") {
		r.space()
		return jsonLeg{Kind: legAnyCell}, r.take("]")
	}
	leg.Kind = LegCell
	if leg.From, ok = r.index(); !ok {
		return leg, false
	}
	r.space()
	if r.take("to ") {
		leg.Kind = legRange
		r.space()
		if leg.to, ok = r.index(); !ok {
			return leg, false
		}
		r.space()
	}
	return leg, r.take("]")
}

func (r *pathReader) index() (x jsonIndex, ok bool) {
	if r.take("last") {
		x.Last = true
		r.space()
		if !r.take("-") {
			return x, true
		}
		r.space()
	}
	start := r.at
	for r.at < len(r.s) && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.ParseUint(r.s[start:r.at], 10, 31)
	x.n = int(n)
	return x, err == nil
}

// Seek calls f with each value that the path finds in v, in order.
func (p Path) Seek(v *Value, f func(*Value)) {
	_ = p.SeekFor(nobody{}, v, func(found *Value) bool { // nobody gives no errors
		f(found)
		return true
	})
}

// SeekFor calls f with the values that the path finds in v, in order, until f says that it wants no more. The error is that of a statement that was
// cancelled meanwhile.
func (p Path) SeekFor(c Statement, v *Value, f func(*Value) bool) error {
	s := seeker{c: c, f: f}
	s.seek(p, v)
	return s.err
}

// seeker looks for values in a document.
type seeker struct {
	c      Statement
	f      func(*Value) bool
	visits int
	err    error
}

// visitsAtOnce is after how many values a seeker looks whether its statement goes on.
const visitsAtOnce = 1 << 14

// seek says whether the search goes on.
func (s *seeker) seek(p Path, v *Value) bool {
	if len(p) == 0 {
		return s.f(v)
	}
	leg, rest := p[0], p[1:]
	switch leg.Kind {
	case LegKey:
		if v.Kind == Object {
			if i, have := v.Find(leg.Key); have {
				return s.seek(rest, v.Items[i])
			}
		}
	case legAnyKey:
		if v.Kind == Object {
			return s.each(rest, v.Items)
		}
	case legAnyCell:
		if v.Kind == Array {
			return s.each(rest, v.Items)
		}
	case LegCell, legRange:
		items := v.Items
		if v.Kind != Array { // what is no array is one of itself
			items = []*Value{v}
		}
		from := leg.From.In(len(items))
		to := from
		if leg.Kind == legRange {
			from, to = max(from, 0), min(leg.to.In(len(items)), len(items)-1)
		}
		if from >= 0 && from <= to && to < len(items) {
			return s.each(rest, items[from:to+1])
		}
	case legEllipsis:
		if !s.seek(rest, v) {
			return false
		}
		if v.Kind == Array || v.Kind == Object {
			return s.each(p, v.Items)
		}
	}
	return true
}

// each is seek in several values.
func (s *seeker) each(p Path, items []*Value) bool {
	for _, item := range items {
		if s.visits++; s.visits%visitsAtOnce == 0 {
			if s.err = s.c.Interrupted(); s.err != nil {
				return false
			}
		}
		if !s.seek(p, item) {
			return false
		}
	}
	return true
}

// Each calls f with a value and all that are in it, and their paths.
func Each(path string, v *Value, f func(path string, v *Value)) {
	f(path, v)
	for i, item := range v.Items {
		Each(path+v.step(i), item, f)
	}
}

// step is the leg of a path that leads to item i.
func (v *Value) step(i int) string {
	if v.Kind == Array {
		return "[" + strconv.Itoa(i) + "]"
	}
	key := v.Keys[i]
	plain := key != ""
	for j, c := range key {
		plain = plain && (c == '_' || c == '$' || unicode.IsLetter(c) || j > 0 && unicode.IsDigit(c))
	}
	if plain {
		return "." + key
	}
	return "." + (&Value{Kind: String, Text: key}).String()
}

// Locate calls f with each value that the path finds in v, which lies at a path of its own.
func (p Path) Locate(at string, v *Value, f func(path string, v *Value)) {
	if len(p) == 0 {
		f(at, v)
		return
	}
	p[:1].Seek(v, func(found *Value) {
		if p[0].Kind != legEllipsis {
			p[1:].Locate(v.pathTo(at, found), found, f)
		}
	})
	if p[0].Kind == legEllipsis {
		Each(at, v, func(path string, x *Value) { p[1:].Locate(path, x, f) })
	}
}

// pathTo is the path of v, or of the item of v that found is.
func (v *Value) pathTo(at string, found *Value) string {
	if i := slices.Index(v.Items, found); i >= 0 {
		return at + v.step(i)
	}
	return at
}
