package numeric

import (
	"math"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
)

func evalConv(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, from, to := expr.Strings(args[0]), expr.Ints(args[1]), expr.Ints(args[2])
	for _, i := range expr.Positions(sel, n) {
		r, ok := ConvertBase(s.At(int(i)), from.At(int(i)), to.At(int(i)))
		if !ok {
			out.SetNull(int(i), n)
			continue
		}
		out.Str[i] = r
	}
	return nil
}

// ConvertBase reads the digits that s begins with in one base and writes them in another. Numbers have 64 bits; more
// saturate.
func ConvertBase(s string, from, to int64) (string, bool) {
	valid := func(b int64) bool { return b >= 2 && b <= 36 || b <= -2 && b >= -36 }
	s = strings.TrimSpace(s)
	if !valid(from) || !valid(to) || s == "" {
		return "", false
	}
	signed := from < 0
	base := uint64(max(from, -from))
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	limit := uint64(math.MaxUint64)
	if signed {
		limit = math.MaxInt64
		if neg {
			limit++
		}
	}
	var v uint64
	for k := 0; k < len(s); k++ {
		d := digitOf(s[k])
		if d >= base {
			break
		}
		if v > (limit-d)/base {
			v = limit
			break
		}
		v = v*base + d
	}
	if neg {
		v = -v
	}
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	isNegative := to < 0 && int64(v) < 0
	if isNegative {
		v = -v
	}
	tb := uint64(max(to, -to))
	var buf [65]byte
	at := len(buf)
	for {
		at--
		buf[at] = digits[v%tb]
		v /= tb
		if v == 0 {
			break
		}
	}
	if isNegative {
		at--
		buf[at] = '-'
	}
	return string(buf[at:]), true
}

func digitOf(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c >= 'a' && c <= 'z':
		return uint64(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return uint64(c-'A') + 10
	}
	return math.MaxUint64
}
