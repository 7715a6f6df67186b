package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/exec/enginetest"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// TestParts groups by an integer of many values, and by keys that are hashed: of 32 bits, packed ones with NULLs, and of 64 bits; by one and by two passes;
// with room for all rows, for some and for none; with room for all groups and too little.
func TestParts(t *testing.T) { gputest.Each(t, testParts) }

func testParts(t *testing.T, d *gpukernels.Device) {
	res, err := newResidency(d)
	if err != nil {
		t.Fatal(err)
	}
	defer res.close()
	defer func(rows, placed float64, passes int, room, slots, most, more int64) {
		partitionRows, partPlacedRows, partitionPasses, partitionRoom, hashedSlots, hashedSlotsMost, hashedMore = rows, placed, passes, room, slots, most, more
	}(partitionRows, partPlacedRows, partitionPasses, partitionRoom, hashedSlots, hashedSlotsMost, hashedMore)
	partitionRows = 1000
	b := &backend{t: t, res: res, refused: map[string]int{}}
	type agg struct {
		name string
		arg  int
	}
	const rows = 40_000
	all := []agg{{"sum", 8}, {"count(*)", -1}, {"min", 8}, {"max", 8}, {"avg", 8}}
	for i, c := range []struct {
		keys []int
		aggs []agg
	}{
		{[]int{0}, all}, {[]int{0}, []agg{{"sum", 0}}}, {[]int{0}, []agg{{"max", 0}}}, {[]int{11, 0}, all}, {[]int{1, 11}, []agg{{"sum", 0}, {"min", 0}}},
		{[]int{2}, all}, {[]int{9}, []agg{{"sum", 8}, {"max", 8}}}, {[]int{5}, []agg{{"count(*)", -1}}}, {[]int{11, 3}, []agg{{"sum", 8}}},
	} {
		t.Run(fmt.Sprint("case ", i), func(t *testing.T) {
			b.t = t
			aggs := c.aggs
			for _, passes := range []int{0, 1, 2} {
				partPlacedRows = math.MaxFloat64
				if passes == 0 { // one, and keys are placed
					if c.keys[0] == 0 {
						continue
					}
					passes, partPlacedRows = 1, 0
				}
				for _, room := range []int64{math.MaxInt64, 64, 0} {
					if i > 5 && room != 64 {
						continue // what differs from the case before are the keys
					}
					partitionPasses, partitionRoom = passes, room
					hashedSlots, hashedSlotsMost, hashedMore = 1<<17, 1<<22, 1<<16
					if room == 64 { // so few that the groups have to be made again, with room for more
						hashedSlots, hashedSlotsMost, hashedMore = 1<<8, 1<<8, -20_000
					}
					seed := uint64(i)
					g := enginetest.NewGen(rand.New(rand.NewPCG(seed, 13)), rows)
					scan, cols := g.Scan(g.Table(rows, 5200))
					if room == 64 {
						scan.Filters = []expr.Expr{&expr.Compare{Op: expr.GT, Left: cols[2], Right: &expr.Const{Value: types.IntValue(-1)}}}
					}
					a := &physical.Aggregate{EstGroups: 4000}
					if c.keys[0] != 0 {
						a.EstGroups = 17_000
					}
					var out []*expr.Column
					for _, at := range c.keys {
						key := g.Alloc.Like(cols[at])
						a.Groups = append(a.Groups, logical.Item{Col: key, Expr: cols[at]})
						out = append(out, key)
					}
					for _, f := range aggs {
						var args []*expr.Column
						if f.arg >= 0 {
							args = []*expr.Column{cols[f.arg]}
						}
						it := g.Agg(f.name, false, args...)
						a.Aggs = append(a.Aggs, it)
						out = append(out, it.Col)
					}
					g.Pipe(scan, a)
					plan := g.Result(g.Read(a, out), out)
					kernels := newProgram(plan, res, &expr.Context{}, newLookupCache(1<<20), func(*physical.Pipeline) bool { return true }).kernels[plan.Pipelines[0]].all()
					wide := i > 4
					ranked := passes == 2 && c.keys[0] != 0 && !wide
					if !strings.Contains(kernels[0].text, "parting.tile(") || len(kernels) != passes+1 || strings.Contains(kernels[passes].text, "TagRanks") != ranked ||
						strings.Contains(kernels[passes].text, "PlacedPart") != (partPlacedRows == 0) || strings.Contains(kernels[0].text, "RADISH_WIDE_ROWS") != wide {
						t.Errorf("%v by %v in %d passes: %d kernels, the first\n%s", aggs, c.keys, passes, len(kernels), kernels[0].text)
					}
					enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("%v by %v in %d passes with room for %d rows", aggs, c.keys, passes, room)}, plan, seed)
				}
			}
		})
	}
	b.t = t
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// TestFullPart groups by hashed keys of which far more belong to one part than its table has room for, and to others few.
func TestFullPart(t *testing.T) { gputest.Each(t, testFullPart) }

func testFullPart(t *testing.T, d *gpukernels.Device) {
	defer func(rows, placed float64, passes int, least, bytes int64) {
		partitionRows, partPlacedRows, partitionPasses, leastSlots, partPlacedBytes = rows, placed, passes, least, bytes
	}(partitionRows, partPlacedRows, partitionPasses, leastSlots, partPlacedBytes)
	partitionRows, leastSlots, partPlacedBytes = 1000, 8, 8<<10
	b := newBackend(t, d)
	for seed := range uint64(3) {
		partitionPasses = int(max(seed, 1))
		partPlacedRows = float64(seed) * math.MaxFloat32 // keys are placed at first
		r := rand.New(rand.NewPCG(seed, 19))
		data := make([]encoding.Data, 2)
		for row := range 60_000 {
			place := uint32(r.IntN(3000))
			place = place>>nearBits<<(nearBits+16) | 0x1234<<nearBits | place&(1<<nearBits-1)
			if row%4 == 0 {
				place = uint32(r.IntN(10_000)) * 0x9E3779B1
			}
			key := int64(unmixWord(place))
			if row == 0 {
				key = 0 // so that others are what they are above the least
			}
			data[0].Ints = append(data[0].Ints, key)
			data[1].Ints = append(data[1].Ints, r.Int64N(1<<31)-1<<30)
		}
		schema := &tables.Schema{Database: "test", Name: "t", Columns: []tables.ColumnDef{{Name: "k", Type: types.Int64}, {Name: "v", Type: types.Int64}}}
		builder := tables.NewBuilder(tables.New(schema))
		if err := builder.AppendColumns(len(data[0].Ints), data); err != nil {
			t.Fatal(err)
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		g := enginetest.NewGen(r, 0)
		scan := &physical.TableScan{Table: v, Alias: "t"}
		for at, d := range schema.Columns {
			scan.Cols, scan.Ordinals = append(scan.Cols, g.Alloc.New("t", d.Name, d.Type, false)), append(scan.Ordinals, at)
		}
		key := g.Alloc.Like(scan.Cols[0])
		agg := &physical.Aggregate{EstGroups: 13_000, Groups: []logical.Item{{Col: key, Expr: scan.Cols[0]}}}
		out := []*expr.Column{key}
		for _, name := range []string{"sum", "count(*)", "min", "max"} {
			args := []*expr.Column{scan.Cols[1]}
			if name == "count(*)" {
				args = nil
			}
			it := g.Agg(name, false, args...)
			agg.Aggs = append(agg.Aggs, it)
			out = append(out, it.Col)
		}
		g.Pipe(scan, agg)
		plan := g.Result(g.Read(agg, out), out)
		if kernels := b.program(plan).kernels[plan.Pipelines[0]].all(); len(kernels) != partitionPasses+1 || strings.Contains(kernels[partitionPasses].text, "PlacedPart") != (seed == 0) {
			t.Errorf("%d passes: %d kernels, the first\n%s", partitionPasses, len(kernels), kernels[0].text)
		}
		enginetest.Check(t, b, enginetest.Case{Name: fmt.Sprintf("a full part in %d passes", partitionPasses)}, plan, seed)
	}
	if b.onHost > 0 || len(b.refused) > 0 {
		t.Errorf("%d plans ended on the CPU; refused: %v", b.onHost, b.refused)
	}
}

// TestPlacedTable: a table has no more bytes than it was given, and uses nearly all of them.
func TestPlacedTable(t *testing.T) {
	for _, tag := range []int64{4, 8} {
		for words := int64(1); words <= 12; words++ {
			for bytes := int64(8 << 10); bytes <= 256<<10; bytes += 1 << 10 {
				x := newPlacedTable(tag, words, bytes)
				if x.bytes() > bytes || x.bytes() < bytes*3/4 || x.slots() >= 0xffff || x.searched < 4 {
					t.Fatalf("tags of %d bytes, %d words, %d bytes: %d bytes, %+v", tag, words, bytes, x.bytes(), *x)
				}
			}
		}
	}
}

// unmixWord is unmix_word of hash.cuh: the key of a place.
func unmixWord(x uint32) uint32 {
	h := ^x
	h = (h ^ h>>16) * 0x7ed1b41d
	h = (h ^ h>>13 ^ h>>26) * 0xa5cb9243
	return ^(h ^ h>>16)
}
