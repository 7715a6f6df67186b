package parquet

import (
	"io"

	"github.com/radish-sql/radish/column"
)

// window is the part of a column chunk that is in memory: what lies ahead of the reader, some pages at most.
type window struct {
	bytes  []byte // that follow the last page
	at     int64  // where in the file they begin
	end    int64  // of the column chunk
	source io.ReaderAt
	ahead  int64  // bytes that are read at once, unless a page is larger or memory is short
	remote bool   // reading takes so long that even a header has read ahead
	memory []byte // which bytes lie in
	read   int64  // bytes of the file
	shared bool   // strings point into the memory: it is neither written over nor given back
}

// ahead is how much of a chunk is read at once of a file of the system's, aheadRemote of one on a network: most chunks whole.
const (
	ahead       = 256 << 10
	aheadRemote = 8 << 20
)

// rest returns how many bytes the column chunk has from here on.
func (w *window) rest() int64 { return w.end - w.at }

// needHeader is need for n bytes of a header. What follows a header may be passed over, or may be a large page, which would be copied: little is read ahead.
func (w *window) needHeader(n int64, allow func(bytes int64) error) error {
	if !w.remote {
		defer func(ahead int64) { w.ahead = ahead }(w.ahead)
		w.ahead = n
	}
	return w.need(n, allow)
}

// need reads on until bytes has n bytes, or all that the chunk has. allow asks for memory.
func (w *window) need(n int64, allow func(bytes int64) error) error {
	rest := w.rest()
	if n = min(n, rest); int64(len(w.bytes)) >= n {
		return nil
	}
	memory, err := w.take(int(min(max(n, w.ahead), rest)), allow)
	if least := min(max(n, ahead), rest); err != nil && w.ahead > least {
		w.ahead = ahead
		memory, err = w.take(int(least), allow)
	}
	if err != nil {
		return err
	}
	size := len(memory)
	had := copy(memory, w.bytes)
	if _, err := w.source.ReadAt(memory[had:], w.at+int64(had)); err != nil {
		return err
	}
	if !w.shared && cap(memory) > cap(w.memory) {
		byteBuffers.Give(w.memory)
	}
	w.memory, w.bytes = memory, memory
	w.read += int64(size - had)
	return nil
}

// take returns memory for bytes of the file: what the window has, if that is enough.
func (w *window) take(size int, allow func(bytes int64) error) ([]byte, error) {
	if !w.shared && cap(w.memory) >= size {
		return w.memory[:size], nil
	}
	more := int64(column.BufferCapacity(size))
	if !w.shared {
		more -= int64(cap(w.memory))
	}
	if err := allow(more); err != nil {
		return nil, err
	}
	return byteBuffers.Take(size), nil
}

// skip passes over bytes, which need not be in memory.
func (w *window) skip(n int64) {
	w.bytes = w.bytes[min(n, int64(len(w.bytes))):]
	w.at += n
}

// close gives the memory back.
func (w *window) close() {
	if !w.shared {
		byteBuffers.Give(w.memory)
	}
	w.memory, w.bytes = nil, nil
}
