package tpch

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/peers"
	"github.com/radish-sql/radish/cmd/radish-bench/internal/report"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// What a result was held against.
const (
	checkDigest    = "digest"
	checkPublished = "published answer"
	sameAs         = "same as " // and peers' names
)

// queryRun is what running one query gave.
type queryRun struct {
	query  tpch.Query
	rows   int
	first  time.Duration
	hot    database.Timings // the runs after the first
	device string
	cost   database.Cost // of one hot run
	digest string
	check  string
	err    error // the query failed or its result differs

	paid gpu.FirstRun // what the first run spent on kernels and columns, some of both at the same time
	// hotUploads is the bytes that each of the hot runs brought to the GPU.
	hotUploads int64
	cold       []coldRun
	other      []database.Timings // of the peers
}

// coldRun is a run that found no compiled kernels, but all else that a first run has to make or fetch.
type coldRun struct {
	clock time.Duration
	paid  gpu.FirstRun
}

// suite runs TPC-H queries on a database and checks each result.
type suite struct {
	db        *database.DB
	queries   []tpch.Query
	runs      int    // after the first
	answers   string // folder of published answers; empty: recorded digests, where there are any
	digests   []string
	coldRuns  int          // after the hot ones, without compiled kernels; the first run finds none either then
	asksCosts bool         // ask EXPLAIN ANALYZE what a run scans
	peers     []peers.Peer // whose rows have to be the same
	peerRuns  int          // after their first
	busRate   float64      // of tables that are read in windows: bytes a second that the GPU copies from pinned memory; 0: none are
}

// newSuite picks queries by their numbers, separated by commas; an empty list is all.
func newSuite(db *database.DB, sf float64, list, answers string, runs int) (*suite, error) {
	queries, err := pickQueries(sf, list)
	if err != nil {
		return nil, err
	}
	recorded, err := loadDigests(digestFile)
	if err != nil {
		return nil, err
	}
	return &suite{db: db, queries: queries, runs: runs, answers: answers, digests: recorded[database.ScaleText(sf)]}, nil
}

func pickQueries(sf float64, list string) ([]tpch.Query, error) {
	all := tpch.Queries(sf)
	if list == "" {
		return all, nil
	}
	var picked []tpch.Query
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "q"))
		if err != nil || n < 1 || n > len(all) {
			return nil, fmt.Errorf("%q is no query; queries are numbers from 1 to %d, separated by commas", text, len(all))
		}
		picked = append(picked, all[n-1])
	}
	slices.SortFunc(picked, func(a, b tpch.Query) int { return a.Number - b.Number })
	return slices.CompactFunc(picked, func(a, b tpch.Query) bool { return a.Number == b.Number }), nil
}

// run runs the queries in order and hands each to done when it ends. A query that fails does not stop the others; an
// ended context does.
func (s *suite) run(ctx context.Context, done func(queryRun)) ([]queryRun, error) {
	var out []queryRun
	for _, q := range s.queries {
		r := s.runQuery(ctx, q)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out = append(out, r)
		done(r)
	}
	return out, nil
}

func (s *suite) runQuery(ctx context.Context, q tpch.Query) queryRun {
	r := queryRun{query: q, check: answers.Unchecked}
	var rows [][]types.Value
	if s.coldRuns > 0 {
		s.db.GPU().ForgetKernels()
	}
	before := s.db.FirstRuns()
	if rows, r.first, r.err = s.db.Query(ctx, q.SQL); r.err != nil {
		return r
	}
	r.paid = s.db.FirstRuns().Sub(before)
	r.rows, r.digest = len(rows), q.Digest(rows)
	if r.check, r.err = s.compare(q, rows); r.err != nil {
		return r
	}
	if r.device, r.err = s.db.Devices(ctx, q.SQL); r.err != nil {
		return r
	}
	runtime.GC() // as before each of Go's benchmarks: else, behind a load, each run would take memory that the system has to bring first
	before = s.db.FirstRuns()
	for range s.runs {
		if r.err = r.hot.Measure(ctx, s.db, q.SQL); r.err != nil {
			return r
		}
	}
	r.hotUploads = s.db.FirstRuns().Sub(before).Uploaded / int64(max(s.runs, 1))
	if r.cold, r.err = s.runCold(ctx, q); r.err != nil {
		return r
	}
	if s.asksCosts {
		if r.cost, r.err = s.db.Cost(ctx, q.SQL); r.err != nil {
			return r
		}
	}
	for _, p := range s.peers {
		t, err := s.comparePeer(ctx, q, rows, p)
		r.other = append(r.other, t)
		if err != nil {
			r.err = err
			return r
		}
		switch {
		case r.check == answers.Unchecked:
			r.check = sameAs + p.Name()
		case strings.HasPrefix(r.check, sameAs):
			r.check += ", " + p.Name()
		}
	}
	return r
}

// runCold runs a query without compiled kernels.
func (s *suite) runCold(ctx context.Context, q tpch.Query) (runs []coldRun, err error) {
	for range s.coldRuns {
		s.db.AwaitKernels()
		s.db.GPU().ForgetKernels()
		before := s.db.FirstRuns()
		c := coldRun{}
		if c.clock, err = s.db.Measure(ctx, q.SQL, nil); err != nil {
			return runs, err
		}
		c.paid = s.db.FirstRuns().Sub(before)
		runs = append(runs, c)
	}
	return runs, nil
}

// medianCold is the median of cold runs: of their times, and of the times while kernels were being compiled.
func (r *queryRun) medianCold() (clock, compiling time.Duration) {
	var clocks, compilings []time.Duration
	for _, c := range r.cold {
		clocks, compilings = append(clocks, c.clock), append(compilings, c.paid.Compiled.Any)
	}
	return report.Median(clocks), report.Median(compilings)
}

// comparePeer runs a query in a peer, which has to give the same rows, and times it there.
func (s *suite) comparePeer(ctx context.Context, q tpch.Query, want [][]types.Value, p peers.Peer) (t database.Timings, err error) {
	rows, err := p.Query(ctx, q.SQL)
	if err != nil {
		return t, fmt.Errorf("on %s: %w", p.Name(), err)
	}
	if err := answers.SameResult(q, want, rows); err != nil {
		return t, fmt.Errorf("%s gives other rows: %w", p.Name(), err)
	}
	for range s.peerRuns {
		if err := p.Measure(ctx, q.SQL, &t); err != nil {
			return t, fmt.Errorf("on %s: %w", p.Name(), err)
		}
	}
	return t, nil
}

// compare compares a result with a known answer, and says with which.
func (s *suite) compare(q tpch.Query, rows [][]types.Value) (string, error) {
	if s.answers != "" {
		answer, err := tpch.LoadAnswer(s.answers, q)
		if err != nil {
			return answers.Unchecked, err
		}
		_, err = answer.Compare(rows)
		return checkPublished, err
	}
	if s.digests == nil {
		return answers.Unchecked, nil
	}
	if got, want := q.Digest(rows), s.digests[q.Number-1]; got != want {
		return checkDigest, fmt.Errorf("the result's digest is %s, and the recorded one %s", got, want)
	}
	return checkDigest, nil
}

// failures returns the runs whose query failed or whose result differs.
func failures(runs []queryRun) []queryRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r queryRun) bool { return r.err == nil })
}

// failed makes an error of failures; nil if there are none.
func failed(runs []queryRun) error {
	if n := len(failures(runs)); n > 0 {
		return fmt.Errorf("%d of %d queries failed or gave another result", n, len(runs))
	}
	return nil
}

// mark returns what a table shows of a check.
func (r *queryRun) mark() string {
	switch {
	case r.err != nil:
		return "✗"
	case r.check == answers.Unchecked:
		return "?"
	}
	return "✓"
}
