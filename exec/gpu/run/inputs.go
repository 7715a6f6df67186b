package run

import (
	"context"
	"sync"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/devicemem"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/outofcore"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	tables "github.com/radish-sql/radish/storage/table"
)

// inputs are what kernels read that no kernel of the query writes: columns and spans of tables, dictionaries, constants.
type inputs struct {
	program   *program.Program
	device    *gpukernels.Device
	residency *residency.Residency
	memory    *devicemem.Memory
	parts     map[*physical.TableScan]tables.Slice // those that are scanned; all of a table that is not named
	windows   outofcore.Windows                    // scans that are read in windows
	scans     map[*physical.TableScan]*scanned
	spanned   map[*physical.TableScan]*spanTable
	dicts     map[*column.Dictionary]*heldDictionary
	constants map[*lookup.Data]gpukernels.Ptr
	fetches   map[*physical.TableScan]*fetch
	fetching  sync.WaitGroup // of fetches
}

func newInputs(g *program.Program, d *gpukernels.Device, r *residency.Residency, m *devicemem.Memory, parts map[*physical.TableScan]tables.Slice) *inputs {
	return &inputs{
		program: g, device: d, residency: r, memory: m, parts: parts,
		scans: map[*physical.TableScan]*scanned{}, spanned: map[*physical.TableScan]*spanTable{}, dicts: map[*column.Dictionary]*heldDictionary{},
		constants: map[*lookup.Data]gpukernels.Ptr{}, fetches: map[*physical.TableScan]*fetch{},
	}
}

// heldDictionary is a dictionary's strings on the device.
type heldDictionary struct {
	views gpukernels.Ptr
	done  func()
}

// scanned is what kernels read of a scan's table: all of the part, or a window of it.
type scanned struct {
	columns []*residency.Column // in the order of ScanOrdinals
	deleted gpukernels.Ptr      // as residency.Table has it
	spans   gpukernels.Ptr      // address of the spans

	held     []*residency.Table // until the query is closed
	uploaded int64              // bytes that had to be waited for
	bytes    int64              // of columns in the rows that were read
	windows  int                // that were read; 0: it is read at once
	kept     map[int]*residency.Table
}

// spanTable is a scan's spans on the device.
type spanTable struct {
	address gpukernels.Ptr
	tile    int64 // rows of one
	tiles   int64
	rows    int64
	windows []scanWindow // those that zone maps leave some rows of; of a scan that is read at once, one
}

// scanWindow is a run of row groups, and its spans.
type scanWindow struct {
	at         int // its number among all windows
	part       tables.Slice
	first, end int64 // row numbers
	words      int   // before its spans
	tiles      int64
	rows       int64
}

// fetch is a scan's columns on their way to the device.
type fetch struct {
	ready chan struct{} // closed when the rest is there
	table *residency.Table
	err   error
}

// fetchAhead begins to bring the columns of all scans to the device, for a query whose kernels are being compiled meanwhile. Where they would take more
// than half of the free memory each pipeline brings its own, when what others needed may have been freed.
func (in *inputs) fetchAhead(ctx context.Context) {
	var scans []*physical.TableScan
	missing := int64(0)
	for _, p := range in.program.Plan.Pipelines {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok || in.program.Kernels[p] == nil || in.windows.Of[scan] != nil {
			continue
		}
		if _, bytes := in.residency.Bytes(scan.Table, outofcore.ScanOrdinals(scan), in.parts[scan]); bytes > 0 {
			scans = append(scans, scan)
			missing += bytes
		}
	}
	if missing == 0 {
		return
	}
	if m, err := in.device.Memory(); err != nil || missing > m.Free/2 {
		return
	}
	for _, scan := range scans {
		f := &fetch{ready: make(chan struct{})}
		in.fetches[scan] = f
		in.fetching.Go(func() {
			defer close(f.ready)
			f.err = sqlerr.Guard(func() (err error) {
				f.table, err = in.residency.Acquire(ctx, scan.Table, outofcore.ScanOrdinals(scan), in.parts[scan])
				return err
			})
		})
	}
}

// columns brings a scan's columns to the device, or waits until they are there.
func (in *inputs) columns(ctx context.Context, scan *physical.TableScan) (*residency.Table, error) {
	if f := in.fetches[scan]; f != nil {
		delete(in.fetches, scan)
		<-f.ready
		if f.err == nil {
			return f.table, nil
		}
	}
	return in.residency.Acquire(ctx, scan.Table, outofcore.ScanOrdinals(scan), in.parts[scan])
}

// small adds what is known before anything runs: spans of scans, and constants.
func (in *inputs) small(a *devicemem.Small) {
	seen := map[*lookup.Data]bool{}
	for _, k := range in.program.Kernels {
		if scan := k.Rows.Scan; scan != nil {
			st, words := in.spanWords(k, scan)
			a.Add(gpukernels.Bytes(words), func(at gpukernels.Ptr) { st.address, in.spanned[scan] = at, st })
		}
		for _, x := range k.All() {
			for i := range x.Params {
				if t := x.Params[i].Table; t != nil && !seen[t] {
					seen[t] = true
					a.Add(t.Bytes, func(at gpukernels.Ptr) { in.constants[t] = at })
				}
			}
		}
	}
}

// openConstants brings what a kernel's expressions read to the device.
func (in *inputs) openConstants(ctx context.Context, k *kernel.Kernel) error {
	for i := range k.Params {
		s := &k.Params[i]
		if s.Table != nil && in.constants[s.Table] == 0 {
			a, err := in.memory.Alloc("constants of an expression", int64(len(s.Table.Bytes)))
			if err == nil {
				err = in.memory.Stream.Upload(a, s.Table.Bytes)
			}
			if err != nil {
				return err
			}
			in.constants[s.Table] = a
		}
		if w, ok := s.Key.(kernel.DictionaryWord); ok {
			if _, err := in.dictionary(ctx, w.Dict); err != nil {
				return err
			}
		}
	}
	return nil
}

// dictionary brings a dictionary's strings to the device, until the query is closed.
func (in *inputs) dictionary(ctx context.Context, d *column.Dictionary) (gpukernels.Ptr, error) {
	h := in.dicts[d]
	if h == nil {
		views, done, err := in.residency.Dictionary(ctx, d)
		if err != nil {
			return 0, err
		}
		h = &heldDictionary{views, done}
		in.dicts[d] = h
	}
	return h.views, nil
}

// openScan brings what a kernel reads of a table to the device.
func (in *inputs) openScan(ctx context.Context, k *kernel.Kernel, scan *physical.TableScan) error {
	if in.scans[scan] == nil {
		x := &scanned{}
		if in.windows.Of[scan] != nil {
			if err := in.openWindows(ctx, scan, x); err != nil {
				return err
			}
		} else {
			t, err := in.columns(ctx, scan)
			if err != nil {
				return err
			}
			x.held, x.columns, x.deleted, x.uploaded = []*residency.Table{t}, t.Columns, t.Deleted, t.Uploaded
		}
		in.scans[scan] = x
	}
	if st := in.spanned[scan]; st != nil && st.tile == in.tile(k) {
		return nil
	}
	st, words := in.spanWords(k, scan)
	var err error
	if st.address, err = in.memory.Alloc("rows to scan", int64(8*len(words))+8); err != nil {
		return err
	}
	in.spanned[scan] = st
	return in.memory.Stream.Upload(st.address, gpukernels.Bytes(words))
}

// tile is how many rows a block takes at once.
func (in *inputs) tile(k *kernel.Kernel) int64 {
	return int64(in.device.Block(k.Threads) * k.Items)
}

// spanWords are a scan's spans, as a kernel reads them.
func (in *inputs) spanWords(k *kernel.Kernel, scan *physical.TableScan) (*spanTable, []int64) {
	tile := in.tile(k)
	var words []int64
	st := &spanTable{tile: tile}
	parts := []tables.Slice{in.parts[scan]}
	of := in.windows.Of[scan]
	if of != nil {
		parts = of.Parts(scan.Table)
	}
	spans := in.program.Target.Spans(scan)
	for i, part := range parts {
		w := scanWindow{at: i, part: part, words: len(words)}
		w.first, w.end = part.Rows(scan.Table)
		for len(spans) > 0 && spans[0].End <= w.first {
			spans = spans[1:]
		}
		for _, s := range spans {
			if s.First >= w.end {
				break
			}
			s.First, s.End = max(s.First, w.first), min(s.End, w.end)
			if s.End <= s.First {
				continue
			}
			w.tiles += (s.End+tile-1)/tile - s.First/tile
			w.rows += s.End - s.First
			words = append(words, s.First, s.End, w.tiles)
		}
		if of != nil && w.tiles == 0 {
			continue
		}
		st.windows = append(st.windows, w)
		st.tiles += w.tiles
		st.rows += w.rows
	}
	return st, words
}

// resident is a scan's column on the device.
func (in *inputs) resident(c kernel.ScanColumn) *residency.Column {
	at := 0
	for i, o := range c.Scan.Ordinals {
		if o == logical.RowIDOrdinal {
			continue
		}
		if i == c.At {
			break
		}
		at++
	}
	return in.scans[c.Scan].columns[at]
}

// scanWord is a word of a table scan.
func (in *inputs) scanWord(key any) (uint64, bool) {
	switch w := key.(type) {
	case kernel.ColumnData:
		return uint64(in.resident(w.C).Data), true
	case kernel.ColumnBytes:
		return uint64(in.resident(w.C).Bytes), true
	case kernel.ColumnValid:
		return uint64(in.resident(w.C).Valid), true
	case kernel.ColumnBase:
		return uint64(in.resident(w.C).Base), true
	case kernel.DeletedWord:
		return uint64(in.scans[w.Scan].deleted), true
	case kernel.SpansWord:
		return uint64(in.scans[w.Scan].spans), true
	case kernel.LowWord:
		low, _ := w.Offsets(in.resident(w.C).Base)
		return uint64(low), true
	case kernel.SpanWord:
		_, span := kernel.LowWord(w).Offsets(in.resident(w.C).Base)
		return uint64(span), true
	case kernel.SlotWord:
		return uint64(w.Slot(in.resident(w.C).Base)), true
	}
	return 0, false
}

// scanOf is what was read of a pipeline's table; nil: it reads none.
func (in *inputs) scanOf(p *physical.Pipeline) *scanned {
	if scan, ok := p.Source.(*physical.TableScan); ok {
		return in.scans[scan]
	}
	return nil
}

// rows is how many rows a scan has to read, deleted ones aside.
func (in *inputs) rows(scan *physical.TableScan) int64 {
	part := in.parts[scan]
	if part.All() {
		return scan.Table.Rows()
	}
	rows := int64(0)
	for _, g := range part.Groups(scan.Table) {
		rows += int64(g.Rows)
		if g.Deleted != nil {
			rows -= int64(g.Deleted.CountOnes(g.Rows))
		}
	}
	return rows
}

// close lets go of columns and dictionaries. No column is being fetched any more. The query's memory was freed before.
func (in *inputs) close() {
	for _, f := range in.fetches { // which no pipeline came to ask for
		if f.table != nil {
			f.table.Release()
		}
	}
	clear(in.fetches)
	if len(in.scans)+len(in.dicts) > 0 {
		_ = in.memory.Stream.Sync(context.Background()) // before others may overwrite what it reads
	}
	for _, x := range in.scans {
		for _, t := range x.held {
			t.Release()
		}
	}
	clear(in.scans)
	for _, d := range in.dicts {
		d.done()
	}
	clear(in.dicts)
}

// openWindows brings the columns to the device that are read as a whole, though the others are read in windows.
func (in *inputs) openWindows(ctx context.Context, scan *physical.TableScan, x *scanned) error {
	x.kept = map[int]*residency.Table{}
	x.columns = make([]*residency.Column, len(outofcore.ScanOrdinals(scan)))
	of := in.windows.Of[scan]
	if len(of.Whole) == 0 {
		return nil
	}
	t, err := in.residency.Acquire(ctx, scan.Table, of.Whole, of.Part)
	if err != nil {
		return err
	}
	x.held, x.uploaded = append(x.held, t), t.Uploaded
	x.put(scan, of.Whole, t)
	return nil
}

// put gives columns their places among those that the scan reads.
func (x *scanned) put(scan *physical.TableScan, ordinals []int, t *residency.Table) {
	at := 0
	for i, o := range outofcore.ScanOrdinals(scan) {
		if at < len(ordinals) && ordinals[at] == o {
			x.columns[i] = t.Columns[at]
			at++
		}
	}
}

// read notes that rows are read of the columns.
func (x *scanned) read(rows int64) {
	bytes := 0.0
	for _, c := range x.columns {
		bytes += float64(c.Size) / float64(max(c.Rows(), 1))
	}
	x.bytes += int64(bytes * float64(rows))
}
