package hashlab

import "fmt"

// Value is a value in a program: the number of the operation that makes it.
type Value int32

type opcode uint8

const (
	opWord         opcode = iota // 32 bits of the key
	opConstant                   //
	opAdd                        // modulo 2^width, as all that follows
	opMultiply                   //
	opMultiplyHigh               // the upper 64 bits of a product of 128
	opXor                        //
	opAnd                        //
	opShiftLeft                  // by a value below the width
	opShiftRight                 // by a constant
	opRotate                     // left, by a constant
	opRotateBy                   // left, 32 bits, by the lowest five bits of a value: a funnel shift
	opReverse                    // the order of the bits
	opWiden                      // from 32 bits to 64
)

// operation computes a value of 32 or 64 bits from earlier ones.
type operation struct {
	code  opcode
	width int
	a, b  Value
	n     uint64 // the constant, the bits to shift by, or the number of the key's word
}

// operands is how many values an operation takes.
func (o *operation) operands() int {
	switch o.code {
	case opWord, opConstant:
		return 0
	case opShiftRight, opRotate, opReverse, opWiden:
		return 1
	}
	return 2
}

// Program is a hash function for keys of one length.
type Program struct {
	Bytes int // of a key
	Width int // of a hash: 32 or 64 bits

	operations []operation
	result     Value
}

// words is how many words of 32 bits hold a key. The bytes behind the key in the last one are 0.
func (p *Program) words() int { return wordsOf(p.Bytes) }

func wordsOf(bytes int) int { return (bytes + 3) / 4 }

// Cost counts the operations of a program, and those of them that multiply. Words that are read, constants and changes of width are free.
func (p *Program) Cost() (all, multiplications int) {
	for _, o := range p.operations {
		switch o.code {
		case opWord, opConstant, opWiden:
			continue
		case opMultiply, opMultiplyHigh:
			multiplications++
		}
		all++
	}
	return all, multiplications
}

// builder writes a program. Operands of one operation have one width.
type builder struct {
	bytes      int
	operations []operation
	known      map[operation]Value
}

// emit appends an operation, unless it is there already.
func (b *builder) emit(o operation) Value {
	if v, ok := b.known[o]; ok {
		return v
	}
	v := Value(len(b.operations))
	b.operations = append(b.operations, o)
	b.known[o] = v
	return v
}

// both emits an operation of two values.
func (b *builder) both(code opcode, x, y Value) Value {
	if b.width(x) != b.width(y) {
		panic(fmt.Sprintf("operation %d of %d and %d bits", code, b.width(x), b.width(y)))
	}
	return b.emit(operation{code: code, width: b.width(x), a: x, b: y})
}

// one emits an operation of a value and a constant.
func (b *builder) one(code opcode, x Value, n int) Value {
	return b.emit(operation{code: code, width: b.width(x), a: x, n: uint64(n)})
}

// needed returns the operations that a result follows from, and its number among them.
func (b *builder) needed(result Value) (out []operation, at Value) {
	used := make([]bool, len(b.operations))
	used[result] = true
	for i := len(b.operations) - 1; i >= 0; i-- {
		if o := &b.operations[i]; used[i] {
			used[o.a] = used[o.a] || o.operands() > 0
			used[o.b] = used[o.b] || o.operands() > 1
		}
	}
	index := make([]Value, len(b.operations))
	for i, o := range b.operations {
		if !used[i] {
			continue
		}
		if o.operands() > 0 {
			o.a = index[o.a]
		}
		if o.operands() > 1 {
			o.b = index[o.b]
		}
		index[i] = Value(len(out))
		out = append(out, o)
	}
	return out, index[result]
}

func (b *builder) width(v Value) int { return b.operations[v].width }

// word is the i-th 32 bits of the key, the first byte lowest.
func (b *builder) word(i int) Value { return b.emit(operation{code: opWord, width: 32, n: uint64(i)}) }

// words are all of them.
func (b *builder) words() []Value {
	out := make([]Value, wordsOf(b.bytes))
	for i := range out {
		out[i] = b.word(i)
	}
	return out
}

// octet is a byte of the key.
func (b *builder) octet(i int) Value {
	w := b.word(i / 4)
	if i%4 > 0 {
		w = b.shiftRight(w, i%4*8)
	}
	if i%4 == 3 || i == b.bytes-1 {
		return w
	}
	return b.and(w, b.constant(32, 0xff))
}

// long is 64 bits of the key from its i-th word on; behind the key there are zeros.
func (b *builder) long(i int) Value {
	low := b.widen(b.word(i))
	if i+1 >= wordsOf(b.bytes) {
		return low
	}
	return b.xor(low, b.shiftLeft(b.widen(b.word(i+1)), b.constant(32, 32)))
}

func (b *builder) constant(width int, n uint64) Value {
	if width == 32 {
		n = uint64(uint32(n))
	}
	return b.emit(operation{code: opConstant, width: width, n: n})
}

func (b *builder) add(x, y Value) Value          { return b.both(opAdd, x, y) }
func (b *builder) multiply(x, y Value) Value     { return b.both(opMultiply, x, y) }
func (b *builder) multiplyHigh(x, y Value) Value { return b.both(opMultiplyHigh, x, y) }
func (b *builder) xor(x, y Value) Value          { return b.both(opXor, x, y) }
func (b *builder) and(x, y Value) Value          { return b.both(opAnd, x, y) }

// plus and times have a constant on the right.
func (b *builder) plus(x Value, n uint64) Value  { return b.add(x, b.constant(b.width(x), n)) }
func (b *builder) times(x Value, n uint64) Value { return b.multiply(x, b.constant(b.width(x), n)) }
func (b *builder) flip(x Value) Value            { return b.xor(x, b.constant(b.width(x), ^uint64(0))) }

func (b *builder) shiftRight(x Value, n int) Value { return b.one(opShiftRight, x, n) }
func (b *builder) rotate(x Value, n int) Value     { return b.one(opRotate, x, n) }
func (b *builder) reverse(x Value) Value           { return b.one(opReverse, x, 0) }

// foldRight is x ^ x >> n.
func (b *builder) foldRight(x Value, n int) Value { return b.xor(x, b.shiftRight(x, n)) }

// shiftLeft shifts by a value of 32 bits, which is less than x's width.
func (b *builder) shiftLeft(x, by Value) Value {
	return b.emit(operation{code: opShiftLeft, width: b.width(x), a: x, b: by})
}

// rotateBy rotates 32 bits by the lowest five of another value.
func (b *builder) rotateBy(x, by Value) Value { return b.both(opRotateBy, x, by) }

func (b *builder) widen(x Value) Value { return b.emit(operation{code: opWiden, width: 64, a: x}) }

// to brings 32 bits to a width.
func (b *builder) to(width int, x Value) Value {
	if width == 64 {
		return b.widen(x)
	}
	return x
}
