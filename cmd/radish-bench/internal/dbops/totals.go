package dbops

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
	"github.com/radish-sql/radish/sql/types"
)

// dbopsTotals are what the questions' answers follow from. They are added up while the rows are made, without the engine.
type dbopsTotals struct {
	data *dbopsData
	mu   sync.Mutex // of what is neither a slice nor said to be atomic

	// Of g. Sums of v3 are in millionths.
	v1, v3 int64
	pairs  [dbopsFew * dbopsFew]int64 // rows of (id1, id2)
	byID4  [dbopsFew]struct{ rows, v1, v2, v3 int64 }
	byID45 [dbopsFew * dbopsFew]moments
	byID3  []id3Group
	byID6  []id6Group

	// Of x. Sums of v1 are in millionths.
	xv1    int64
	id6    []uint64 // those that occur
	odd    []uint64 // values of v1 that occur an odd number of times
	joined [3]struct{ rows, v1, v2 int64 }
}

// id3Group is a value of id3. Its fields are atomic.
type id3Group struct {
	rows, v3 int64
	values   uint32 // bit v - 1: v1 = v; bit 15 + v: v2 = v
}

// id6Group is a value of id6. Its fields are atomic.
type id6Group struct {
	top      uint64 // the two largest v3 in millionths, each plus 1, the second in the low half; 0: none
	rows, v1 int64
	tenth    int64 // rows with id4 <= 10
}

// moments add up v3 less its mean in the whole.
type moments struct {
	rows       int64
	sum, power float64
}

func newDBOpsTotals(d *dbopsData) *dbopsTotals {
	groups := dbopsGroups(d.rows)
	return &dbopsTotals{
		data: d, byID3: make([]id3Group, groups), byID6: make([]id6Group, groups),
		id6: make([]uint64, d.rows*11/10/64+1), odd: make([]uint64, dbopsMicros/64+1),
	}
}

// addG adds a row group of g.
func (t *dbopsTotals) addG(numbers [][]int64) {
	type part struct {
		pairs  [dbopsFew * dbopsFew]int64
		byID4  [dbopsFew]struct{ rows, v1, v2, v3 int64 }
		byID45 [dbopsFew * dbopsFew]moments
	}
	p := new(part)
	var sum1, sum3 int64
	for i, v3 := range numbers[gV3] {
		v1, v2, id4 := numbers[gV1][i], numbers[gV2][i], numbers[gID4][i]
		sum1 += v1
		sum3 += v3
		p.pairs[numbers[gID1][i]*dbopsFew+numbers[gID2][i]]++
		of4 := &p.byID4[id4-1]
		of4.rows, of4.v1, of4.v2, of4.v3 = of4.rows+1, of4.v1+v1, of4.v2+v2, of4.v3+v3
		p.byID45[(id4-1)*dbopsFew+numbers[gID5][i]-1].add(float64(v3-dbopsMicros/2) / drawn.Micro)
		t.byID3[numbers[gID3][i]-1].add(v1, v2, v3)
		t.byID6[numbers[gID6][i]-1].add(id4, v1, v3)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.v1, t.v3 = t.v1+sum1, t.v3+sum3
	for i, n := range p.pairs {
		t.pairs[i] += n
		m, of := &p.byID45[i], &t.byID45[i]
		of.rows, of.sum, of.power = of.rows+m.rows, of.sum+m.sum, of.power+m.power
	}
	for i, g := range p.byID4 {
		of := &t.byID4[i]
		of.rows, of.v1, of.v2, of.v3 = of.rows+g.rows, of.v1+g.v1, of.v2+g.v2, of.v3+g.v3
	}
}

func (m *moments) add(x float64) {
	m.rows++
	m.sum += x
	m.power += x * x
}

// deviation is the standard deviation of the sample; false if there is none, of fewer than two rows.
func (m *moments) deviation() (float64, bool) {
	if m.rows < 2 {
		return 0, false
	}
	n := float64(m.rows)
	return math.Sqrt((m.power - m.sum*m.sum/n) / (n - 1)), true
}

func (g *id3Group) add(v1, v2, v3 int64) {
	atomic.AddInt64(&g.rows, 1)
	atomic.AddInt64(&g.v3, v3)
	if b := uint32(1<<(v1-1) | 1<<(15+v2)); atomic.LoadUint32(&g.values)&b != b {
		atomic.OrUint32(&g.values, b)
	}
}

// spread is the largest v1 less the least v2.
func (g *id3Group) spread() int64 {
	return int64(bits.Len32(g.values&0xFFFF)) - int64(bits.TrailingZeros32(g.values>>15))
}

func (g *id6Group) add(id4, v1, v3 int64) {
	atomic.AddInt64(&g.rows, 1)
	atomic.AddInt64(&g.v1, v1)
	if id4 <= 10 {
		atomic.AddInt64(&g.tenth, 1)
	}
	v := uint64(v3) + 1
	for {
		top := atomic.LoadUint64(&g.top)
		first, second := top>>32, top&math.MaxUint32
		switch {
		case v > first:
			first, second = v, first
		case v > second:
			second = v
		default:
			return
		}
		if atomic.CompareAndSwapUint64(&g.top, top, first<<32|second) {
			return
		}
	}
}

// topTwo returns how many of the two largest v3 there are, and their sum.
func (g *id6Group) topTwo() (rows, sum int64) {
	for _, v := range []uint64{g.top >> 32, g.top & math.MaxUint32} {
		if v > 0 {
			rows, sum = rows+1, sum+int64(v)-1
		}
	}
	return rows, sum
}

// addX adds a row group of x.
func (t *dbopsTotals) addX(numbers [][]int64) {
	var sum int64
	var joined [3]struct{ rows, v1, v2 int64 }
	for i, v1 := range numbers[xV1] {
		sum += v1
		drawn.Mark(t.id6, numbers[xID3][i])
		flip(t.odd, v1)
		for c := range joined { // small by id1, medium by id2, big by id3
			of := &t.data.joined[c]
			if key := numbers[xID1+c][i]; key <= of.rows {
				j := &joined[c]
				j.rows, j.v1, j.v2 = j.rows+1, j.v1+v1, j.v2+of.value(c, key)
			}
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.xv1 += sum
	for c, j := range joined {
		of := &t.joined[c]
		of.rows, of.v1, of.v2 = of.rows+j.rows, of.v1+j.v1, of.v2+j.v2
	}
}

// flip turns a bit of a set over. Several calls may run at the same time.
func flip(set []uint64, i int64) {
	for w := &set[i>>6]; ; {
		if old := atomic.LoadUint64(w); atomic.CompareAndSwapUint64(w, old, old^1<<(i&63)) {
			return
		}
	}
}

// secondsByValue is the sum of every second v1 of x in ascending order, in millionths. A value that occurs an even number of times gives half of its rows. Of the
// others, each in turn gives half of them rounded down, then up.
func (t *dbopsTotals) secondsByValue() int64 {
	sum, sign := t.xv1, int64(-1)
	for i, w := range t.odd {
		for ; w != 0; w &= w - 1 {
			sum += sign * int64(i*64+bits.TrailingZeros64(w))
			sign = -sign
		}
	}
	return sum / 2
}

// textOrderRows is the most rows whose order by text is computed.
const textOrderRows = 1 << 24

// secondsByText is the sum of every second v1 of x in ascending order of id6 and v1, in millionths; false if there are too many rows. It draws the rows anew and
// sorts them: an id's digits from the left, then their number, then v1.
func (t *dbopsTotals) secondsByText() (int64, bool) {
	if t.data.rows > textOrderRows {
		return 0, false
	}
	const digits, lengthBits, valueBits = 8, 4, 27 // 1.1 times textOrderRows; digits; dbopsMicros
	keys := make([]uint64, t.data.rows)
	id3, v1 := t.data.x.Columns[xID3].Draw, t.data.x.Columns[xV1].Draw
	for i := range keys {
		n, length := uint64(id3(int64(i))), uint64(digits)
		for ; n < 10_000_000; n *= 10 {
			length--
		}
		keys[i] = (n<<lengthBits|length)<<valueBits | uint64(v1(int64(i)))
	}
	slices.Sort(keys)
	sum := int64(0)
	for i := 1; i < len(keys); i += 2 {
		sum += int64(keys[i] & (1<<valueBits - 1))
	}
	return sum, true
}

// total is what a column of a question's row has to be.
type total struct {
	value *big.Rat // nil: not known
	exact bool     // else to answers.CloseEnough
}

func exactly(n int64) total { return total{new(big.Rat).SetInt64(n), true} }

// millionths is the total of doubles that are millionths.
func millionths(n int64) total { return total{big.NewRat(n, drawn.Micro), false} }

func about(f float64) total { return total{new(big.Rat).SetFloat64(f), false} }

// meets compares a question's one row with its totals.
func meets(rows [][]types.Value, want []total) error {
	if len(rows) != 1 || len(rows[0]) != len(want) {
		return fmt.Errorf("%d rows, not one of %d columns", len(rows), len(want))
	}
	for i, w := range want {
		if w.value == nil {
			continue
		}
		got, ok := new(big.Rat).SetString(rows[0][i].Text())
		if ok && got.Cmp(w.value) == 0 {
			continue
		}
		if ok && !w.exact {
			x, _ := got.Float64()
			y, _ := w.value.Float64()
			if math.Abs(x-y) <= answers.CloseEnough*max(math.Abs(x), math.Abs(y)) {
				continue
			}
		}
		return fmt.Errorf("column %d is %s, and the rows that were made give %s", i+1, rows[0][i].Text(), w.value.FloatString(6))
	}
	return nil
}
