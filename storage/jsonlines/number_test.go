package jsonlines

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/radish-sql/radish/storage/textfile"
)

// A number that the scanner passes over is one to encoding/json, and the other way round.
func TestNumbers(t *testing.T) {
	const seed = 20
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	good := 0
	for range 200_000 {
		text := make([]byte, 1+rng.IntN(7))
		for i := range text {
			text[i] = "0012345-+..eE"[rng.IntN(13)]
		}
		if text[0] != '-' && text[0]-'0' > 9 {
			continue // no number begins like that
		}
		s := scanner{Block: &textfile.Block{Text: text}}
		got := s.number() && s.at == len(text)
		if want := json.Valid(text); got != want {
			t.Fatalf("'%s': %v, and %v to encoding/json", text, got, want)
		} else if got {
			good++
		}
	}
	if good < 10_000 {
		t.Fatalf("only %d numbers", good)
	}
}
