package column

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/sql/types"
)

// Arrays of Unset keep what is stored in them, whatever is allocated and collected meanwhile.
func TestUnset(t *testing.T) {
	type pair struct{ lo, hi uint64 }
	var numbers [][]uint64
	var pairs [][]pair
	for n := 1; n < 1<<18; n = n*3 + 1 {
		x, y := Unset[uint64](n), Unset[pair](n)
		if len(x) != n || cap(x) != n || len(y) != n || cap(y) != n {
			t.Fatalf("%d values asked for: %d of %d and %d of %d", n, len(x), cap(x), len(y), cap(y))
		}
		if a := uintptr(unsafe.Pointer(&x[0])); a%8 != 0 {
			t.Errorf("array of %d at %#x", n, a)
		}
		for i := range n {
			x[i], y[i] = uint64(i*n), pair{uint64(i), uint64(n)}
		}
		numbers, pairs = append(numbers, x), append(pairs, y)
		runtime.GC()
	}
	for k, x := range numbers {
		for i := range x {
			if x[i] != uint64(i*len(x)) || pairs[k][i] != (pair{uint64(i), uint64(len(x))}) {
				t.Fatalf("array of %d, value %d: %d and %v", len(x), i, x[i], pairs[k][i])
			}
		}
	}
}

// Arrays that the collector reads are of zeros, however they were used before.
func TestUnsetPointers(t *testing.T) {
	for range 8 {
		s := Unset[string](1 << 14)
		for i := range s {
			if s[i] != "" {
				t.Fatalf("string %d has %d bytes", i, len(s[i]))
			}
			s[i] = "x"
		}
		runtime.GC()
	}
	for _, c := range []struct {
		t    reflect.Type
		want bool
	}{
		{reflect.TypeFor[types.Int128](), false}, {reflect.TypeFor[[3]float64](), false}, {reflect.TypeFor[bool](), false},
		{reflect.TypeFor[string](), true}, {reflect.TypeFor[[2]Batch](), true}, {reflect.TypeFor[[]int32](), true}, {reflect.TypeFor[func()](), true},
	} {
		if got := hasPointers(c.t); got != c.want {
			t.Errorf("%s: has pointers %t", c.t, got)
		}
	}
}
