package encoding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// testRand is seeded by name, and says its seed when the test fails.
func testRand(t testing.TB) *rand.Rand {
	seed := uint64(20260101)
	for _, c := range t.Name() {
		seed = seed*1099511628211 + uint64(c)
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// shape makes values of one type and distribution.
type shape struct {
	name  string
	typ   types.Type
	value func(r *rand.Rand, i int) types.Value
}

func intShape(name string, typ types.Type, f func(r *rand.Rand, i int) int64) shape {
	return shape{name, typ, func(r *rand.Rand, i int) types.Value { return types.Value{Type: typ, I: f(r, i)} }}
}

func stringShape(name string, f func(r *rand.Rand, i int) string) shape {
	return shape{name, types.Text, func(r *rand.Rand, i int) types.Value { return types.Value{Type: types.Text, S: f(r, i)} }}
}

var wide = types.Decimal(38, 2)

var shapes = []shape{
	intShape("constant", types.Int64, func(*rand.Rand, int) int64 { return -7 }),
	intShape("byte", types.Int32, func(r *rand.Rand, _ int) int64 { return 1000 + r.Int64N(256) }),
	intShape("short", types.Date, func(r *rand.Rand, _ int) int64 { return -300 + r.Int64N(60000) }),
	intShape("int", types.Decimal(15, 2), func(r *rand.Rand, _ int) int64 { return r.Int64N(1<<32) - 1<<40 }),
	intShape("long", types.Int64, func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) }),
	intShape("edges", types.Int64, func(r *rand.Rand, _ int) int64 {
		return []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64}[r.IntN(6)]
	}),
	intShape("top byte", types.Int64, func(r *rand.Rand, _ int) int64 { return math.MaxInt64 - r.Int64N(200) }),
	intShape("sorted", types.Int64, func(_ *rand.Rand, i int) int64 { return int64(i / 3) }),
	intShape("sorted long", types.Int64, func(_ *rand.Rand, i int) int64 { return int64(i/2)<<40 - 1<<45 }),
	intShape("unsigned", types.Uint64, func(r *rand.Rand, _ int) int64 { return int64(r.Uint64()) }),
	intShape("unsigned across 2^63", types.Uint64, func(r *rand.Rand, _ int) int64 { return math.MaxInt64 - 50 + r.Int64N(50) + r.Int64N(50) }),
	intShape("unsigned sorted", types.Uint64, func(_ *rand.Rand, i int) int64 { return math.MaxInt64 - 100 + int64(i) }),
	{"float", types.Double, func(r *rand.Rand, _ int) types.Value {
		return types.Value{Type: types.Double, F: []float64{r.NormFloat64(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1}[r.IntN(6)]}
	}},
	{"one float", types.Double, func(*rand.Rand, int) types.Value { return types.FloatValue(2.5) }},
	{"wide", wide, func(r *rand.Rand, _ int) types.Value {
		return types.Value{Type: wide, D: types.Int128{Hi: r.Int64N(5) - 2, Lo: r.Uint64N(3)}}
	}},
	{"one wide", wide, func(*rand.Rand, int) types.Value { return types.Value{Type: wide, D: types.Int128{Hi: 3, Lo: 9}} }},
	stringShape("few strings", func(r *rand.Rand, _ int) string { return []string{"", "a", "ab", "b", "ä"}[r.IntN(5)] }),
	stringShape("many strings", func(r *rand.Rand, _ int) string { return fmt.Sprint(r.Uint32()) }),
	stringShape("300 strings", func(r *rand.Rand, _ int) string { return fmt.Sprint(r.IntN(300)) }),
	stringShape("one string", func(*rand.Rand, int) string { return "x" }),
	stringShape("sorted strings", func(_ *rand.Rand, i int) string { return fmt.Sprintf("%06d", i/2) }),
}

// column makes n values, nulls in a hundred of them NULL.
func (s shape) column(r *rand.Rand, n, nulls int) []types.Value {
	values := make([]types.Value, n)
	for i := range values {
		if values[i] = s.value(r, i); r.IntN(100) < nulls {
			values[i] = types.NullOf(s.typ)
		}
	}
	return values
}

// vector puts values into a vector, whose NULL slots hold rubbish if that is legal for the type.
func vector(t types.Type, values []types.Value) *column.Vector {
	v := column.New(t, len(values))
	for i, x := range values {
		v.Set(i, len(values), x)
		if x.Null && t.Phys() == types.PhysInt64 {
			v.I64[i] = int64(i) << 50
		}
	}
	return v
}

// forms returns the values as Data in every form in which they can come.
func forms(t types.Type, values []types.Value) map[string]encoding.Data {
	v := vector(t, values)
	plain := fromVector(v, len(values))
	out := map[string]encoding.Data{"plain": plain}
	if !t.IsString() {
		return out
	}
	dict := column.NewDictionary("unused")
	coded := encoding.Data{Type: t, Rows: len(values), Dict: dict, Codes: dict.AddAll(nil, v.Str), Valid: slices.Clone(plain.Valid)}
	raw := encoding.Data{Type: t, Rows: len(values), Offsets: []uint32{0}, Valid: slices.Clone(plain.Valid)}
	for _, s := range v.Str {
		raw.Bytes = append(raw.Bytes, s...)
		raw.Offsets = append(raw.Offsets, uint32(len(raw.Bytes)))
	}
	out["codes"], out["bytes"] = coded, raw
	return out
}

func same(a, b types.Value) bool {
	return a.Null == b.Null && (a.Null || types.Compare(a, b) == 0 && math.Signbit(a.F) == math.Signbit(b.F))
}

// everyChunk calls f with chunks of all shapes, sizes, shares of NULLs and forms of input, and what is in them.
func everyChunk(t *testing.T, r *rand.Rand, f func(t *testing.T, c *encoding.Chunk, values []types.Value)) {
	for _, s := range shapes {
		for _, n := range []int{1, 2, 63, 64, 65, 1000} {
			for _, nulls := range []int{0, 30, 100} {
				values := s.column(r, n, nulls)
				for form, d := range forms(s.typ, values) {
					for _, way := range []string{"Encode", "Encoder"} {
						t.Run(fmt.Sprintf("%s/%d/%d%%/%s/%s", s.name, n, nulls, form, way), func(t *testing.T) {
							if way == "Encode" {
								d.Valid = slices.Clone(d.Valid)
								d.Codes = slices.Clone(d.Codes)
								d.Ints, d.Floats, d.Wide = slices.Clone(d.Ints), slices.Clone(d.Floats), slices.Clone(d.Wide)
								f(t, encoding.Encode(d), values)
							} else {
								f(t, encoding.NewEncoder(s.typ, nil).Encode(d), values)
							}
						})
					}
				}
			}
		}
	}
}

func TestDecode(t *testing.T) {
	r := testRand(t)
	everyChunk(t, r, func(t *testing.T, c *encoding.Chunk, values []types.Value) {
		v := &column.Vector{}
		for range 5 {
			from := r.IntN(len(values))
			n := 1 + r.IntN(len(values)-from)
			c.Decode(v, from, n)
			for i := range n {
				if got, want := v.Value(i), values[from+i]; !same(got, want) || v.Type != c.Type {
					t.Fatalf("%d+%d: decoded %v, want %v", from, i, got, want)
				}
				if got, want := c.At(from+i), values[from+i]; !same(got, want) {
					t.Fatalf("%d: At gives %v, want %v", from+i, got, want)
				}
				if v.Dict != nil && int(v.Codes[i]) >= v.Dict.Len() {
					t.Fatalf("code %d at %d is out of range", v.Codes[i], i)
				}
			}
			sel := []int32{}
			for i := range int32(n) {
				if r.IntN(3) == 0 {
					sel = append(sel, i)
				}
			}
			c.Gather(v, from, n, sel)
			for _, p := range sel {
				if got, want := v.Value(int(p)), values[from+int(p)]; !same(got, want) {
					t.Fatalf("%d+%d: gathered %v, want %v", from, p, got, want)
				}
			}
		}
	})
}

func TestZoneMap(t *testing.T) {
	everyChunk(t, testRand(t), func(t *testing.T, c *encoding.Chunk, values []types.Value) {
		nulls, sorted := 0, true
		lo, hi := types.NullOf(c.Type), types.NullOf(c.Type)
		var previous *types.Value
		for i := range values {
			x := values[i]
			if x.Null {
				nulls, sorted = nulls+1, false
				continue
			}
			if lo.Null || types.Compare(x, lo) < 0 {
				lo = x
			}
			if hi.Null || types.Compare(x, hi) > 0 {
				hi = x
			}
			sorted = sorted && (previous == nil || types.Compare(*previous, x) <= 0)
			previous = &values[i]
		}
		same := func(a, b types.Value) bool { return a.Null == b.Null && (a.Null || types.Compare(a, b) == 0) }
		if c.NullCount != nulls || c.Sorted != sorted || !same(c.Min, lo) || !same(c.Max, hi) {
			t.Fatalf("%d NULLs, sorted %v, %v..%v; want %d, %v, %v..%v", c.NullCount, c.Sorted, c.Min, c.Max, nulls, sorted, lo, hi)
		}
		if c.Rows != len(values) || c.MemoryBytes() <= 0 {
			t.Fatalf("%d rows in %d bytes", c.Rows, c.MemoryBytes())
		}
	})
}

func TestNarrowest(t *testing.T) {
	for _, tc := range []struct {
		lo, hi int64
		typ    types.Type
		want   encoding.Kind
	}{
		{5, 5, types.Int64, encoding.Constant},
		{5, 260, types.Int64, encoding.FOR8},
		{5, 261, types.Int64, encoding.FOR16},
		{-1, 65534, types.Int64, encoding.FOR16},
		{-1, 65535, types.Int64, encoding.FOR32},
		{math.MinInt64, math.MinInt64 + math.MaxUint32, types.Int64, encoding.FOR32},
		{0, 1 << 32, types.Int64, encoding.Raw64},
		{math.MinInt64, math.MaxInt64, types.Int64, encoding.Raw64},
		{math.MaxInt64, math.MinInt64, types.Uint64, encoding.FOR8}, // 2^63-1 and 2^63
		{0, -1, types.Uint64, encoding.Raw64},
	} {
		c := encoding.Encode(encoding.Data{Type: tc.typ, Rows: 2, Ints: []int64{tc.lo, tc.hi}})
		if c.Kind != tc.want || c.At(0).I != tc.lo || c.At(1).I != tc.hi {
			t.Errorf("%d..%d: kind %d, want %d", tc.lo, tc.hi, c.Kind, tc.want)
		}
	}
}

// A chunk that keeps integers keeps them from those who take buffers; the others have no use for them.
func TestSpareIntegers(t *testing.T) {
	var spare column.Buffers[int64]
	for _, span := range []int64{1, 200, 60_000, 1 << 30, 1 << 40} {
		for _, typ := range []types.Type{types.Int64, types.Uint64} {
			const n = 1 << 14
			x, valid := spare.Take(n), column.NewBitmap(n, true)
			for i := range x {
				if x[i] = int64(i) * 7919 % span; i%5 == 0 {
					valid.Clear(i)
				}
			}
			c := encoding.Encode(encoding.Data{Type: typ, Rows: n, Ints: x, Valid: valid, Spare: &spare})
			for range 3 {
				for i, other := 0, spare.Take(n); i < n; i++ {
					other[i] = -1
				}
			}
			for i := range n {
				if got := c.At(i); got.Null != (i%5 == 0) || !got.Null && got.I != int64(i)*7919%span {
					t.Fatalf("span %d, row %d: %v", span, i, got)
				}
			}
		}
	}
}

// Groups of one column share codes as long as it has a dictionary; a group with too many strings, and those after it,
// are raw.
func TestEncoderDictionary(t *testing.T) {
	rows := func(n, distinct int) encoding.Data {
		d := encoding.Data{Rows: n, Strings: make([]string, n)}
		for i := range d.Strings {
			d.Strings[i] = fmt.Sprint(i % distinct)
		}
		return d
	}
	e := encoding.NewEncoder(types.Text, nil)
	a, b := e.Encode(rows(10000, 100)), e.Encode(rows(10000, 300))
	if a.Kind != encoding.Dict8 || b.Kind != encoding.Dict16 || a.Dict != b.Dict || a.Dict.Len() != 300 {
		t.Fatalf("kinds %d and %d", a.Kind, b.Kind)
	}
	small := e.Encode(rows(40, 40))
	after := e.Encode(rows(10000, 10))
	if small.Kind != encoding.RawString || after.Kind != encoding.Dict8 {
		t.Fatalf("a small group decides for the column: kinds %d, then %d", small.Kind, after.Kind)
	}
	large, after := e.Encode(rows(10000, 6000)), e.Encode(rows(10000, 10))
	if large.Kind != encoding.RawString || after.Kind != encoding.RawString {
		t.Fatalf("kinds %d, then %d", large.Kind, after.Kind)
	}
	foreign := column.NewDictionary("x", "0", "y")
	d := encoding.Data{Rows: 200, Dict: foreign, Codes: make([]uint32, 200)}
	d.Codes[7], d.Codes[9] = 1, 2
	other := encoding.NewEncoder(types.Text, a.Dict).Encode(d)
	if other.Dict != a.Dict || other.At(7).S != "0" || other.At(8).S != "x" || other.At(9).S != "y" {
		t.Fatal("codes of another dictionary are not translated")
	}
}

func TestSketch(t *testing.T) {
	r := testRand(t)
	for _, distinct := range []int{1, 10, 200, 3000, 50000, 400000} {
		var whole encoding.Sketch
		for range 8 {
			d := encoding.Data{Type: types.Int64, Rows: 100000, Ints: make([]int64, 100000)}
			for i := range d.Ints {
				d.Ints[i] = r.Int64N(int64(distinct)) * 1000003
			}
			whole.Merge(encoding.Encode(d).Sketch())
		}
		// 800,000 draws leave few of the values out.
		want := float64(distinct) * (1 - math.Exp(-800000/float64(distinct)))
		if got := whole.Estimate(); math.Abs(got-want) > 0.1*want {
			t.Errorf("%d distinct values: estimated %.0f", distinct, got)
		}
	}
}

// The sketch of a chunk is that of its values one by one, whatever rows were not looked at.
func TestSketchOfAllValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and one thread does it all")
	}
	r := testRand(t)
	for _, s := range shapes {
		for _, nulls := range []int{0, 30} {
			values := s.column(r, 12000, nulls)
			var want encoding.Sketch
			for i := range values {
				if !values[i].Null {
					want.Merge(encoding.Encode(fromVector(vector(s.typ, values[i:i+1]), 1)).Sketch())
				}
			}
			for range 2 {
				for form, d := range forms(s.typ, values) {
					if c := encoding.Encode(d); *c.Sketch() != want {
						t.Errorf("%s, %d%% NULLs, %s: the sketch of a chunk of kind %v, sorted: %v, estimates %.0f values, want %.0f",
							s.name, nulls, form, c.Kind, c.Sorted, c.Sketch().Estimate(), want.Estimate())
					}
				}
				slices.SortFunc(values, types.Compare) // and once more in order
			}
		}
	}
}

// A dictionary of more than 65,536 strings, as a generator may bring one along, has codes of 32 bits.
func TestDict32(t *testing.T) {
	dict := column.NewDictionary()
	names := make([]string, 70000)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	codes := dict.AddAll(nil, names)
	slices.Reverse(codes)
	c := encoding.NewEncoder(types.Text, dict).Encode(encoding.Data{Rows: len(codes), Codes: codes, Dict: dict})
	if c.Kind != encoding.Dict32 || c.Min.S != "n0" || c.Max.S != "n9999" || c.Sorted {
		t.Fatalf("kind %d, %s..%s", c.Kind, c.Min.S, c.Max.S)
	}
	test := encoding.CompileTest(c, encoding.In([]types.Value{types.StringValue("n69999"), types.StringValue("n5")}))
	if got := test.Select(0, c.Rows, nil, make([]int32, c.Rows)); !slices.Equal(got, []int32{0, 69994}) {
		t.Fatal(got)
	}
	v := &column.Vector{}
	c.Gather(v, 69000, 1000, []int32{994})
	if v.StringAt(994) != "n5" || c.At(69994).S != "n5" {
		t.Fatal(v.StringAt(994))
	}
}

// The dictionary that row groups share stays small, whatever theirs are: few strings, and short ones.
func TestSharedCodesAreFewAndShort(t *testing.T) {
	shared := column.NewDictionary()
	if codes := encoding.SharedCodes(shared, []string{"b", "a", "b"}); !slices.Equal(codes, []uint32{0, 1, 0}) {
		t.Fatal(codes)
	}
	for group := range 200 {
		long := make([]string, 64)
		for i := range long {
			long[i] = fmt.Sprint(group, "-", i) + strings.Repeat("x", 10_000)
		}
		encoding.SharedCodes(shared, long)
	}
	if shared.Bytes() > 2<<20 {
		t.Errorf("%d bytes are shared", shared.Bytes())
	}
	for group := range 200 {
		short := make([]string, 64)
		for i := range short {
			short[i] = fmt.Sprint(group, "-", i)
		}
		encoding.SharedCodes(shared, short)
	}
	if shared.Len() < 64 || shared.Len() > 5000 {
		t.Errorf("%d strings are shared", shared.Len())
	}
}

// A constant does not keep the array alive that its rows were pieces of, and counts what it keeps itself.
func TestConstantStringsCount(t *testing.T) {
	const length, rows = 1000, 100
	bytes, offsets := []byte(strings.Repeat("a", length*rows)), []uint32{0}
	for i := range uint32(rows) {
		offsets = append(offsets, (i+1)*length)
	}
	for name, d := range map[string]encoding.Data{
		"bytes":   {Type: types.Varchar(length), Rows: rows, Offsets: offsets, Bytes: bytes},
		"strings": {Type: types.Varchar(length), Rows: rows, Strings: slices.Repeat([]string{string(bytes[:length])}, rows)},
	} {
		c := encoding.Encode(d)
		if c.Kind != encoding.Constant || len(c.Min.S) != length || c.Max.S != c.Min.S {
			t.Fatalf("%s: kind %v, %d bytes", name, c.Kind, len(c.Min.S))
		}
		if unsafe.StringData(c.Min.S) == &bytes[0] {
			t.Errorf("%s: the value is a piece of the rows' array", name)
		}
		counted := int64(0)
		c.Buffers(func(_ unsafe.Pointer, n int64) { counted += n })
		for what, n := range map[string]int64{"Buffers": counted, "MemoryBytes": c.MemoryBytes()} {
			if n < length || n > length+int64(unsafe.Sizeof(*c)) {
				t.Errorf("%s: %s counts %d bytes", name, what, n)
			}
		}
	}
}

// fromVector returns a copy of the first n values of v.
func fromVector(v *column.Vector, n int) encoding.Data {
	d := encoding.Data{Type: v.Type}
	d.Append(v, n, nil)
	return d
}
