package window

import (
	"math/rand/v2"
	"testing"
)

// Edges that are looked for within bounds are those that are found without, cut at the bounds.
func TestEdgesWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 3))
	for range 2000 {
		n := 1 + r.IntN(400)
		b := newEdges(n)
		for range r.IntN(6) {
			b.Set(r.IntN(n))
		}
		i := r.IntN(n)
		from, to := r.IntN(i+1), i+1+r.IntN(n-i)
		if got, want := nextEdgeUpTo(b, i, to), min(to, nextEdge(b, i)); got != want {
			t.Fatalf("next edge of %d up to %d is %d, not %d", i, to, got, want)
		}
		if got, want := lastEdgeFrom(b, i, from), max(from, lastEdge(b, i)); got != want {
			t.Fatalf("last edge of %d from %d is %d, not %d", i, from, got, want)
		}
	}
}
