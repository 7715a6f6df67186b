package hashlab

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// Keys are keys of one length, one behind the other.
type Keys struct {
	Name  string
	Bytes int
	Count int
	Data  []byte

	different int // keys; 0: not counted yet
}

// makeKeys fills keys. The n-th is what put writes.
func makeKeys(name string, bytes, count int, put func(to []byte, n int)) *Keys {
	k := &Keys{Name: name, Bytes: bytes, Count: count, Data: make([]byte, bytes*count)}
	for n := range count {
		put(k.at(n), n)
	}
	return k
}

func (k *Keys) at(n int) []byte { return k.Data[n*k.Bytes : (n+1)*k.Bytes] }

// padded has the keys stride bytes apart, with zeros behind each.
func (k *Keys) padded(stride int) []byte {
	if stride == k.Bytes {
		return k.Data
	}
	out := make([]byte, stride*k.Count)
	for n := range k.Count {
		copy(out[n*stride:], k.at(n))
	}
	return out
}

// distinct is how many different keys there are. They are counted once.
func (k *Keys) distinct() int {
	if k.different > 0 {
		return k.different
	}
	seen := make(map[string]struct{}, k.Count)
	for n := range k.Count {
		seen[string(k.at(n))] = struct{}{}
	}
	k.different = len(seen)
	return k.different
}

// Normal are keys of chunks that are drawn from a normal distribution around 2^31 with a standard deviation of a tenth of 2^32.
func Normal(chunks, count int) *Keys {
	rng := rand.New(rand.NewPCG(uint64(chunks), 0x4E6F))
	return makeKeys(fmt.Sprintf("normal, %d", chunks), 4*chunks, count, func(to []byte, _ int) {
		for i := range chunks {
			x := min(max(0.5+0.1*rng.NormFloat64(), 0), 1)
			binary.LittleEndian.PutUint32(to[4*i:], uint32(x*math.MaxUint32))
		}
	})
}

// Sets are keys as tables have them, all different.
func Sets(count int) []*Keys {
	low, order := binary.LittleEndian.PutUint32, binary.LittleEndian
	return []*Keys{
		makeKeys("dense", 4, count, func(to []byte, n int) { low(to, uint32(n)) }),
		makeKeys("step 4096", 4, count, func(to []byte, n int) { low(to, uint32(n)<<12|uint32(n)>>20) }),
		makeKeys("random", 4, count, func(to []byte, n int) { low(to, scramble32(uint32(n))) }),
		makeKeys("dense, 64 bits", 8, count, func(to []byte, n int) { order.PutUint64(to, uint64(n)) }),
		makeKeys("random, 64 bits", 8, count, func(to []byte, n int) { order.PutUint64(to, scramble64(uint64(n))) }),
		makeKeys("doubles", 8, count, func(to []byte, n int) { order.PutUint64(to, math.Float64bits(float64(n))) }),
		makeKeys("two of 32 bits", 8, count, func(to []byte, n int) {
			low(to, uint32(n)&1023)
			low(to[4:], uint32(n)>>10)
		}),
		makeKeys("two of 64 bits", 16, count, func(to []byte, n int) {
			order.PutUint64(to, uint64(n)&1023)
			order.PutUint64(to[8:], uint64(n)>>10)
		}),
		makeKeys("strings of 16", 16, count, func(to []byte, n int) { copy(to, fmt.Sprintf("part-%011d", n)) }),
	}
}

// Random are keys of any length, whose words no pattern connects.
func Random(bytes, count int) *Keys {
	return makeKeys("random", bytes, count, func(to []byte, n int) {
		for i := 0; i < bytes; i += 8 {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], scramble64(uint64(n)<<8|uint64(i/8)))
			copy(to[i:], word[:])
		}
	})
}

// made are the keys that madeKernel makes, from the first to one before the last.
func made(bytes, first, last int) []byte {
	out := make([]byte, 0, bytes*(last-first)+4)
	for n := first; n < last; n++ {
		for i := range wordsOf(bytes) {
			out = binary.LittleEndian.AppendUint32(out, uint32(n)*uint32(madeFactor+2*i))
		}
		out = out[:bytes*(n-first+1)]
	}
	return out
}

// scramble32 and scramble64 are bijections that draw keys. Their constants are not those of a function that is judged with the keys: Wellons 2018, and Steele, Lea and Flood 2014.
func scramble32(x uint32) uint32 {
	x = (x ^ x>>16) * 0x21f0aaad
	x = (x ^ x>>15) * 0xd35a2d97
	return x ^ x>>15
}

func scramble64(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
