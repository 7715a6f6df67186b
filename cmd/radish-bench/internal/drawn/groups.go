package drawn

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// keySpread says how the keys of a generated table are spread.
type keySpread uint8

const (
	uniformKeys keySpread = iota
	ZipfKeys              // key number i is drawn with a probability in proportion to 1/(i+1)
	RunKeys               // ascending, in runs of 1 to 7 rows, 4 on average
)

// GroupData describes a generated table of a key k and a value v: numbers from -10^9 to 10^9.
type GroupData struct {
	Rows   int64
	Groups int64 // keys that can occur
	Spread keySpread
	// Hashed keys are spread over so many bits, 32 or 64, so that no position in an array follows from them; 0: keys are numbers from 0 on.
	Hashed int
}

// GroupBuckets is the number of buckets by which results are checked: the low bits of the key.
const GroupBuckets = 256

// GroupTotals are what a table's groups have to add up to, in each bucket. They are computed while the rows are made.
type GroupTotals struct {
	rows, sum, groups     [GroupBuckets]int64
	leastSum, greatestSum [GroupBuckets]int64 // the sums of the groups' extremes, where extremes are known
	least, greatest       []int64             // by group; nil: too many
}

// extremeGroups is the most groups whose extremes are computed while rows are made.
const extremeGroups = 1 << 20

func newGroupTotals(d GroupData) *GroupTotals {
	t := &GroupTotals{}
	if d.Groups <= extremeGroups {
		t.least, t.greatest = make([]int64, d.Groups), make([]int64, d.Groups)
		for i := range t.least {
			t.least[i], t.greatest[i] = math.MaxInt64, math.MinInt64
		}
	}
	return t
}

func (t *GroupTotals) add(group, key, value int64) {
	b := key & (GroupBuckets - 1)
	t.rows[b]++
	t.sum[b] += value
	if t.least != nil {
		t.least[group] = min(t.least[group], value)
		t.greatest[group] = max(t.greatest[group], value)
	}
}

// merge adds another part's rows.
func (t *GroupTotals) merge(o *GroupTotals) {
	for b := range t.rows {
		t.rows[b] += o.rows[b]
		t.sum[b] += o.sum[b]
	}
	for i := range t.least {
		t.least[i] = min(t.least[i], o.least[i])
		t.greatest[i] = max(t.greatest[i], o.greatest[i])
	}
}

// groupValue is the value of row i.
func groupValue(i int64) int64 {
	const bound = 1_000_000_000
	return Below(SplitMix(uint64(i)*3+0x1234567), 2*bound+1) - bound
}

// Generator returns a function of a row's number that gives the number of its group.
func (d GroupData) Generator() func(i int64) int64 {
	word := func(i int64) uint64 { return SplitMix(uint64(i)*5 + 0xABCDEF) }
	switch d.Spread {
	case RunKeys:
		return func(i int64) int64 {
			run := i / 4
			if i&3 < int64(word(run)&3) && run > 0 {
				run--
			}
			return run
		}
	case ZipfKeys:
		a := NewAlias(int(d.Groups), func(i int) float64 { return 1 / float64(i+1) })
		step := Coprime(d.Groups)
		return func(i int64) int64 {
			w := word(i)
			// The frequent keys are not neighbours.
			return int64(a.Draw(w, SplitMix(w))) * step % d.Groups
		}
	}
	return func(i int64) int64 { return Below(word(i), d.Groups) }
}

// key is the key of a group.
func (d GroupData) key(group int64) int64 {
	switch d.Hashed {
	case 32:
		return int64(int32(Mix32(uint32(group))))
	case 64:
		return int64(SplitMix(uint64(group)))
	}
	return group
}

// Build makes the table, and its totals meanwhile.
func (d GroupData) Build(ctx context.Context, schema *table.Schema) (*table.Version, *GroupTotals, error) {
	group := d.Generator()
	seen := make([]uint64, (d.Groups+63)/64) // groups that have rows
	workers := runtime.GOMAXPROCS(0)
	totals := make(chan *GroupTotals, workers)
	for range workers {
		totals <- newGroupTotals(d)
	}
	v, err := fillTable(ctx, table.NewBuilder(table.New(schema)), d.Rows, func(first int64, n int) []encoding.Data {
		t := <-totals
		defer func() { totals <- t }()
		keys, values := make([]int64, n), make([]int64, n)
		for i := range n {
			g := group(first + int64(i))
			Mark(seen, g)
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
	for g := range d.Groups {
		if seen[g>>6]>>(g&63)&1 == 0 {
			continue
		}
		bucket := d.key(g) & (GroupBuckets - 1)
		all.groups[bucket]++
		if all.least != nil {
			all.leastSum[bucket] += all.least[g]
			all.greatestSum[bucket] += all.greatest[g]
		}
	}
	return v, all, nil
}

// Mark sets a bit of a set. Several calls may run at the same time.
func Mark(set []uint64, i int64) {
	if w, bit := &set[i>>6], uint64(1)<<(i&63); atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

// Schema is that of the generated table.
func (d GroupData) Schema(database, name string) *table.Schema {
	key := types.Int32
	if d.Hashed == 64 {
		key = types.Int64
	}
	return &table.Schema{Database: database, Name: name, Columns: []table.ColumnDef{{Name: "k", Type: key}, {Name: "v", Type: types.Int64}}}
}

// Verify compares the rows of a check query with the totals.
func (t *GroupTotals) Verify(rows [][]types.Value, hasExtremes bool) error {
	at := 0
	for b := range GroupBuckets {
		if t.rows[b] == 0 {
			continue
		}
		want := []int64{int64(b), t.groups[b], t.sum[b]}
		if hasExtremes {
			want = append(want, t.rows[b])
			if t.least != nil {
				want = append(want, t.leastSum[b], t.greatestSum[b])
			}
		}
		if at >= len(rows) {
			return fmt.Errorf("no row for bucket %d", b)
		}
		for i, w := range want {
			if got := rows[at][i].Text(); got != strconv.FormatInt(w, 10) {
				return fmt.Errorf("column %d of bucket %d is %s, want %d", i+1, b, got, w)
			}
		}
		at++
	}
	if at != len(rows) {
		return fmt.Errorf("%d rows, want %d", len(rows), at)
	}
	return nil
}
