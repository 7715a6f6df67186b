package join

import (
	"strings"
	"testing"
)

// Short keys are equal where strings are, whatever their lengths, zeros at their ends included.
func TestShortKeys(t *testing.T) {
	var values []string
	for n := range mostShort + 2 {
		same := strings.Repeat("a", n)
		values = append(values, same)
		if n > 0 {
			values = append(values, same[1:]+"\x00", "\x00"+same[1:], same[1:]+"b", strings.Repeat("\x00", n), strings.Repeat("\xff", n))
		}
	}
	rows := make([]int32, len(values))
	for i := range rows {
		rows[i] = int32(i)
	}
	keys := make([]shortKey, len(values))
	if shorten(keys, values, rows) {
		t.Fatal("a string of 16 bytes is called short")
	}
	for i, s := range values {
		if len(s) > mostShort {
			continue
		}
		if !shorten(keys, values, rows[i:i+1]) {
			t.Fatalf("%q is called long", s)
		}
		for p, x := range values {
			ok := []bool{true}
			compareShort(ok, values, rows[p:p+1], keys, rows[i:i+1])
			if ok[0] != (x == s) {
				t.Errorf("%q and %q: %v", x, s, ok[0])
			}
		}
	}
}
