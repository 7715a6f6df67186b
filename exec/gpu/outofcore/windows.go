// Package outofcore chooses which tables are read in windows.
//
// A table whose columns do not fit into the device's memory is read in windows: runs of row groups, of which one is read while the next ones are uploaded. A scan has no state
// beyond its sink, so its kernel is launched for each window as it is for each chunk of a large table. Which scans are read in windows follows from the plan, the tables and the
// memory alone, so EXPLAIN can tell. Package run reads them (stream.go).
package outofcore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/residency"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	tables "github.com/radish-sql/radish/storage/table"
)

// Windows says which of a plan's scans are read in windows.
type Windows struct {
	Of      map[*physical.TableScan]*Windowed
	Refusal string // why the plan cannot run within the memory; "": it can
}

// Windowed is how a scan is read in windows.
type Windowed struct {
	Groups int   // row groups of a window, at most
	Count  int   // windows, those included that zone maps leave out
	Kept   int   // of them, the first ones, that stay on the device for later queries
	Ahead  int   // windows that are uploaded while one is read
	Bytes  int64 // of all windows

	Ordinals []int        // columns that are read in windows
	Whole    []int        // columns of strings that stay while the query runs, since its sinks hold addresses of them
	Part     tables.Slice // of the table
}

// Text tells a user.
func (w *Windowed) Text() string {
	text := fmt.Sprintf("reads %s of columns in %d windows", sqlerr.FormatBytes(w.Bytes), w.Count)
	if w.Kept > 0 {
		text += fmt.Sprintf(", the first %d of which stay", w.Kept)
	}
	return text
}

// Bounds of windows. Two are uploaded while one is read, so that the bus never waits for a kernel's end. From windowMost on a window's own cost, some 0.1 ms, no longer counts; a small
// memory is cut into windowParts. The rest is for dictionaries and bitmaps of deleted rows.
const (
	windowAhead = 2
	windowMost  = 128 << 20
	windowParts = 8
	windowRest  = 16 // the memory's part that is left to them
)

// Scan is a scan that may be read in windows.
type Scan struct {
	Scan  *physical.TableScan
	Bytes int64 // of inWindows

	part       tables.Slice
	inWindows  []int
	whole      []int
	wholeBytes int64 // of whole
}

// Plan chooses the scans that are read in windows so that table columns take at most tables bytes; 0: as many as there are. It chooses none if all columns fit at once,
// else the largest ones. parts are what is read of some tables; others are read whole. on says which pipelines run on the device.
//
// What windows cannot read, as a row group that is too large, is read whole if the columns fit without the memory that is kept for the query, which may do with less.
func Plan(plan *physical.Plan, on func(*physical.Pipeline) bool, r *residency.Residency, parts map[*physical.TableScan]tables.Slice, tables int64) Windows {
	scans, total := Scans(plan, on, r, parts)
	w := Within(scans, total, r, r.TableCapacity(tables))
	if w.Refusal != "" && total <= r.MostTables(tables) {
		return Windows{Of: map[*physical.TableScan]*Windowed{}}
	}
	return w
}

// Within chooses those of some scans, all of whose columns take total bytes, that are read in windows so that they take at most so much memory.
func Within(scans []*Scan, total int64, r *residency.Residency, memory int64) Windows {
	w := Windows{Of: map[*physical.TableScan]*Windowed{}}
	memory -= memory / windowRest
	if total <= memory {
		return w
	}
	slices.SortStableFunc(scans, func(a, b *Scan) int { return cmp.Compare(a.Bytes, b.Bytes) })
	w.choose(scans, r, memory)
	return w
}

// Scans lists the scans of a plan, and how much memory all their columns take.
func Scans(plan *physical.Plan, on func(*physical.Pipeline) bool, r *residency.Residency, parts map[*physical.TableScan]tables.Slice) (scans []*Scan, total int64) {
	seen := map[columnPart]bool{}
	for _, p := range plan.Pipelines {
		scan, ok := p.Source.(*physical.TableScan)
		if !ok || !on(p) {
			continue
		}
		x := &Scan{Scan: scan, part: parts[scan]}
		holdsViews := holdsStrings(plan, p.Sink)
		for _, o := range ScanOrdinals(scan) {
			here, missing := r.Bytes(scan.Table, []int{o}, x.part)
			if holdsViews && r.Form(scan.Table, o).Class == form.View {
				x.whole, x.wholeBytes = append(x.whole, o), x.wholeBytes+here+missing
			} else {
				x.inWindows, x.Bytes = append(x.inWindows, o), x.Bytes+here+missing
			}
			if key := (columnPart{scan.Table, o, x.part}); !seen[key] {
				seen[key] = true
				total += here + missing
			}
		}
		scans = append(scans, x)
	}
	return scans, total
}

// columnPart is what a scan reads of a column.
type columnPart struct {
	table   *tables.Version
	ordinal int
	part    tables.Slice
}

// choose has the largest scans read in windows, as few as have to be. scans are in ascending order.
func (w *Windows) choose(scans []*Scan, r *residency.Residency, memory int64) {
	for whole := len(scans) - 1; whole >= 0; whole-- {
		w.Refusal = w.fit(scans[:whole], scans[whole:], r, memory)
		if w.Refusal == "" {
			return
		}
	}
}

// fit has some scans read in windows, and others not. It says why that takes more memory than there is.
func (w *Windows) fit(whole, windowed []*Scan, r *residency.Residency, memory int64) (refusal string) {
	left := memory
	for _, x := range whole {
		left -= x.Bytes + x.wholeBytes
	}
	for _, x := range windowed {
		left -= x.wholeBytes
	}
	clear(w.Of)
	most := int64(0) // of the windows that are there at once
	for _, x := range windowed {
		of, size, largest := x.Windows(r, min(left/windowParts, windowMost))
		if largest > left {
			name := x.Scan.Table.Schema.Name
			if x.wholeBytes > 0 {
				return fmt.Sprintf("strings of table %s, which take %s, have to stay while the query runs, and its columns may take %s", name, sqlerr.FormatBytes(x.wholeBytes), sqlerr.FormatBytes(memory))
			}
			return fmt.Sprintf("the columns that it reads of a row group of table %s take %s, and columns may take %s", name, sqlerr.FormatBytes(largest), sqlerr.FormatBytes(memory))
		}
		of.Ahead = int(min(left/max(largest, 1)-1, windowAhead))
		w.Of[x.Scan] = of
		most = max(most, int64(of.Ahead+1)*largest)
		if x == windowed[len(windowed)-1] { // the largest: what is left keeps its first windows
			of.Kept = int(min((left-most)/max(size, 1), int64(of.Count)))
		}
	}
	return ""
}

// Windows cuts a scan into windows of about so many bytes, of a power of two row groups: so windows of different queries begin alike. size is a window's mean, largest the
// largest one's.
func (x *Scan) Windows(r *residency.Residency, bytes int64) (of *Windowed, size, largest int64) {
	of = &Windowed{Groups: 1, Bytes: x.Bytes, Ordinals: x.inWindows, Whole: x.whole, Part: x.part}
	count := len(x.part.Groups(x.Scan.Table))
	for of.Groups < count && x.Bytes/int64(count)*int64(of.Groups)*2 <= bytes {
		of.Groups *= 2
	}
	all := of.Parts(x.Scan.Table)
	of.Count = len(all)
	total := int64(0)
	for _, part := range all {
		here, missing := r.Bytes(x.Scan.Table, x.inWindows, part)
		total += here + missing
		largest = max(largest, here+missing)
	}
	return of, total / int64(max(len(all), 1)), largest
}

// Parts are the windows. They begin at multiples of their size, as far as the scan's part lets them.
func (of *Windowed) Parts(v *tables.Version) (out []tables.Slice) {
	from, to := of.Part.From, of.Part.To
	if of.Part.All() || to > len(v.Groups()) {
		to = len(v.Groups())
	}
	for from < to {
		end := min(from/of.Groups*of.Groups+of.Groups, to)
		out = append(out, tables.Slice{From: from, To: end})
		from = end
	}
	return out
}

// holdsStrings says whether a sink may hold strings, which are addresses of where a scan has found them.
func holdsStrings(plan *physical.Plan, s physical.Sink) bool {
	strings := func(es ...expr.Expr) bool {
		return slices.ContainsFunc(es, func(e expr.Expr) bool { return form.ClassOf(e.Type()) == form.View })
	}
	columns := func(cols []*expr.Column) bool {
		return slices.ContainsFunc(cols, func(c *expr.Column) bool { return strings(c) })
	}
	switch s := s.(type) {
	case *physical.Build:
		return strings(s.Keys...) || columns(s.Payload)
	case *physical.Aggregate:
		for _, it := range s.Groups {
			if strings(it.Expr) {
				return true
			}
		}
		for _, it := range s.Aggs {
			if strings(it.Args...) {
				return true
			}
		}
		return false
	case *physical.Result:
		return columns(plan.Cols)
	}
	return columns(physical.SinkColumns(s))
}

// ScanOrdinals are the table's columns that a scan reads.
func ScanOrdinals(scan *physical.TableScan) []int {
	var ordinals []int
	for _, o := range scan.Ordinals {
		if o != logical.RowIDOrdinal {
			ordinals = append(ordinals, o)
		}
	}
	return ordinals
}
