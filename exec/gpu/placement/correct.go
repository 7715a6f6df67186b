package placement

import (
	"math"
	"time"

	"github.com/radish-sql/radish/planner/physical"
)

// An Estimate is what a plan is expected to take on each device, columns and kernels being there.
type Estimate struct {
	CPU, GPU time.Duration

	// Shared is the part of the CPU's time that work takes which the GPU leaves to it.
	Shared time.Duration

	spent [2]Rates // seconds of each class of work, by device
}

// on is the time on a device.
func (e *Estimate) on(d physical.Device) time.Duration {
	if d == physical.GPU {
		return e.GPU
	}
	return e.CPU
}

// estimate prices a plan. workers says how many threads share a pipeline over so many rows.
func (c *Costs) estimate(plan *physical.Plan, by *corrections, workers func(rows float64) int) Estimate {
	var e Estimate
	var total [2]float64
	shared := 0.0
	for _, w := range workOf(plan) {
		for _, d := range []physical.Device{physical.CPU, physical.GPU} {
			side, share := d, 1.0
			if w.onCPU {
				side = physical.CPU
			}
			if side == physical.CPU {
				share = 1 / float64(workers(w.rows))
			}
			for _, u := range w.units {
				s := u.amount[d] * c.rates(side)[u.class] * math.Exp(by[side][u.class])
				switch u.class {
				case Start:
				case Download: // from the GPU, whoever asks for it
					s = u.amount[d] * c.GPU[Download] * math.Exp(by[physical.GPU][Download])
				default:
					s *= share
				}
				e.spent[d][u.class] += s
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

// Fit sets the rate of a class so that a plan, priced with the others, takes what was measured: the sum of its pipelines' times. kernels says that these are of
// kernels alone, without what starts them.
func (c *Costs) Fit(class Class, d physical.Device, plan *physical.Plan, workers func(rows float64) int, kernels bool, took time.Duration) {
	rates := c.rates(d)
	rest, amount := took.Seconds(), 0.0
	for _, w := range workOf(plan) {
		share := 1.0
		if d == physical.CPU {
			share = 1 / float64(workers(w.rows))
		}
		for _, u := range w.units {
			switch {
			case u.class == class && class == Start:
				amount += u.amount[d]
			case u.class == class:
				amount += u.amount[d] * share
			case u.class == Start && kernels:
			case u.class == Start:
				rest -= u.amount[d] * rates[Start]
			default:
				rest -= u.amount[d] * rates[u.class] * share
			}
		}
	}
	if amount > 0 {
		rates[class] = max(rest, 0.05*took.Seconds()) / amount // what is measured beside other work is never free
	}
}

// corrections are the logarithms of the factors by which the rates of each device and class have turned out to be off.
type corrections [2]Rates

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
