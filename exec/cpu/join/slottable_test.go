package join

import (
	"cmp"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/types"
)

// Tables find what a map finds, in one region and in many, among keys of which some share slot and tag with another key, stored or not.
func TestSlotTables(t *testing.T) {
	const seed, drawn, rows = 20261128, 1 << 20, 6000
	r := rand.New(rand.NewPCG(seed, 0))
	ints, strs, short := column.New(types.Int64, drawn), column.New(types.Varchar(20), drawn), column.New(types.Varchar(15), drawn)
	for i := range ints.I64 {
		x := r.Int64()
		if i == 0 {
			x = 0 // the least key: numbers of keys are the keys
		}
		text := []byte("key of 8 bytes: ")
		for b := range 8 {
			text = append(text, byte(x>>(8*b)))
		}
		ints.I64[i], strs.Str[i], short.Str[i] = x, string(text), string(text[len(text)-mostShort:])
	}
	for _, v := range []*column.Vector{ints, strs, short} {
		hashes := make([]uint64, drawn)
		switch v {
		case ints:
			for i, x := range v.I64 {
				hashes[i] = keyhash.Int(uint64(x))
			}
		case short:
			for i, s := range v.Str {
				hashes[i] = shortKeyOf(s).hash()
			}
		default:
			var h keyhash.Hasher
			h.Hash(hashes, []*column.Vector{v}, vec.CountFrom(nil, 0, drawn), drawn)
		}
		pairs := twins(hashes, bits.TrailingZeros(uint(tableSize(rows)))+32-bits.Len(rows))
		if len(pairs) < 20 {
			t.Fatalf("%s: %d pairs of keys share slot and tag", v.Type, len(pairs))
		}
		for _, shape := range []struct{ threads, parallel, copies int }{{1, 1 << 20, 1}, {1, 1 << 20, 3}, {3, 1, 1}, {3, 1, 3}} {
			stored, probe := []int32{0}, []int32{}
			for i, pair := range pairs { // of every second one a key is in the table, of the others both are
				stored = append(stored, pair[i%2:]...)
				probe = append(probe, pair[:]...)
			}
			for len(stored) < rows/shape.copies {
				stored = append(stored, r.Int32N(drawn))
			}
			slices.Sort(stored)
			stored = slices.Compact(stored)
			build := slices.Repeat(stored, shape.copies)
			r.Shuffle(len(build), func(i, j int) { build[i], build[j] = build[j], build[i] })
			first := map[int32]int32{}
			for row, of := range build {
				if _, ok := first[of]; !ok {
					first[of] = int32(row)
				}
			}
			tuning := task.Default
			tuning.ParallelRows = shape.parallel
			q := &task.Query{State: &schedule.State{}, Threads: shape.threads, Memory: memory.NewBudget(0), Ctx: context.Background(), Tuning: &tuning}
			b := &Build{q: q, p: &physical.Build{}, keys: []*column.Vector{pick(v, build)}, N: len(build)}
			var keys []shortKey
			if v == short {
				keys = make([]shortKey, len(build))
				shortenAll(keys, b.keys[0].Str)
			}
			if _, err := b.makeTable(nil, keys); err != nil {
				t.Fatal(err)
			}
			if b.runs.unique != (shape.copies == 1) {
				t.Errorf("%s, %+v: keys are unique: %v", v.Type, shape, b.runs.unique)
			}
			probe = append(probe, stored...)
			for range rows {
				probe = append(probe, r.Int32N(drawn))
			}
			var f finder
			for of := range slices.Chunk(probe, column.VectorSize) {
				var pos, groups []int32
				for i, x := range of {
					if row, ok := first[x]; ok {
						pos, groups = append(pos, int32(i)), append(groups, row)
					}
				}
				gotPos, gotGroups := b.table.find(&f, []*column.Vector{pick(v, of)}, nil, len(of))
				if !slices.Equal(gotPos, pos) || !slices.Equal(gotGroups, groups) {
					t.Fatalf("seed %d, %s, %+v: %d keys are found, want %d, or other rows", seed, v.Type, shape, len(gotPos), len(pos))
				}
			}
		}
	}
}

// pick returns the given rows of v.
func pick(v *column.Vector, rows []int32) *column.Vector {
	out := column.New(v.Type, len(rows))
	for i, row := range rows {
		if v.I64 != nil {
			out.I64[i] = v.I64[row]
		} else {
			out.Str[i] = v.Str[row]
		}
	}
	return out
}

// twins returns pairs of items whose hashes have their first bits in common.
func twins(hashes []uint64, first int) (pairs [][2]int32) {
	order := vec.CountFrom(nil, 0, len(hashes))
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(hashes[a], hashes[b]) })
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; (hashes[a]^hashes[b])>>(64-first) == 0 {
			pairs = append(pairs, [2]int32{a, b})
			i++
		}
	}
	return pairs
}
