package rowsort

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/column"
)

// stringCode numbers strings in their order by the bytes that occur in them. A position at which all strings have one of ten digits is a digit of
// a mixed-radix number with ten values. A position at which all agree takes nothing. So far more of a string fits a word than its
// eight first bytes. (The idea is that of order-preserving alphabet compression; Antoshenkov, Lomet, Murray 1996.)
type stringCode struct {
	positions []stringPosition
	size      uint64 // codes lie below it; 0: 2^64
	whole     bool   // different strings have different codes
}

type stringPosition struct {
	at    int
	radix uint64
	ranks *[256]uint16 // of bytes; where strings may have ended, that has rank 0
}

const (
	stringWindow = 24  // positions that are looked at
	stringsCoded = 512 // so many strings are worth it
)

// stringBytes are the bytes that occur at each position, and the lengths.
type stringBytes struct {
	seen        [stringWindow][256]bool
	least, most int
	any         bool
}

func newStringCode(v *column.Vector, r Rows, n int, each eachRows) (c stringCode, err error) {
	for skip := 0; ; {
		x, err := bytesOf(v, r, n, skip, each)
		if err != nil {
			return c, err
		}
		c.choose(x, skip)
		if len(c.positions) > 0 || c.whole {
			return c, nil
		}
		// All agree in the window.
		common, equal, err := commonPrefix(v, r, n, each)
		if err != nil || equal {
			return stringCode{size: 1, whole: true}, err
		}
		skip = common
	}
}

// bytesOf looks at the strings' bytes from skip on.
func bytesOf(v *column.Vector, r Rows, n, skip int, each eachRows) (*stringBytes, error) {
	all := &stringBytes{least: math.MaxInt}
	err := merged(n, each, func(from, to int) *stringBytes {
		x := &stringBytes{least: math.MaxInt}
		for i := from; i < to; i++ {
			p := r.At(i)
			if v.Valid != nil && !v.Valid.Get(p) {
				continue
			}
			s := v.StringAt(p)
			x.any = true
			x.least, x.most = min(x.least, len(s)), max(x.most, len(s))
			if len(s) > skip {
				s = s[skip:]
				for k := range min(len(s), stringWindow) {
					x.seen[k][s[k]] = true
				}
			}
		}
		return x
	}, func(x *stringBytes) {
		all.any = all.any || x.any
		all.least, all.most = min(all.least, x.least), max(all.most, x.most)
		for k := range x.seen {
			for b, seen := range x.seen[k] {
				all.seen[k][b] = all.seen[k][b] || seen
			}
		}
	})
	return all, err
}

// choose takes as many positions as fit a word.
func (c *stringCode) choose(x *stringBytes, skip int) {
	*c = stringCode{size: 1, whole: true}
	if !x.any {
		return
	}
	for k := range stringWindow {
		at := skip + k
		if at >= x.most {
			return
		}
		ranks, radix := new([256]uint16), uint64(0)
		if x.least <= at {
			radix = 1
		}
		for b, seen := range x.seen[k] {
			if seen {
				ranks[b] = uint16(radix)
				radix++
			}
		}
		if radix == 1 {
			continue
		}
		hi, size := bits.Mul64(c.size, radix)
		if hi > 0 {
			c.whole = false
			return
		}
		c.size = size
		c.positions = append(c.positions, stringPosition{at, radix, ranks})
	}
	c.whole = x.most <= skip+stringWindow
}

// words stores the codes of rows in dst.
func (c *stringCode) words(dst []uint64, v *column.Vector, r Rows) {
	positions := c.positions
	for i := range dst {
		s := v.StringAt(r.At(i))
		code := uint64(0)
		for k := range positions {
			p := &positions[k]
			code *= p.radix
			if p.at < len(s) {
				code += uint64(p.ranks[s[p.at]])
			}
		}
		dst[i] = code
	}
}
