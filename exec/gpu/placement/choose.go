package placement

import (
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// LeastRows is the number of rows below which a plan is not worth opening a device for.
const LeastRows = 1 << 16

// Small is the reason for which a plan that reads so many rows stays on the CPU; "" if they are enough.
func Small(rows, least float64) string {
	if rows < least {
		return fmt.Sprintf("small inputs stay on the CPU (~%.0f rows)", rows)
	}
	return ""
}

// hopeless is how many times as long as on the CPU a plan has to be expected to take on the GPU for nobody to try. Estimates have been off by less.
const hopeless = 16

// leastGain is the part of the CPU's time that the GPU has to take over for a try to be worth while: what it leaves to the CPU takes its time there anyway, and twice
// in a race.
const leastGain = 0.5

// gpuQueries is how many queries a GPU runs beside each other before they wait for each other.
const gpuQueries = 8

// firstRun is how many times as long as later ones the CPU's first run of a statement may take.
const firstRun = 8

// Choice is where a query runs.
type Choice struct {
	Device physical.Device // where it starts at once
	// Races says that it starts on the GPU, too, as soon as that is ready. The first to finish wins.
	Races  bool
	Reason string
}

// New returns an advisor that knows what the file of the options holds.
func New(o Options) *Advisor {
	a := &Advisor{threads: max(o.Threads, 1), workers: o.Workers, now: o.Now, file: o.File, costs: cost.Default(), records: map[uint64]*record{}}
	if a.now == nil {
		a.now = time.Now
	}
	if a.workers == nil {
		a.workers = func(_ float64, threads int) int { return threads }
	}
	a.saved = a.now()
	a.load()
	return a
}

// Estimate prices a plan on both devices, with what is known of the costs.
func (a *Advisor) Estimate(plan *physical.Plan, threads int) Estimate {
	return a.pricing(threads).price(plan)
}

// pricing has the prices of this moment, where the CPU has so many threads.
func (a *Advisor) pricing(threads int) *pricing {
	a.mu.Lock()
	defer a.mu.Unlock()
	costs, by := a.costs, a.corrected
	return &pricing{&costs, &by, func(rows float64) int { return max(a.workers(rows, threads), 1) }}
}

// LeavesMost says whether a placement of a plan leaves more of the work to the CPU than a try is worth.
func (a *Advisor) LeavesMost(plan *physical.Plan, where physical.Placement, threads int) bool {
	x, all, left := a.pricing(threads), 0.0, 0.0
	for i, w := range workOf(plan) {
		s := x.sum(&w, physical.CPU)
		if all += s; where.Device(plan.Pipelines[i]) == physical.CPU {
			left += s
		}
	}
	return left > (1-leastGain)*all
}

// LeftToCPU is why a query that the GPU could begin is not tried there.
const LeftToCPU = "most of the work would stay on the CPU"

// Known chooses by what runs of the statement have taken. ok is false where that is not enough.
func (a *Advisor) Known(fingerprint uint64) (c Choice, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.records[fingerprint]
	if r == nil {
		return c, false
	}
	if r.Refused != "" && r.Tries > 0 {
		return Choice{Reason: r.Refused}, true
	}
	now := a.now()
	freshOnCPU, freshOnGPU := r.CPU.fresh(now), r.GPU.fresh(now)
	onCPU, onGPU := a.underLoad(physical.CPU, r.CPU.Seconds), a.underLoad(physical.GPU, r.GPU.Seconds)
	switch {
	case freshOnGPU && r.CPU.Bound >= r.GPU.Seconds*0.9 && !(freshOnCPU && onCPU < onGPU):
		c.Device = physical.GPU
		c.Reason = fmt.Sprintf("it took %s on the GPU, and more on the CPU", inWords(r.GPU.Seconds))
	case freshOnCPU && freshOnGPU && r.CPU.Count < 2 && r.GPU.Seconds > r.CPU.Seconds/firstRun:
		return c, false // the CPU's first run paid for statistics, too
	case freshOnCPU && freshOnGPU:
		c.Reason = fmt.Sprintf("it took %s on the CPU, %s on the GPU", inWords(r.CPU.Seconds), inWords(r.GPU.Seconds))
		if onGPU < onCPU {
			c.Device = physical.GPU
		}
	case freshOnCPU && r.GPU.Lost >= convincing && r.GPU.Bound >= r.CPU.Seconds*0.9:
		c.Reason = fmt.Sprintf("it took %s on the CPU, and more on the GPU", inWords(r.CPU.Seconds))
	default:
		return c, false
	}
	if r.due() {
		c.Device, c.Races = physical.CPU, true
		c.Reason += "; both run it again to check"
	}
	return c, true
}

// Unknown chooses for a statement of which Known knows too little.
func (a *Advisor) Unknown(fingerprint uint64, e *Estimate) Choice {
	a.mu.Lock()
	defer a.mu.Unlock()
	onCPU, onGPU := e.CPU.Seconds(), e.GPU.Seconds()
	if r := a.records[fingerprint]; r != nil {
		now := a.now()
		if r.CPU.fresh(now) {
			onCPU = r.CPU.Seconds
		}
		if r.GPU.fresh(now) {
			onGPU = r.GPU.Seconds
		}
		onGPU = max(onGPU, r.GPU.Bound)
	}
	c := Choice{Reason: fmt.Sprintf("expected to take %s on the CPU, %s on the GPU", inWords(onCPU), inWords(onGPU))}
	switch {
	case e.Shared.Seconds() > (1-leastGain)*e.CPU.Seconds():
		c.Reason = LeftToCPU
	case onGPU <= hopeless*onCPU:
		c.Races = true
	}
	return c
}

// underLoad is what a run of so many seconds takes beside those that run now: the CPU's queries share its cores, and the GPU's wait for each other once they
// are many. The caller holds mu.
func (a *Advisor) underLoad(d physical.Device, seconds float64) float64 {
	if d == physical.GPU {
		return seconds * max(1, float64(a.running[physical.GPU]+1)/gpuQueries)
	}
	return seconds * (1 + float64(a.running[physical.CPU]) + float64(a.running[physical.GPU])/float64(a.threads))
}

// WorthStarting says whether the GPU, which is ready now, is to take part in a race that the CPU has been running for so long.
func (a *Advisor) WorthStarting(fingerprint uint64, e *Estimate, after time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	onCPU, onGPU := e.CPU.Seconds(), e.GPU.Seconds()/hopeless // an estimate: it may be as wrong as that
	if r := a.records[fingerprint]; r != nil {
		if r.CPU.Seconds > 0 {
			onCPU = r.CPU.Seconds
		}
		if r.GPU.Seconds > 0 {
			onGPU = r.GPU.Seconds
		}
	}
	left := onCPU - after.Seconds()
	return left < 0 || onGPU < left // an estimate that has proved wrong says nothing any more
}

// Running counts a query as running on a device, until done is called.
func (a *Advisor) Running(d physical.Device) (done func()) {
	a.mu.Lock()
	a.running[d]++
	a.begun++
	a.mu.Unlock()
	return sync.OnceFunc(func() {
		a.mu.Lock()
		a.running[d]--
		a.mu.Unlock()
	})
}

// Activity says how many queries run, and how many have begun so far: what is measured beside others is worth little.
func (a *Advisor) Activity() (running int, begun uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running[physical.CPU] + a.running[physical.GPU], a.begun
}

// Rehearses says whether a query that is expected to take so long on the GPU may run there with nobody waiting for it, so that the first who waits finds all that only a
// first run pays for. One that was given up is not tried again. One of which the CPU runs a part waits until nothing else runs.
func (a *Advisor) Rehearses(fingerprint uint64, e *Estimate, whole bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.records[fingerprint]; r != nil && r.GPU.Bound >= LongestWait.Seconds() {
		return false
	}
	running := a.running[physical.CPU] + a.running[physical.GPU]
	return (running == 0 || whole && running <= gpuQueries/2) && e.GPU <= hopeless*mostRehearsal
}

// mostRehearsal bounds what a query may take for it to be rehearsed.
const mostRehearsal = 250 * time.Millisecond

// Rehearsals are given up when the GPU is busy with them for LongestWait at a time: while kernels run, the driver loads no others, and what waits for those cannot be
// cancelled. What a first run pays for besides, such as loading dozens of kernels, may take long, but no longer than LongestRehearsal.
const (
	LongestWait      = 80 * time.Millisecond
	LongestRehearsal = 3 * time.Second
)

// GaveUp notes that a rehearsal was given up: a run takes LongestWait at least.
func (a *Advisor) GaveUp(fingerprint uint64, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.record(fingerprint)
	r.text = text
	r.GPU.given(LongestWait.Seconds())
}

// Outcome is what came of a run.
type Outcome struct {
	Device physical.Device // that gave the rows
	Shared bool            // several GPUs did
	ByCost bool            // they did because that was expected to take less time
	// Cold says, where there are several GPUs, that kernels or columns were missing at the start, or kernels ran that were compiled quickly.
	Cold bool
	Took time.Duration // from planning to the last row, without what the client did between rows
	// Raced says that the other device ran it, too, and was given up after Gave; 0: it was not ready before.
	Raced bool
	Gave  time.Duration
	// Refused is why the GPU could not run it; "": it could, or was not asked.
	Refused string
}

// Learn notes the outcome of a statement's run. e is what was expected of its plan; nil: nobody had to ask.
func (a *Advisor) Learn(fingerprint uint64, text string, e *Estimate, o Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bias != nil {
		o.Took = time.Duration(float64(o.Took) * a.bias(fingerprint, o.Device))
	}
	now := a.now()
	r := a.record(fingerprint)
	r.text, r.Used = text, now.Unix()
	r.Since++
	if r.Tries > 0 {
		r.Tries--
	}
	here := r.on(o.Device)
	loaded := a.running[physical.CPU]+a.running[physical.GPU] > 1
	if before := here.Seconds; before > 0 && !loaded && o.Took > leastSurprise && o.Took.Seconds() > surprise*before {
		r.Since, r.Next = firstRace, 0
		r.on(other(o.Device)).At = 0
	}
	here.ended(o.Took.Seconds(), now, loaded)
	switch settled := o.Device == physical.GPU && !o.Cold && !loaded; {
	case settled && !o.Shared:
		r.Alone.least(o.Took.Seconds(), now)
	case settled && o.ByCost:
		r.Several.least(o.Took.Seconds(), now)
	}
	if o.Raced {
		r.raced()
		if o.Gave > 0 {
			r.on(other(o.Device)).given(o.Gave.Seconds())
		}
	}
	switch {
	case o.Refused != "":
		r.refuse(o.Refused)
	case o.Device == physical.GPU:
		r.Refused, r.Tries, r.Pause = "", 0, 0
	}
	if e != nil && !loaded && !o.Shared {
		a.corrected.learn(e, o.Device, o.Took)
	}
	a.saveSoon(now)
}

// Took is what a statement has taken on one of several GPUs, and on several that shared it; 0: that is not known.
type Took struct{ One, Several time.Duration }

// Decided says whether runs of both kinds are known, and whether sharing paid. What was expected of it does not count then.
func (t Took) Decided() (known, pays bool) {
	known = t.One > 0 && t.Several > 0
	return known, known && t.Several.Seconds() <= (1-leastGained)*t.One.Seconds()
}

// leastGained is the part of one GPU's time that sharing has to have saved in runs: less would change with each run.
const leastGained = 0.05

// String says what was known when both are.
func (t Took) String() string {
	return fmt.Sprintf("it took %s on one GPU and %s on all", inWords(t.One.Seconds()), inWords(t.Several.Seconds()))
}

// Class tells apart what leads to another decision. What one GPU takes counts by powers of two, so that the decision is not made again and again.
func (t Took) Class() int {
	switch known, pays := t.Decided(); {
	case known && pays:
		return -1
	case known:
		return -2
	}
	return bits.Len64(uint64(t.One))
}

// Took is what a statement has taken where there are several GPUs: on one of them, and on those that shared it. 0: too few runs say so.
func (a *Advisor) Took(fingerprint uint64) (took Took) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.records[fingerprint]; r != nil {
		now := a.now()
		took = Took{One: r.Alone.settled(now), Several: r.Several.settled(now)}
	}
	return took
}

// Bias is for tests: runs are learned as if they had taken so many times as long.
func (a *Advisor) Bias(f func(fingerprint uint64, d physical.Device) float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bias = f
}

// Refuse notes why the GPU could not run a statement that nobody was waiting for.
func (a *Advisor) Refuse(fingerprint uint64, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.record(fingerprint).refuse(reason)
}

// record returns what is known of a statement, to be changed, or adds a record. The caller holds mu.
func (a *Advisor) record(fingerprint uint64) *record {
	a.learned = true
	r := a.records[fingerprint]
	if r == nil {
		r = &record{Used: a.now().Unix()}
		a.records[fingerprint] = r
		a.limit()
	}
	return r
}

func other(d physical.Device) physical.Device { return physical.GPU - d }

// inWords is a time of so many seconds.
func inWords(s float64) string { return fmt.Sprintf("%.2f ms", s*1e3) }

// Learned is what is known of a statement.
type Learned struct {
	Fingerprint uint64
	Text        string // the beginning of a statement; empty where an earlier process ran it
	CPU, GPU    time.Duration
	CPURuns     int
	GPURuns     int
	// CPULeast and GPULeast are what a run takes at least: it was given up then; 0: none was.
	CPULeast, GPULeast time.Duration
	Refused            string // why the GPU does not run it
	Used               time.Time
}

// List lists what was learned of statements.
func (a *Advisor) List() []Learned {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]Learned, 0, len(a.records))
	for key, r := range a.records {
		out = append(out, Learned{
			Fingerprint: key, Text: r.text, CPU: duration(r.CPU.Seconds), GPU: duration(r.GPU.Seconds), CPURuns: r.CPU.Count, GPURuns: r.GPU.Count,
			CPULeast: duration(r.CPU.Bound), GPULeast: duration(r.GPU.Bound), Refused: r.Refused, Used: time.Unix(r.Used, 0),
		})
	}
	return out
}

// Costs are what plans are priced with, before corrections.
func (a *Advisor) Costs() cost.Table {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.costs
}

// UseCosts takes costs that an earlier process measured.
func (a *Advisor) UseCosts(c cost.Table) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.costs = c
}

// SetMeasuredCosts takes costs that were measured just now. Corrections of those before are forgotten.
func (a *Advisor) SetMeasuredCosts(c cost.Table) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.costs, a.corrected = c, corrections{}
}

// Forget forgets what was learned; calibrated costs stay.
func (a *Advisor) Forget() error {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records, a.corrected, a.learned = map[uint64]*record{}, corrections{}, false
	return a.remove()
}
