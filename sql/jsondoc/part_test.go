package jsondoc

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// What is told of a document's text is what its tree says. Most documents are told of.
func TestParts(t *testing.T) {
	const seed = 31
	r := rand.New(rand.NewPCG(seed, 0))
	c := nobody{}
	candidates := []string{`"a"`, `"ü"`, `""`, "12", "0", `"key"`}
	var told, lengths, contained int
	for round := range 20_000 {
		text := drawJSON(r, 1+r.IntN(4))
		part, ok := Find(c, text, nil)
		tree := NewReader(c, text)
		v, err := tree.Value(0)
		if err != nil {
			t.Fatal(err)
		}
		if !ok || v == nil {
			continue
		}
		name := fmt.Sprintf("seed %d, round %d: %q", seed, round, text)
		if kind, ok := KindOf(part); ok {
			told++
			if kind != v.Kind {
				t.Fatalf("%s: kind %s, want %s", name, KindNames[kind], KindNames[v.Kind])
			}
		}
		want := 1
		if v.Kind == Array || v.Kind == Object {
			want = len(v.Items)
		}
		if n, ok := Length(part); ok {
			lengths++
			if n != want {
				t.Fatalf("%s: length %d, want %d", name, n, want)
			}
		}
		candidate := candidates[r.IntN(len(candidates))]
		scalar := NewReader(c, candidate)
		x, err := scalar.Value(0)
		if err != nil {
			t.Fatal(err)
		}
		if found, ok := ContainsScalar(part, candidate); ok {
			contained++
			if found != Contains(v, x) {
				t.Fatalf("%s: contains %s: %v", name, candidate, found)
			}
		}
	}
	if told < 10_000 || lengths < 10_000 || contained < 8_000 {
		t.Errorf("%d kinds, %d lengths and %d searches were told of 20,000", told, lengths, contained)
	}
}
