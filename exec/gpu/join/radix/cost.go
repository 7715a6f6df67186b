package radix

import (
	"fmt"
	"math"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
)

// scannedSide is what a join's cost depends on of the rows of one of its sides.
type scannedSide struct {
	rows     float64
	read     float64 // bytes of a row in the columns that the scan reads,
	packed   float64 // in partitions,
	stored   float64 // and in the table of a build
	filtered float64 // rows that a filter of the build's keys leaves; all if there is none
}

// costs are the picoseconds that a join over two scans takes in partitions, and by a table in device memory.
type costs struct{ partitions, table float64 }

// milliseconds writes picoseconds with two digits.
func milliseconds(ps float64) string {
	ms := ps / 1e9
	if ms >= 10 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.*f", max(1-int(math.Floor(math.Log10(max(ms, 0.01)))), 0), ms)
}

// costs are those of the join if its rows come from scans as they are.
func (x *Join) costs(g *kernel.Pipelines, build, probe *physical.TableScan) costs {
	var values []expr.ColumnID
	for _, c := range x.build.Payload {
		values = append(values, c.ID)
	}
	b := sideOf(g, build, x.build.Keys, values)
	p := sideOf(g, probe, x.probe.Keys, x.kept())
	b.rows, p.rows = x.build.EstRows, x.pipeline.RowsBefore(x.at)
	p.filtered = p.rows
	for _, u := range probe.RuntimeFilters {
		if x.drops(g, u) && float64(probe.Table.Rows()) >= g.Target.Tuning.Filter.Rows {
			p.filtered = min(p.filtered, p.rows*(1-u.Drops))
		}
	}
	t := &g.Target.Tuning.Joins
	return costs{t.InPartitions(x.moved(g, b, p)), t.ByTable(x.table(b, p))}
}

// drops says whether a filter of the build's keys drops so many rows that a join by a table of its own has it.
func (x *Join) drops(g *kernel.Pipelines, u physical.RuntimeFilterUse) bool {
	return u.Drops >= g.Target.Tuning.Filter.Drops && u.Build == x.build
}

// sideOf measures a row of a scan with some keys and other values.
func sideOf(g *kernel.Pipelines, scan *physical.TableScan, keys []expr.Expr, values []expr.ColumnID) (s scannedSide) {
	bytes := 0.0
	for _, e := range keys {
		w := 8.0
		if c, ok := e.(*expr.Column); ok {
			w = widthOf(g, scan, c.ID)
		}
		bytes += w
		s.stored += 8
	}
	s.read = bytes
	switch {
	case bytes <= 4:
		s.packed = 4
	case bytes <= 8:
		s.packed = 8
	default:
		s.packed = 8 + bytes // a hash, and what it is of
	}
	for _, id := range values {
		if keyNumber(keys, id) >= 0 {
			continue
		}
		w := widthOf(g, scan, id)
		s.read += w
		s.packed += w
		s.stored += 8
	}
	s.packed = max(math.Exp2(math.Ceil(math.Log2(s.packed))), 8)
	return s
}

// widthOf is the bytes of a scan's column.
func widthOf(g *kernel.Pipelines, scan *physical.TableScan, id expr.ColumnID) float64 {
	at := slices.IndexFunc(scan.Cols, func(c *expr.Column) bool { return c.ID == id })
	switch {
	case at < 0, scan.Ordinals[at] == logical.RowIDOrdinal:
		return 8
	case scan.Cols[at].Type().IsString():
		if f := g.Target.Columns(scan.Table, scan.Ordinals[at]); f.Dict == nil {
			return 16 // address and length
		}
		return 4
	}
	return float64(g.Target.Columns(scan.Table, scan.Ordinals[at]).Width)
}

// moved is the bytes that partitions of both sides move: each row is read from its columns, and written and read again by each pass.
func (x *Join) moved(g *kernel.Pipelines, b, p scannedSide) float64 {
	tuning := &g.Target.Tuning.Radix
	passes := float64(tuning.Passes)
	table := float64(g.Target.SharedBytes) / joinBlocks * 8 / 12 / b.packed // rows: 12 bytes of shared memory for 8
	if tuning.PassesMost > 1 && b.rows > expectedFull*table*(1<<OnePassBits) {
		passes = 2
	}
	return b.rows*(b.read+2*passes*b.packed) + p.rows*(p.read+2*passes*p.packed)
}

// table is the table that the join would have otherwise: an array by key, or slots for twice to four times the rows, and links and rows.
func (x *Join) table(b, p scannedSide) kernel.JoinTable {
	t := kernel.JoinTable{IsArray: x.build.On(physical.GPU) == physical.DenseJoin, Rows: b.rows, Probes: p.rows, Filtered: p.filtered}
	slots := 3 * b.rows
	if t.IsArray {
		slots = float64(x.build.DenseMax) - float64(x.build.DenseMin) + 1
	}
	t.Bytes = 4*slots + b.rows*(4+b.stored)
	return t
}
