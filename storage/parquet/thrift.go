package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"
)

// compact reads Thrift's compact protocol, in which a file's footer and the headers of its pages are written
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Nothing is allocated by what the bytes
// claim: a list has no more elements than bytes follow. The first error ends everything: whoever reads looks at err at the end.
type compact struct {
	b     []byte
	at    int
	depth int
	err   error
	allow func(bytes int64) error // asks for the memory of what is read; nil: it does not count
	steps int                     // since allow was asked last
}

// hold asks for memory.
func (r *compact) hold(bytes int64) {
	if r.allow == nil || r.err != nil {
		return
	}
	r.steps = 0
	if err := r.allow(bytes); err != nil {
		r.fail(err)
	}
}

// maxSteps is how many values are read at most until allow is asked, which also says whether the work has been cancelled.
const maxSteps = 1 << 14

// step is a value that was read.
func (r *compact) step() {
	if r.steps++; r.steps == maxSteps {
		r.steps = 0
		r.hold(0)
	}
}

// push appends to a list whose memory counts, with the lists that it outgrew: the collector may not have found them yet.
func push[T any](r *compact, list []T, x T) []T {
	if len(list) == cap(list) {
		const least = 4
		capacity := max(least, 2*cap(list))
		if r.hold(int64(capacity) * int64(unsafe.Sizeof(x))); r.err != nil {
			return list
		}
		list = append(make([]T, 0, capacity), list...)
	}
	return append(list, x)
}

// wire is the type that a field or an element has in the bytes.
type wire byte

const (
	wireTrue   wire = 1
	wireFalse  wire = 2
	wireByte   wire = 3
	wireI16    wire = 4
	wireI32    wire = 5
	wireI64    wire = 6
	wireDouble wire = 7
	wireBinary wire = 8
	wireList   wire = 9
	wireSet    wire = 10
	wireMap    wire = 11
	wireStruct wire = 12
)

// maxThriftDepth is how deep structs and lists may lie in each other. Parquet's own do eight deep.
const maxThriftDepth = 24

var (
	errThriftEnds = errors.New("it ends in the middle of a field")
	errThriftType = errors.New("a field has a type that the format does not give it")
	errThriftDeep = errors.New("structs lie too deep in each other")
	errThriftList = errors.New("a list has more elements than bytes follow")
)

func (r *compact) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *compact) byte() byte {
	if r.err != nil || r.at >= len(r.b) {
		r.fail(errThriftEnds)
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *compact) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.fail(errThriftEnds)
		return 0
	}
	r.at += n
	return v
}

func (r *compact) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// fields calls visit with each field of a struct. visit reads the value, or has it passed over by skip.
func (r *compact) fields(visit func(id int, w wire)) {
	if r.depth++; r.depth > maxThriftDepth {
		r.fail(errThriftDeep)
	}
	id := int64(0)
	for r.err == nil {
		r.step()
		h := r.byte()
		if h == 0 {
			break
		}
		if delta := int64(h >> 4); delta > 0 {
			id += delta
		} else {
			id = r.varint()
		}
		w := wire(h & 15)
		if id < 0 || id > math.MaxInt16 || w == 0 || w > wireStruct {
			r.fail(errThriftType)
			break
		}
		if r.err == nil {
			visit(int(id), w)
		}
	}
	r.depth--
}

// expect fails unless a value has the type that the format says.
func (r *compact) expect(got, want wire) bool {
	if got != want {
		r.fail(errThriftType)
	}
	return r.err == nil
}

// i32 and i64 read integers of at most so many bits.
func (r *compact) i32(w wire) int32 {
	if w == wireByte {
		return int32(int8(r.byte()))
	}
	if w != wireI16 {
		r.expect(w, wireI32)
	}
	v := r.varint()
	if v != int64(int32(v)) {
		r.fail(errThriftType)
	}
	return int32(v)
}

func (r *compact) i64(w wire) int64 {
	if !r.expect(w, wireI64) {
		return 0
	}
	return r.varint()
}

func (r *compact) bool(w wire) bool {
	if w != wireTrue {
		r.expect(w, wireFalse)
	}
	return w == wireTrue
}

func (r *compact) bytes(w wire) []byte {
	if !r.expect(w, wireBinary) {
		return nil
	}
	n := r.uvarint()
	if n > uint64(len(r.b)-r.at) {
		r.fail(errThriftEnds)
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// structure reads a struct.
func (r *compact) structure(w wire, visit func(id int, w wire)) {
	if r.expect(w, wireStruct) {
		r.fields(visit)
	}
}

// list calls visit for each element of a list of such a type.
func (r *compact) list(w, of wire, visit func(w wire)) {
	if !r.expect(w, wireList) {
		return
	}
	element, n := r.elements()
	if n > 0 && !r.expect(element, of) {
		return
	}
	for ; n > 0 && r.err == nil; n-- {
		r.step()
		visit(of)
	}
}

// elements reads the head of a list.
func (r *compact) elements() (of wire, n uint64) {
	h := r.byte()
	if n = uint64(h >> 4); n == 15 {
		n = r.uvarint()
	}
	if r.err == nil && n > uint64(len(r.b)-r.at) { // an element takes a byte at least
		r.fail(errThriftList)
	}
	return wire(h & 15), n
}

// skip passes over a value.
func (r *compact) skip(w wire) {
	switch w {
	case wireTrue, wireFalse: // the value is the type
	case wireByte:
		r.byte()
	case wireI16, wireI32, wireI64:
		r.varint()
	case wireDouble:
		if len(r.b)-r.at < 8 {
			r.fail(errThriftEnds)
			return
		}
		r.at += 8
	case wireBinary:
		r.bytes(w)
	case wireStruct:
		r.fields(func(_ int, w wire) { r.skip(w) })
	case wireList, wireSet:
		of, n := r.elements()
		r.skipAll(n, of)
	case wireMap:
		n := r.uvarint()
		if n == 0 || r.err != nil {
			return
		}
		kinds := r.byte()
		if n > uint64(len(r.b)-r.at)/2 {
			r.fail(errThriftList)
			return
		}
		r.skipAll(n, wire(kinds>>4), wire(kinds&15))
	default:
		r.fail(errThriftType)
	}
}

// skipAll passes over n elements, or n pairs.
func (r *compact) skipAll(n uint64, of ...wire) {
	if r.depth++; r.depth > maxThriftDepth {
		r.fail(errThriftDeep)
	}
	for ; n > 0 && r.err == nil; n-- {
		r.step()
		for _, w := range of {
			if w == wireTrue || w == wireFalse {
				w = wireByte // an element of its own
			}
			r.skip(w)
		}
	}
	r.depth--
}
