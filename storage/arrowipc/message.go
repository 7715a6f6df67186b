package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/radish-sql/radish/storage/fileaccess"
)

// The versions of the metadata that there are files of.
const (
	version4 = 3
	version5 = 4
)

// The kinds of messages.
const (
	messageSchema     = 1
	messageDictionary = 2
	messageRecords    = 3
)

// message is a message: its description, and where in the file the bytes are that belong to it.
type message struct {
	kind    byte
	version int
	header  flatTable
	body    int64
	size    int64
}

// span is a part of the file.
type span struct{ begin, end int64 }

// readMessage reads the message that begins in a part of the file; end is where it ends. At the end of a stream it returns io.EOF. A
// message that claims to be longer than the part is an error, before memory is taken for it. The message before must not be used any more.
func (f *File) readMessage(in span) (m message, end int64, err error) {
	var head [8]byte
	switch left := in.end - in.begin; {
	case left == 0:
		return m, in.begin, io.EOF
	case left < 4:
		return m, in.begin, io.ErrUnexpectedEOF
	}
	if _, err := f.source.ReadAt(head[:min(8, in.end-in.begin)], in.begin); err != nil && err != io.EOF {
		return m, in.begin, err
	}
	size, at := int64(int32(binary.LittleEndian.Uint32(head[:]))), in.begin+4
	if size == -1 { // since Arrow 0.15 something that is no length stands before the length
		size, at = int64(int32(binary.LittleEndian.Uint32(head[4:]))), in.begin+8
		if in.end < at {
			return m, in.begin, io.ErrUnexpectedEOF
		}
	}
	switch {
	case size == 0:
		return m, at, io.EOF
	case size < 0 || size > in.end-at:
		return m, in.begin, fmt.Errorf("the metadata claims %d bytes, and %d follow", size, in.end-at)
	}
	f.dropMessage()
	if err := f.scratch.Add(size); err != nil {
		return m, in.begin, fmt.Errorf("metadata of %d bytes: %w", size, err)
	}
	f.message = size
	b := make([]byte, size)
	if err := fileaccess.ReadFull(f.ctx, f.source, b, at); err != nil {
		return m, in.begin, err
	}
	t := newFlat(b, f.keep).root()
	m = message{kind: t.byte(1, 0), version: t.int16(0, 0), size: t.int64(3), body: at + size}
	ok := false
	m.header, ok = t.child(2)
	switch {
	case t.flat.err != nil:
		return m, in.begin, t.flat.err
	case !ok:
		return m, in.begin, errors.New("a message without content")
	case m.version < version4:
		return m, in.begin, fmt.Errorf("it is of version %d of the format, which is older than Arrow 0.8", m.version+1)
	case m.size < 0 || m.size > in.end-m.body:
		return m, in.begin, fmt.Errorf("the message claims %d bytes, and %d follow", m.size, in.end-m.body)
	}
	return m, m.body + m.size, nil
}

// dropMessage gives back the memory of the last message's description.
func (f *File) dropMessage() {
	f.scratch.Free(f.message)
	f.message = 0
}

// body returns the bytes that belong to a message.
func (f *File) body(m message) body { return body{f.source, m.body, m.size} }

// The file format: the magic number, messages, a footer that says where they lie, its length, the magic number again.
const magic = "ARROW1"

// footer is what the footer of a file holds.
type footer struct {
	schema       []*field
	dictionaries []span
	batches      []span
}

// readFooter reads the footer of the file format.
func (f *File) readFooter() (out footer, err error) {
	const tail, head = int64(4 + len(magic)), 8
	var end [tail]byte
	if f.size < head+tail {
		return out, fmt.Errorf("it has %d bytes, fewer than any Arrow file", f.size)
	}
	if _, err := f.source.ReadAt(end[:], f.size-tail); err != nil {
		return out, err
	}
	size := int64(int32(binary.LittleEndian.Uint32(end[:])))
	switch {
	case string(end[4:]) != magic:
		return out, fmt.Errorf("it begins with %s, and does not end with it", magic)
	case size <= 0 || size > f.size-head-tail:
		return out, fmt.Errorf("its footer claims %d of the file's %d bytes", size, f.size)
	}
	if err := f.scratch.Add(size); err != nil {
		return out, fmt.Errorf("%d bytes: %w", size, err)
	}
	defer f.scratch.Free(size)
	b := make([]byte, size)
	begin := f.size - tail - size
	if err := fileaccess.ReadFull(f.ctx, f.source, b, begin); err != nil {
		return out, err
	}
	t := newFlat(b, f.keep).root()
	schema, ok := t.child(1)
	switch {
	case t.flat.err != nil:
		return out, t.flat.err
	case !ok:
		return out, errors.New("it has no schema")
	}
	if out.schema, err = parseSchema(schema); err != nil {
		return out, err
	}
	if out.dictionaries, err = blocks(t, 2, begin); err == nil {
		out.batches, err = blocks(t, 3, begin)
	}
	return out, err
}

// blocks reads the offsets of messages, which lie before an end.
func blocks(t flatTable, id int, end int64) ([]span, error) {
	b, n := t.vector(id, 24)
	if t.err != nil {
		return nil, t.err
	}
	if t.hold(int64(n) * int64(unsafe.Sizeof(span{}))); t.err != nil {
		return nil, t.err
	}
	out := make([]span, n)
	for i := range out {
		b := b[24*i:]
		begin, meta, body := int64(binary.LittleEndian.Uint64(b)), int64(int32(binary.LittleEndian.Uint32(b[8:]))), int64(binary.LittleEndian.Uint64(b[16:]))
		if begin < 0 || meta < 0 || body < 0 || begin > end || meta > end-begin || body > end-begin-meta {
			return nil, fmt.Errorf("block %d, of %d and %d bytes from byte %d on, lies outside the %d bytes before the footer", i, meta, body, begin, end)
		}
		out[i] = span{begin, begin + meta + body}
	}
	return out, nil
}
