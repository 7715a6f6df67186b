package parquet

import (
	"strings"
	"unsafe"
)

// Pieces are of pieceBytes each. The first ones are smaller, so that a file may have thousands of columns.
const (
	leastPiece = 4 << 10
	pieceBytes = 1 << 20
)

// pieces keeps bytes that come one after the other. They stay where they are when more come: a slice that grows takes its old and its new memory at once.
type pieces struct {
	hold func(bytes int64) error // counts memory before it is taken
	list [][]byte
	used int      // pieces that have bytes; the others were used before
	all  int      // bytes of memory in list
	size int      // bytes that append has added
	long []string // that have memory of their own
}

// reset forgets all bytes. Pieces are kept for the next ones.
func (p *pieces) reset() {
	for i := range p.list {
		p.list[i] = p.list[i][:0]
	}
	for _, s := range p.long {
		_ = p.hold(-int64(len(s))) // which is less than was held
	}
	p.used, p.size, p.long = 0, 0, nil
}

// next begins a piece of so many bytes or more.
func (p *pieces) next(bytes int) error {
	for p.used < len(p.list) {
		if p.used++; cap(p.list[p.used-1]) >= bytes {
			return nil
		}
	}
	n := max(bytes, min(pieceBytes, max(leastPiece, p.all)))
	if err := p.hold(int64(n)); err != nil {
		return err
	}
	p.list = append(p.list, make([]byte, 0, n))
	p.all += n
	p.used++
	return nil
}

// append adds bytes, which need not lie together.
func (p *pieces) append(b []byte) error {
	p.size += len(b)
	for len(b) > 0 {
		if p.used == 0 || len(p.list[p.used-1]) == cap(p.list[p.used-1]) {
			if err := p.next(1); err != nil {
				return err
			}
		}
		open := &p.list[p.used-1]
		n := min(len(b), cap(*open)-len(*open))
		*open = append(*open, b[:n]...)
		b = b[n:]
	}
	return nil
}

// kept is where a string of pieces lies. It is no pointer, which would be work for Go's collector.
type kept struct {
	piece         int32 // index in list; -1 - index in long
	start, length uint32
}

const keptBytes = 12 // of a kept

// keep adds a string, which is there until reset.
func (p *pieces) keep(s string) (kept, error) {
	if len(s) > pieceBytes/8 {
		if err := p.hold(int64(len(s))); err != nil {
			return kept{}, err
		}
		p.long = append(p.long, strings.Clone(s))
		return kept{piece: -int32(len(p.long))}, nil
	}
	if p.used == 0 || cap(p.list[p.used-1])-len(p.list[p.used-1]) < len(s) {
		if err := p.next(len(s)); err != nil {
			return kept{}, err
		}
	}
	open := &p.list[p.used-1]
	at := kept{int32(p.used - 1), uint32(len(*open)), uint32(len(s))}
	*open = append(*open, s...)
	return at, nil
}

// text returns a string that was kept.
func (p *pieces) text(t kept) string {
	if t.piece < 0 {
		return p.long[-1-t.piece]
	}
	return unsafe.String(unsafe.SliceData(p.list[t.piece][t.start:]), int(t.length))
}
