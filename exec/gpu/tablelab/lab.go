package tablelab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Lab runs tables on a device. One goroutine uses it at a time.
type Lab struct {
	device *gpukernels.Device
	stream *gpukernels.Stream
	marks  [2]*gpukernels.Event
	counts gpukernels.Ptr // the counters
}

// NewLab prepares a device. Close the lab before the device.
func NewLab(d *gpukernels.Device) (*Lab, error) {
	l := &Lab{device: d}
	var err error
	if l.stream, err = d.NewStream(); err != nil {
		return nil, err
	}
	if l.counts, err = l.stream.Alloc(8 * counters); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	for i := range l.marks {
		if l.marks[i], err = d.NewEvent(); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Close gives back what NewLab took.
func (l *Lab) Close() error {
	for _, m := range l.marks {
		if m != nil {
			m.Close()
		}
	}
	err := l.stream.Free(l.counts)
	l.stream.Close()
	return err
}

// Compile has sources compiled at once. Those of tables that are run later are found then.
func (l *Lab) Compile(ctx context.Context, sources []string) error {
	return l.device.LoadAll(ctx, sources)
}

// arrays gives use memory of the device, as many arrays as there are sizes. What does not fit is refused before anything runs.
func (l *Lab) arrays(sizes []int64, use func(at []gpukernels.Ptr) error) (err error) {
	need := int64(0)
	for _, n := range sizes {
		need += n
	}
	m, err := l.device.Memory()
	if err != nil {
		return err
	}
	if free := m.Free + m.Held - m.Used; need > free {
		return fmt.Errorf("a table with its data needs %s of device memory, and %s are free: ask for fewer rows", sqlerr.FormatBytes(need), sqlerr.FormatBytes(free))
	}
	at := make([]gpukernels.Ptr, len(sizes))
	defer func() {
		for _, p := range at {
			if failed := l.stream.Free(p); err == nil {
				err = failed
			}
		}
	}()
	for i, n := range sizes {
		if at[i], err = l.stream.Alloc(n); err != nil {
			return err
		}
	}
	return use(at)
}

// Loaded are data on a device.
type Loaded struct {
	*Data
	lab                                *Lab
	keys, values, present, absent, out gpukernels.Ptr // out has capacity for a value of each key that is looked up
}

// Load brings data to the device. Close them before the lab.
func (l *Lab) Load(ctx context.Context, d *Data) (*Loaded, error) {
	x := &Loaded{Data: d, lab: l}
	for _, c := range []struct {
		to    *gpukernels.Ptr
		bytes []byte
		size  int
	}{{&x.keys, d.keys, len(d.keys)}, {&x.values, d.values, len(d.values)}, {&x.present, d.present, len(d.present)}, {&x.absent, d.absent, len(d.absent)}, {&x.out, nil, d.Rows * d.ValueBytes}} {
		var err error
		if *c.to, err = l.stream.Alloc(int64(c.size)); err == nil {
			err = l.upload(ctx, *c.to, c.bytes)
		}
		if err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, nil
}

// Close frees them.
func (x *Loaded) Close() error {
	var all []error
	for _, p := range []gpukernels.Ptr{x.keys, x.values, x.present, x.absent, x.out} {
		all = append(all, x.lab.stream.Free(p))
	}
	return errors.Join(all...)
}

func (l *Lab) upload(ctx context.Context, to gpukernels.Ptr, bytes []byte) error {
	const piece = 64 << 20 // between two looks at the context
	for from := 0; from < len(bytes); from += piece {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := l.stream.Upload(to+gpukernels.Ptr(from), bytes[from:min(from+piece, len(bytes))]); err != nil {
			return err
		}
	}
	return nil
}

// module is a loaded source, whose kernels can be launched.
type module struct {
	lab     *Lab
	loaded  *gpukernels.Module
	threads int
}

func (l *Lab) module(ctx context.Context, source string, threads int) (*module, error) {
	m, _, err := l.device.Load(ctx, source)
	if err != nil {
		return nil, err
	}
	return &module{lab: l, loaded: m, threads: l.device.Block(threads)}, nil
}

func (m *module) close() { m.loaded.Release() }

// grid is enough blocks to fill the device, and not more than there is work.
func (m *module) grid(threads int64) int64 {
	const each = 8 // of a multiprocessor: 2,048 threads in blocks of 256
	return max(min((threads+int64(m.threads)-1)/int64(m.threads), int64(max(m.lab.device.Info().Multiprocessors, 1)*each)), 1)
}

func (m *module) launch(kernel string, grid, shared int64, params ...uint64) error {
	f, err := m.loaded.Function(kernel)
	if err != nil {
		return err
	}
	return m.lab.stream.Launch(f, grid, m.threads, shared, params)
}

// time runs work so many times, each after before, and returns the shortest time of work.
func (l *Lab) time(ctx context.Context, runs int, before, work func() error) (best time.Duration, err error) {
	for run := range runs {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err := before(); err != nil {
			return 0, err
		}
		if err := l.stream.Record(l.marks[0]); err != nil {
			return 0, err
		}
		if err := work(); err != nil {
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

// nothing is before work that needs nothing.
func nothing() error { return nil }

// clear sets the counters to 0.
func (l *Lab) clear() error { return l.stream.Fill(l.counts, 0, 8, counters) }

// read returns the counters. ErrGivenUp: some search found no end.
func (l *Lab) read(ctx context.Context) (out [counters]uint64, err error) {
	if err := l.stream.Download(ctx, gpukernels.Bytes(out[:]), l.counts); err != nil {
		return out, err
	}
	if out[failedCounter] > 0 {
		err = fmt.Errorf("%w, or found more rows than there are: %d of them", ErrGivenUp, out[failedCounter])
	}
	return out, err
}

// ErrGivenUp says that a table's runs of full slots are too long to be searched.
var ErrGivenUp = errors.New("searches of keys passed all windows, or too many")

// check compares what was found with what the data say: values and the keys that they were found for.
func (l *Lab) check(ctx context.Context, s *Set, what string, keys, values gpukernels.Ptr, count int, want Totals) error {
	m, err := l.module(ctx, ChainSource(s.KeyBytes, s.ValueBytes), blockThreads)
	if err != nil {
		return err
	}
	defer m.close()
	if err := l.clear(); err != nil {
		return err
	}
	if err := m.launch(totalsKernel, m.grid(int64(count)), 0, uint64(keys), uint64(values), uint64(count), uint64(l.counts)); err != nil {
		return err
	}
	var got [counters]uint64
	if err := l.stream.Download(ctx, gpukernels.Bytes(got[:]), l.counts); err != nil {
		return err
	}
	if here := (Totals{got[0], got[1], got[2]}); here != want {
		return fmt.Errorf("%s: found %d values with the sum %d (%d with keys), want %d with %d (%d)", what, here.Values, here.Sum, here.Weighted, want.Values, want.Sum, want.Weighted)
	}
	return nil
}
