package placement

import (
	"iter"
	"math"
	"time"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/physical"
)

// An Estimate is what a plan is expected to take on each device, columns and kernels being there.
type Estimate struct {
	CPU, GPU time.Duration

	// Shared is the part of the CPU's time that work takes which the GPU leaves to it.
	Shared time.Duration

	spent [2]cost.Rates // seconds of each class of work, by device
}

// on is the time on a device.
func (e *Estimate) on(d physical.Device) time.Duration {
	if d == physical.GPU {
		return e.GPU
	}
	return e.CPU
}

// pricing says what work takes by a table and its corrections. workers says how many of the CPU's threads share a pipeline over so many rows.
type pricing struct {
	table   *cost.Table
	by      *corrections
	workers func(rows float64) int
}

// of gives the time that each unit of a pipeline's work takes on a device, in seconds.
func (x *pricing) of(w *pipelineWork, d physical.Device) iter.Seq2[cost.Class, float64] {
	return func(yield func(cost.Class, float64) bool) {
		side, share := d, 1.0
		if w.onCPU {
			side = physical.CPU
		}
		if side == physical.CPU {
			share = 1 / float64(x.workers(w.rows))
		}
		for _, u := range w.units {
			at, part := side, share
			switch u.class {
			case cost.Start:
				part = 1
			case cost.Download: // from the GPU, whoever asks for it
				at, part = physical.GPU, 1
			}
			if !yield(u.class, u.amount[d]*x.table.On(at)[u.class]*math.Exp(x.by[at][u.class])*part) {
				return
			}
		}
	}
}

// sum is the time of all of them.
func (x *pricing) sum(w *pipelineWork, d physical.Device) (seconds float64) {
	for _, s := range x.of(w, d) {
		seconds += s
	}
	return seconds
}

// price estimates what a plan takes.
func (x *pricing) price(plan *physical.Plan) Estimate {
	var e Estimate
	var total [2]float64
	shared := 0.0
	for _, w := range workOf(plan) {
		for _, d := range []physical.Device{physical.CPU, physical.GPU} {
			for class, s := range x.of(&w, d) {
				e.spent[d][class] += s
				total[d] += s
				if w.onCPU && d == physical.CPU {
					shared += s
				}
			}
		}
	}
	e.CPU, e.GPU, e.Shared = duration(total[physical.CPU]), duration(total[physical.GPU]), duration(shared)
	return e
}

// Fit sets the rate of a class in a table so that a plan, priced with the others, takes what was measured: the sum of its pipelines' times. hasKernels says that these are of
// kernels alone, without what starts them.
func Fit(t *cost.Table, class cost.Class, d physical.Device, plan *physical.Plan, workers func(rows float64) int, hasKernels bool, took time.Duration) {
	rates := t.On(d)
	rest, amount := took.Seconds(), 0.0
	for _, w := range workOf(plan) {
		share := 1.0
		if d == physical.CPU {
			share = 1 / float64(workers(w.rows))
		}
		for _, u := range w.units {
			switch {
			case u.class == class && class == cost.Start:
				amount += u.amount[d]
			case u.class == class:
				amount += u.amount[d] * share
			case u.class == cost.Start && hasKernels:
			case u.class == cost.Start:
				rest -= u.amount[d] * rates[cost.Start]
			default:
				rest -= u.amount[d] * rates[u.class] * share
			}
		}
	}
	if amount > 0 {
		rates[class] = max(rest, 0.05*took.Seconds()) / amount // what is measured beside other work is never free
	}
}

// duration is a number of seconds.
func duration(s float64) time.Duration { return time.Duration(min(max(s, 0)*1e9, math.MaxInt64/2)) }

// corrections are the logarithms of the factors by which the rates of each device and class have turned out to be off.
type corrections [2]cost.Rates

const (
	learningRate   = 0.3
	mostCorrection = 4.2 // the logarithm of 64
)

// learn moves the rates of the classes that an estimate was made of towards what a run took, each by its share of the time: the gradient step for the
// logarithm of the ratio.
func (by *corrections) learn(e *Estimate, d physical.Device, took time.Duration) {
	expected := e.on(d)
	if expected <= 0 || took <= 0 {
		return
	}
	off := math.Log(float64(took) / float64(expected))
	for c, s := range e.spent[d] {
		x := &by[d][c]
		*x = min(max(*x+learningRate*off*s/expected.Seconds(), -mostCorrection), mostCorrection)
	}
}
