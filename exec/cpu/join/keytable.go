package join

import (
	"math"
	"math/bits"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/keyhash"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/sql/types"
)

// keyTable finds the group of build rows that have a probe row's key.
type keyTable interface {
	// find returns the positions of sel (nil: all n) whose keys are in the table, ascending, and the group of each. The
	// slices lie in f's memory.
	find(f *finder, keys []*column.Vector, sel []int32, n int) (pos, groups []int32)
}

// finder is the memory of one worker's lookups.
type finder struct {
	pos, groups []int32
	misses      bool // the last rows that were looked up had some without a match
	keys        []uint64
	slots       []uint32
	ok          []bool
	strings     []string
	short       []shortKey
	hasher      keyhash.Hasher
	flat        vec.Flattener
	codes       map[*column.Dictionary][]int32 // probe's dictionary: build's code by code, or -1
}

func (f *finder) reserve(n int) {
	if cap(f.pos) < n {
		f.pos, f.groups, f.keys, f.slots = make([]int32, n), make([]int32, n), make([]uint64, n), make([]uint32, n)
	}
	f.pos, f.groups, f.keys, f.slots = f.pos[:n], f.groups[:n], f.keys[:n], f.slots[:n]
}

// keyPart is how a part of a key becomes a digit of a mixed-radix number.
type keyPart struct {
	min    int64
	span   uint64 // greatest digit
	stride uint64
	null   bool               // digit 0 is NULL, the others are shifted by one
	dict   *column.Dictionary // the digit is a code
}

// packing maps keys of integers and dictionary codes to one number below limit.
type packing struct {
	parts []keyPart
	last  uint64 // the greatest number
}

// pack finds the packing of the build's keys; ok is false if a part is no integer, or the numbers need more than 64 bits.
func (b *Build) pack() (p packing, ok bool, err error) {
	size := uint64(1) // numbers so far, 0: 2^64
	for i, v := range b.keys {
		k := keyPart{stride: size}
		k.null = b.nullSafe(i)
		switch {
		case v.Dict != nil:
			k.dict = v.Dict
			k.span = uint64(max(1, v.Dict.Len())) - 1
		case v.Type.Phys() == types.PhysInt64 || v.Type.Phys() == types.PhysUint64:
			lo, hi, any, err := vec.IntRange(b.q, v, b.N)
			if err != nil {
				return p, false, err
			}
			if any {
				k.min, k.span = lo, uint64(hi)-uint64(lo)
			}
		default:
			return p, false, nil
		}
		if k.null {
			if k.span == math.MaxUint64 {
				return p, false, nil
			}
			k.span++
		}
		if size == 0 {
			return p, false, nil
		}
		if k.span == math.MaxUint64 {
			if size != 1 {
				return p, false, nil
			}
			size = 0
		} else {
			hi, lo := bits.Mul64(size, k.span+1)
			if hi != 0 {
				return p, false, nil
			}
			size = lo
		}
		p.parts = append(p.parts, k)
	}
	p.last = size - 1
	return p, true, nil
}

// numbers stores the number of each of the rows from .. from+len(out)-1, or of rows[from:], in out. They are all in range.
func (p *packing) numbers(out []uint64, keys []*column.Vector, rows []int32, from int) {
	for i := range p.parts {
		k, v := &p.parts[i], keys[i]
		if rows == nil && !k.null && v.Dict == nil && i == 0 {
			min := uint64(k.min)
			for j, x := range v.I64[from : from+len(out)] {
				out[j] = uint64(x) - min // the first part's stride is 1
			}
			continue
		}
		shift := uint64(0)
		if k.null {
			shift = 1
		}
		for j := range out {
			r := from + j
			if rows != nil {
				r = int(rows[r])
			}
			if i == 0 {
				out[j] = 0
			}
			if k.null && v.IsNull(r) {
				continue
			}
			d := shift
			if v.Dict != nil {
				d += uint64(v.Codes[r])
			} else {
				d += uint64(v.I64[r]) - uint64(k.min)
			}
			out[j] += d * k.stride
		}
	}
}

// probe stores in f.keys the numbers of the probe rows at sel that can be in the table, and in f.pos their positions.
func (p *packing) probe(f *finder, keys []*column.Vector, sel []int32, n int) int {
	if sel == nil {
		sel = vec.Ascending(n)
	}
	f.reserve(max(len(sel), 1))
	m := 0
	for i := range p.parts {
		k := &p.parts[i]
		v := f.flat.Flatten(i, keys[i], sel, n)
		if i > 0 {
			sel = f.pos[:m]
		}
		if len(sel) == 0 {
			return 0
		}
		m = k.digits(f, v, sel, i == 0)
	}
	return m
}

// isPlain says whether the numbers of a first part are its values less the least one.
func (k *keyPart) isPlain(v *column.Vector) bool {
	return k.dict == nil && !k.null && v.Valid == nil && k.stride == 1
}

// digits adds one part's digit to the numbers in f.keys (or starts them, for the first part) and drops the positions
// whose value is not in the part's range.
func (k *keyPart) digits(f *finder, v *column.Vector, sel []int32, first bool) int {
	pos, keys := f.pos, f.keys
	if first && k.isPlain(v) {
		m := 0
		x, min, span := v.I64, uint64(k.min), k.span
		for _, p := range sel {
			d := uint64(x[p]) - min
			pos[m], keys[m] = p, d
			if d <= span {
				m++
			}
		}
		return m
	}
	shift, limit := uint64(0), k.span
	if k.null {
		shift = 1
		limit--
	}
	var codes []int32
	if k.dict != nil {
		codes = k.translation(f, v)
	}
	m := 0
	for j, p := range sel {
		d := uint64(0)
		if v.Valid != nil && !v.Valid.Get(int(p)) {
			if !k.null {
				continue
			}
		} else {
			switch {
			case k.dict == nil:
				d = uint64(v.I64[p]) - uint64(k.min)
				if d > limit {
					continue
				}
			case v.Dict == k.dict:
				d = uint64(v.Codes[p])
				if d > limit {
					continue
				}
			case v.Dict != nil:
				c := codes[v.Codes[p]]
				if c < 0 {
					continue
				}
				d = uint64(c)
			default:
				c, ok := k.code(v.Str[p])
				if !ok {
					continue
				}
				d = uint64(c)
			}
			d += shift
		}
		number := d * k.stride
		if !first {
			number += keys[j]
		}
		pos[m], keys[m] = p, number
		m++
	}
	return m
}

// translation maps the codes of v's dictionary to those of the build's.
func (k *keyPart) translation(f *finder, v *column.Vector) []int32 {
	if v.Dict == nil || v.Dict == k.dict {
		return nil
	}
	codes := f.codes[v.Dict]
	values := v.Dict.Values()
	for _, s := range values[len(codes):] {
		c, ok := k.dict.Lookup(s)
		if !ok || uint64(c) > k.greatestCode() {
			codes = append(codes, -1)
		} else {
			codes = append(codes, int32(c))
		}
	}
	if f.codes == nil {
		f.codes = map[*column.Dictionary][]int32{}
	}
	f.codes[v.Dict] = codes
	return codes
}

// greatestCode bounds the codes that the build can have; its dictionary may have grown since.
func (k *keyPart) greatestCode() uint64 {
	if k.null {
		return k.span - 1
	}
	return k.span
}

func (k *keyPart) code(s string) (int32, bool) {
	c, ok := k.dict.Lookup(s)
	return int32(c), ok && uint64(c) <= k.greatestCode()
}
