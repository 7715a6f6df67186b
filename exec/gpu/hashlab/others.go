package hashlab

// published returns well-known functions to compare with, with seed 0.
func published() []*Function {
	return []*Function{
		{Name: "murmur3", About: "MurmurHash3_x86_32 (Appleby 2011)", Widths: []int{32}, write: murmur3},
		{Name: "xxh32", About: "xxHash (Collet)", Widths: []int{32}, write: xxh32},
		{Name: "xxh64", About: "xxHash (Collet)", Widths: []int{64}, write: xxh64},
	}
}

func murmur3(b *builder, _ int) Value {
	h := b.constant(32, 0)
	for i, k := range b.words() {
		k = b.times(b.rotate(b.times(k, 0xcc9e2d51), 15), 0x1b873593)
		h = b.xor(h, k)
		if 4*i+4 <= b.bytes {
			h = b.plus(b.times(b.rotate(h, 13), 5), 0xe6546b64)
		}
	}
	return finish32(b, b.xor(h, b.constant(32, uint64(b.bytes))))
}

// finish32 and finish64 are the finalisers of MurmurHash3.
func finish32(b *builder, h Value) Value {
	h = b.times(b.foldRight(h, 16), 0x85ebca6b)
	h = b.times(b.foldRight(h, 13), 0xc2b2ae35)
	return b.foldRight(h, 16)
}

func finish64(b *builder, h Value) Value {
	h = b.times(b.foldRight(h, 33), 0xff51afd7ed558ccd)
	h = b.times(b.foldRight(h, 33), 0xc4ceb9fe1a85ec53)
	return b.foldRight(h, 33)
}

func xxh32(b *builder, _ int) Value {
	const p1, p2, p3, p4, p5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1
	h, at := b.constant(32, p5), 0
	if b.bytes >= 16 {
		v := []Value{b.constant(32, (p1+p2)&0xffffffff), b.constant(32, p2), b.constant(32, 0), b.constant(32, 1<<32-p1)}
		for ; at+16 <= b.bytes; at += 16 {
			for i := range v {
				v[i] = b.times(b.rotate(b.add(v[i], b.times(b.word(at/4+i), p2)), 13), p1)
			}
		}
		h = b.add(b.add(b.rotate(v[0], 1), b.rotate(v[1], 7)), b.add(b.rotate(v[2], 12), b.rotate(v[3], 18)))
	}
	h = b.plus(h, uint64(b.bytes))
	for ; at+4 <= b.bytes; at += 4 {
		h = b.times(b.rotate(b.add(h, b.times(b.word(at/4), p3)), 17), p4)
	}
	for ; at < b.bytes; at++ {
		h = b.times(b.rotate(b.add(h, b.times(b.octet(at), p5)), 11), p1)
	}
	h = b.times(b.foldRight(h, 15), p2)
	h = b.times(b.foldRight(h, 13), p3)
	return b.foldRight(h, 16)
}

func xxh64(b *builder, _ int) Value {
	const p1, p2, p3, p4, p5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
	round := func(v, x Value) Value { return b.times(b.rotate(b.add(v, b.times(x, p2)), 31), p1) }
	zero := b.constant(64, 0)
	h, at := b.constant(64, p5), 0
	if b.bytes >= 32 {
		v := []Value{b.constant(64, (p1+p2)&(1<<64-1)), b.constant(64, p2), zero, b.constant(64, 1<<64-p1)}
		for ; at+32 <= b.bytes; at += 32 {
			for i := range v {
				v[i] = round(v[i], b.long(at/4+2*i))
			}
		}
		h = b.add(b.add(b.rotate(v[0], 1), b.rotate(v[1], 7)), b.add(b.rotate(v[2], 12), b.rotate(v[3], 18)))
		for _, x := range v {
			h = b.plus(b.times(b.xor(h, round(zero, x)), p1), p4)
		}
	}
	h = b.plus(h, uint64(b.bytes))
	for ; at+8 <= b.bytes; at += 8 {
		h = b.plus(b.times(b.rotate(b.xor(h, round(zero, b.long(at/4))), 27), p1), p4)
	}
	if at+4 <= b.bytes {
		h = b.plus(b.times(b.rotate(b.xor(h, b.times(b.widen(b.word(at/4)), p1)), 23), p2), p3)
		at += 4
	}
	for ; at < b.bytes; at++ {
		h = b.times(b.rotate(b.xor(h, b.times(b.widen(b.octet(at)), p5)), 11), p1)
	}
	h = b.times(b.foldRight(h, 33), p2)
	h = b.times(b.foldRight(h, 29), p3)
	return b.foldRight(h, 32)
}

// golden is 2^64 divided by the golden ratio.
const golden = 0x9E3779B97F4A7C15

// radish returns the hashes of Radish's joins and group-bys: those of gpukernels/device/hash.cuh, and of package keyhash for the CPU.
func radish() []*Function {
	exactly := func(n int) func(int) bool { return func(bytes int) bool { return bytes == n } }
	columns := func(bytes int) bool { return bytes > 0 && bytes%8 == 0 }
	wide := []int{64}
	return []*Function{
		{Name: "mix_word", About: "GPU: keys of 32 bits, a bijection", Widths: []int{32}, takes: exactly(4), write: func(b *builder, _ int) Value {
			return b.flip(finish32(b, b.flip(b.word(0))))
		}},
		{Name: "mix", About: "GPU: keys of 64 bits, a bijection", Widths: wide, takes: func(bytes int) bool { return bytes > 0 && bytes <= 8 }, write: func(b *builder, _ int) Value {
			return finish64(b, b.long(0))
		}},
		{Name: "spread_word", About: "GPU: tags of perfect hashes, a bijection", Widths: wide, takes: exactly(8), write: func(b *builder, _ int) Value {
			return b.times(b.long(0), golden)
		}},
		{Name: "gpu_columns", About: "GPU: columns of 64 bits", Widths: wide, takes: columns, write: gpuColumns},
		{Name: "gpu_string", About: "GPU: strings", Widths: wide, write: gpuString},
		{Name: "cpu_int", About: "CPU: keys of 64 bits, a bijection", Widths: wide, takes: exactly(8), write: func(b *builder, _ int) Value { return cpuInt(b, b.long(0)) }},
		{Name: "cpu_columns", About: "CPU: columns of 64 bits", Widths: wide, takes: columns, write: cpuColumns},
	}
}

func gpuColumns(b *builder, _ int) Value {
	h := finish64(b, b.long(0))
	for i := 2; i < wordsOf(b.bytes); i += 2 {
		h = b.xor(finish64(b, b.plus(h, golden)), b.times(finish64(b, b.long(i)), 0x9fb21c651e98df25))
	}
	return h
}

func gpuString(b *builder, _ int) Value {
	h, at := b.constant(64, uint64(b.bytes)), 0
	for ; at+8 <= b.bytes; at += 8 {
		h = b.plus(finish64(b, b.xor(h, b.long(at/4))), golden)
	}
	if at < b.bytes {
		h = b.xor(h, b.long(at/4))
	}
	return finish64(b, h)
}

const cpuFactor, cpuPair = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

func cpuInt(b *builder, x Value) Value {
	return b.times(b.foldRight(b.times(x, golden), 32), cpuFactor)
}

func cpuColumns(b *builder, _ int) Value {
	h := b.constant(64, 0)
	for i := 0; i < wordsOf(b.bytes); i += 2 {
		x, y := b.xor(h, b.constant(64, cpuPair)), b.xor(b.long(i), b.constant(64, golden))
		h = cpuInt(b, b.xor(b.xor(b.multiplyHigh(x, y), b.multiply(x, y)), h))
	}
	return h
}
