package encoding

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
)

// How the distinct strings of a row group are found: a sample says whether that is worth a try, then each string gets the code of its first
// appearance.

// A row group's sample are sampleRuns runs of neighbouring rows, sampleRun rows each, so that it shows strings that come one after the other
// as well as those that come anywhere. Their positions are drawn, as strings may recur at equal distances, but the same for all groups of a size.
const (
	sampleRuns = 64
	sampleRun  = 64
	sampleSeed = 1
)

// rowString returns a function that gives the string of a row.
func (d *Data) rowString() func(row int) string {
	if d.Offsets == nil {
		return func(i int) string { return d.Strings[i] }
	}
	c := Chunk{Offsets: d.Offsets, Bytes: d.Bytes}
	return c.rawString
}

// isMostlyDistinct says whether a sample of a large group's strings has as few repetitions as if there were as many strings as rows. Then some
// 63% of the rows are expected to be distinct, which is too many for a dictionary.
func (d *Data) isMostlyDistinct() bool {
	if d.Rows < 8*sampleRuns*sampleRun {
		return false
	}
	at, rows := d.rowString(), 0
	draw := rand.New(rand.NewPCG(sampleSeed, 0))
	seen, sampled := stringCodes{}, make(map[int]bool, sampleRuns)
	for range sampleRuns {
		run := draw.IntN(d.Rows / sampleRun)
		if sampled[run] {
			continue
		}
		sampled[run] = true
		from := run * sampleRun
		for i := from; i < from+sampleRun; i++ {
			if d.Valid == nil || d.Valid.Get(i) {
				seen.code(at(i))
				rows++
			}
		}
	}
	if rows < sampleRuns*sampleRun/2 {
		return false // the rows that are not NULL may be few
	}
	all := float64(d.Rows)
	return float64(len(seen.values)) >= -all*math.Expm1(-float64(rows)/all)
}

// collectStrings fills local and codes from strings, if there are at most limit distinct ones.
func (p *Pending) collectStrings(limit int) {
	d := &p.data
	at := d.rowString()
	seen, codes := stringCodes{values: []string{}}, make([]uint32, d.Rows)
	last, code := "", uint32(0)
	for i := range codes {
		if d.Valid != nil && !d.Valid.Get(i) {
			continue
		}
		if s := at(i); s != last || len(seen.values) == 0 {
			last, code = s, seen.code(s)
			if len(seen.values) > limit {
				return
			}
		}
		codes[i] = code
	}
	p.local, p.codes = seen.values, codes
}

// stringCodes gives strings the codes 0, 1, 2, ... in the order of their first appearance.
type stringCodes struct {
	values []string // by code
	slots  []uint64 // a hash and a code + 1, each half of the word; 0: free. At most two thirds are taken.
}

var stringSeed = maphash.MakeSeed()

// code returns the code of s.
func (c *stringCodes) code(s string) uint32 {
	if 3*len(c.values) >= 2*len(c.slots) {
		c.grow()
	}
	hash, mask := uint32(maphash.String(stringSeed, s)), uint32(len(c.slots)-1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := c.slots[at]
		if slot == 0 {
			c.values = append(c.values, s)
			c.slots[at] = uint64(hash)<<32 | uint64(len(c.values))
			return uint32(len(c.values) - 1)
		}
		if uint32(slot>>32) == hash && c.values[uint32(slot)-1] == s {
			return uint32(slot) - 1
		}
	}
}

func (c *stringCodes) grow() {
	old := c.slots
	c.slots = make([]uint64, max(256, 4*len(old)))
	mask := uint32(len(c.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := uint32(slot>>32) & mask
		for c.slots[at] != 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = slot
	}
}
