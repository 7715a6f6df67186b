package textfile

import "testing"

// TestLookalikeShortcuts: what the shape of a value says of its forms is what looking at each form finds.
func TestLookalikeShortcuts(t *testing.T) {
	all := uint64(1)<<(len(lookForms)+len(lookNumbers)) - 1 | lookTyped
	for _, r := range lookRemedies {
		all |= r.bit
	}
	for _, field := range []string{"1", "-5", "+7", "0", "12345678901234567890123", "1.5", "1e5", "NaN", "true", "2024-01-02", "2024/1/2", "2024-01-02 10:20", "2024-01-02 10:20:30.5", "2024-01-02T10:20:30Z",
		"2024-01-02 10:20:30.123+02:00", "9:30", "9:30:00.5", "1,5", "10%", "0x1f", "24:00:00", "1/2/2024", " 5", "word"} {
		var l Lookalike
		l.Add([]byte(field), Classify([]byte(field)))
		for i := range 64 {
			if want := all&(1<<i) != 0 && hasLook(i, []byte(field)); l.may&(1<<i) != 0 != want {
				t.Errorf("%s: form %d is %v, want %v", field, i, !want, want)
			}
		}
	}
}
