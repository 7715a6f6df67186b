package tablelab

import (
	"context"
	"fmt"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// Times are those of a table.
type Times struct {
	Bytes           int64 // of the table
	Insert          time.Duration
	Present, Absent time.Duration // finding as many keys as rows were inserted
	Retrieve        time.Duration // all rows of each key, where a key may have several
}

// Plan says how a table is filled and searched.
type Plan struct {
	Shape
	Load     float64 // rows for each slot
	PartBits int     // rows and keys are put into 2^PartBits partitions of the table first; 0: they are not
	Runs     int     // a time is the shortest of so many
}

// Sources are the texts that a plan's runs need, to be compiled at once.
func (p *Plan) Sources() []string {
	out := []string{p.Source(), ChainSource(p.KeyBytes, p.ValueBytes)}
	if p.PartBits > 0 {
		out = append(out, PartSource(p.KeyBytes, p.ValueBytes, p.PartBits))
	}
	return out
}

func (p *Plan) check(d *Data) error {
	if err := p.Shape.check(); err != nil {
		return err
	}
	switch {
	case p.KeyBytes != d.KeyBytes || p.ValueBytes != d.ValueBytes:
		return fmt.Errorf("a table of keys of %d bytes and values of %d for data of %d and %d", p.KeyBytes, p.ValueBytes, d.KeyBytes, d.ValueBytes)
	case p.IsMulti != d.IsMulti:
		return fmt.Errorf("data for one row of a key, or all of them, in a table for the other")
	case !(p.Load > 0 && p.Load < 1):
		return fmt.Errorf("a load of %g: between 0 and 1", p.Load)
	case p.PartBits < 0 || p.PartBits > partBits:
		return fmt.Errorf("2^%d partitions: 2^0 to 2^%d", p.PartBits, partBits)
	case p.Runs < 1:
		return fmt.Errorf("%d runs: a time needs one", p.Runs)
	}
	return nil
}

// open is a table of open addressing in use.
type open struct {
	*Plan
	*module
	data     *Loaded
	slots    gpukernels.Ptr
	windows  int
	parts    *module        // nil: without partitions
	rows     gpukernels.Ptr // in their order
	partKeys gpukernels.Ptr // keys to look up in their order
	given    gpukernels.Ptr // of each partition
}

// Open fills a table and searches it. All that it gives is compared with what the data say.
func (l *Lab) Open(ctx context.Context, p Plan, x *Loaded) (t Times, err error) {
	if err := p.check(x.Data); err != nil {
		return t, err
	}
	o := &open{Plan: &p, data: x, windows: p.windows(x.tableRows(), p.Load)}
	if o.module, err = l.module(ctx, p.Source(), blockThreads); err != nil {
		return t, err
	}
	defer o.close()
	rowBytes := slotBytes(p.KeyBytes, p.ValueBytes)
	t.Bytes = int64(o.windows) * int64(p.Window*rowBytes)
	sizes := []int64{t.Bytes, 0, 0, 0}
	if p.PartBits > 0 {
		if o.parts, err = l.module(ctx, PartSource(p.KeyBytes, p.ValueBytes, p.PartBits), partitionThreads); err != nil {
			return t, err
		}
		defer o.parts.close()
		sizes = []int64{t.Bytes, int64(x.Rows * rowBytes), int64(x.Rows * p.KeyBytes), 4 << p.PartBits}
	}
	err = l.arrays(sizes, func(at []gpukernels.Ptr) error {
		o.slots, o.rows, o.partKeys, o.given = at[0], at[1], at[2], at[3]
		return o.run(ctx, &t)
	})
	return t, err
}

// tableRows is how many rows a table has in the end.
func (d *Data) tableRows() int {
	if d.IsMulti {
		return d.Rows
	}
	return d.Distinct
}

func (o *open) run(ctx context.Context, t *Times) (err error) {
	if t.Insert, err = o.fill(ctx); err != nil {
		return fmt.Errorf("inserting: %w", err)
	}
	if o.IsMulti {
		t.Retrieve, err = o.retrieve(ctx)
		return err
	}
	if t.Present, err = o.find(ctx, "present keys", o.data.present, o.data.found); err != nil {
		return err
	}
	t.Absent, err = o.find(ctx, "absent keys", o.data.absent, Totals{})
	return err
}

// table are the parameters that describe it.
func (o *open) table(more ...uint64) []uint64 {
	return append([]uint64{uint64(o.slots), uint64(o.windows), uint64(o.limit(o.windows)), uint64(o.lab.counts)}, more...)
}

// threads is how many take so many rows.
func (o *open) threads(rows int) int64 { return int64(rows) * int64(o.Group) }

func (o *open) fill(ctx context.Context) (time.Duration, error) {
	l, d := o.lab, o.data
	words := int64(o.windows) * int64(o.Window*slotBytes(o.KeyBytes, o.ValueBytes)/8)
	took, err := l.time(ctx, o.Runs, func() error {
		if err := l.clear(); err != nil {
			return err
		}
		return l.stream.Fill(o.slots, ^uint64(0), 8, words)
	}, func() error {
		if o.parts == nil {
			return o.launch(insertKernel, o.grid(o.threads(d.Rows)), 0, o.table(uint64(d.keys), uint64(d.values), uint64(d.Rows))...)
		}
		if err := o.partition(d.keys, o.rows, movePartsKernel, slotBytes(o.KeyBytes, o.ValueBytes)); err != nil {
			return err
		}
		return o.launch(insertRowsKernel, o.grid(o.threads(d.Rows)), 0, o.table(uint64(o.rows), uint64(d.Rows))...)
	})
	if err != nil {
		return 0, err
	}
	got, err := l.read(ctx)
	if err != nil {
		return 0, err
	}
	rows := d.tableRows()
	if got[insertedCounter] != uint64(rows) || got[presentCounter] != uint64(d.Rows-rows) {
		return 0, fmt.Errorf("%d rows are new and %d have keys that were there, want %d and %d", got[insertedCounter], got[presentCounter], rows, d.Rows-rows)
	}
	return took, nil
}

// partition puts the rows of keys, or keys, in the order of partitions.
func (o *open) partition(keys, to gpukernels.Ptr, kernel string, rowBytes int) error {
	l, rows := o.lab, o.data.Rows
	if err := l.stream.Fill(o.given, 0, 4, 1<<o.PartBits); err != nil {
		return err
	}
	if err := o.parts.launch(countPartsKernel, o.parts.grid(int64(rows)), 4<<o.PartBits, uint64(keys), uint64(rows), uint64(o.given)); err != nil {
		return err
	}
	if err := o.parts.launch(scanPartsKernel, 1, 0, uint64(o.given)); err != nil {
		return err
	}
	threads := (int64(rows) + partitionItems - 1) / partitionItems
	return o.parts.launch(kernel, o.parts.grid(threads), partShared(o.parts.threads, rowBytes, o.PartBits), uint64(keys), uint64(o.data.values), uint64(rows), uint64(o.given), uint64(to))
}

func (o *open) find(ctx context.Context, what string, keys gpukernels.Ptr, want Totals) (time.Duration, error) {
	l, d := o.lab, o.data
	if err := l.clear(); err != nil {
		return 0, err
	}
	looked := keys
	if o.parts != nil {
		looked = o.partKeys
	}
	took, err := l.time(ctx, o.Runs, nothing, func() error {
		if o.parts != nil {
			if err := o.partition(keys, looked, moveKeysKernel, o.KeyBytes); err != nil {
				return err
			}
		}
		return o.launch(findKernel, o.grid(o.threads(d.Rows)), 0, o.table(uint64(looked), uint64(d.out), uint64(d.Rows))...)
	})
	if err == nil {
		_, err = l.read(ctx)
	}
	if err == nil {
		err = l.check(ctx, &d.Set, what, looked, d.out, d.Rows, want)
	}
	return took, err
}

// retrieve finds all rows of each key. Absent keys are looked up too, without being timed.
func (o *open) retrieve(ctx context.Context) (best time.Duration, err error) {
	d := o.data
	err = d.lab.pairs(ctx, d, o.Runs, func(keys gpukernels.Ptr, count int, outKeys, outValues gpukernels.Ptr) error {
		return o.launch(retrieveKernel, o.grid(o.threads(count)), 0, o.table(uint64(keys), uint64(count), uint64(outKeys), uint64(outValues), uint64(d.Rows))...)
	}, &best)
	return best, err
}

// pairs times a retrieval, and checks the keys and values that it gives for present and absent keys.
func (l *Lab) pairs(ctx context.Context, d *Loaded, runs int, launch func(keys gpukernels.Ptr, count int, outKeys, outValues gpukernels.Ptr) error, best *time.Duration) error {
	return l.arrays([]int64{int64(d.Rows * d.KeyBytes), int64(d.Rows * d.ValueBytes)}, func(at []gpukernels.Ptr) (err error) {
		if *best, err = l.time(ctx, runs, l.clear, func() error { return launch(d.present, d.Distinct, at[0], at[1]) }); err != nil {
			return err
		}
		got, err := l.read(ctx)
		if err != nil {
			return fmt.Errorf("rows of present keys: %w", err)
		}
		if err := l.check(ctx, &d.Set, "rows of present keys", at[0], at[1], int(got[rowsCounter]), d.found); err != nil {
			return err
		}
		if err := l.clear(); err != nil {
			return err
		}
		if err := launch(d.absent, d.Rows, at[0], at[1]); err != nil {
			return err
		}
		if got, err = l.read(ctx); err == nil && got[rowsCounter] > 0 {
			err = fmt.Errorf("%d rows of absent keys", got[rowsCounter])
		}
		return err
	})
}
