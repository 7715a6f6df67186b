package program

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/codegen/lookup"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/groupby"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/planner/stats"
	"github.com/radish-sql/radish/sql/types"
	tables "github.com/radish-sql/radish/storage/table"
)

// goldenTarget is a device that is not there.
var goldenTarget = &kernel.Target{
	LaunchWords: gpukernels.LaunchWords, Includes: gpukernels.Includes, Columns: form.ColumnOf,
	SharedBytes: 227<<10 - kernel.SharedRest, Multiprocessors: 132, Tuning: goldenTuning(),
}

// goldenTuning is Hopper's, but that a table of a hundred rows is scanned as one of a million.
func goldenTuning() kernel.Tuning {
	t := kernel.TuningOf(90)
	t.Scan.FewRows = 0
	return t
}

// goldenTables has a table of orders and one of their items.
func goldenTables(t *testing.T) plantest.Tables {
	make := func(name string, rows int, value func(col, row int) int64, cols ...string) *tables.Version {
		schema := &tables.Schema{Database: "db", Name: name, Keys: []tables.Key{{Name: "PRIMARY", Columns: []int{0}, Primary: true, Unique: true}}}
		b := &column.Batch{N: rows}
		for c, col := range cols {
			schema.Columns = append(schema.Columns, tables.ColumnDef{Name: col, Type: types.Int64})
			v := column.New(types.Int64, rows)
			for i := range rows {
				v.I64[i] = value(c, i)
			}
			b.Cols = append(b.Cols, v)
		}
		builder := tables.NewBuilder(tables.New(schema))
		if err := builder.Append(b); err != nil {
			t.Fatal(err)
		}
		v, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return plantest.Tables{
		"orders": make("orders", 100, func(c, i int) int64 { return [...]int64{int64(i), int64(i) * 3 % 97}[c] }, "day", "customer"),
		"items": make("items", 300, func(c, i int) int64 {
			return [...]int64{int64(i), int64(i) % 50, int64(i) * 7 % 1000}[c]
		}, "id", "day", "price"),
	}
}

// goldenProgram writes the program of a query.
func goldenProgram(t *testing.T, given plantest.Tables, sql string) *Program {
	ctx := plantest.Context()
	q, err := given.Bind(sql, ctx)
	if err != nil {
		t.Fatal(err)
	}
	if q, _, err = rules.Optimize(q, rules.Options{Context: ctx}); err != nil {
		t.Fatal(err)
	}
	plan, err := physical.Lower(q, physical.Options{Estimator: stats.NewEstimator()})
	if err != nil {
		t.Fatal(err)
	}
	return New(plan, goldenTarget, ctx, lookup.New(1<<20), func(*physical.Pipeline) bool { return true })
}

// TestOutlines compares what is decided before texts are written.
func TestOutlines(t *testing.T) {
	given := goldenTables(t)
	for _, c := range []struct {
		sql  string
		want []string // by pipeline
	}{
		{"SELECT SUM(price) FROM items WHERE day < 20", []string{
			"scan: load day, price of all rows; test ranges of day | groups: one group; variables of threads",
			"rows: appended by block",
		}},
		{"SELECT day, COUNT(*) FROM items WHERE price % 3 = 1 GROUP BY day", []string{
			"scan: load day, price of all rows; test other filters (1) | groups: array; copies of a table in each block",
			"rows: appended by block",
		}},
		{"SELECT i.price, o.customer FROM items i JOIN orders o ON i.day = o.day WHERE o.customer > 5", []string{
			"scan: load day, customer of all rows; test ranges of customer, day; pack the rows that pass | build: payload by key", // no item has a later day
			"scan: load day of all rows; look up day in the bits of a build; pack the rows that pass | inner join: payload by key | rows: appended by block",
		}},
		{"SELECT o.day FROM orders o LEFT JOIN items i ON i.price = o.customer AND i.day > o.day", []string{
			"scan: load columns where they are used | build: dense chains; rows appended by block",
			"scan: load columns where they are used | left join: dense chains, every match, further conditions (1) | loops: end when the query is cancelled | rows: appended one by one",
		}},
		{"SELECT day FROM orders WHERE EXISTS (SELECT 1 FROM items WHERE items.price = orders.customer)", []string{
			"scan: load columns where they are used | build: bitmap",
			"scan: load customer of all rows; look up customer in the bits of a build; pack the rows that pass | semi join: bitmap | rows: appended by block",
		}},
		{"SELECT price FROM items ORDER BY price DESC, id", []string{
			"scan: load columns where they are used | rows: appended by block",
			"rows: in the order of the source",
		}},
	} {
		g := goldenProgram(t, given, c.sql)
		var got []string
		for _, p := range g.Plan.Pipelines {
			got = append(got, strings.Join(g.Outlines[p].Decisions(), " | "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
}

// TestFiltersOfTextsAreNotUnrolled looks for loops over a thread's rows in scans that filter by strings alone, and by numbers.
func TestFiltersOfTextsAreNotUnrolled(t *testing.T) {
	given := goldenTables(t)
	given["names"] = textTable(t)
	loop := regexp.MustCompile(`RADISH_(NO_)?UNROLL[^\n]*\n    for \(i32 i = 0; i < RADISH_ITEMS`)
	for sql, unrolled := range map[string]bool{
		"SELECT first, COUNT(*) FROM names WHERE first = 'a' AND last = 'b' OR first = 'c' AND last = 'd' GROUP BY first": false,
		"SELECT day, COUNT(*) FROM items WHERE price % 3 = 1 GROUP BY day":                                                true,
	} {
		g := goldenProgram(t, given, sql)
		text := g.Kernels[g.Plan.Pipelines[0]].CUDA
		found := loop.FindAllStringSubmatch(text, -1)
		if len(found) == 0 || slices.ContainsFunc(found, func(m []string) bool { return (m[1] == "") != unrolled }) {
			t.Errorf("%s: its loops should be unrolled: %v\n%s", sql, unrolled, text)
		}
	}
}

// textTable has strings too varied for a dictionary.
func textTable(t *testing.T) *tables.Version {
	const rows = 4096
	schema := &tables.Schema{Database: "db", Name: "names"}
	b := &column.Batch{N: rows}
	for _, name := range []string{"first", "last"} {
		schema.Columns = append(schema.Columns, tables.ColumnDef{Name: name, Type: types.Text})
		v := column.New(types.Text, rows)
		for i := range rows {
			v.Str[i] = fmt.Sprintf("%s %d", name, i)
		}
		b.Cols = append(b.Cols, v)
	}
	builder := tables.NewBuilder(tables.New(schema))
	if err := builder.Append(b); err != nil {
		t.Fatal(err)
	}
	v, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestGolden writes the programs of some queries without a device: the kernels, and what resolves their parameters. RADISH_UPDATE=1 writes the files anew.
func TestGolden(t *testing.T) {
	given := goldenTables(t)
	for name, sql := range map[string]string{
		"sum":   "SELECT SUM(price) FROM items WHERE day < 20",
		"group": "SELECT day, COUNT(*), MAX(price) FROM items GROUP BY day",
		"join":  "SELECT i.price, o.customer FROM items i JOIN orders o ON i.day = o.day WHERE o.customer > 5",
		"sort":  "SELECT price FROM items ORDER BY price DESC, id",
		"first": "SELECT o.customer, COUNT(*) FROM items i JOIN orders o ON i.day = o.day WHERE o.customer > 5 AND i.price <> 7 GROUP BY o.customer", // row by row
	} {
		t.Run(name, func(t *testing.T) {
			g := goldenProgram(t, given, sql)
			if name == "first" {
				g = hurried(g)
			}
			got := sql + "\n" + describe(t, g)
			path := filepath.Join("testdata", name+".golden")
			if os.Getenv("RADISH_UPDATE") != "" {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the program is not that of %s (RADISH_UPDATE=1 go test -run TestGolden ./exec/gpu/program writes it anew):\n%s", path, got)
			}
		})
	}
}

// hurried writes a program again as a first run would have it.
func hurried(g *Program) *Program {
	pipelines := map[*physical.Pipeline]bool{}
	for p, k := range g.Kernels {
		if k.Shorter {
			pipelines[p] = true
		}
	}
	return g.Hurried(pipelines)
}

// TestRowByRow says which scans go row by row, if all should and if tables with few rows should, and that texts depend on nothing else.
func TestRowByRow(t *testing.T) {
	given := goldenTables(t)
	const joined, grouped = "SELECT i.price, o.customer FROM items i JOIN orders o ON i.day = o.day WHERE o.customer > 5", "SELECT day, COUNT(*) FROM items WHERE price < 100 GROUP BY day"
	decisions := func(g *Program) (all []string) {
		for _, p := range g.Plan.Pipelines {
			if _, ok := p.Source.(*physical.TableScan); ok {
				all = append(all, g.Outlines[p].Decisions()[0])
			}
		}
		return all
	}
	first, second := "scan: take row by row, which compiles sooner; test other filters (2)", "scan: take row by row, which compiles sooner; look up day in the bits of a build"
	third := "scan: take row by row, which compiles sooner; test other filters (1)"
	if got := decisions(hurried(goldenProgram(t, given, joined))); !slices.Equal(got, []string{first, second}) {
		t.Errorf("a join: %q", got)
	}
	if got := decisions(hurried(goldenProgram(t, given, grouped))); !slices.Equal(got, []string{third}) {
		t.Errorf("groups: %q", got)
	}
	goldenTarget.Tuning.Scan.FewRows = 200
	defer func() { goldenTarget.Tuning = goldenTuning() }()
	if got := decisions(goldenProgram(t, given, joined)); got[0] != first || !strings.HasPrefix(got[1], "scan: load day of all rows;") {
		t.Errorf("a join of 100 and 300 rows, of which 200 are few: %q", got)
	}
	goldenTarget.Tuning.Scan.FewRows = 300
	if got := decisions(goldenProgram(t, given, grouped)); !strings.HasPrefix(got[0], "scan: load ") {
		t.Errorf("groups of few rows: %q", got)
	}
	all := func(g *Program) (texts []string) {
		for _, p := range g.Plan.Pipelines {
			texts = append(texts, g.Kernels[p].CUDA)
		}
		return texts
	}
	few := all(goldenProgram(t, given, joined))
	goldenTarget.Tuning = goldenTuning()
	asked := all(hurried(goldenProgram(t, given, joined)))
	other := all(hurried(goldenProgram(t, given, strings.Replace(joined, "> 5", "> 6", 1))))
	if !slices.Equal(few, asked) || !slices.Equal(other, asked) {
		t.Errorf("few rows give\n%s\nother literals\n%s\na first run\n%s", few, other, asked)
	}
}

// describe prints a program.
func describe(t *testing.T, g *Program) string {
	var b strings.Builder
	for _, p := range g.Plan.Pipelines {
		if err := g.Reason(p); err != nil {
			t.Fatalf("pipeline %d: %v", p.ID, err)
		}
		for _, k := range g.Kernels[p].All() {
			fmt.Fprintf(&b, "\n// pipeline %d: %s\n", p.ID, k.NoteText())
			for i, w := range k.Params {
				fmt.Fprintf(&b, "// w[%d]: %s\n", i, parameter(w))
			}
			if k.Shared.Needs() {
				fmt.Fprintf(&b, "// %d bytes of shared memory for a block of %d threads\n", k.Shared.Of(k.Threads, 0), k.Threads)
			}
			b.WriteString(k.CUDA)
		}
		switch s := p.Sink.(type) {
		case *physical.Build:
			f := g.Builds[s]
			fmt.Fprintf(&b, "// build: %s, %d stored columns\n", f.Algorithm.Name, f.Columns())
		case *physical.Aggregate:
			f := g.Aggs[s]
			fmt.Fprintf(&b, "// groups: %s, %d slots, %d arrays\n", f.Shape, f.Slots, len(f.Arrays))
		case *physical.Sort:
			fmt.Fprintf(&b, "// sorted by stored columns %v\n", g.Order(s).At)
		}
		if x := g.Order(p.Sink); x != nil {
			b.WriteString(strings.Join(x.Texts(), ""))
		}
	}
	return b.String()
}

// parameter says what a parameter is.
func parameter(p codegen.Param) string {
	switch {
	case p.Table != nil:
		return fmt.Sprintf("address of %d bytes", len(p.Table.Bytes))
	case p.Key == nil:
		return fmt.Sprint(int64(p.Word))
	}
	_, name, _ := strings.Cut(fmt.Sprintf("%T", p.Key), ".")
	switch w := p.Key.(type) {
	case kernel.ColumnData:
		name += " " + w.C.Scan.Cols[w.C.At].Name
	case kernel.ColumnBase:
		name += " " + w.C.Scan.Cols[w.C.At].Name
	case kernel.DataWord:
		name += fmt.Sprint(" ", w.At)
	case groupby.GroupArray:
		name += fmt.Sprint(" ", w.At)
	case kernel.SlotWord:
		name += fmt.Sprintf(" %s from %d", w.C.Scan.Cols[w.C.At].Name, w.First)
	case kernel.LowWord:
		name += fmt.Sprintf(" %s from %d to %d", w.C.Scan.Cols[w.C.At].Name, w.Lo, w.Hi)
	}
	return name
}
