package sqllogic

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Script is a file to run.
type Script struct {
	Name string
	Text string
}

// Failure is a record that was answered wrongly, or refused.
type Failure struct {
	File     string
	Line     int
	SQL      string
	Expected []string
	Got      []string
	Err      error // set for a refusal and for an error of the wrong kind
}

func (f Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s\n", f.File, f.Line, f.SQL)
	if f.Expected != nil {
		fmt.Fprintf(&b, "  expected %s\n", shorten(f.Expected))
	}
	if f.Err != nil {
		fmt.Fprintf(&b, "  error    %v", f.Err)
	} else {
		fmt.Fprintf(&b, "  got      %s", shorten(f.Got))
	}
	return b.String()
}

func shorten(values []string) string {
	const most = 24
	if len(values) > most {
		return fmt.Sprintf("%q and %d more", values[:most], len(values)-most)
	}
	return fmt.Sprintf("%q", values)
}

// Report counts the outcomes of a script's records.
type Report struct {
	File    string
	Passed  int
	Skipped int // for other engines, or behind a halt
	Refused []Failure
	Wrong   []Failure
	Took    time.Duration
	Err     error // the script could not be read or the database not opened
}

func (r *Report) String() string {
	return fmt.Sprintf("%-44s %7d passed %5d refused %5d wrong %8.2fs", r.File, r.Passed, len(r.Refused), len(r.Wrong), r.Took.Seconds())
}

// Runner runs scripts, each in a database of its own.
type Runner struct {
	Open    func(ctx context.Context) (Engine, error)
	Name    string        // the name that conditions see; "mysql" when empty
	Timeout time.Duration // for one record; one minute when zero
	Workers int           // scripts at once; GOMAXPROCS when zero
	// Skip says which queries to leave out; nil: none. It is called by several goroutines.
	Skip func(*Record) bool
}

// Run runs the scripts, the longest first, and returns their reports in the order given.
func (r *Runner) Run(ctx context.Context, scripts []Script) []*Report {
	workers := r.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	order := make([]int, len(scripts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(scripts[b].Text) - len(scripts[a].Text) })
	reports := make([]*Report, len(scripts))
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, len(scripts)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range jobs {
				reports[i] = r.runScript(ctx, scripts[i])
			}
		}()
	}
	for _, i := range order {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	return reports
}

func (r *Runner) runScript(ctx context.Context, s Script) *Report {
	rep := &Report{File: s.Name}
	start := time.Now()
	defer func() { rep.Took = time.Since(start) }()
	engine, err := r.Open(ctx)
	if err != nil {
		rep.Err = fmt.Errorf("%s: open: %w", s.Name, err)
		return rep
	}
	defer engine.Close()
	name := r.Name
	if name == "" {
		name = "mysql"
	}
	p := NewParser(s.Name, s.Text)
	halted := false
	for {
		rec, err := p.Next()
		if err != nil {
			rep.Err = err
			return rep
		}
		switch {
		case rec == nil:
			return rep
		case rec.Kind == HashThreshold:
		case halted || !rec.AppliesTo(name):
			if rec.Kind != Halt {
				rep.Skipped++
			}
		case rec.Kind == Halt:
			halted = true
		case rec.Kind == Query && r.Skip != nil && r.Skip(rec):
			rep.Skipped++
		default:
			r.runRecord(ctx, engine, rec, rep)
		}
		if ctx.Err() != nil {
			rep.Err = ctx.Err()
			return rep
		}
	}
}

func (r *Runner) runRecord(ctx context.Context, engine Engine, rec *Record, rep *Report) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	fail := Failure{File: rep.File, Line: rec.Line, SQL: rec.SQL}
	var values []string
	var err error
	if rec.Kind == Statement {
		err = engine.Exec(ctx, rec.SQL)
	} else {
		values, err = engine.Query(ctx, rec.SQL, rec.Types)
	}
	if rec.ExpectError {
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(rec.ErrorText)) {
			fail.Err, fail.Expected = err, []string{strings.TrimSpace("error " + rec.ErrorText)}
			rep.Wrong = append(rep.Wrong, fail)
			return
		}
		rep.Passed++
		return
	}
	if err != nil {
		fail.Err = err
		var columns *ColumnsError
		if errors.As(err, &columns) {
			rep.Wrong = append(rep.Wrong, fail)
		} else {
			rep.Refused = append(rep.Refused, fail)
		}
		return
	}
	if rec.Kind == Query {
		values = sortValues(values, rec.Sort, len(rec.Types))
		if !rec.matches(values) {
			fail.Got, fail.Expected = values, rec.expectation()
			rep.Wrong = append(rep.Wrong, fail)
			return
		}
	}
	rep.Passed++
}

// matches reports whether sorted values are what the record expects.
func (r *Record) matches(values []string) bool {
	if r.Hash != "" {
		return len(values) == r.HashValues && hashValues(values) == r.Hash
	}
	return slices.Equal(values, r.Expected)
}

func (r *Record) expectation() []string {
	if r.Hash != "" {
		return []string{fmt.Sprintf("%d values hashing to %s", r.HashValues, r.Hash)}
	}
	if r.Expected == nil {
		return []string{}
	}
	return r.Expected
}

var (
	quoted = regexp.MustCompile("'[^']*'|`[^`]*`|\"[^\"]*\"")
	digits = regexp.MustCompile(`\d+`)
)

// Reason is an error's message with names, values and positions taken out, so that refusals can be counted by cause.
func Reason(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return digits.ReplaceAllString(quoted.ReplaceAllString(line, "…"), "N")
}
