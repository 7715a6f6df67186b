package groupby

import "testing"

// TestPerfectHashTable: a table has no more bytes than it was given, and uses nearly all of them.
func TestPerfectHashTable(t *testing.T) {
	for _, tag := range []int64{4, 8} {
		for words := int64(1); words <= 12; words++ {
			for bytes := int64(8 << 10); bytes <= 256<<10; bytes += 1 << 10 {
				x := newPerfectHashTable(tag, words, bytes)
				if x.bytes() > bytes || x.bytes() < bytes*3/4 || x.slots() >= 0xffff || x.searched < 4 {
					t.Fatalf("tags of %d bytes, %d words, %d bytes: %d bytes, %+v", tag, words, bytes, x.bytes(), *x)
				}
			}
		}
	}
}
