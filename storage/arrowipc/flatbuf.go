package arrowipc

import (
	"encoding/binary"
	"errors"
)

// flat is a FlatBuffer (https://flatbuffers.dev/internals/), in which Arrow writes its schemas and the descriptions of its
// batches. Every offset is checked before it is read: what lies outside reads as zero and is remembered. Whoever reads looks at err at
// the end.
type flat struct {
	b       []byte
	tables  int                     // that may still be visited: offsets can lead to one table again and again
	reserve func(bytes int64) error // asks for the memory of what is made of it: offsets can lead to one string again and again
	err     error
}

var (
	errFlatOutside = errors.New("an offset leads out of the metadata")
	errFlatMany    = errors.New("the metadata has more tables than it has bytes for")
)

func newFlat(b []byte, reserve func(bytes int64) error) *flat {
	return &flat{b: b, tables: len(b) / 4, reserve: reserve}
}

// hold asks for memory.
func (f *flat) hold(bytes int64) {
	if f.err == nil {
		f.err = f.reserve(bytes)
	}
}

func (f *flat) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// at returns n bytes, zeros if they lie outside.
func (f *flat) at(pos, n int) []byte {
	if pos < 0 || pos > len(f.b)-n {
		f.fail(errFlatOutside)
		return zeros[:n]
	}
	return f.b[pos : pos+n]
}

var zeros [8]byte

func (f *flat) u16(pos int) int { return int(binary.LittleEndian.Uint16(f.at(pos, 2))) }
func (f *flat) i32(pos int) int { return int(int32(binary.LittleEndian.Uint32(f.at(pos, 4)))) }
func (f *flat) u32(pos int) int { return int(binary.LittleEndian.Uint32(f.at(pos, 4))) }
func (f *flat) i64(pos int) int64 {
	return int64(binary.LittleEndian.Uint64(f.at(pos, 8)))
}

// flatTable is a table in a FlatBuffer. The zero one has no fields.
type flatTable struct {
	*flat
	pos    int
	vtable int
	size   int // of the vtable
}

// root returns the table that a buffer is about.
func (f *flat) root() flatTable { return f.table(f.u32(0)) }

func (f *flat) table(pos int) flatTable {
	if f.tables--; f.tables < 0 {
		f.fail(errFlatMany)
	}
	if f.err != nil {
		return flatTable{flat: f}
	}
	vtable := pos - f.i32(pos)
	t := flatTable{f, pos, vtable, f.u16(vtable)}
	if vtable > len(f.b)-t.size {
		f.fail(errFlatOutside)
	}
	if f.err != nil {
		return flatTable{flat: f}
	}
	return t
}

// field returns where a field of a table lies, 0 if it has its default.
func (t flatTable) field(id int) int {
	slot := 4 + 2*id
	if slot+2 > t.size {
		return 0
	}
	offset := t.u16(t.vtable + slot)
	if offset == 0 {
		return 0
	}
	return t.pos + offset
}

func (t flatTable) byte(id int, otherwise byte) byte {
	if at := t.field(id); at > 0 {
		return t.at(at, 1)[0]
	}
	return otherwise
}

func (t flatTable) int16(id, otherwise int) int {
	if at := t.field(id); at > 0 {
		return int(int16(t.u16(at)))
	}
	return otherwise
}

func (t flatTable) int32(id, otherwise int) int {
	if at := t.field(id); at > 0 {
		return t.i32(at)
	}
	return otherwise
}

func (t flatTable) int64(id int) int64 {
	if at := t.field(id); at > 0 {
		return t.i64(at)
	}
	return 0
}

// child returns the table that a field holds; ok says whether it is there.
func (t flatTable) child(id int) (c flatTable, ok bool) {
	at := t.field(id)
	if at == 0 {
		return flatTable{flat: t.flat}, false
	}
	c = t.table(at + t.u32(at))
	return c, t.err == nil
}

// vector returns the bytes of a vector of elements of so many bytes, and how many there are.
func (t flatTable) vector(id, size int) (elements []byte, n int) {
	at := t.field(id)
	if at == 0 {
		return nil, 0
	}
	at += t.u32(at)
	n = t.u32(at)
	if t.err != nil || n > (len(t.b)-at-4)/size {
		t.fail(errFlatOutside)
		return nil, 0
	}
	return t.b[at+4 : at+4+n*size], n
}

func (t flatTable) string(id int) string {
	b, _ := t.vector(id, 1)
	if t.hold(int64(len(b))); t.err != nil {
		return ""
	}
	return string(b)
}

// children calls f with each table of a vector.
func (t flatTable) children(id int, f func(flatTable)) {
	at := t.field(id)
	if at == 0 {
		return
	}
	_, n := t.vector(id, 4)
	at += t.u32(at) + 4
	for i := range n {
		c := t.table(at + 4*i + t.u32(at+4*i))
		if t.err != nil {
			return
		}
		f(c)
	}
}
