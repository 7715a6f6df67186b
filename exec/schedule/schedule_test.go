package schedule

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

var errFake = errors.New("it fails")

// fake is a backend that notes what it is asked for. A pipeline gives one row, its ID.
type fake struct {
	name  string
	log   *[]string
	q     *Query
	fails int    // the pipeline that cannot be prepared; -1: none
	small bool   // results are
	at    string // where else it fails: "Open", "Put", "Rows" or "Run", of a pipeline that ends in the result
}

func (f *fake) note(format string, args ...any) {
	*f.log = append(*f.log, f.name+" "+fmt.Sprintf(format, args...))
}

func (f *fake) open(q *Query) (Run, error) {
	f.q = q
	if f.at == "Open" {
		return nil, errFake
	}
	f.note("opens")
	return f, nil
}

func (f *fake) Begin(p *physical.Pipeline, last bool) (Step, error) {
	if p.ID == f.fails {
		return nil, errFake
	}
	f.note("prepares %d last %v", p.ID, last)
	return &fakeStep{f, p}, nil
}

func (f *fake) Put(p *physical.Pipeline, s physical.Sink, from Run) error {
	f.note("takes rows of %s for %d", from.(*fake).name, p.ID)
	if f.at == "Put" {
		return errFake
	}
	return from.Rows(s, func(*column.Batch) error { return nil })
}

func (f *fake) Rows(s physical.Sink, give func(*column.Batch) error) error {
	f.note("gives rows")
	if f.at == "Rows" {
		return errFake
	}
	return give(&column.Batch{})
}

func (f *fake) Close() { f.note("closes") }

type fakeStep struct {
	f *fake
	p *physical.Pipeline
}

func (s *fakeStep) IsSmall() bool { return s.f.small }

func (s *fakeStep) Run() error {
	s.f.note("runs %d", s.p.ID)
	if !endsInResult(s.p) {
		return nil
	}
	if s.f.at == "Run" {
		return errFake
	}
	out := s.f.q.Out
	out.Start(s.p.ID)
	if err := out.Put(s.p.ID, &column.Batch{N: 1, Cols: []*column.Vector{{Type: types.Int64, I64: []int64{int64(s.p.ID)}}}}, 0); err != nil {
		return err
	}
	out.Complete(s.p.ID)
	return nil
}

// mixedPlan has a sink that the GPU fills and the CPU reads, twice, and two pipelines that end in the result.
func mixedPlan() *physical.Plan {
	col := &expr.Column{ID: 1, Name: "x", Typ: types.Int64}
	stored, own, result := &physical.Materialize{Cols: []*expr.Column{col}}, &physical.Materialize{Cols: []*expr.Column{col}}, &physical.Result{In: []expr.ColumnID{1}}
	read := func(s physical.Sink) *physical.SinkScan {
		return &physical.SinkScan{From: s, Cols: []*expr.Column{col}, Ins: []expr.ColumnID{1}}
	}
	return &physical.Plan{Cols: []*expr.Column{col}, Names: []string{"x"}, Pipelines: []*physical.Pipeline{
		{ID: 0, Source: &physical.ValuesScan{}, Sink: stored},
		{ID: 1, Source: read(stored), Sink: result},
		{ID: 2, Source: read(stored), Sink: own},
		{ID: 3, Source: read(own), Sink: result},
	}}
}

// start runs the plan and returns the numbers of the pipelines that gave rows.
func start(t *testing.T, cpu, gpu *fake) (rows []int64, err error) {
	t.Helper()
	backends := []Backend{{physical.CPU, cpu.open}}
	if gpu != nil {
		backends = append(backends, Backend{physical.GPU, gpu.open})
	}
	plan := mixedPlan()
	where := physical.Placement{Pipelines: map[*physical.Pipeline]physical.Choice{plan.Pipelines[0]: {Device: physical.GPU}}}
	c, err := Start(context.Background(), plan, Config{Placement: where, Backends: backends})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for {
		b, err := c.Next(context.Background())
		if b == nil || err != nil {
			return rows, err
		}
		rows = append(rows, b.Cols[0].I64[0])
	}
}

// Pipelines that end in the result run last where a device other than the CPU takes part, and rows cross once.
func TestPipelinesOfTwoDevices(t *testing.T) {
	for _, small := range []bool{true, false} {
		var log []string
		rows, err := start(t, &fake{name: "cpu", log: &log, fails: -1, small: small}, &fake{name: "gpu", log: &log, fails: -1, small: small})
		if err != nil || !slices.Equal(rows, []int64{1, 3}) {
			t.Fatalf("rows of %v, error %v", rows, err)
		}
		want := []string{
			"gpu opens", "gpu prepares 0 last true", "gpu runs 0",
			"cpu opens", "cpu takes rows of gpu for 2", "gpu gives rows", "cpu prepares 2 last true", "cpu runs 2",
			"cpu prepares 1 last false", "cpu runs 1", "cpu prepares 3 last true", "cpu runs 3",
		}
		if got := log[:len(log)-2]; !slices.Equal(got, want) {
			t.Errorf("small %v:\n%s\nwant\n%s", small, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if closed := log[len(log)-2:]; !slices.Contains(closed, "cpu closes") || !slices.Contains(closed, "gpu closes") {
			t.Errorf("at the end: %v", closed)
		}
	}
}

// Without the GPU its pipelines run on the CPU, in the plan's order.
func TestPipelinesOfOneDevice(t *testing.T) {
	var log []string
	rows, err := start(t, &fake{name: "cpu", log: &log, fails: -1, small: true}, nil)
	if err != nil || !slices.Equal(rows, []int64{1, 3}) {
		t.Fatalf("rows of %v, error %v", rows, err)
	}
	want := []string{
		"cpu opens", "cpu prepares 0 last true", "cpu runs 0", "cpu prepares 1 last false", "cpu runs 1", "cpu prepares 2 last true", "cpu runs 2",
		"cpu prepares 3 last true", "cpu runs 3", "cpu closes",
	}
	if !slices.Equal(log, want) {
		t.Errorf("%s", strings.Join(log, "\n"))
	}
}

// count returns how many notes end so.
func count(log []string, end string) (n int) {
	for _, l := range log {
		if strings.HasSuffix(l, end) {
			n++
		}
	}
	return n
}

// A failure ends the query, before the result it is Start's, and every backend that was opened is closed.
func TestFailures(t *testing.T) {
	for fails, opened := range map[int]int{0: 1, 2: 2, 3: 2} {
		var log []string
		cpu, gpu := &fake{name: "cpu", log: &log, fails: fails, small: false}, &fake{name: "gpu", log: &log, fails: fails, small: false}
		if _, err := start(t, cpu, gpu); err == nil || !strings.Contains(fmt.Sprint(err, errors.Unwrap(err)), "it fails") {
			t.Errorf("pipeline %d: error %v", fails, err)
		}
		opens, closes := count(log, " opens"), count(log, " closes")
		if opens != opened || closes != opened {
			t.Errorf("pipeline %d: %d backends were opened and %d closed, want %d:\n%s", fails, opens, closes, opened, strings.Join(log, "\n"))
		}
	}
}

// What fails between the pipelines, or while the client reads, is the query's error, and every backend that was opened is closed once.
func TestFailuresBetween(t *testing.T) {
	for _, small := range []bool{true, false} {
		for _, c := range []struct{ onCPU, onGPU string }{{"", "Open"}, {"Open", ""}, {"Put", ""}, {"", "Rows"}, {"Run", ""}} {
			var log []string
			cpu := &fake{name: "cpu", log: &log, fails: -1, small: small, at: c.onCPU}
			gpu := &fake{name: "gpu", log: &log, fails: -1, small: small, at: c.onGPU}
			if _, err := start(t, cpu, gpu); err == nil || !strings.Contains(fmt.Sprint(err, errors.Unwrap(err)), "it fails") {
				t.Errorf("%+v, small %v: error %v", c, small, err)
			}
			for _, name := range []string{"cpu", "gpu"} {
				if opens, closes := count(log, name+" opens"), count(log, name+" closes"); opens != closes || opens > 1 {
					t.Errorf("%+v, small %v: the %s was opened %d times and closed %d times", c, small, name, opens, closes)
				}
			}
		}
	}
}

// A device's time for what another hands over counts for the pipeline that reads it first.
func TestMovingTakesTime(t *testing.T) {
	q := &Query{moving: map[int]time.Duration{2: 3 * time.Second}}
	q.Report(profile.Pipeline{ID: 1, Wall: time.Second})
	q.Report(profile.Pipeline{ID: 2, Wall: time.Second})
	if a, b := q.cost.Pipelines[0].Wall, q.cost.Pipelines[1].Wall; a != time.Second || b != 4*time.Second {
		t.Errorf("pipelines took %v and %v", a, b)
	}
}

// Each of many workers can end a morsel before the first one has ended its own.
func TestQueueHoldsMorsels(t *testing.T) {
	const threads = 8
	for _, limit := range []int64{0, 1 << 30} {
		q := &Queue{}
		q.init(&State{}, memory.NewBudget(limit), threads)
		q.waits = true
		var put atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for seq := range threads {
				for range queueBatches {
					if q.Put(seq+1, &column.Batch{}, 0) != nil {
						return
					}
					put.Add(1)
				}
			}
		}()
		want := map[bool]int64{true: threads * queueBatches, false: queueBatches}[limit == 0]
		for put.Load() < want { // the test's time limit ends it
			time.Sleep(time.Millisecond)
		}
		select {
		case <-done:
		case <-time.After(50 * time.Millisecond): // in which no more may come
		}
		if put.Load() != want {
			t.Errorf("limit %d: %d batches wait, want %d", limit, put.Load(), want)
		}
		q.close()
		<-done
	}
}

// A batch that the client has let go of is free though others wait behind it.
func TestQueueLetsBatchesGo(t *testing.T) {
	const batches = 8
	q := &Queue{}
	q.init(&State{}, memory.NewBudget(0), 1)
	var put []weak.Pointer[column.Batch]
	for range batches {
		b := &column.Batch{Cols: []*column.Vector{column.New(types.Int64, 100)}}
		put = append(put, weak.Make(b))
		if err := q.Put(0, b, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range batches - 1 {
		if b, err := q.take(context.Background(), false); b == nil || err != nil {
			t.Fatal(b, err)
		}
	}
	runtime.GC()
	for i, b := range put {
		if last := i == batches-1; (b.Value() != nil) != last {
			t.Errorf("batch %d of %d is there: %v", i, batches, !last)
		}
	}
	runtime.KeepAlive(q)
}
