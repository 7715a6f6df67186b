package column_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/radish-sql/radish/column"
)

// Bitmaps against slices of bool.
func TestBitmapRanges(t *testing.T) {
	const seed = 20260101
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		n := 1 + r.IntN(300)
		b, want := column.NewBitmap(n, false), make([]bool, n)
		for i := range want {
			if want[i] = r.IntN(1+r.IntN(20)) > 0; want[i] {
				b.Set(i)
			}
		}
		from := r.IntN(n)
		m := r.IntN(n - from + 1)
		zeros := 0
		for _, set := range want[from : from+m] {
			if !set {
				zeros++
			}
		}
		if got := b.CountZerosIn(from, m); got != zeros || b.AllSet(from, m) != (zeros == 0) {
			t.Fatalf("%d zeros in %d+%d, want %d", got, from, m, zeros)
		}
		cleared := slices.Clone(b)
		cleared.ClearRange(from, from+m)
		for i := range want {
			if cleared.Get(i) != (want[i] && (i < from || i >= from+m)) {
				t.Fatalf("bits %d+%d cleared: bit %d", from, m, i)
			}
		}
		s := b.Slice(from, m)
		if (s == nil) != (zeros == 0) {
			t.Fatalf("slice %d+%d with %d zeros: %v", from, m, zeros, s)
		}
		for i := range m {
			if s != nil && s.Get(i) != want[from+i] {
				t.Fatalf("slice %d+%d: bit %d", from, m, i)
			}
		}
		dst, all := column.NewBitmap(n+100, r.IntN(2) == 0), make([]bool, n+100)
		for i := range all {
			all[i] = dst.Get(i)
		}
		at := r.IntN(100)
		if r.IntN(4) == 0 {
			column.CopyBits(dst, at, nil, 0, m)
			copy(all[at:], slices.Repeat([]bool{true}, m))
		} else {
			column.CopyBits(dst, at, b, from, m)
			copy(all[at:], want[from:from+m])
		}
		for i := range all {
			if dst.Get(i) != all[i] {
				t.Fatalf("copy of %d+%d to %d: bit %d", from, m, at, i)
			}
		}
	}
}

// Goroutines add the same strings in different orders: each gets one code, which all see alike.
func TestDictionaryAddAll(t *testing.T) {
	d := column.NewDictionary("s3")
	var codes [4][]uint32
	var all sync.WaitGroup
	for g := range codes {
		all.Go(func() {
			for i := range 200 {
				k := (i*(2*g+1) + g) % 50
				codes[g] = d.AddAll(codes[g], []string{fmt.Sprint("s", k), fmt.Sprint("s", k)})
				if d.Value(codes[g][2*i]) != fmt.Sprint("s", k) {
					t.Errorf("code %d is %s", codes[g][2*i], d.Value(codes[g][2*i]))
				}
			}
		})
	}
	all.Wait()
	if d.Len() != 50 || d.Bytes() <= 0 {
		t.Errorf("%d strings", d.Len())
	}
	if code, ok := d.Lookup("s3"); !ok || code != 0 {
		t.Error("the first string has lost its code")
	}
}
