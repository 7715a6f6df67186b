package fuzz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/radish-sql/radish/test/sqllogic"
)

// Config is a run of the fuzzer.
type Config struct {
	Seed       uint64
	Schemas    int            // rounds at most; 0: until the time is up
	Time       time.Duration  // for all of it, reductions aside
	Statements int            // of one schema; 300 when zero
	Workers    int            // rounds at once
	Failures   int            // stop after so many kinds of failure
	Without    *regexp.Regexp // leaves statements out: what is known to fail and not yet fixed
	Trace      string         // file that holds the statement at work, so that a crash can be traced to it

	Special bool // half of the schemas have NaN, infinities and -0 in DOUBLE columns: both engines order them as Radish does

	Dialect *Dialect       // of the statements; nil: all of MySQL's
	Found   func(*Failure) // told of each failure when it is reduced

	Oracle func(context.Context) (*Engine, error) // the judge: MariaDB
	Engine func(context.Context) (*Engine, error) // who is judged
	// Moods are settings under which the oracle is asked again where the two differ, the usual ones last: if it gives the
	// engine's answer under one of them it contradicts itself, and the case says nothing.
	Moods []string
}

// Failure is a difference between the two.
type Failure struct {
	Seed      uint64 // of the round
	Kind      string // failures of one kind count as one
	What      string
	Schema    *Schema
	Statement *Statement
	Want, Got string
	types     string // of the oracle's result, as sqllogictest writes them
}

// Script is the failure as records of a sqllogictest script, without the query's answer: added to a file of
// test/sqllogic/testdata, which cmd/slt -update completes, it becomes a test.
func (f *Failure) Script() string {
	var b strings.Builder
	for _, s := range f.Schema.Statements() {
		fmt.Fprintf(&b, "statement ok\n%s\n\n", s)
	}
	steps := []*Node{f.Statement.Tree}
	if steps[0].Role == Script {
		steps = steps[0].Kids
	}
	for _, check := range f.Statement.Check {
		steps = append(steps, lit(Query, check))
	}
	for i, n := range steps {
		head := "statement ok"
		if n.Kind == Query {
			head = "query T rowsort"
			if f.types != "" && i == len(steps)-1 {
				head = "query " + f.types + " rowsort"
			}
		}
		if n.Session > 0 {
			head = "# in a second session:\n" + head
		}
		fmt.Fprintf(&b, "%s\n%s\n\n", head, n.SQL())
	}
	for _, t := range f.Schema.Tables {
		fmt.Fprintf(&b, "statement ok\nDROP TABLE %s\n\n", t.Name)
	}
	return b.String()
}

func (f *Failure) String() string {
	return fmt.Sprintf("%s\nreplay: with RADISH_FUZZ_SEED=%d RADISH_FUZZ_SCHEMAS=1\n%s\nwant: %s\ngot:  %s", f.What, f.Seed, f.Script(), f.Want, f.Got)
}

// Stats counts what a run did.
type Stats struct {
	Schemas     int
	Queries     int
	Changes     int
	Rows        int            // compared
	Labels      map[string]int // of statements, by what is in them
	BothFailed  map[string]int // errors of both sides in single statements
	StepsFailed map[string]int // the same in scripts, of which several steps may fail
	Refused     map[string]int
	Tolerated   map[string]int
	Failures    []*Failure
	Repeated    map[string]int    // further failures of a known kind
	Example     map[string]string // a statement for each error on both sides, and for each refusal
	Longest     time.Duration     // the engine's slowest statement
	LongestSQL  string
}

func (s *Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d schemas, %d queries, %d changes, %d rows compared, %d kinds of failure; slowest statement %v: %.3000s", s.Schemas, s.Queries, s.Changes, s.Rows, len(s.Failures), s.Longest.Round(time.Millisecond), s.LongestSQL)
	for _, l := range slices.Sorted(maps.Keys(s.Labels)) {
		fmt.Fprintf(&b, "\n%s: %d", l, s.Labels[l])
	}
	for _, part := range []struct {
		name   string
		counts map[string]int
	}{{"refused by the engine", s.Refused}, {"errors on both sides", s.BothFailed}, {"errors on both sides in scripts", s.StepsFailed}, {"tolerated", s.Tolerated}, {"again", s.Repeated}} {
		for _, reason := range slices.Sorted(maps.Keys(part.counts)) {
			fmt.Fprintf(&b, "\n%s, %d times: %.300s", part.name, part.counts[reason], reason)
			if example := s.Example[reason]; example != "" {
				fmt.Fprintf(&b, "\n    %.1000s", example)
			}
		}
	}
	return b.String()
}

// Answered is the number of queries, a script counted as one, that neither side refused.
func (s *Stats) Answered() int {
	n := s.Queries
	for _, counts := range []map[string]int{s.BothFailed, s.Refused, s.Tolerated} {
		for _, c := range counts {
			n -= c
		}
	}
	return n
}

// note counts an error by its reason and keeps a first statement for it.
func (s *Stats) note(counts map[string]int, err error, query string) {
	reason := sqllogic.Reason(err)
	counts[reason]++
	if s.Example[reason] == "" {
		s.Example[reason] = query
	}
}

type runner struct {
	Config
	mu    sync.Mutex
	stats Stats
	end   time.Time
	next  uint64 // round
	trace *os.File
}

func newRunner(c Config) *runner {
	r := &runner{Config: c, end: time.Now().Add(c.Time)}
	r.stats = Stats{Labels: map[string]int{}, BothFailed: map[string]int{}, StepsFailed: map[string]int{}, Refused: map[string]int{}, Tolerated: map[string]int{}, Repeated: map[string]int{}, Example: map[string]string{}}
	return r
}

// Run runs the fuzzer. The error is of the harness, never a difference.
func Run(ctx context.Context, c Config) (*Stats, error) {
	if c.Statements == 0 {
		c.Statements = 300
	}
	r := newRunner(c)
	if c.Trace != "" {
		f, err := os.Create(c.Trace)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r.trace = f
	}
	var wg sync.WaitGroup
	var errs []error
	for range max(c.Workers, 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				seed, ok := r.round()
				if !ok {
					return
				}
				switch err := r.schema(ctx, seed); {
				case err == nil:
				case errors.Is(err, errCrash):
					r.count(func(s *Stats) { s.Tolerated[errCrash.Error()]++ })
				case slow.MatchString(err.Error()): // while the schema was made, on a busy machine
					r.count(func(s *Stats) { s.Tolerated[tookTooLong]++ })
				default:
					r.mu.Lock()
					errs = append(errs, fmt.Errorf("seed %d: %w", seed, err))
					last := len(errs) >= mostErrors
					r.mu.Unlock()
					if last {
						return
					}
				}
			}
		}()
	}
	wg.Wait()
	return &r.stats, errors.Join(errs...)
}

// mostErrors of the harness end the run: they cost a round each, and may be of every round.
const mostErrors = 5

// round gives out the seed of the next round.
func (r *runner) round() (uint64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Schemas > 0 && r.next >= uint64(r.Schemas) || time.Now().After(r.end) || r.Failures > 0 && len(r.stats.Failures) >= r.Failures {
		return 0, false
	}
	r.next++
	return r.Seed + r.next - 1, true
}

func (r *runner) open(ctx context.Context, s *Schema) (*pair, error) {
	oracle, err := r.Oracle(ctx)
	if err != nil {
		return nil, fmt.Errorf("the oracle does not open: %w", err)
	}
	engine, err := r.Engine(ctx)
	if err != nil {
		oracle.Close()
		return nil, err
	}
	p := &pair{oracle: oracle, engine: engine}
	for _, text := range s.Statements() {
		if err := oracle.Exec(ctx, text); err != nil {
			p.close()
			if r.Dialect == nil && crashed(err) {
				return nil, errCrash
			}
			return nil, fmt.Errorf("the oracle refuses the schema: %w\n%.500s", err, text)
		}
		if err := engine.Exec(ctx, text); err != nil {
			p.close()
			return nil, fmt.Errorf("the engine refuses the schema: %w\n%.500s", err, text)
		}
	}
	return p, nil
}

func (r *runner) schema(ctx context.Context, seed uint64) (err error) {
	// A fault of the generator ends its round, not the run with its counts.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	rng := rand.New(rand.NewPCG(seed, 0x7261646973680000))
	big := rng.IntN(100) < bigSchemas
	types := slices.Concat(columnTypes, moreTypes)
	if r.Dialect != nil {
		types = r.Dialect.columnTypes()
	}
	s := newSchema(rng, big, types)
	if r.Special && rng.IntN(2) == 0 {
		s.addSpecial(rng)
	}
	p, err := r.open(ctx, s)
	if err != nil {
		return err
	}
	defer p.close()
	g := &generator{r: rng, schema: s, big: big, dialect: r.Dialect, names: 9} // names of columns have one digit
	statements := r.Statements
	if big {
		statements /= 4
	}
	r.count(func(t *Stats) { t.Schemas++ })
	for range statements {
		if time.Now().After(r.end) {
			return nil
		}
		stmt := g.statement()
		if r.Without != nil && r.Without.MatchString(stmt.Tree.SQL()) {
			continue
		}
		f, changed := r.try(ctx, p, stmt, true)
		if f != nil {
			f.Seed, f.Schema = seed, s.clone()
			r.report(ctx, f)
		}
		if p.lost || f != nil && len(stmt.Check) > 0 {
			return nil // the two have parted
		}
		if changed {
			if err := s.reload(ctx, p.oracle); err != nil {
				if r.Dialect == nil && crashed(err) {
					return errCrash
				}
				return err
			}
		}
	}
	return nil
}

func (r *runner) count(f func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.stats)
}

// report reduces a failure of a new kind and keeps it. Wrong results are all of one kind until they are understood,
// so all of them are kept.
func (r *runner) report(ctx context.Context, f *Failure) {
	known := 0
	r.mu.Lock()
	for _, old := range r.stats.Failures {
		if old.Kind == f.Kind {
			known++
		}
	}
	if known > 0 && f.Kind != "wrong result" {
		r.stats.Repeated[f.Kind]++
		r.mu.Unlock()
		return
	}
	r.stats.Failures = append(r.stats.Failures, f)
	r.mu.Unlock()
	reduced := r.reduce(ctx, f)
	r.mu.Lock()
	*f = *reduced
	r.mu.Unlock()
	if r.Found != nil {
		r.Found(f)
	}
}

// reduce makes the failure smaller: first the statement, then the rows, then the statement again.
func (r *runner) reduce(ctx context.Context, f *Failure) *Failure {
	deadline := time.Now().Add(30 * time.Second)
	best := f
	attempt := func(p *pair, s *Schema, tree *Node) bool {
		stmt := &Statement{Tree: tree, Check: best.Statement.Check}
		g, _ := r.try(ctx, p, stmt, false)
		if g == nil || g.Kind != f.Kind {
			return false
		}
		g.Seed, g.Schema = f.Seed, s
		best = g
		return true
	}
	fresh := func(s *Schema, tree *Node) bool {
		p, err := r.open(ctx, s)
		if err != nil {
			return false
		}
		defer p.close()
		return attempt(p, s, tree)
	}
	shrinkTree := func(deadline time.Time) {
		if len(f.Statement.Check) > 0 || f.Statement.Tree.Role == Script {
			smaller(best.Statement.Tree, deadline, func(n *Node) bool { return fresh(best.Schema, n) })
			return
		}
		p, err := r.open(ctx, best.Schema)
		if err != nil {
			return
		}
		defer p.close()
		s := best.Schema
		smaller(best.Statement.Tree, deadline, func(n *Node) bool { return attempt(p, s, n) })
	}
	shrinkTree(deadline.Add(-15 * time.Second))
	fewerRows(best.Schema, deadline.Add(-3*time.Second), func(s *Schema) bool { return fresh(s, best.Statement.Tree) })
	shrinkTree(deadline)
	return best
}

// reload takes the rows of all tables from the oracle, after a change.
func (s *Schema) reload(ctx context.Context, oracle *Engine) error {
	for _, t := range s.Tables {
		res, err := oracle.Query(ctx, "SELECT * FROM "+t.Name)
		if err != nil {
			return err
		}
		t.Rows = nil
		for _, row := range res.rows {
			literals := make([]string, len(row))
			for i, v := range row {
				literals[i] = t.Columns[i].literal(v)
			}
			t.Rows = append(t.Rows, literals)
		}
	}
	return nil
}

// literal writes a stored value as SQL.
func (c Column) literal(v value) string {
	if v.null {
		return "NULL"
	}
	switch c.Type.Kind {
	case Str:
		return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(v.s) + "'"
	case Date:
		return "DATE '" + v.s + "'"
	case DateTime:
		return "TIMESTAMP '" + v.s + "'"
	case Time:
		return "TIME '" + v.s + "'"
	case Dbl:
		switch {
		case v.f-v.f != 0: // NaN or an infinity
			return "'" + v.s + "'"
		case strings.Contains(v.s, "e"):
			return v.s
		}
		return v.s + "e0"
	}
	return v.s
}
