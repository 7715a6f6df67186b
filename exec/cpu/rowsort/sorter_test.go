package rowsort

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/sql/types"
)

// keyColumns make columns of n rows whose values are hard to tell apart by a part of their bits.
var keyColumns = []struct {
	name string
	make func(r *rand.Rand, n int) *column.Vector
}{
	{"constant", ints(types.Int64, func(*rand.Rand) int64 { return -7 })},
	{"few", ints(types.Int64, func(r *rand.Rand) int64 { return r.Int64N(5) - 2 })},
	{"narrow", ints(types.Int32, func(r *rand.Rand) int64 { return r.Int64N(1 << 31) })},
	{"all integers", ints(types.Int64, func(r *rand.Rand) int64 { return int64(r.Uint64()) })},
	{"outliers", ints(types.Int64, func(r *rand.Rand) int64 {
		if r.IntN(1000) == 0 {
			return [2]int64{math.MinInt64, math.MaxInt64}[r.IntN(2)]
		}
		return r.Int64N(1000)
	})},
	{"unsigned", ints(types.Uint64, func(r *rand.Rand) int64 { return int64(uint64(math.MaxUint64) >> r.IntN(64)) })},
	{"doubles", func(r *rand.Rand, n int) *column.Vector {
		v := column.New(types.Double, n)
		for i := range v.F64 {
			v.F64[i] = [...]float64{0, math.Copysign(0, -1), 1e300, -1e300, 1e-310, r.Float64(), -r.Float64(), 1 + r.Float64()*1e-12}[r.IntN(8)]
		}
		return v
	}},
	{"narrow decimals", decimals(func(r *rand.Rand) types.Int128 { return types.Int128FromInt64(r.Int64N(100) - 50) })},
	{"decimals", decimals(func(r *rand.Rand) types.Int128 {
		return types.Int128{Hi: int64(r.Uint64()) >> (20 + r.IntN(44)), Lo: r.Uint64() >> r.IntN(64)}
	})},
	{"words", func(r *rand.Rand, n int) *column.Vector {
		v := &column.Vector{Type: types.Text}
		v.ReserveCodes(column.NewDictionary("m", "", "zz", "a", "ab"), n)
		for i := range v.Codes {
			v.Codes[i] = uint32(r.IntN(5))
		}
		return v
	}},
	{"strings", func(r *rand.Rand, n int) *column.Vector {
		v := column.New(types.Text, n)
		for i := range v.Str {
			switch r.IntN(4) {
			case 0:
				v.Str[i] = "a common beginning" + strings.Repeat("\x00", r.IntN(12))
			case 1:
				v.Str[i] = "a common beginning" + fmt.Sprint(r.IntN(50))
			default:
				v.Str[i] = "a common beginning" + strings.Repeat("x", r.IntN(30)) + fmt.Sprint(r.IntN(3))
			}
		}
		return v
	}},
	{"digits", func(r *rand.Rand, n int) *column.Vector {
		v := column.New(types.Text, n)
		for i := range v.Str {
			v.Str[i] = fmt.Sprintf("id%010d", r.IntN(3*n))
		}
		return v
	}},
	{"long strings", func(r *rand.Rand, n int) *column.Vector {
		v := column.New(types.Text, n)
		for i := range v.Str {
			b := make([]byte, r.IntN(40))
			for k := range b {
				b[k] = byte(r.IntN(256))
				if k < 3 || k%7 == 0 {
					b[k] = byte(r.IntN(2)) * 255
				}
			}
			v.Str[i] = string(b)
		}
		return v
	}},
}

func ints(t types.Type, f func(*rand.Rand) int64) func(*rand.Rand, int) *column.Vector {
	return func(r *rand.Rand, n int) *column.Vector {
		v := column.New(t, n)
		for i := range v.I64 {
			v.I64[i] = f(r)
		}
		return v
	}
}

func decimals(f func(*rand.Rand) types.Int128) func(*rand.Rand, int) *column.Vector {
	return func(r *rand.Rand, n int) *column.Vector {
		v := column.New(types.Decimal(38, 0), n)
		for i := range v.I128 {
			v.I128[i] = f(r)
		}
		return v
	}
}

// Rows come in the order that comparing whole keys gives, rows of equal keys in that of the input, and codes of leading keys
// differ where these do.
func TestSortRows(t *testing.T) {
	tuning := task.Default
	tuning.ParallelRows = 1
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sizes := []int{1, 2, 3, 50, 70, 900, 3000, 20000}
	for round := range 150 {
		n := sizes[r.IntN(len(sizes))]
		if round == 0 {
			n = 2 * manyTied // all workers sort what lies between the outliers
		}
		s := &Sorter{Q: &task.Query{State: &schedule.State{}, Threads: 1 + r.IntN(3), Memory: memory.NewBudget(0), Tuning: &tuning}, Name: "sort"}
		s.Parallel = s.Q.Threads > 1
		var names []string
		for range 1 + r.IntN(4) {
			c := keyColumns[r.IntN(len(keyColumns))]
			if round == 0 {
				c = keyColumns[4]
			}
			v := c.make(r, n)
			if r.IntN(3) == 0 {
				for i := range n {
					if r.IntN(4) == 0 {
						v.SetNull(i, n)
					}
				}
			}
			k, err := NewKey(s.Q, v, r.IntN(2) == 0, n)
			if err != nil {
				t.Fatal(err)
			}
			s.Keys = append(s.Keys, k)
			names = append(names, c.name)
		}
		compare := func(a, b int32) int {
			for k := range s.Keys {
				if c := s.Keys[k].Compare(a, b); c != 0 {
					return c
				}
			}
			return 0
		}
		if r.IntN(5) == 0 { // sorted already
			order := vec.CountFrom(nil, 0, n)
			slices.SortStableFunc(order, compare)
			for k := range s.Keys {
				v := &column.Vector{}
				vec.GatherVector(v, s.Keys[k].V, order)
				s.Keys[k].V = v
			}
		}
		want := vec.CountFrom(nil, 0, n)
		slices.SortStableFunc(want, compare)
		sorted, err := s.Sort(n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sorted.Order(s.Q.Blocks)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d rows by %v are in another order", round, n, names)
		}
		if sorted.AsInput != slices.Equal(want, vec.CountFrom(nil, 0, n)) {
			t.Errorf("round %d: %d rows by %v: in order is said to be %v", round, n, names, sorted.AsInput)
		}
		if sorted.exact != (len(sorted.ends) == len(s.Keys)) {
			t.Errorf("round %d: exact is %v with %d of %d keys", round, sorted.exact, len(sorted.ends), len(s.Keys))
		}
		for k, end := range sorted.ends {
			for i := 1; i < n; i++ {
				same := true
				for j := range s.Keys[:k+1] {
					same = same && s.Keys[j].Compare(got[i-1], got[i]) == 0
				}
				if shift := sorted.width - end; same != (sorted.code(i-1)>>shift == sorted.code(i)>>shift) {
					t.Fatalf("round %d: the codes of %v say that rows are the same: %v", round, names[:k+1], !same)
				}
			}
		}
		if used := s.Q.Memory.Used(); used != 0 {
			t.Errorf("round %d: %d bytes are in use", round, used)
		}
	}
}
