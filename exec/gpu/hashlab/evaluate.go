package hashlab

import (
	"context"
	"encoding/binary"
	"math/bits"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
)

const (
	batch  = 512     // keys that an operation is computed for at once
	morsel = 1 << 16 // keys that are hashed between two looks at a context
)

// evaluator computes a program. Its values lie in columns, which values that are needed no more leave to later ones.
type evaluator struct {
	*Program
	columns [][]uint64
	column  []int // of each value
}

func newEvaluator(p *Program) *evaluator {
	e := &evaluator{Program: p, column: make([]int, len(p.operations))}
	last := make([]int, len(p.operations)) // use of each value
	for i, o := range p.operations {
		if o.operands() > 0 {
			last[o.a] = i
		}
		if o.operands() > 1 {
			last[o.b] = i
		}
	}
	last[p.result] = len(p.operations)
	var free []int
	for i, o := range p.operations {
		if n := len(free); n > 0 && o.code != opConstant {
			e.column[i], free = free[n-1], free[:n-1]
		} else {
			e.column[i] = len(e.columns)
			e.columns = append(e.columns, make([]uint64, batch))
		}
		if o.code == opConstant {
			for at := range batch {
				e.columns[e.column[i]][at] = o.n
			}
			continue
		}
		if x := o.a; o.operands() > 0 && last[x] == i && p.operations[x].code != opConstant {
			free = append(free, e.column[x])
		}
		if x := o.b; x != o.a && o.operands() > 1 && last[x] == i && p.operations[x].code != opConstant {
			free = append(free, e.column[x])
		}
	}
	return e
}

// hash hashes keys that lie one behind the other.
func (e *evaluator) hash(out []uint64, keys []byte) {
	for len(out) > 0 {
		n := min(len(out), batch)
		for i := range e.operations {
			e.step(i, n, keys)
		}
		copy(out[:n], e.columns[e.column[e.result]])
		out, keys = out[n:], keys[n*e.Bytes:]
	}
}

// step computes one value for n keys.
func (e *evaluator) step(i, n int, keys []byte) {
	o := &e.operations[i]
	mask := ^uint64(0) >> (64 - o.width)
	to, x, y := e.columns[e.column[i]][:n], e.columns[e.column[o.a]][:n], e.columns[e.column[o.b]][:n]
	switch o.code {
	case opConstant:
	case opWord:
		e.load(to, keys, int(o.n))
	case opAdd:
		for i := range to {
			to[i] = (x[i] + y[i]) & mask
		}
	case opMultiply:
		for i := range to {
			to[i] = x[i] * y[i] & mask
		}
	case opMultiplyHigh:
		for i := range to {
			to[i], _ = bits.Mul64(x[i], y[i])
		}
	case opXor:
		for i := range to {
			to[i] = x[i] ^ y[i]
		}
	case opAnd:
		for i := range to {
			to[i] = x[i] & y[i]
		}
	case opShiftLeft:
		for i := range to {
			to[i] = x[i] << (y[i] & 63) & mask
		}
	case opShiftRight:
		for i := range to {
			to[i] = x[i] >> (o.n & 63)
		}
	case opRotate:
		for i := range to {
			to[i] = (x[i]<<(o.n&63) | x[i]>>(uint64(o.width)-o.n)) & mask
		}
	case opRotateBy:
		for i := range to {
			to[i] = uint64(bits.RotateLeft32(uint32(x[i]), int(y[i]&31)))
		}
	case opReverse:
		for i := range to {
			to[i] = bits.Reverse64(x[i]) >> (64 - o.width)
		}
	case opWiden:
		copy(to, x)
	}
}

// load reads a word of each key.
func (e *evaluator) load(to []uint64, keys []byte, word int) {
	first := 4 * word
	if first+4 <= e.Bytes {
		for i := range to {
			to[i] = uint64(binary.LittleEndian.Uint32(keys[i*e.Bytes+first:]))
		}
		return
	}
	for i := range to {
		to[i] = 0
		for at := e.Bytes - 1; at >= first; at-- {
			to[i] = to[i]<<8 | uint64(keys[i*e.Bytes+at])
		}
	}
}

// Hashes returns the hashes of keys that lie one behind the other. Several threads compute them.
func (p *Program) Hashes(ctx context.Context, keys []byte, count int) ([]uint64, error) {
	out := make([]uint64, count)
	err := inMorsels(ctx, count, func(e *evaluator, from, to int) {
		e.hash(out[from:to], keys[from*p.Bytes:])
	}, p)
	return out, err
}

// inMorsels has goroutines, each with an evaluator, take ranges of numbers in turn until ctx ends.
func inMorsels(ctx context.Context, count int, do func(e *evaluator, from, to int), p *Program) error {
	group, ctx := errgroup.WithContext(ctx)
	atOnce := runtime.GOMAXPROCS(0)
	for first := range atOnce {
		group.Go(func() error {
			return sqlerr.Guard(func() error {
				e := newEvaluator(p)
				for from := first * morsel; from < count; from += atOnce * morsel {
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					do(e, from, min(from+morsel, count))
				}
				return nil
			})
		})
	}
	return group.Wait()
}
