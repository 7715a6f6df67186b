package program

import (
	"strings"
	"testing"

	"github.com/radish-sql/radish/planner/physical"
)

// TestRadixChoice looks at which joins have both sides in partitions, where tables of few rows are enough.
func TestRadixChoice(t *testing.T) {
	given := goldenTables(t)
	before := goldenTarget.Tuning
	defer func() { goldenTarget.Tuning = before }()
	goldenTarget.Tuning.Radix.Rows, goldenTarget.Tuning.Joins.Partitioning = 50, 0
	for _, tt := range []struct {
		sql  string
		want string // the outline of the probe; empty: no join in partitions
	}{
		{"SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM items a JOIN items b ON a.price = b.price", "inner join: radix partitions of 5 bits, passes: 1, tables of 9216 rows, rows of 8 bytes"},
		{"SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM items a JOIN items b ON a.price = b.price AND a.day = b.day", "inner join: radix partitions of 5 bits, passes: 1, tables of 9216 rows, rows of 8 bytes"},
		{"SELECT a.id, b.id FROM items a JOIN items b ON a.price = b.price AND a.id < b.id", "inner join: radix partitions of 5 bits, passes: 1, tables of 9216 rows, rows of 8 bytes"},
		{"SELECT COUNT(*) FROM items a JOIN items b ON a.price + 0e0 = b.price + 0e0", "inner join: radix partitions of 5 bits, passes: 1, tables of 4608 rows, rows of 16 bytes"}, // doubles are carried
		{"SELECT COUNT(*), SUM(b.id) FROM items a LEFT JOIN items b ON a.price = b.price", "left join: radix partitions of 5 bits, passes: 1, tables of 9216 rows, rows of 8 bytes"},
		{"SELECT COUNT(*), SUM(a.id) FROM items a WHERE EXISTS (SELECT 1 FROM items b WHERE a.price = b.price AND a.id < b.id)", "semi join: radix partitions of 5 bits, passes: 1, tables of 9216 rows, rows of 8 bytes"},
		{"SELECT COUNT(*), SUM(a.id) FROM items a WHERE NOT EXISTS (SELECT 1 FROM items b WHERE a.price = b.price AND a.id < b.id)", "anti join: radix partitions of 5 bits, passes: 1, tables of 9216 rows, rows of 8 bytes"},
		{"SELECT COUNT(*), SUM(b.id) FROM items a JOIN items b ON a.price = b.price WHERE a.id < 20", ""}, // few rows
	} {
		got := ""
		g := goldenProgram(t, given, tt.sql)
		for _, p := range g.Plan.Pipelines {
			if err := g.Reason(p); err != nil {
				t.Errorf("%s: %v", tt.sql, err)
				continue
			}
			for _, line := range g.Outlines[p].Decisions() {
				if strings.Contains(line, "join: radix") {
					got += line
				}
			}
			if _, partitioned := g.Side(p); partitioned && !strings.Contains(g.Kernels[p].CUDA, "partitioner.tile(") {
				t.Errorf("%s: no partitions in\n%s", tt.sql, g.Kernels[p].CUDA)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.sql, got, tt.want)
		}
	}
	goldenTarget.MemoryBytes = 16_000 // twice what both sides of 300 rows of 8 bytes take is less than that, of 16 bytes more
	defer func() { goldenTarget.MemoryBytes = 0 }()
	for sql, want := range map[string]bool{
		"SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM items a JOIN items b ON a.price = b.price": true,
		"SELECT COUNT(*) FROM items a JOIN items b ON a.price + 0e0 = b.price + 0e0":           false,
	} {
		got, g := false, goldenProgram(t, given, sql)
		for _, p := range g.Plan.Pipelines {
			_, partitioned := g.Side(p)
			got = got || partitioned
		}
		if got != want {
			t.Errorf("where memory is short, %s: partitioned: %v", sql, got)
		}
	}
	goldenTarget.MemoryBytes = 0
	goldenTarget.Tuning = goldenTuning()
	g := goldenProgram(t, given, "SELECT COUNT(*), SUM(a.id) FROM items a JOIN items b ON a.price = b.price")
	for _, p := range g.Plan.Pipelines {
		if _, partitioned := g.Side(p); partitioned {
			t.Error("tables of 300 rows are partitioned")
		}
	}
}

// TestSortedChoice says which joins have their sides sorted if all should, by how many bits, and why others are not.
func TestSortedChoice(t *testing.T) {
	given := goldenTables(t)
	before := goldenTarget.Tuning
	defer func() { goldenTarget.Tuning = before }()
	goldenTarget.Tuning.Merge.Forced = true
	for _, tt := range []struct{ sql, want string }{
		{"SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM items a JOIN items b ON a.price = b.price", "both sides sorted by "},
		{"SELECT a.id, b.id FROM items a JOIN items b ON a.price = b.price AND a.id < b.id", "both sides sorted by "},
		{"SELECT COUNT(*), SUM(b.id) FROM items a LEFT JOIN items b ON a.price = b.price", "both sides sorted by "},
		{"SELECT COUNT(*), SUM(b.id) FROM items a JOIN items b ON a.price = b.price WHERE a.id < 20", "; radish_gpu_join_sorted is 'always'"},
		{"SELECT COUNT(*), SUM(a.id) FROM items a WHERE EXISTS (SELECT 1 FROM items b WHERE a.price = b.price)", "; radish_gpu_join_sorted is 'always'"},
		{"SELECT COUNT(*), SUM(a.id) FROM items a WHERE EXISTS (SELECT 1 FROM items b WHERE a.price = b.price AND a.id < b.id)", "no sort-merge join: it has conditions besides the equality and is no inner join"},
		{"SELECT COUNT(*) FROM items a JOIN items b ON a.price + 0e0 = b.price + 0e0", "no sort-merge join: its keys do not pack into 64 bits"},
		{"SELECT COUNT(*) FROM items a FULL JOIN items b ON a.price = b.price", "no sort-merge join: rows of the build without a match are wanted"},
	} {
		g := goldenProgram(t, given, tt.sql)
		got := ""
		for _, x := range g.Builds.Explain() {
			got += x.Name + ": " + x.How + "\n"
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q in it", tt.sql, got, tt.want)
		}
		for _, p := range g.Plan.Pipelines {
			if side, ok := g.Side(p); ok && side.Join.Merges() && !strings.Contains(g.Kernels[p].CUDA, "side_out.tile(") {
				t.Errorf("%s: no sorted rows in\n%s", tt.sql, g.Kernels[p].CUDA)
			}
		}
	}
	goldenTarget.Tuning = goldenTuning()
	for _, x := range goldenProgram(t, given, "SELECT COUNT(*), SUM(a.id) FROM items a JOIN items b ON a.price = b.price").Builds.Explain() {
		if want := (physical.SinkChoice{Name: "dense", How: "a chain of rows for each key"}); x != want {
			t.Errorf("without a hint: %v", x)
		}
	}
}
