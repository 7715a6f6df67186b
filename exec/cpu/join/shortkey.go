package join

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
)

// shortKey is a string of at most mostShort bytes: these, with zeros behind them, and the length in the last byte. A table of such keys is compared
// without reading strings, which would cost two cache misses for each row that is found: the string's header and its bytes.
type shortKey struct{ lo, hi uint64 }

const (
	shortKeyBytes = 16
	mostShort     = shortKeyBytes - 1
)

func shortKeyOf(s string) shortKey {
	lo, hi := vec.ShortWords(s)
	return shortKey{lo, hi | uint64(len(s))<<56}
}

// seemsShort says whether the first of the n strings of a vector without a dictionary are short.
func seemsShort(v *column.Vector, n int) bool {
	for _, s := range v.Str[:min(n, column.VectorSize)] {
		if len(s) > mostShort {
			return false
		}
	}
	return true
}

// shorten stores the keys of the strings of rows, each at its row. It is false if one is too long.
func shorten(out []shortKey, strings []string, rows []int32) bool {
	for _, r := range rows {
		s := strings[r]
		if len(s) > mostShort {
			return false
		}
		out[r] = shortKeyOf(s)
	}
	return true
}

// compareShort clears ok[i] where x at pos[i] differs from y at rows[i].
func compareShort(ok []bool, x []string, pos []int32, y []shortKey, rows []int32) {
	for i, p := range pos {
		s := x[p]
		ok[i] = ok[i] && len(s) <= mostShort && shortKeyOf(s) == y[rows[i]]
	}
}
