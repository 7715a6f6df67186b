package encoding_test

import (
	"fmt"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

const (
	benchRows = 1 << 17
	vector2K  = 2048
)

// benchChunks has one chunk per width, of values spread evenly over 0..span-1.
func benchChunks(b *testing.B) map[string]*encoding.Chunk {
	r := testRand(b)
	out := map[string]*encoding.Chunk{}
	for name, span := range map[string]int64{"8": 1 << 8, "16": 1 << 16, "32": 1 << 32, "64": 1 << 60} {
		d := encoding.Data{Type: types.Int64, Rows: benchRows, Ints: make([]int64, benchRows)}
		for i := range d.Ints {
			d.Ints[i] = r.Int64N(span)
		}
		out[name] = encoding.Encode(d)
	}
	return out
}

func perRow(b *testing.B, bytes float64) {
	b.SetBytes(int64(bytes * benchRows))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkDecode(b *testing.B) {
	for name, c := range benchChunks(b) {
		b.Run(name, func(b *testing.B) {
			v := column.New(types.Int64, vector2K)
			for b.Loop() {
				for at := 0; at < benchRows; at += vector2K {
					c.Decode(v, at, vector2K)
				}
			}
			perRow(b, c.Width())
		})
	}
}

func BenchmarkSelect(b *testing.B) {
	for name, c := range benchChunks(b) {
		for _, percent := range []int64{1, 50} {
			hi := types.IntValue(int64(float64(c.Max.I) / 100 * float64(percent)))
			lo := types.IntValue(1)
			for test, p := range map[string]*encoding.Predicate{
				"range": encoding.Between(lo, hi, false, true),
				"not":   encoding.Comparison(encoding.NE, hi),
				"in":    encoding.In([]types.Value{lo, hi, types.IntValue(77)}),
			} {
				b.Run(fmt.Sprintf("%s/%s/%d%%", name, test, percent), func(b *testing.B) {
					compiled := encoding.CompileTest(c, p)
					out := make([]int32, vector2K)
					for b.Loop() {
						for at := 0; at < benchRows; at += vector2K {
							compiled.Select(at, vector2K, nil, out)
						}
					}
					perRow(b, c.Width())
				})
			}
		}
	}
}

func BenchmarkSelectFromHalf(b *testing.B) {
	for name, c := range benchChunks(b) {
		b.Run(name, func(b *testing.B) {
			compiled := encoding.CompileTest(c, encoding.Comparison(encoding.LT, types.IntValue(c.Max.I/2)))
			in, out := make([]int32, vector2K/2), make([]int32, vector2K)
			for i := range in {
				in[i] = int32(2 * i)
			}
			for b.Loop() {
				for at := 0; at < benchRows; at += vector2K {
					compiled.Select(at, vector2K, in, out)
				}
			}
			perRow(b, c.Width())
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	r := testRand(b)
	for name, span := range map[string]int64{"8": 1 << 8, "32": 1 << 32} {
		ints := make([]int64, benchRows)
		for i := range ints {
			ints[i] = r.Int64N(span)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				encoding.Encode(encoding.Data{Type: types.Int64, Rows: benchRows, Ints: ints})
			}
			perRow(b, 8)
		})
	}
	strings := make([]string, benchRows)
	for i := range strings {
		strings[i] = fmt.Sprint("value ", r.IntN(50))
	}
	b.Run("50 strings", func(b *testing.B) {
		for b.Loop() {
			encoding.NewEncoder(types.Text, nil).Encode(encoding.Data{Rows: benchRows, Strings: strings})
		}
		perRow(b, 16)
	})
}
