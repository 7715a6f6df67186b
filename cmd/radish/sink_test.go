package main

import (
	"testing"

	"github.com/radish-sql/radish/storage/files"
)

// TestLooksOfData: the shell knows each text that storage/files writes.
func TestLooksOfData(t *testing.T) {
	for _, look := range files.TextLooks() {
		if _, ok := looksOfData[look]; !ok {
			t.Errorf("%s with the delimiter %q is not among the looks", look.Format, look.Delimiter)
		}
	}
	if got := len(files.TextLooks()); got != len(looksOfData) {
		t.Errorf("%d looks for %d texts", len(looksOfData), got)
	}
}
