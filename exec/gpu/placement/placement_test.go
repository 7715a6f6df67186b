package placement

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time           { return c.at }
func (c *clock) advance(by time.Duration) { c.at = c.at.Add(by) }

func advisor(t *testing.T, file string) (*Advisor, *clock) {
	t.Helper()
	c := &clock{time.Unix(1_800_000_000, 0)}
	a := New(Options{Threads: 16, File: file, Now: c.now})
	t.Cleanup(a.saves.Wait)
	return a, c
}

const (
	ms    = time.Millisecond
	query = uint64(42)
)

func estimate(onCPU, onGPU time.Duration) *Estimate {
	e := &Estimate{CPU: onCPU, GPU: onGPU}
	e.spent[physical.CPU][cost.Scan], e.spent[physical.GPU][cost.Scan] = onCPU.Seconds(), onGPU.Seconds()
	return e
}

func (a *Advisor) ran(o Outcome) { a.Learn(query, "", nil, o) }

// TestRaceThenKnown follows a statement from its first run on: both devices run it until the faster one is known.
func TestRaceThenKnown(t *testing.T) {
	a, _ := advisor(t, "")
	if _, ok := a.Known(query); ok {
		t.Fatal("a statement is known that never ran")
	}
	e := estimate(100*ms, 10*ms)
	if c := a.Unknown(query, e); c.Device != physical.CPU || !c.Races {
		t.Errorf("the first run: %+v", c)
	}
	a.ran(Outcome{Device: physical.CPU, Took: 100 * ms}) // the GPU was not ready in time
	if c, ok := a.Known(query); ok {
		t.Errorf("after a run on the CPU alone: %+v", c)
	}
	a.ran(Outcome{Device: physical.GPU, Took: 9 * ms, Raced: true, Gave: 9 * ms})
	c, ok := a.Known(query)
	if !ok || c.Device != physical.GPU || c.Races {
		t.Errorf("after the GPU has won: %+v, %v", c, ok)
	}
	if !strings.Contains(c.Reason, "9.00 ms on the GPU") {
		t.Errorf("the reason is %q", c.Reason)
	}
	a.ran(Outcome{Device: physical.CPU, Took: 100 * ms})
	if c, _ := a.Known(query); !strings.Contains(c.Reason, "100.00 ms on the CPU, 9.00 ms on the GPU") {
		t.Errorf("the reason is %q", c.Reason)
	}
}

// TestSecondRace: what the CPU's first run took is no match for the GPU's later ones; a race that it loses is.
func TestSecondRace(t *testing.T) {
	a, _ := advisor(t, "")
	a.ran(Outcome{Device: physical.CPU, Took: 4 * ms})
	a.ran(Outcome{Device: physical.GPU, Took: 2 * ms}) // rehearsed
	if c, ok := a.Known(query); ok {
		t.Fatalf("%+v", c)
	}
	a.ran(Outcome{Device: physical.GPU, Took: 2 * ms, Raced: true, Gave: 2 * ms})
	if c, ok := a.Known(query); !ok || c.Device != physical.GPU || c.Races {
		t.Errorf("%+v, %v", c, ok)
	}
}

// TestGPUWinsFirst knows the CPU only as what was given up.
func TestGPUWinsFirst(t *testing.T) {
	a, _ := advisor(t, "")
	a.ran(Outcome{Device: physical.GPU, Took: 9 * ms, Raced: true, Gave: 9 * ms})
	if c, ok := a.Known(query); !ok || c.Device != physical.GPU || c.Races {
		t.Errorf("%+v, %v", c, ok)
	}
}

// TestCPUHasToWinTwice: the GPU's first run may have paid for what later ones find.
func TestCPUHasToWinTwice(t *testing.T) {
	a, _ := advisor(t, "")
	lost := Outcome{Device: physical.CPU, Took: 5 * ms, Raced: true, Gave: 5 * ms}
	a.ran(lost)
	if c, ok := a.Known(query); ok {
		t.Errorf("after one race: %+v", c)
	}
	a.ran(lost)
	if c, ok := a.Known(query); !ok || c.Device != physical.CPU || c.Races {
		t.Errorf("after two: %+v, %v", c, ok)
	}
	// A GPU that started late has not been given up late enough to say anything.
	b, _ := advisor(t, "")
	late := Outcome{Device: physical.CPU, Took: 100 * ms, Raced: true, Gave: 5 * ms}
	b.ran(late)
	b.ran(late)
	if c, ok := b.Known(query); ok {
		t.Errorf("after two late starts: %+v", c)
	}
}

// TestTook: what a statement takes on one of several GPUs is the least of two runs, of which shared ones are none, and has to be confirmed after a day.
func TestTook(t *testing.T) {
	a, c := advisor(t, "")
	want := func(when string, d time.Duration) {
		t.Helper()
		if got := a.Took(query).One; got != d {
			t.Errorf("%s: %v, want %v", when, got, d)
		}
	}
	a.ran(Outcome{Device: physical.GPU, Took: 300 * ms})
	want("after a first run", 0)
	a.ran(Outcome{Device: physical.GPU, Shared: true, Took: 5 * ms})
	a.ran(Outcome{Device: physical.CPU, Took: 2 * ms})
	want("after runs elsewhere", 0)
	a.ran(Outcome{Device: physical.GPU, Took: 10 * ms})
	want("after a second run", 10*ms)
	a.ran(Outcome{Device: physical.GPU, Took: 15 * ms})
	want("after a slower run", 11*ms)
	a.ran(Outcome{Device: physical.GPU, Shared: true, Took: ms})
	want("after a shared run", 11*ms)
	c.advance(staleAfter)
	want("a day later", 0)
	a.ran(Outcome{Device: physical.GPU, Took: 8 * ms})
	want("after a run that day", 0)
	a.ran(Outcome{Device: physical.GPU, Took: 9 * ms})
	want("after two", 8200*time.Microsecond)

	shared := Outcome{Device: physical.GPU, Shared: true, ByCost: true, Took: 9 * ms}
	decided := func(when string, known, pays bool) {
		t.Helper()
		if k, p := a.Took(query).Decided(); k != known || p != pays {
			t.Errorf("%s: %v, %v, want %v, %v", when, k, p, known, pays)
		}
	}
	a.ran(shared)
	decided("after one run that was shared by cost", false, false)
	a.ran(Outcome{Device: physical.GPU, Shared: true, ByCost: true, Cold: true, Took: 100 * ms})
	decided("after a cold one", false, false)
	a.ran(shared)
	decided("after two that took longer than on one", true, false)
	shared.Took = 7 * ms
	a.ran(shared)
	decided("after one that took less", true, true)
	c.advance(staleAfter)
	decided("a day later", false, false)
}

// TestHopeless leaves a query on the CPU that the GPU is expected to take many times as long for.
func TestHopeless(t *testing.T) {
	a, _ := advisor(t, "")
	if c := a.Unknown(query, estimate(1*ms, 100*ms)); c.Races || c.Device != physical.CPU {
		t.Errorf("%+v", c)
	}
	a.ran(Outcome{Device: physical.CPU, Took: 100 * ms}) // the estimate of the CPU was wrong
	if c := a.Unknown(query, estimate(1*ms, 100*ms)); !c.Races {
		t.Errorf("after a slow run: %+v", c)
	}
}

// TestGivenUpRehearsal: a query that took too long while nobody waited for it is not rehearsed again, and raced only where the CPU takes long, too.
func TestGivenUpRehearsal(t *testing.T) {
	a, _ := advisor(t, "")
	e := estimate(2*ms, 1*ms)
	if !a.Rehearses(query, e, true) {
		t.Error("a new statement is not rehearsed")
	}
	a.GaveUp(query, "")
	if a.Rehearses(query, e, true) {
		t.Error("it is rehearsed again")
	}
	if c := a.Unknown(query, e); c.Races {
		t.Errorf("2 ms on the CPU, more than 80 on the GPU: %+v", c)
	}
	a.ran(Outcome{Device: physical.CPU, Took: time.Second})
	if c := a.Unknown(query, e); !c.Races {
		t.Errorf("a second on the CPU, more than 80 ms on the GPU: %+v", c)
	}
	a.ran(Outcome{Device: physical.GPU, Took: 200 * ms, Raced: true, Gave: 200 * ms})
	if !a.Rehearses(query, e, true) {
		t.Error("it is not rehearsed after it has run")
	}
	if !a.Rehearses(query, e, false) {
		t.Error("a query with a part for the CPU is not rehearsed")
	}
	defer a.Running(physical.CPU)()
	if a.Rehearses(query, e, false) || !a.Rehearses(query, e, true) {
		t.Error("beside another query, only what the CPU has no part in is rehearsed")
	}
}

// TestSharedWork leaves a query on the CPU of which the GPU takes little over.
func TestSharedWork(t *testing.T) {
	a, _ := advisor(t, "")
	e := estimate(100*ms, 70*ms)
	e.Shared = 60 * ms
	if c := a.Unknown(query, e); c.Races || c.Device != physical.CPU || !strings.Contains(c.Reason, "most of the work") {
		t.Errorf("%+v", c)
	}
	if e.Shared = 30 * ms; !a.Unknown(query, e).Races {
		t.Error("a third of the work: no race")
	}
}

// TestRacesAgain wants another race after some runs, then after twice as many, and after a day.
func TestRacesAgain(t *testing.T) {
	a, at := advisor(t, "")
	won := Outcome{Device: physical.GPU, Took: 5 * ms, Raced: true, Gave: 5 * ms}
	alone := Outcome{Device: physical.GPU, Took: 5 * ms}
	a.ran(won)
	for _, runs := range []int{firstRace, 2 * firstRace, 4 * firstRace} {
		for i := range runs {
			if c, ok := a.Known(query); !ok || c.Races {
				t.Fatalf("run %d of %d: %+v, %v", i, runs, c, ok)
			}
			a.ran(alone)
		}
		if c, ok := a.Known(query); !ok || !c.Races || c.Device != physical.CPU {
			t.Fatalf("after %d runs: %+v, %v", runs, c, ok)
		}
		a.ran(won)
	}
	at.advance(staleAfter)
	if c, ok := a.Known(query); ok {
		t.Errorf("a day later: %+v", c)
	}
}

// TestSurprise wants a race when a run takes many times as long as those before: other literals, or other rows.
func TestSurprise(t *testing.T) {
	a, _ := advisor(t, "")
	a.ran(Outcome{Device: physical.CPU, Took: 40 * ms})
	a.ran(Outcome{Device: physical.CPU, Took: 40 * ms})
	a.ran(Outcome{Device: physical.GPU, Took: 10 * ms})
	if c, ok := a.Known(query); !ok || c.Device != physical.GPU || c.Races {
		t.Fatalf("%+v, %v", c, ok)
	}
	a.ran(Outcome{Device: physical.GPU, Took: 300 * ms})
	if c, ok := a.Known(query); ok && !c.Races {
		t.Errorf("after a surprise: %+v", c)
	}
}

// TestRefused does not ask a GPU again that could not run a statement, for a while that doubles.
func TestRefused(t *testing.T) {
	a, _ := advisor(t, "")
	refused := Outcome{Device: physical.CPU, Took: 5 * ms, Refused: "window functions run on the CPU only"}
	pause := 0
	for range 3 {
		a.ran(refused)
		runs := 0
		for ; ; runs++ {
			c, ok := a.Known(query)
			if !ok {
				break
			}
			if c.Device != physical.CPU || c.Races || c.Reason != refused.Refused {
				t.Fatalf("%+v", c)
			}
			a.ran(Outcome{Device: physical.CPU, Took: 5 * ms})
			if runs > 1000 {
				t.Fatal("it is never asked again")
			}
		}
		if runs <= pause {
			t.Errorf("a pause of %d runs after one of %d", runs, pause)
		}
		pause = runs
	}
}

// TestLoad sends a query to the slower device when the faster one is busy.
func TestLoad(t *testing.T) {
	a, _ := advisor(t, "")
	a.ran(Outcome{Device: physical.CPU, Took: 12 * ms})
	a.ran(Outcome{Device: physical.GPU, Took: 10 * ms})
	if c, ok := a.Known(query); ok {
		t.Errorf("the CPU's first run, which may have made statistics, is taken for what it takes: %+v", c)
	}
	a.ran(Outcome{Device: physical.CPU, Took: 12 * ms})
	device := func() physical.Device {
		c, _ := a.Known(query)
		return c.Device
	}
	if device() != physical.GPU {
		t.Error("idle: not the GPU")
	}
	var ends []func()
	for range 40 {
		ends = append(ends, a.Running(physical.GPU))
	}
	if device() != physical.CPU {
		t.Error("forty queries on the GPU: not the CPU")
	}
	for range 4 {
		ends = append(ends, a.Running(physical.CPU))
	}
	if device() != physical.GPU {
		t.Error("and four on the CPU: not the GPU")
	}
	for _, end := range ends {
		end()
		end() // a second call counts nothing
	}
	if a.running != [2]int{} {
		t.Errorf("%v queries run", a.running)
	}
	// Times under load say only what a run takes at most.
	end := a.Running(physical.CPU)
	end2 := a.Running(physical.GPU)
	a.ran(Outcome{Device: physical.GPU, Took: 500 * ms})
	end()
	end2()
	if r := a.records[query]; r.GPU.Seconds > 0.0101 {
		t.Errorf("a run under load makes it %v s", r.GPU.Seconds)
	}
}

// TestWorthStarting starts the GPU late only where it can still win: an estimate may be wrong by a factor of 16, a time that was measured is right.
func TestWorthStarting(t *testing.T) {
	a, _ := advisor(t, "")
	e := estimate(100*ms, 480*ms)
	check := func(wants map[time.Duration]bool) {
		t.Helper()
		for after, want := range wants {
			if got := a.WorthStarting(query, e, after); got != want {
				t.Errorf("after %v: %v", after, got)
			}
		}
	}
	check(map[time.Duration]bool{0: true, 60 * ms: true, 80 * ms: false, 99 * ms: false, 150 * ms: true})
	a.ran(Outcome{Device: physical.GPU, Took: 50 * ms})
	check(map[time.Duration]bool{0: true, 40 * ms: true, 60 * ms: false, 150 * ms: true})
}

// TestCorrections: estimates that are wrong by a factor of thirty come near what runs take, on the device and in the class that was wrong.
func TestCorrections(t *testing.T) {
	a, _ := advisor(t, "")
	for range 40 {
		e := a.priced(10 * ms)
		a.Learn(query, "", e, Outcome{Device: physical.CPU, Took: 300 * ms})
	}
	e := a.priced(10 * ms)
	if e.CPU < 270*ms || e.CPU > 330*ms {
		t.Errorf("the CPU is expected to take %v", e.CPU)
	}
	if e.GPU != 10*ms {
		t.Errorf("the GPU is expected to take %v", e.GPU)
	}
	if f := factorsOf(a, physical.CPU); f[cost.Sort] != 1 || math.Abs(f[cost.Scan]-30) > 3 {
		t.Errorf("factors %v", f)
	}
	for range 100 { // never beyond all measure
		a.Learn(query, "", a.priced(10*ms), Outcome{Device: physical.CPU, Took: 3600 * time.Second})
	}
	if f := factorsOf(a, physical.CPU)[cost.Scan]; f > 70 {
		t.Errorf("a factor of %v", f)
	}
}

// priced is an estimate of work that is expected to take so long on each device before corrections.
func (a *Advisor) priced(took time.Duration) *Estimate {
	e := &Estimate{}
	for d, to := range []*time.Duration{&e.CPU, &e.GPU} {
		s := took.Seconds() * math.Exp(a.corrected[d][cost.Scan])
		e.spent[d][cost.Scan], *to = s, duration(s)
	}
	return e
}

// TestSaveWaits saves right after each of many statements, whose learning starts a save in the background: the file must have each when Save returns.
func TestSaveWaits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learned.json")
	a, at := advisor(t, file)
	for i := range uint64(200) {
		at.advance(2 * saveEvery)
		a.Learn(i, "", nil, Outcome{Device: physical.CPU, Took: ms})
		runtime.Gosched() // so that the save in the background is often the first
		if err := a.Save(); err != nil {
			t.Fatal(err)
		}
		if f := readLearned(file); f == nil || f.Statements[strconv.FormatUint(i, 16)] == nil {
			t.Fatalf("Save returned before the file had statement %d", i)
		}
	}
}

// TestKept writes what was learned and reads it again in another advisor, which takes what is newer of two.
func TestKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "learned.json")
	a, at := advisor(t, file)
	a.Learn(query, "SELECT 'secret'", estimate(1*ms, 1*ms), Outcome{Device: physical.GPU, Took: 9 * ms, Raced: true, Gave: 9 * ms})
	if err := a.Save(); err != nil {
		t.Fatal(err)
	}
	b, later := advisor(t, file)
	if c, ok := b.Known(query); !ok || c.Device != physical.GPU {
		t.Errorf("another process knows %+v, %v", c, ok)
	}
	if got, want := factorsOf(b, physical.GPU), factorsOf(a, physical.GPU); math.Abs(got[cost.Scan]-want[cost.Scan]) > 1e-9 {
		t.Errorf("factors %v, want %v", got[cost.Scan], want[cost.Scan])
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "secret") {
		t.Error("the file has the text of a statement")
	}
	later.advance(time.Minute)
	b.ran(Outcome{Device: physical.GPU, Took: 3 * ms})
	if err := b.Save(); err != nil {
		t.Fatal(err)
	}
	at.advance(30 * time.Second)
	a.Learn(7, "", nil, Outcome{Device: physical.CPU, Took: ms})
	if err := a.Save(); err != nil {
		t.Fatal(err)
	}
	c, _ := advisor(t, file)
	if len(c.records) != 2 || c.records[query].GPU.Count != 2 {
		t.Errorf("two processes have left %+v", c.records[query])
	}
	if err := c.Forget(); err != nil {
		t.Fatal(err)
	}
	if d, _ := advisor(t, file); len(d.records) != 0 {
		t.Error("what was forgotten is known again")
	}
	a.ran(Outcome{Device: physical.CPU, Took: ms})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if old := New(Options{File: file, Now: func() time.Time { return at.at.Add(forgetAfter + time.Hour) }}); len(old.records) != 0 {
		t.Error("what nobody ran for a month is known")
	}
	if d, _ := advisor(t, file); len(d.records) == 0 {
		t.Error("what Close was to save is not known")
	}
	file = filepath.Join(t.TempDir(), "damaged.json") // the other may still be written in the background
	for _, damaged := range []string{"", "{", `{"statements": {"2a": null}}`, `{"statements": {"2a": {"used": 1800000000, "cpu": {"seconds": -1}}}}`, `{"statements": {"nine": {}}}`, string(text[:len(text)/2])} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, _ := advisor(t, file); len(d.records) != 0 {
			t.Errorf("%q is taken for something learned", damaged)
		}
	}
}

// TestSavedInTheBackground: what was learned is written without being asked for, now and then.
func TestSavedInTheBackground(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learned.json")
	a, at := advisor(t, file)
	a.ran(Outcome{Device: physical.CPU, Took: ms})
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written at once")
	}
	at.advance(saveEvery)
	a.ran(Outcome{Device: physical.CPU, Took: ms})
	for range 3000 { // half a minute: the machine and its disk may be busy
		if f := readLearned(file); f != nil {
			return
		}
		time.Sleep(10 * ms)
	}
	t.Error("it was never written")
}

// TestLimit forgets what ran longest ago.
func TestLimit(t *testing.T) {
	a, at := advisor(t, "")
	for i := range mostRecords + 10 {
		a.Learn(uint64(i), "", nil, Outcome{Device: physical.CPU, Took: ms})
		at.advance(time.Second)
	}
	if len(a.records) != mostRecords || a.records[0] != nil || a.records[mostRecords+9] == nil {
		t.Errorf("%d statements are known", len(a.records))
	}
}

// TestKeptCosts writes costs and reads them; files that hold no costs are not taken for some.
func TestKeptCosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "costs.json")
	if c := LoadCosts(file); c != nil {
		t.Errorf("no file gives %+v", c)
	}
	want := cost.Default()
	want.GPU[cost.Start] = 123e-6
	if err := SaveCosts(file, &want); err != nil {
		t.Fatal(err)
	}
	if got := LoadCosts(file); got == nil || *got != want {
		t.Errorf("wrote %+v, read %+v", want, got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "{}", string(text[:len(text)/2]), strings.Replace(string(text), "0.000123", "-1", 1), strings.Replace(string(text), "0.000123", "0", 1),
		strings.Replace(string(text), `"sort"`, `"sorted"`, 1), strings.Replace(string(text), `"sort"`, `"more": 1, "sort"`, 1),
	} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if c := LoadCosts(file); c != nil {
			t.Errorf("%q gives %+v", bad, c)
		}
	}
}

// factorsOf are by how much the costs of a class have been corrected on a device.
func factorsOf(a *Advisor, d physical.Device) cost.Rates {
	a.mu.Lock()
	defer a.mu.Unlock()
	return factors(a.corrected[d])
}
