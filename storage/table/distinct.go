package table

import (
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Sketches of row groups read every row of a column, unless codes tell before that there are no more values. Of a large table rows are drawn at random instead. How
// often they came tells how many values there are: by chance alone, where that fits, or by Duj2a (Haas and Stokes, "Estimating the number of classes in a finite
// population", 1998). Both are off by some percents of values that are about as frequent, and by half where frequencies differ much.
const (
	drawnFrom  = 1 << 20 // rows from which on they are drawn
	drawnShare = 128     // one of so many,
	leastDrawn = 1 << 17 // but so many at least
	mostDrawn  = 1 << 18 // and at the most

	drawnStretch  = 1 << 13 // rows that one goroutine looks up
	drawnPartBits = 4       // values are counted in 2^4 parts, by the beginning of their hashes
	drawnParts    = 1 << drawnPartBits
)

// draws says whether distinct values are estimated from rows drawn at random: sketches would have to read all rows, or hash the strings of many codes in each row group.
func (v *Version) draws(ordinal int) bool {
	if v.rows < drawnFrom {
		return false
	}
	isString := v.Schema.Columns[ordinal].Type.Phys() == types.PhysString
	for _, g := range v.Groups() {
		c := g.Columns[ordinal]
		if hasCodes := c.U8 != nil || c.U16 != nil && !isString; !hasCodes && c.NullCount < c.Rows && (c.Min.Null || types.Compare(c.Min, c.Max) != 0) {
			return true
		}
	}
	return false
}

// drawn estimates how many distinct values there are among so many that are not NULL.
func (v *Version) drawn(ordinal int, s *ColumnStats, values float64) float64 {
	parts := v.draw(ordinal, s.Dict != nil)
	counts := make([]drawnCounts, drawnParts)
	forAll(drawnParts, func(i int) { counts[i] = countDrawn(parts, i) })
	all := drawnCounts{}
	for _, c := range counts {
		all.add(c)
	}
	inOrder := !slices.ContainsFunc(v.Groups(), func(g *RowGroup) bool { return !g.Columns[ordinal].Sorted })
	return all.estimate(values, inOrder)
}

// drawnCounts says how often values were drawn. Frequent ones, of which none is missed, are apart.
type drawnCounts struct {
	rows, different, once, pairs float64 // pairs: of rows with the same value, the order counting
	often, oftenRows             float64
}

// drawnOften is how often a value has to be drawn to be a frequent one: as in the source.
const drawnOften = 50

func (c *drawnCounts) add(o drawnCounts) {
	c.rows += o.rows
	c.different += o.different
	c.once += o.once
	c.pairs += o.pairs
	c.often += o.often
	c.oftenRows += o.oftenRows
}

// evenly is up to what squared coefficient of variation values count as being as frequent as each other.
const evenly = 0.5

// estimate returns how many different values a column has of which these were drawn. inOrder says that equal values lie together.
func (c *drawnCounts) estimate(values float64, inOrder bool) float64 {
	if c.rows == 0 {
		return max(c.often, 1)
	}
	values *= c.rows / (c.rows + c.oftenRows)
	share := min(c.rows/values, 1)
	if share == 1 {
		return c.often + c.different
	}
	if !inOrder {
		if c.different == c.rows {
			return c.often + values
		}
		if likely := equallyLikely(c.rows, c.different); c.pairs*likely/(c.rows*c.rows)-1 < evenly {
			return c.often - likely*math.Expm1(-values/likely) // those that some row has
		}
	}
	scale := 1 / (1 - (1-share)*c.once/c.rows)
	first := c.different * scale
	skew := max(first/(c.rows*c.rows)*c.pairs+first/values-1, 0) // the squared coefficient of variation of the values' frequencies
	return c.often + scale*(c.different-c.once*(1-share)*math.Log(1-share)*skew/share)
}

// equallyLikely returns of how many values, one as likely as the other, so many rows have so many different ones: fewer than rows.
func equallyLikely(rows, different float64) float64 {
	low, high := 0.0, rows // rows for each value
	for range 60 {
		per := (low + high) / 2
		if -math.Expm1(-per)/per > different/rows {
			low = per
		} else {
			high = per
		}
	}
	return rows / high
}

// draw returns the hashes of values of rows drawn at random, at positions that follow from the table's size alone: by the stretch of rows that they were drawn from, and the
// part that they are counted in.
func (v *Version) draw(ordinal int, byCode bool) [][drawnParts][]uint64 {
	span := v.Span()
	rows := min(max(span/drawnShare, leastDrawn), mostDrawn)
	parts := make([][drawnParts][]uint64, (rows+drawnStretch-1)/drawnStretch)
	gap := math.Log1p(-float64(rows) / float64(span))
	forAll(len(parts), func(i int) {
		random := rand.New(rand.NewPCG(uint64(span), uint64(ordinal)<<32|uint64(i)))
		n := int64(len(parts))
		first, end := int64(i)*span/n, int64(i+1)*span/n
		stretch := make([]int64, 0, drawnStretch*5/4)
		for row := first; ; row++ { // each row is drawn with the same probability: how many are left out is distributed geometrically
			if row += int64(math.Log1p(-random.Float64()) / gap); row >= end {
				break
			}
			stretch = append(stretch, row)
		}
		if len(stretch) == 0 {
			return
		}
		own := &parts[i]
		for p := range own {
			own[p] = make([]uint64, 0, len(stretch)/drawnParts*5/4)
		}
		v.eachAt(ordinal, stretch, func(g *RowGroup, offset int) {
			h := g.Columns[ordinal].HashAt(offset, byCode)
			p := h >> (64 - drawnPartBits)
			own[p] = append(own[p], h)
		})
	})
	return parts
}

// countDrawn counts how often each of a part's hashes is there.
func countDrawn(parts [][drawnParts][]uint64, part int) (c drawnCounts) {
	n := 0
	for i := range parts {
		n += len(parts[i][part])
	}
	size := 16
	for size < 2*n {
		size *= 2
	}
	slots, times := make([]uint64, size), make([]uint32, size)
	for i := range parts {
		for _, h := range parts[i][part] {
			h = max(h, 1) // 0 is an empty slot
			at := h & uint64(size-1)
			for slots[at] != 0 && slots[at] != h {
				at = (at + 1) & uint64(size-1)
			}
			slots[at] = h
			times[at]++
		}
	}
	for _, t := range times {
		switch n := float64(t); {
		case t == 0:
		case t > drawnOften:
			c.often++
			c.oftenRows += n
		default:
			c.rows += n
			c.different++
			c.pairs += n * (n - 1)
			if t == 1 {
				c.once++
			}
		}
	}
	return c
}

// forAll runs f for 0..n-1 on all processors.
func forAll(n int, f func(i int)) {
	var work errgroup.Group
	work.SetLimit(maxParallel())
	for i := range n {
		work.Go(func() error {
			return sqlerr.Guard(func() error {
				f(i)
				return nil
			})
		})
	}
	if err := work.Wait(); err != nil {
		panic(err) // a bug, which is reported by the guard of the statement that waits here
	}
}
