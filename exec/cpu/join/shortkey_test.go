package join

import (
	"strings"
	"testing"
)

// Short keys are equal where strings are, whatever their lengths, zeros at their ends included.
func TestShortKeys(t *testing.T) {
	var texts []string
	for n := range mostShort + 2 {
		same := strings.Repeat("a", n)
		texts = append(texts, same)
		if n > 0 {
			texts = append(texts, same[1:]+"\x00", "\x00"+same[1:], same[1:]+"b", strings.Repeat("\x00", n), strings.Repeat("\xff", n))
		}
	}
	rows := make([]int32, len(texts))
	for i := range rows {
		rows[i] = int32(i)
	}
	keys := make([]shortKey, len(texts))
	if shorten(keys, texts, rows) {
		t.Fatal("a string of 16 bytes is called short")
	}
	for i, s := range texts {
		if len(s) > mostShort {
			continue
		}
		if !shorten(keys, texts, rows[i:i+1]) {
			t.Fatalf("%q is called long", s)
		}
		for p, x := range texts {
			ok := []bool{true}
			compareShort(ok, texts, rows[p:p+1], keys, rows[i:i+1])
			if ok[0] != (x == s) {
				t.Errorf("%q and %q: %v", x, s, ok[0])
			}
		}
	}
}
