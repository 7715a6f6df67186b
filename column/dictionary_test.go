package column

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestDictionary compares a dictionary with a map while strings are added one by one and many at once.
func TestDictionary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	first := []string{"", "a", "b\x00", "b"}
	d, want := NewDictionary(first...), map[string]uint32{}
	for i, s := range first {
		want[s] = uint32(i)
	}
	code := func(s string) uint32 {
		if _, ok := want[s]; !ok {
			want[s] = uint32(len(want))
		}
		return want[s]
	}
	for range 2000 {
		some := make([]string, 1+rng.IntN(8))
		for i := range some {
			some[i] = fmt.Sprint(rng.IntN(5000))
		}
		if c, ok := d.Lookup(some[0]); ok != (want[some[0]] != 0) || ok && c != want[some[0]] {
			t.Fatalf("Lookup(%q) is %d, %v, want %d", some[0], c, ok, want[some[0]])
		}
		var got []uint32
		if len(some) == 1 {
			got = append(got, d.Add(some[0]))
		} else {
			got = d.AddAll(nil, some)
		}
		for i, s := range some {
			if got[i] != code(s) || d.Value(got[i]) != s {
				t.Fatalf("the code of %q is %d, want %d", s, got[i], code(s))
			}
		}
	}
	if d.Len() != len(want) {
		t.Errorf("%d codes, want %d", d.Len(), len(want))
	}
}

// TestDictionaryBeside looks strings up beside those who add others: all that were added before are found.
func TestDictionaryBeside(t *testing.T) {
	const most = 20_000
	d := NewDictionary()
	var added atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; i < most; i += 2 {
			d.AddAll(nil, []string{fmt.Sprint(i), fmt.Sprint(i + 1)})
			added.Store(int64(i + 2))
		}
	})
	for range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(3, 4))
			for n := int64(0); n < most; n = added.Load() {
				if n == 0 {
					continue
				}
				i := rng.Int64N(n)
				if c, ok := d.Lookup(fmt.Sprint(i)); !ok || int64(c) != i {
					t.Errorf("the code of %d is %d, %v", i, c, ok)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkDictionary(b *testing.B) {
	values := make([]string, 30_000)
	for i := range values {
		values[i] = fmt.Sprintf("string %d of many", i)
	}
	b.Run("Lookup", func(b *testing.B) {
		d := NewDictionary(values...)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				d.Lookup(values[i%len(values)])
			}
		})
	})
	b.Run("AddAll", func(b *testing.B) {
		for range b.N {
			d := NewDictionary()
			d.AddAll(nil, values)
		}
	})
}
