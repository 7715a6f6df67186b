package textfile

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/table"
)

// TestShortTexts reads texts of a few lines, each of which takes little memory, whatever the size of blocks is.
func TestShortTexts(t *testing.T) {
	const texts, allowed = 200, 64 << 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range texts {
		c := newCutter(Source{Name: "short"}, strings.NewReader("1,2\n3,4\n"), '"', &table.Scratch{})
		b, err := c.next()
		if err != nil || string(b.Text) != "1,2\n3,4\n" {
			t.Fatalf("the block is %q, %v", b.Text, err)
		}
		if _, err := c.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("behind the last block comes %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / texts; bytes > allowed {
		t.Errorf("a text of 8 bytes takes %d of memory, more than %d", bytes, allowed)
	}
}
