package kernel

import (
	"math"
	"testing"
)

// What joins of 4-byte keys with a value of 4 bytes a side took on an H200 on 27 November 2026, in milliseconds of kernels: radish-bench join --device gpu --large 25 --curves.
var measuredJoins = []struct {
	build, probe float64 // log2 of the rows
	left         float64 // share of the probe's rows that a filter of keys leaves
	passes       float64
	array        bool
	table, parts float64
}{
	{build: 15, probe: 25, left: 1, passes: 1, table: 3.23, parts: 0.64},
	{build: 17, probe: 25, left: 1, passes: 1, table: 3.25, parts: 0.66},
	{build: 19, probe: 25, left: 1, passes: 1, table: 3.35, parts: 0.72},
	{build: 21, probe: 25, left: 1, passes: 1, table: 5.57, parts: 0.77},
	{build: 23, probe: 25, left: 1, passes: 2, table: 7.33, parts: 1.13},
	{build: 25, probe: 25, left: 1, passes: 2, table: 10.1, parts: 1.48},
	{build: 25, probe: 26, left: 0.5, passes: 2, table: 8.60, parts: 2.57},
	{build: 23, probe: 25, left: 0.22, passes: 2, table: 2.09, parts: 1.18},
	{build: 19, probe: 19, left: 1, passes: 1, table: 0.14, parts: 0.25},
	{build: 19, probe: 21, left: 1, passes: 1, table: 0.26, parts: 0.37},
	{build: 19, probe: 23, left: 1, passes: 1, table: 0.74, parts: 0.31},
	{build: 18, probe: 18, left: 1, passes: 1, table: 0.16, parts: 0.24},
	{build: 15, probe: 25, left: 1, passes: 1, array: true, table: 0.63, parts: 0.57},
	{build: 17, probe: 25, left: 1, passes: 1, array: true, table: 0.74, parts: 0.67},
	{build: 19, probe: 25, left: 1, passes: 1, array: true, table: 0.78, parts: 0.75},
	{build: 21, probe: 25, left: 1, passes: 1, array: true, table: 0.95, parts: 0.79},
	{build: 23, probe: 25, left: 1, passes: 2, array: true, table: 2.21, parts: 1.14},
	{build: 25, probe: 25, left: 1, passes: 2, array: true, table: 4.83, parts: 1.81},
	{build: 25, probe: 26, left: 0.5, passes: 2, array: true, table: 5.46, parts: 2.58},
}

// TestJoinCosts compares the costs of joins with what joins took: each is at most half off, and what costs less is at most 15% slower.
func TestJoinCosts(t *testing.T) {
	tuning := TuningOf(90)
	for _, m := range measuredJoins {
		b, p := math.Exp2(m.build), math.Exp2(m.probe)
		table := JoinTable{IsArray: m.array, Bytes: 32 * b, Rows: b, Probes: p, Filtered: p * m.left}
		if m.array {
			table.Bytes = 24 * b
		}
		parts, whole := tuning.Joins.InPartitions((b+p)*(8+16*m.passes))/1e9, tuning.Joins.ByTable(table)/1e9
		for what, x := range map[string][2]float64{"partitions": {parts, m.parts}, "table": {whole, m.table}} {
			if off := x[0] / x[1]; off < 1/1.5 || off > 1.5 {
				t.Errorf("2^%v and 2^%v rows, array %v, %v left, %s: cost %.2f ms, measured %.2f", m.build, m.probe, m.array, m.left, what, x[0], x[1])
			}
		}
		chosen := m.table
		if parts < whole {
			chosen = m.parts
		}
		if chosen > 1.15*min(m.table, m.parts) {
			t.Errorf("2^%v and 2^%v rows, array %v, %v left: cost %.2f ms in partitions, %.2f by a table; measured %.2f and %.2f", m.build, m.probe, m.array, m.left, parts, whole, m.parts, m.table)
		}
	}
}

// On a device where partitions take longer, and tables do not, joins are by a table; the other way round, fewer are.
func TestJoinCostsTimes(t *testing.T) {
	const build, probe = 1 << 19, 1 << 25
	table := JoinTable{Bytes: 32 * build, Rows: build, Probes: probe, Filtered: probe}
	for _, x := range []struct {
		partitions, tables float64
		partitioned        bool
	}{{1, 1, true}, {8, 1, false}, {8, 8, true}, {1, 1.0 / 8, false}} {
		c := TuningOf(90).Joins.Times(x.partitions, x.tables)
		if got := c.InPartitions((build+probe)*24) < c.ByTable(table); got != x.partitioned {
			t.Errorf("%v and %v times an H200's: partitioned %v, want %v", x.partitions, x.tables, got, x.partitioned)
		}
		one := TuningOf(90).Joins
		if a, b := c.ByTable(table), x.tables*one.ByTable(table); math.Abs(a-b) > 1e-6*b {
			t.Errorf("%v times an H200's: a table takes %v, want %v", x.tables, a, b)
		}
		if a, b := c.InPartitions(1e9), x.partitions*one.InPartitions(1e9); math.Abs(a-b) > 1e-6*b {
			t.Errorf("%v times an H200's: partitions take %v, want %v", x.partitions, a, b)
		}
	}
}
