package hashlab

import "fmt"

// The family: each 32 bits of the key, the chunks, are added to the hash, multiplied with it, or combined by exclusive or, with a shift or a rotation that follows
// from the chunks before. Its source has the forms for octets. Here, as there on a GPU, an octet is a chunk of 32 bits.

// combination is how a chunk comes to the hash.
type combination struct {
	name, about string
	first       uint64               // the hash before the first chunk
	multiplies  func(chunk int) bool // h = 1 + h * (1 + chunk), so that a chunk of zero does not end the hash
	plain       func(b *builder, h, x Value) Value
}

var combinations = []combination{
	{name: "add", about: "sum of the chunks", multiplies: func(int) bool { return false }, plain: (*builder).add},
	{name: "mult", about: "product", first: 1, multiplies: func(int) bool { return true }},
	{name: "xor", about: "exclusive or", multiplies: func(int) bool { return false }, plain: (*builder).xor},
	{name: "xor_mult", about: "product and exclusive or in turn", first: 1, multiplies: func(chunk int) bool { return chunk%2 == 0 }, plain: (*builder).xor},
}

// placing is what happens to a chunk before it is combined.
type placing uint8

const (
	asItIs  placing = iota
	shifted         // left, as far as the hash is wider than the chunk
	rotated         // by a funnel shift; the hash is reversed after each chunk
)

// family returns the functions: each combination in three forms, with one round over the chunks and with two.
func family() (out []*Function) {
	for _, rounds := range []int{1, 2} {
		for _, c := range combinations {
			for _, p := range []placing{asItIs, shifted, rotated} {
				name, about := c.name, c.about
				switch p {
				case shifted:
					name, about = name+"_shift", about+", shifted"
				case rotated:
					name, about = name+"_hw", about+", rotated and reversed"
				}
				if rounds > 1 {
					name, about = "n_"+name, fmt.Sprintf("%s; %d rounds", about, rounds)
				}
				out = append(out, &Function{Name: name, About: about, Widths: []int{32, 64}, write: func(b *builder, width int) Value {
					return c.chunks(b, width, p, rounds)
				}})
			}
		}
	}
	return out
}

// chunks writes a function. The offset by which chunks are moved adds them up. It and the hash go on from one round to the next; which chunks are multiplied begins
// anew. A shift comes after the chunk has been added to the offset, a rotation before. A hash of 32 bits is no wider than a chunk, so that the shifted forms are the plain ones there.
func (c *combination) chunks(b *builder, width int, p placing, rounds int) Value {
	h, offset := b.constant(width, c.first), b.constant(32, 0)
	if p == shifted && width == 32 {
		p = asItIs
	}
	for range rounds {
		for i, x := range b.words() {
			multiplies := c.multiplies(i)
			term := b.to(width, x)
			switch {
			case p == rotated && multiplies:
				term = b.to(width, b.rotateBy(b.plus(x, 1), offset))
			case p == rotated:
				term = b.to(width, b.rotateBy(x, offset))
			case multiplies:
				term = b.plus(term, 1)
			}
			if p != asItIs {
				offset = b.add(offset, x)
			}
			if p == shifted {
				term = b.shiftLeft(term, b.and(offset, b.constant(32, 64-32-1)))
			}
			if multiplies {
				h = b.plus(b.multiply(h, term), 1)
			} else {
				h = c.plain(b, h, term)
			}
			if p == rotated {
				h = b.reverse(h)
			}
		}
	}
	return h
}

// FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv): offset and prime by the width.
var (
	fnvOffset = map[int]uint64{32: 0x811C9DC5, 64: 0xCBF29CE484222325}
	fnvPrime  = map[int]uint64{32: 0x01000193, 64: 0x00000100000001B3}
)

// fnv returns FNV-1a of the key's bytes, as it is defined, and of its chunks, which takes a quarter of the steps.
func fnv() []*Function {
	chain := func(b *builder, width int, parts []Value) Value {
		h := b.constant(width, fnvOffset[width])
		for _, x := range parts {
			h = b.times(b.xor(h, b.to(width, x)), fnvPrime[width])
		}
		return h
	}
	return []*Function{
		{Name: "fnv1a", About: "FNV-1a of the bytes", Widths: []int{32, 64}, write: func(b *builder, width int) Value {
			octets := make([]Value, b.bytes)
			for i := range octets {
				octets[i] = b.octet(i)
			}
			return chain(b, width, octets)
		}},
		{Name: "fnv1a_words", About: "FNV-1a of the chunks", Widths: []int{32, 64}, write: func(b *builder, width int) Value {
			return chain(b, width, b.words())
		}},
	}
}
