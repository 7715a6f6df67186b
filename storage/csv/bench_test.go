package csv

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/textfile/textfiletest"
)

// Lines like lineitem's.
func BenchmarkRead(b *testing.B) {
	r := testRand(b)
	var text strings.Builder
	for i := range 200000 {
		fmt.Fprintf(&text, "%d|%d|%d|%d|%d|%d.%02d|0.%02d|N|O|199%d-0%d-1%d|DELIVER IN PERSON|TRUCK|carefully final deposits %d\n",
			i/4, r.IntN(200000), r.IntN(10000), i%4+1, 1+r.IntN(50), r.IntN(100000), r.IntN(100), r.IntN(11), r.IntN(8), 1+r.IntN(9), r.IntN(10), r.IntN(1e6))
	}
	source := textfiletest.Source("x", []byte(text.String()))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		v, err := Read(context.Background(), "d", "t", Options{Delimiter: '|'}, source)
		if err != nil || v.Rows() != 200000 {
			b.Fatal(v, err)
		}
	}
}
