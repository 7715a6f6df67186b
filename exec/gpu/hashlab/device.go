package hashlab

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// Lab runs functions on a device. One goroutine uses it at a time.
type Lab struct {
	device *gpukernels.Device
	stream *gpukernels.Stream
	marks  [2]*gpukernels.Event
}

// NewLab prepares a device. Close the lab before the device.
func NewLab(d *gpukernels.Device) (*Lab, error) {
	l := &Lab{device: d}
	var err error
	if l.stream, err = d.NewStream(); err != nil {
		return nil, err
	}
	for i := range l.marks {
		if l.marks[i], err = d.NewEvent(); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// Close gives back what NewLab took.
func (l *Lab) Close() {
	for _, m := range l.marks {
		if m != nil {
			m.Close()
		}
	}
	l.stream.Close()
}

// Compile has sources compiled at once. Those that are timed later are found then.
func (l *Lab) Compile(ctx context.Context, sources []string) error {
	return l.device.LoadAll(ctx, sources)
}

// arrays gives use the device's memory: one array that holds keys, and one of so many bytes for results.
func (l *Lab) arrays(ctx context.Context, keys []byte, results int64, use func(keys, results gpukernels.Ptr) error) (err error) {
	var at [2]gpukernels.Ptr
	defer func() {
		for _, p := range at {
			if failed := l.stream.Free(p); err == nil {
				err = failed
			}
		}
	}()
	for i, bytes := range []int64{int64(len(keys)), results} {
		if at[i], err = l.stream.Alloc(bytes); err != nil {
			return err
		}
	}
	const piece = 64 << 20 // between two looks at the context
	for from := 0; from < len(keys); from += piece {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := l.stream.Upload(at[0]+gpukernels.Ptr(from), keys[from:min(from+piece, len(keys))]); err != nil {
			return err
		}
	}
	return use(at[0], at[1])
}

// fastest launches a kernel so many times and returns its shortest time. Results are those of the last launch.
func (l *Lab) fastest(ctx context.Context, source, kernel string, grid int64, threads, runs int, params ...uint64) (best time.Duration, err error) {
	m, _, err := l.device.Load(ctx, source)
	if err != nil {
		return 0, err
	}
	defer m.Release()
	f, err := m.Function(kernel)
	if err != nil {
		return 0, err
	}
	for run := range runs {
		if err := l.stream.Record(l.marks[0]); err != nil {
			return 0, err
		}
		if err := l.stream.Launch(f, grid, l.device.Block(threads), 0, params); err != nil {
			return 0, err
		}
		if err := l.stream.Record(l.marks[1]); err != nil {
			return 0, err
		}
		if err := l.stream.Sync(ctx); err != nil {
			return 0, err
		}
		took, err := l.marks[1].Since(l.marks[0])
		if err != nil {
			return 0, err
		}
		if run == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// Read has a kernel hash keys in the device's memory, so many times. It compares all hashes with those of Go, and returns the shortest time.
func (l *Lab) Read(ctx context.Context, p *Program, k *Keys, s Shape, runs int) (best time.Duration, err error) {
	width := int64(p.Width / 8)
	err = l.arrays(ctx, k.padded(s.stride(k.Bytes)), width*int64(k.Count), func(keys, hashes gpukernels.Ptr) error {
		tile := int64(l.device.Block(s.Threads) * s.Rows)
		best, err = l.fastest(ctx, p.Source(s), readKernel, max((int64(k.Count)+tile-1)/tile, 1), s.Threads, runs, uint64(keys), uint64(hashes), uint64(k.Count))
		if err != nil {
			return err
		}
		got := make([]byte, width*int64(k.Count))
		if err := l.stream.DownloadPieces(ctx, []gpukernels.Piece{gpukernels.PieceOf(got)}, hashes); err != nil {
			return err
		}
		return p.compare(ctx, k, got)
	})
	return best, err
}

// compare wants the hashes that a device has made of keys.
func (p *Program) compare(ctx context.Context, k *Keys, got []byte) error {
	want, err := p.Hashes(ctx, k.Data, k.Count)
	if err != nil {
		return err
	}
	for n, h := range want {
		var there uint64
		if p.Width == 32 {
			there = uint64(binary.LittleEndian.Uint32(got[4*n:]))
		} else {
			there = binary.LittleEndian.Uint64(got[8*n:])
		}
		if there != h {
			return fmt.Errorf("the hash of key %d (%x) is %#x on the device, %#x in Go", n, k.at(n), there, h)
		}
	}
	return nil
}

// madeBlocks is how many blocks of a multiprocessor make keys.
const madeBlocks = 8

// Made has a kernel hash keys that it makes itself, so that nothing but the function takes time. It compares the exclusive or of all hashes with Go's, and returns the shortest time.
func (l *Lab) Made(ctx context.Context, p *Program, count, runs int) (best time.Duration, err error) {
	s := DefaultShape(p.Bytes)
	grid := int64(max(l.device.Info().Multiprocessors, 1) * madeBlocks)
	sums := make([]uint64, grid*int64(l.device.Block(s.Threads)))
	err = l.arrays(ctx, nil, int64(8*len(sums)), func(_, at gpukernels.Ptr) error {
		best, err = l.fastest(ctx, p.Source(s), madeKernel, grid, s.Threads, runs, uint64(at), uint64(count))
		if err != nil {
			return err
		}
		if err := l.stream.DownloadPieces(ctx, []gpukernels.Piece{gpukernels.PieceOf(sums)}, at); err != nil {
			return err
		}
		there := uint64(0)
		for _, x := range sums {
			there ^= x
		}
		here, err := p.sumOfMade(ctx, count)
		if err == nil && here != there {
			err = fmt.Errorf("the hashes of %d keys of %d bytes add up to %#x on the device, to %#x in Go", count, p.Bytes, there, here)
		}
		return err
	})
	return best, err
}

// sumOfMade is the exclusive or of the hashes of the keys that a kernel makes.
func (p *Program) sumOfMade(ctx context.Context, count int) (sum uint64, err error) {
	var mutex sync.Mutex
	err = inMorsels(ctx, count, func(e *evaluator, from, to int) {
		out := make([]uint64, to-from)
		e.hash(out, made(p.Bytes, from, to))
		part := uint64(0)
		for _, h := range out {
			part ^= h
		}
		mutex.Lock()
		defer mutex.Unlock()
		sum ^= part
	}, p)
	return sum, err
}
