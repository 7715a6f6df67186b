package hashlab

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Quality is how well hashes of a set of keys spread. Random hashes have as many collisions as are expected, a Gap near 1 / sqrt(keys), and Loads as Ideal says.
type Quality struct {
	Collisions int     // different keys less different hashes
	Expected   float64 // collisions of random hashes
	Gap        float64 // the largest distance between the share of hashes up to a value, and that value's share of all possible ones (Kolmogorov, Smirnov)
	Loads
}

// Loads is how evenly hashes fill what Radish's kernels have them for.
type Loads struct {
	Pass   float64 // the largest partition of the first pass of a radix partitioning, in means
	Passes float64 // the largest of two passes
	Search float64 // keys that finding one compares with, in chains of a table of twice as many slots or up to four times
}

// The bits of a hash that partitions take, as gpukernels/device/partition.cuh has them. A partition's table takes the bits below and above them for the slot, so that both together are the lowest
// bits of the hash, which is what one table of all keys takes. NearBits is that of package partition; a test compares both with the header.
const (
	NearBits      = 5
	partitionBits = 7
)

// Measure hashes keys and judges the hashes.
func Measure(ctx context.Context, p *Program, k *Keys) (q Quality, err error) {
	hashes, err := p.Hashes(ctx, k.Data, k.Count)
	if err != nil {
		return q, err
	}
	return judge(hashes, p.Width, k.distinct()), nil
}

// Ideal judges random hashes.
func Ideal(count, width int) Quality {
	hashes := make([]uint64, count)
	for i := range hashes {
		hashes[i] = scramble64(uint64(i)<<1|1) >> (64 - width)
	}
	return judge(hashes, width, count)
}

// judge takes the hashes of keys, of which so many are different. It sorts the hashes.
func judge(hashes []uint64, width, distinct int) (q Quality) {
	q.Loads = loadsOf(hashes)
	slices.Sort(hashes)
	n, whole := float64(len(hashes)), math.Exp2(float64(width))
	different := 0
	for i, h := range hashes {
		if i == 0 || h != hashes[i-1] {
			different++
		}
		at := float64(h) / whole
		q.Gap = max(q.Gap, math.Abs(float64(i)/n-at), math.Abs(float64(i+1)/n-at))
	}
	q.Collisions = distinct - different
	d := float64(distinct)
	q.Expected = d * d / 2 / whole
	return q
}

func loadsOf(hashes []uint64) (l Loads) {
	n := len(hashes)
	partition := func(h uint64, passes int) uint64 { return h >> NearBits & (1<<(passes*partitionBits) - 1) }
	largest := func(passes int) float64 {
		rows := make([]int, 1<<(passes*partitionBits))
		for _, h := range hashes {
			rows[partition(h, passes)]++
		}
		return float64(slices.Max(rows)) * float64(len(rows)) / float64(n)
	}
	l.Pass, l.Passes = largest(1), largest(2)
	slots := uint64(1) << bits.Len(uint(2*n-1))
	chains, compared := make([]uint32, slots), 0.0
	for _, h := range hashes {
		at := h & (slots - 1)
		chains[at]++
		compared += float64(chains[at])
	}
	l.Search = compared / float64(n)
	return l
}

// Neighbours is the mean distance of the hashes of keys whose last chunks differ by one, as a share of all possible hashes. The keys have one number below count in all their chunks. That of
// random hashes is a third.
func Neighbours(p *Program, count int) float64 {
	e := newEvaluator(p)
	one := func(more uint32) []uint64 {
		k := makeKeys("", p.Bytes, count, func(to []byte, n int) {
			for i := 0; i+4 <= len(to); i += 4 {
				binary.LittleEndian.PutUint32(to[i:], uint32(n))
			}
			binary.LittleEndian.PutUint32(to[len(to)-4:], uint32(n)+more)
		})
		out := make([]uint64, count)
		e.hash(out, k.Data)
		return out
	}
	x, y := one(0), one(1)
	sum := 0.0
	for i := range x {
		sum += float64(max(x[i], y[i]) - min(x[i], y[i]))
	}
	return sum / float64(count) / math.Exp2(float64(p.Width))
}

// Avalanche is what a bit of a key changes: in the mean over all its bits and those of the hash, and where it is furthest from a half. Shares of keys.
type Avalanche struct{ Mean, Worst float64 }

// AvalancheOf flips each bit of random keys.
func AvalancheOf(p *Program, count int) (a Avalanche) {
	e := newEvaluator(p)
	k := Random(p.Bytes, count)
	before, after := make([]uint64, count), make([]uint64, count)
	e.hash(before, k.Data)
	sum, furthest := 0, -1.0
	for bit := range 8 * p.Bytes {
		flip := func() {
			for n := range count {
				k.at(n)[bit/8] ^= 1 << (bit % 8)
			}
		}
		flip()
		e.hash(after, k.Data)
		flip()
		var changes [64]int
		for i := range before {
			for d := before[i] ^ after[i]; d != 0; d &= d - 1 {
				changes[bits.TrailingZeros64(d)]++
			}
		}
		for _, n := range changes[:p.Width] {
			sum += n
			share := float64(n) / float64(count)
			if off := math.Abs(share - 0.5); off > furthest {
				a.Worst, furthest = share, off
			}
		}
	}
	a.Mean = float64(sum) / float64(8*p.Bytes*p.Width*count)
	return a
}

// Shares are the shares of hashes up to each of so many equal steps of the range: a diagonal where they are spread evenly.
func Shares(ctx context.Context, p *Program, k *Keys, steps int) ([]float64, error) {
	hashes, err := p.Hashes(ctx, k.Data, k.Count)
	if err != nil {
		return nil, err
	}
	out := make([]float64, steps+1)
	for _, h := range hashes {
		at, _ := bits.Mul64(h<<(64-p.Width), uint64(steps))
		out[at+1]++
	}
	for i := range steps {
		out[i+1] += out[i]
	}
	for i := range out {
		out[i] /= float64(k.Count)
	}
	return out, nil
}
