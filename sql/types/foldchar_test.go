package types

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// AppendFolded puts FoldChar's character for each, from several goroutines at once, and characters fold alike if, and only if, their keys
// are alike: those of all ASCII and of Latin, Greek and Cyrillic letters, and others at random.
func TestAppendFolded(t *testing.T) {
	const seed = 20260105
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	for _, c := range Collations() {
		for worker := range uint64(3) {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, worker))
				for range 300 {
					var text strings.Builder
					for range r.IntN(40) {
						switch r.IntN(4) {
						case 0, 1:
							text.WriteByte(byte(r.IntN(utf8.RuneSelf)))
						case 2:
							text.WriteRune(rune(r.IntN(0x530)))
						default:
							text.WriteString([]string{"ß", "日本", "\U0001F600", "\xff", "e\u0301", "Ａ"}[r.IntN(6)])
						}
					}
					var want []byte
					for _, x := range text.String() {
						want = utf8.AppendRune(want, c.FoldChar(x))
					}
					got := c.AppendFolded([]byte("x"), text.String())
					if c.Bytewise() {
						want = []byte(text.String())
					}
					if string(got) != "x"+string(want) {
						t.Errorf("%s: %q is folded to %q, want %q", c, text.String(), got[1:], want)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for _, c := range Collations() {
		if c.Bytewise() {
			continue
		}
		byKey := map[string]rune{}
		for x := range rune(0x530) {
			key := c.Key(string(x))
			if key == c.Key(" ") || key == "" || c == CollationUnicode520CI && key == c.Key("") {
				continue // spaces at the end of a text, and what is ignored
			}
			fold := c.FoldChar(x)
			if first, seen := byKey[key]; !seen {
				byKey[key] = fold
			} else if first != fold {
				t.Fatalf("%s: %q is folded to %q, another of its key to %q", c, x, fold, first)
			}
			if x < utf8.RuneSelf && fold >= utf8.RuneSelf {
				t.Fatalf("%s: %q is folded to %q", c, x, fold)
			}
		}
		folds := map[rune]string{}
		for key, fold := range byKey {
			if other, seen := folds[fold]; seen && other != key {
				t.Fatalf("%s: two keys are folded to %q", c, fold)
			}
			folds[fold] = key
		}
	}
}

func BenchmarkAppendFolded(b *testing.B) {
	for _, c := range []Collation{CollationGeneralCI, CollationAiCI} {
		for _, s := range []string{"carefully final requests", "Größe der Straße"} {
			b.Run(c.String()+"/"+strings.Fields(s)[0], func(b *testing.B) {
				var text []byte
				for b.Loop() {
					text = c.AppendFolded(text[:0], s)
				}
			})
		}
	}
}
