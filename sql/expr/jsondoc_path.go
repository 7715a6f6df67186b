package expr

import (
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// jsonLeg is a step of a JSON path.
type jsonLeg struct {
	kind     legKind
	key      string
	from, to jsonIndex // of a range; of a cell from is the index
}

// jsonIndex is an array index, counted from the end if last is set.
type jsonIndex struct {
	n    int
	last bool
}

func (x jsonIndex) in(length int) int {
	if x.last {
		return length - 1 - x.n
	}
	return x.n
}

type legKind uint8

const (
	legKey      legKind = iota
	legAnyKey           // .*
	legCell             // [n]
	legAnyCell          // [*]
	legRange            // [m to n]
	legEllipsis         // **
)

type jsonPath []jsonLeg

// wild says whether the path may find several values.
func (p jsonPath) wild() bool {
	for _, l := range p {
		if l.kind != legKey && l.kind != legCell {
			return true
		}
	}
	return false
}

// parseJSONPath reads a path such as $.a."b c"[0][last-1][*]**.d.
func parseJSONPath(s string) (jsonPath, error) {
	r := &pathReader{s: s}
	r.space()
	if !r.take("$") {
		return nil, r.problem()
	}
	var path jsonPath
	for r.space(); r.at < len(r.s); r.space() {
		var leg jsonLeg
		ok := true
		switch {
		case r.take("**"):
			leg.kind = legEllipsis
		case r.take("."):
			r.space()
			if r.take("*") {
				leg.kind = legAnyKey
			} else {
				leg.key, ok = r.key()
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
	if len(path) > 0 && path[len(path)-1].kind == legEllipsis {
		return nil, r.problem()
	}
	return path, nil
}

type pathReader struct {
	s  string
	at int
}

func (r *pathReader) problem() error {
	return sqlerr.New(codeJSONPath, sqlerr.User, "Invalid JSON path expression. The error is around character position %d.", r.at).
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
		v, err := (*Context)(nil).parseJSON(r.s[r.at:end+1], "path", 1)
		r.at = end + 1
		if err != nil {
			return "", false
		}
		return v.text, true
	}
	start := r.at
	for r.at < len(r.s) {
		c := r.s[r.at]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
		if !letter && (c < '0' || c > '9' || r.at == start) {
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
		return jsonLeg{kind: legAnyCell}, r.take("]")
	}
	leg.kind = legCell
	if leg.from, ok = r.index(); !ok {
		return leg, false
	}
	r.space()
	if r.take("to ") {
		leg.kind = legRange
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
		x.last = true
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

// seek calls f with each value that the path finds in v, in order.
func (p jsonPath) seek(v *jsonValue, f func(*jsonValue)) {
	if len(p) == 0 {
		f(v)
		return
	}
	leg, rest := p[0], p[1:]
	switch leg.kind {
	case legKey:
		if v.kind == jsonObject {
			if i, have := v.find(leg.key); have {
				rest.seek(v.items[i], f)
			}
		}
	case legAnyKey:
		if v.kind == jsonObject {
			for _, item := range v.items {
				rest.seek(item, f)
			}
		}
	case legAnyCell:
		if v.kind == jsonArray {
			for _, item := range v.items {
				rest.seek(item, f)
			}
		}
	case legCell, legRange:
		items := v.items
		if v.kind != jsonArray { // what is no array is one of itself
			items = []*jsonValue{v}
		}
		from := leg.from.in(len(items))
		to := from
		if leg.kind == legRange {
			from, to = max(from, 0), min(leg.to.in(len(items)), len(items)-1)
		}
		for i := from; i <= to && i >= 0 && i < len(items); i++ {
			rest.seek(items[i], f)
		}
	case legEllipsis:
		rest.seek(v, f)
		if v.kind == jsonArray || v.kind == jsonObject {
			for _, item := range v.items {
				p.seek(item, f)
			}
		}
	}
}
