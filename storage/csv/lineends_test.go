package csv

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/internal/batchtest"
	"github.com/radish-sql/radish/storage/textfile"
	"github.com/radish-sql/radish/storage/textfile/textfiletest"
)

// Texts whose lines end in CR give the rows that they give with LF, in blocks of any size; CRs in quotes stay.
func TestCarriageReturns(t *testing.T) {
	old := textfile.BlockSize
	t.Cleanup(func() { textfile.BlockSize = old })
	var b strings.Builder
	b.WriteString("id,word\n")
	for i := range 6000 { // more than the sample of lineends.go
		fmt.Fprintf(&b, "%d,\"a \"\"word\"\" %d\"\n", i, i%9)
	}
	long := b.String()
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{"a,b\n1,x\n2,y\n", "a,b\n1,x\n2,y", "a\n1\n\n2\n", "a;b\n1;\"x\ny\"\n", "only\n", "\"a\"\n\"b\"\n", "\n\na,b\n1,2\n", "1,2\n3,4\n", long} {
		for _, size := range []int{4 << 20, 1 + r.IntN(50), 3} {
			if textfile.BlockSize = size; text == long && size < 1000 {
				textfile.BlockSize = 1000
			}
			with := func(end string) string {
				var b strings.Builder
				for i, part := range strings.Split(text, "\"") { // those outside quotes stand at even indices
					if i > 0 {
						b.WriteByte('"')
					}
					if i%2 == 0 {
						part = strings.ReplaceAll(part, "\n", end)
					}
					b.WriteString(part)
				}
				v, err := Read(context.Background(), "d", "t", Options{}, textfiletest.Source("x.csv", []byte(b.String())))
				if err != nil {
					return err.Error()
				}
				return fmt.Sprint(v.Schema.Columns, batchtest.TableTexts(v))
			}
			want := with("\n")
			if strings.Contains(want, "Error") {
				t.Fatal(want)
			}
			if got := with("\r"); got != want {
				t.Errorf("%.60q in blocks of %d: %.300s, want %.300s", text, size, got, want)
			}
		}
	}
	// A CR among LFs is a character like others, and so is one in quotes.
	for text, want := range map[string]string{
		"a,b\n1,x\ry\n": "[[1 x\ry]]", "a,b\r\n1,x\ry\r\n": "[[1 x\ry]]", "a,b\r1,\"x\ry\"\r": "[[1 x\ry]]", "a\r": "[]",
	} {
		v, err := Read(context.Background(), "d", "t", Options{}, textfiletest.Source("x.csv", []byte(text)))
		if err != nil || fmt.Sprint(batchtest.TableTexts(v)) != want {
			t.Errorf("%q: %v %v", text, v, err)
		}
	}
	// The position of an error counts lines.
	_, err := Read(context.Background(), "d", "t", Options{}, textfiletest.Source("x.csv", []byte("a,b\r1,2\r3\r")))
	if err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Error(err)
	}
}
