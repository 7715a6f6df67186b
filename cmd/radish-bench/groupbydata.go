package main

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// keySpread says how the keys of a generated table are spread.
type keySpread uint8

const (
	uniformKeys keySpread = iota
	zipfKeys              // key number i is drawn with a probability in proportion to 1/(i+1)
	runKeys               // ascending, in runs of 1 to 7 rows, 4 on average
)

// groupData describes a generated table of a key k and a value v: numbers from -10^9 to 10^9.
type groupData struct {
	rows   int64
	groups int64 // keys that can occur
	spread keySpread
	// hashed keys are spread over so many bits, 32 or 64, so that no place follows from them; 0: keys are numbers from 0 on.
	hashed int
}

// groupBuckets is the number of buckets by which results are checked: the low bits of the key.
const groupBuckets = 256

// groupTotals are what a table's groups have to add up to, in each bucket. They are computed while the rows are made.
type groupTotals struct {
	rows, sum, groups     [groupBuckets]int64
	leastSum, greatestSum [groupBuckets]int64 // the sums of the groups' extremes, where extremes are known
	least, greatest       []int64             // by group; nil: too many
}

// extremeGroups is the most groups whose extremes are computed while rows are made.
const extremeGroups = 1 << 20

func newGroupTotals(d groupData) *groupTotals {
	t := &groupTotals{}
	if d.groups <= extremeGroups {
		t.least, t.greatest = make([]int64, d.groups), make([]int64, d.groups)
		for i := range t.least {
			t.least[i], t.greatest[i] = math.MaxInt64, math.MinInt64
		}
	}
	return t
}

func (t *groupTotals) add(group, key, value int64) {
	b := key & (groupBuckets - 1)
	t.rows[b]++
	t.sum[b] += value
	if t.least != nil {
		t.least[group] = min(t.least[group], value)
		t.greatest[group] = max(t.greatest[group], value)
	}
}

// merge adds another part's rows.
func (t *groupTotals) merge(o *groupTotals) {
	for b := range t.rows {
		t.rows[b] += o.rows[b]
		t.sum[b] += o.sum[b]
	}
	for i := range t.least {
		t.least[i] = min(t.least[i], o.least[i])
		t.greatest[i] = max(t.greatest[i], o.greatest[i])
	}
}

// splitMix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words.
func splitMix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// mix32 is the finalizer of MurmurHash3 (Appleby 2011): a bijection of 32-bit words.
func mix32(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85EBCA6B
	h = (h ^ h>>13) * 0xC2B2AE35
	return h ^ h>>16
}

// below maps a random word to 0..n-1 (Lemire 2019, without the correction).
func below(word uint64, n int64) int64 {
	hi, _ := bits.Mul64(word, uint64(n))
	return int64(hi)
}

// groupValue is the value of row i.
func groupValue(i int64) int64 {
	const bound = 1_000_000_000
	return below(splitMix(uint64(i)*3+0x1234567), 2*bound+1) - bound
}

// generator returns a function of a row's number that gives the number of its group.
func (d groupData) generator() func(i int64) int64 {
	word := func(i int64) uint64 { return splitMix(uint64(i)*5 + 0xABCDEF) }
	switch d.spread {
	case runKeys:
		return func(i int64) int64 {
			run := i / 4
			if i&3 < int64(word(run)&3) && run > 0 {
				run--
			}
			return run
		}
	case zipfKeys:
		a := newAlias(int(d.groups), func(i int) float64 { return 1 / float64(i+1) })
		step := coprime(d.groups)
		return func(i int64) int64 {
			w := word(i)
			// The frequent keys are not neighbours.
			return int64(a.draw(w, splitMix(w))) * step % d.groups
		}
	}
	return func(i int64) int64 { return below(word(i), d.groups) }
}

// key is the key of a group.
func (d groupData) key(group int64) int64 {
	switch d.hashed {
	case 32:
		return int64(int32(mix32(uint32(group))))
	case 64:
		return int64(splitMix(uint64(group)))
	}
	return group
}

// coprime returns a number without a common factor with n, and not far from 0.618 n.
func coprime(n int64) int64 {
	gcd := func(a, b int64) int64 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	c := max(int64(float64(n)*0.618033988749895), 1)
	for gcd(c, n) != 1 {
		c++
	}
	return c
}

// alias draws from a discrete distribution with one look at a table (Walker 1977; Vose 1991).
type alias struct {
	cut   []float64
	other []int32
}

func newAlias(n int, weight func(int) float64) *alias {
	a := &alias{make([]float64, n), make([]int32, n)}
	total := 0.0
	for i := range n {
		a.cut[i] = weight(i)
		total += a.cut[i]
	}
	var small, large []int32
	for i := range n {
		a.cut[i] *= float64(n) / total
		a.other[i] = int32(i)
		if a.cut[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.cut[l] -= 1 - a.cut[s]; a.cut[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return a
}

// draw uses two random words.
func (a *alias) draw(x, y uint64) int {
	i := int(below(x, int64(len(a.cut))))
	if float64(y>>11)/(1<<53) < a.cut[i] {
		return i
	}
	return int(a.other[i])
}

// build makes the table, and its totals meanwhile.
func (d groupData) build(ctx context.Context, schema *table.Schema) (*table.Version, *groupTotals, error) {
	group := d.generator()
	seen := make([]uint64, (d.groups+63)/64) // groups that have rows
	workers := runtime.GOMAXPROCS(0)
	totals := make(chan *groupTotals, workers)
	for range workers {
		totals <- newGroupTotals(d)
	}
	v, err := fillTable(ctx, table.NewBuilder(table.New(schema)), d.rows, func(first int64, n int) []encoding.Data {
		t := <-totals
		defer func() { totals <- t }()
		keys, values := make([]int64, n), make([]int64, n)
		for i := range n {
			g := group(first + int64(i))
			mark(seen, g)
			keys[i], values[i] = d.key(g), groupValue(first+int64(i))
			t.add(g, keys[i], values[i])
		}
		return []encoding.Data{{Ints: keys}, {Ints: values}}
	})
	if err != nil {
		return nil, nil, err
	}
	all := <-totals
	for range workers - 1 {
		all.merge(<-totals)
	}
	for g := range d.groups {
		if seen[g>>6]>>(g&63)&1 == 0 {
			continue
		}
		bucket := d.key(g) & (groupBuckets - 1)
		all.groups[bucket]++
		if all.least != nil {
			all.leastSum[bucket] += all.least[g]
			all.greatestSum[bucket] += all.greatest[g]
		}
	}
	return v, all, nil
}

// mark sets a bit of a set. Several calls may run at the same time.
func mark(set []uint64, i int64) {
	if w, bit := &set[i>>6], uint64(1)<<(i&63); atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

// schema is that of the generated table.
func (d groupData) schema(database, name string) *table.Schema {
	key := types.Int32
	if d.hashed == 64 {
		key = types.Int64
	}
	return &table.Schema{Database: database, Name: name, Columns: []table.ColumnDef{{Name: "k", Type: key}, {Name: "v", Type: types.Int64}}}
}

func (d groupData) String() string {
	text := fmt.Sprintf("%d keys", d.groups)
	switch d.spread {
	case zipfKeys:
		text += ", Zipf 1.0"
	case runKeys:
		text = "runs of four"
	}
	if d.hashed > 0 {
		text += fmt.Sprintf(", spread over %d bits", d.hashed)
	}
	return text
}
