package parquet

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/arrowconv"
	"github.com/radish-sql/radish/storage/encoding"
	"github.com/radish-sql/radish/storage/table"
)

// part is some rows of a row group, at most table.RowGroupSize, by column.
type part struct {
	rows int
	data []encoding.Data
}

// Load adds the rows to a builder for a table of the columns at ordinals (nil: all), in that order. An ordinal of -1 is a column that the file lacks, NULL
// in all rows. Columns are read in parallel, and so are row groups where there are more processors than columns. It ends soon after ctx is cancelled.
func (f *File) Load(ctx context.Context, b *table.Builder, ordinals []int) error {
	return f.LoadGroups(ctx, b, ordinals, nil)
}

// LoadGroups is Load for some row groups, in ascending order (nil: all).
func (f *File) LoadGroups(ctx context.Context, b *table.Builder, ordinals, chosen []int) error {
	if ordinals == nil {
		for i := range f.columns {
			ordinals = append(ordinals, i)
		}
		if err := arrowconv.CheckColumns(f.columns); err != nil {
			return f.failed(err)
		}
	}
	if chosen == nil {
		for g := range f.footer.groups {
			chosen = append(chosen, g)
		}
	}
	if err := ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	processors := runtime.GOMAXPROCS(0)
	work, workCtx := errgroup.WithContext(ctx)
	l := &loader{file: f, access: f.access(workCtx, max(processors, len(ordinals))), ordinals: ordinals, slots: make(chan struct{}, processors)}
	// The row groups begun so far: as many as the channel holds, the one being delivered and the one that waits.
	groups := make(chan chan part, processors/max(1, len(ordinals)))
	start := func(f func() error) { work.Go(func() error { return sqlerr.Guard(f) }) }
	start(func() error {
		defer close(groups)
		for _, g := range chosen {
			parts := make(chan part)
			start(func() error {
				defer close(parts)
				return l.readGroup(g, parts)
			})
			select {
			case groups <- parts:
			case <-workCtx.Done():
				return nil
			}
		}
		return nil
	})
	start(func() error {
		for parts := range groups {
			for p := range parts {
				add := b.AppendColumns
				if p.rows < table.RowGroupSize/2 {
					add = b.AppendData
				}
				if err := add(p.rows, p.data); err != nil {
					return err
				}
			}
			if workCtx.Err() != nil {
				return nil // what the group lacks is for the one who ended the work to tell
			}
		}
		return nil
	})
	if err := work.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return sqlerr.Interrupted(err)
	}
	return nil
}

// loader is a Load in progress.
type loader struct {
	file *File
	access
	ordinals []int
	slots    chan struct{} // one is held while a column is read
}

// readGroup reads a row group, part by part.
func (l *loader) readGroup(group int, out chan<- part) error {
	left := l.file.footer.groups[group].rows
	readers := make([]columnReader, len(l.ordinals))
	defer func() {
		for _, r := range readers {
			if r != nil {
				r.close()
			}
		}
	}()
	for left > 0 {
		p := part{rows: int(min(left, table.RowGroupSize)), data: make([]encoding.Data, len(l.ordinals))}
		bytes := l.width() * int64(p.rows)
		if err := l.memory.Add(bytes); err != nil {
			return err
		}
		var work errgroup.Group
		for i := range l.ordinals {
			work.Go(func() error {
				return sqlerr.Guard(func() (err error) {
					l.slots <- struct{}{}
					defer func() { <-l.slots }()
					if err := l.ctx.Err(); err != nil {
						return sqlerr.Interrupted(err)
					}
					if readers[i] == nil {
						if readers[i], err = l.file.openColumn(l.access, group, l.ordinals[i]); err != nil {
							return l.file.failed(err)
						}
						_, packed := l.file.GroupBytes(group, l.ordinals[i])
						table.Reads(l.ctx, packed)
					}
					if p.data[i], err = readers[i].read(p.rows); err != nil {
						return l.file.failed(err)
					}
					return nil
				})
			})
		}
		if err := work.Wait(); err != nil {
			l.memory.Free(bytes)
			return err
		}
		select {
		case out <- p:
		case <-l.ctx.Done():
			l.memory.Free(bytes)
			return nil
		}
		l.memory.Free(bytes) // the builder counts them from now on
		left -= int64(p.rows)
	}
	return nil
}

// width returns the bytes of a row's columns while they are read: strings by their headers.
func (l *loader) width() int64 {
	total := int64(0)
	for _, o := range l.ordinals {
		if o < 0 {
			total += 8
			continue
		}
		switch l.file.leaves[o].typ.Phys() {
		case types.PhysInt128, types.PhysString:
			total += 16
		default:
			total += 8
		}
	}
	return total
}
