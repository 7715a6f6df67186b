package table

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Columns whose strings are too long for one row group become several, whatever form they come in.
func TestLongText(t *testing.T) {
	old := maxGroupBytes
	maxGroupBytes = 10_000
	t.Cleanup(func() { maxGroupBytes = old })
	const rows = 1000
	r := testRand(t)
	var want, words []string
	var codes []uint32
	offsets, bytes := []uint32{0}, []byte{}
	for range 20 {
		words = append(words, strings.Repeat("w", r.IntN(200)))
	}
	for range rows {
		code := r.IntN(len(words))
		codes = append(codes, uint32(code))
		want = append(want, words[code])
		bytes = append(bytes, words[code]...)
		offsets = append(offsets, uint32(len(bytes)))
	}
	schema := &Schema{Columns: []ColumnDef{{Name: "s", Type: types.Text}, {Name: "n", Type: types.Int64}}}
	for name, d := range map[string]encoding.Data{
		"strings": {Strings: want}, "codes": {Codes: codes, Words: words}, "bytes": {Offsets: offsets, Bytes: bytes},
	} {
		for _, small := range []bool{false, true} {
			t.Run(fmt.Sprint(name, small), func(t *testing.T) {
				b := NewBuilder(New(schema))
				add := b.AppendColumns
				if small {
					add = b.AppendData
				}
				own := d
				own.Codes = append([]uint32(nil), d.Codes...) // encoding may overwrite them
				own.Type, own.Rows = types.Text, rows
				numbers := encoding.Data{Type: types.Int64, Rows: rows, Ints: make([]int64, rows)}
				for i := range numbers.Ints {
					numbers.Ints[i] = int64(i)
				}
				if d.Codes == nil {
					own.Codes = nil
				}
				if err := add(rows, []encoding.Data{own, numbers}); err != nil {
					t.Fatal(err)
				}
				v, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				if len(v.Groups()) < len(bytes)/int(maxGroupBytes) {
					t.Errorf("%d groups", len(v.Groups()))
				}
				for i := range want {
					if row, ok := v.Row(int64(i)); !ok || row[0].S != want[i] || row[1].I != int64(i) {
						t.Fatalf("row %d: %v", i, row)
					}
				}
			})
		}
	}
}

// A panic while a row group is encoded in the background is the builder's error and does not end the program.
func TestBuilderPanics(t *testing.T) {
	b := NewBuilder(New(&Schema{Name: "t", Columns: []ColumnDef{{Name: "n", Type: types.Int64}}}))
	for _, have := range []int{10, 1, 10} { // the second column is shorter than it says
		if err := b.AppendColumns(10, []encoding.Data{{Ints: make([]int64, have)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Finish(); !errors.Is(err, sqlerr.Internal) {
		t.Errorf("the error is %v", err)
	}
}
