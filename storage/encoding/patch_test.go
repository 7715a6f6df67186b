package encoding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// TestPatched changes random rows of chunks of every encoding, and compares the copy with the values and with what they say of the zone map.
func TestPatched(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	dict := column.NewDictionary()
	random := map[string]func() types.Value{
		"bytes": func() types.Value { return types.IntValue(100 + r.Int64N(200)) }, "words": func() types.Value { return types.IntValue(r.Int64N(50_000)) },
		"32 bits": func() types.Value { return types.IntValue(r.Int64N(1 << 31)) }, "64 bits": func() types.Value { return types.IntValue(int64(r.Uint64())) },
		"unsigned": func() types.Value { return types.UintValue(r.Uint64()) }, "doubles": func() types.Value { return types.FloatValue(r.NormFloat64()) },
		"wide": func() types.Value {
			return types.Value{Type: types.Decimal(30, 2), D: types.Int128{Hi: r.Int64N(3) - 1, Lo: r.Uint64()}}
		},
		"strings": func() types.Value { return types.StringValue(fmt.Sprint(r.IntN(1000))[r.IntN(2):]) },
		"codes":   func() types.Value { return types.StringValue(fmt.Sprint("x", r.IntN(100))) },
	}
	patched := map[Kind]int{}
	for name, value := range random {
		for round := range 60 {
			typ, rows := value().Type, 1+r.IntN(300)
			null := func(v types.Value) types.Value {
				if round%3 == 1 && r.IntN(4) == 0 {
					return types.NullOf(typ)
				}
				return v
			}
			values := make([]types.Value, rows)
			vector := column.New(typ, rows)
			for i := range values {
				values[i] = null(value())
			}
			if round%4 == 0 {
				slices.SortFunc(values, types.Compare)
			}
			for i, v := range values {
				vector.Set(i, rows, v)
			}
			d := Data{Type: typ}
			if name == "codes" {
				d.Dict, d.Rows, d.Valid = dict, rows, vector.Valid
				for _, v := range values {
					d.Codes = append(d.Codes, dict.Add(v.S))
				}
			} else {
				d.Append(vector, rows, nil)
			}
			c := Encode(d)
			before := slices.Clone(values)
			var at []int
			var news []types.Value
			for i := range rows {
				if r.IntN(10) == 0 {
					v := null(value())
					at, news = append(at, i), append(news, v)
					values[i] = v
				}
			}
			next, ok := c.Patched(at, news)
			compareChunk(t, fmt.Sprint(name, " before ", round), c, before)
			if !ok {
				continue
			}
			patched[c.Kind]++
			compareChunk(t, fmt.Sprint(name, " ", round), next, values)
		}
	}
	for kind := FOR8; kind <= RawString; kind++ {
		if patched[kind] == 0 && kind != Dict16 && kind != Dict32 {
			t.Errorf("no chunk of kind %d was patched", kind)
		}
	}
}

// compareChunk compares a chunk with the values that it should hold.
func compareChunk(t *testing.T, name string, c *Chunk, values []types.Value) {
	t.Helper()
	least, greatest, nulls, sorted := types.Value{Null: true}, types.Value{Null: true}, 0, true
	decoded := &column.Vector{Type: c.Type}
	c.Decode(decoded, 0, c.Rows)
	for i, v := range values {
		if have := decoded.Value(i); have.Null != v.Null || !v.Null && types.Compare(have, v) != 0 || types.Compare(c.At(i), have) != 0 {
			t.Fatalf("%s: row %d is %v, want %v", name, i, have, v)
		}
		sorted = sorted && !v.Null && (i == 0 || types.Compare(values[i-1], v) <= 0)
		switch {
		case v.Null:
			nulls++
		case least.Null:
			least, greatest = v, v
		default:
			if types.Compare(v, least) < 0 {
				least = v
			}
			if types.Compare(v, greatest) > 0 {
				greatest = v
			}
		}
	}
	if c.NullCount != nulls || c.Sorted && !sorted || nulls > 0 && nulls < c.Rows && c.Valid == nil || nulls == 0 && c.Valid != nil {
		t.Fatalf("%s: %d NULLs, sorted %v; want %d, %v", name, c.NullCount, c.Sorted, nulls, sorted)
	}
	if unknown := c.Min.Null && nulls < c.Rows; !unknown && (types.Compare(c.Min, least) != 0 || types.Compare(c.Max, greatest) != 0) {
		t.Fatalf("%s: zone map %v to %v, want %v to %v", name, c.Min, c.Max, least, greatest)
	}
}
