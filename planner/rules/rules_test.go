package rules

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// makeTable makes a table of small integers and NULLs. Columns whose names are upper case are NOT NULL.
func makeTable(name string, r *rand.Rand, rows int, keys []table.Key, cols ...string) *table.Version {
	s := &table.Schema{Database: "db", Name: name, Keys: keys}
	var vectors []*column.Vector
	for i, c := range cols {
		def := table.ColumnDef{Name: strings.ToLower(c), Type: types.Int32, Nullable: c == strings.ToLower(c)}
		s.Columns = append(s.Columns, def)
		v := column.New(def.Type, rows)
		unique := false
		for _, k := range keys {
			unique = unique || len(k.Columns) == 1 && k.Columns[0] == i
		}
		for k := range rows {
			x := types.Value{Type: def.Type, I: int64(r.IntN(5))}
			if unique {
				x.I = int64(k)
			}
			if def.Nullable && r.IntN(5) == 0 {
				x = types.NullOf(def.Type)
			}
			v.Set(k, rows, x)
		}
		vectors = append(vectors, v)
	}
	v := table.New(s)
	if rows == 0 {
		return v
	}
	v, err := v.Append(&column.Batch{N: rows, Cols: vectors})
	if err != nil {
		panic(err)
	}
	return v
}

// smallTables are: t (id primary key, a, b), u (id primary key, a, c), v (x, y without keys), k (id unique but nullable, a),
// p (x, y primary key, z), e (empty).
func smallTables(seed uint64) plantest.Tables {
	r := rand.New(rand.NewPCG(seed, 7))
	primary := func(cols ...int) []table.Key {
		return []table.Key{{Name: "PRIMARY", Columns: cols, Primary: true, Unique: true}}
	}
	c := plantest.Tables{
		"t": makeTable("t", r, 5+r.IntN(3), primary(0), "ID", "a", "b"),
		"u": makeTable("u", r, 4+r.IntN(4), primary(0), "ID", "a", "c"),
		"v": makeTable("v", r, r.IntN(7), nil, "x", "y"),
		"k": makeTable("k", r, 5, []table.Key{{Name: "id", Columns: []int{0}, Unique: true}}, "id", "a"),
		"e": makeTable("e", r, 0, nil, "x", "y"),
	}
	return c
}

// queriesOf reads the statements of a file, separated by lines that end in a semicolon.
func queriesOf(t *testing.T, file string) []string {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, q := range strings.Split(string(raw), ";\n") {
		var lines []string
		for _, l := range strings.Split(q, "\n") {
			if !strings.HasPrefix(l, "--") {
				lines = append(lines, l)
			}
		}
		if q = strings.TrimSpace(strings.Join(lines, "\n")); q != "" {
			out = append(out, q)
		}
	}
	return out
}

func trace(steps []Step, bound string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bound:\n%s", bound)
	for _, s := range steps {
		fmt.Fprintf(&b, "%s:\n%s", s.Rule, s.Plan)
	}
	return b.String()
}

// isOrdered says whether a statement asks for an order of its rows.
func isOrdered(n logical.Node) bool {
	if l, ok := n.(*logical.Limit); ok {
		n = l.Input
	}
	_, ok := n.(*logical.Sort)
	return ok
}

// sameResult optimizes sql and compares what both plans give.
func sameResult(t *testing.T, c plantest.Tables, sql string, opts Options, what string) {
	q, err := c.Bind(sql, plantest.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if err := logical.Check(q.Root); err != nil {
		t.Fatalf("%s: the binder made a wrong plan: %v", sql, err)
	}
	bound := logical.Format(q.Root)
	want, wantErr := run(q)
	opts.Traces, opts.Checks, opts.Context = true, true, plantest.Context()
	opt, steps, err := Optimize(q, opts)
	if err != nil {
		t.Errorf("%s (%s): %v\n%s", sql, what, err, trace(steps, bound))
	}
	got, gotErr := run(opt)
	if wantErr != nil {
		return // whether an error that MySQL may or may not reach is reached is not compared
	}
	if gotErr != nil {
		t.Errorf("%s (%s): %v\n%s", sql, what, gotErr, trace(steps, bound))
	}
	if !isOrdered(q.Root) {
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		t.Errorf("%s (%s)\nwant %q\ngot  %q\n%s", sql, what, want, got, trace(steps, bound))
	}
}

// TestRulesKeepResults runs every statement of testdata/equivalence.sql over small random tables before and after optimization, with
// all rules and with one switched off. RADISH_SEEDS sets how many data sets are tried.
func TestRulesKeepResults(t *testing.T) {
	queries := queriesOf(t, "../testdata/equivalence.sql")
	seeds := 2
	if n, err := strconv.Atoi(os.Getenv("RADISH_SEEDS")); err == nil {
		seeds = n
	}
	for i, sql := range queries {
		for seed := range uint64(seeds) {
			c := smallTables(seed)
			sameResult(t, c, sql, Options{eager: (uint64(i)+seed)%2 == 0}, fmt.Sprintf("seed %d", seed))
			if seed%2 == 0 {
				continue
			}
			off := Names()[(i+int(seed))%len(Names())]
			sameResult(t, c, sql, Options{Disabled: map[string]bool{off: true}, eager: i%2 == 0}, fmt.Sprintf("seed %d without %s", seed, off))
		}
	}
}

// Names returns the names of the rules that can be switched off, each once, in order.
func Names() []string {
	var out []string
	for i := range list {
		if !list[i].Required && !slices.Contains(out, list[i].Name) {
			out = append(out, list[i].Name)
		}
	}
	return out
}
