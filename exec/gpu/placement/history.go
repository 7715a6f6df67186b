package placement

import (
	"time"

	"github.com/radish-sql/radish/planner/physical"
)

// record is what is known of a statement: of all runs that share a fingerprint.
type record struct {
	CPU  runs  `json:"cpu"`
	GPU  runs  `json:"gpu"`
	Used int64 `json:"used"` // Unix time of the last run
	// Alone are those on one of several GPUs, and Several those that GPUs shared because that was expected to take less time.
	Alone   runs `json:"alone"`
	Several runs `json:"several"`
	// Since counts runs since the last race, and Next is how many there are between two: it doubles.
	Since int `json:"since"`
	Next  int `json:"next"`
	// Refused is why the GPU could not run it, Tries how many runs are left until it may try again, and Pause how many that were.
	Refused string `json:"refused,omitempty"`
	Tries   int    `json:"tries,omitempty"`
	Pause   int    `json:"pause,omitempty"`

	text string // the beginning of a statement, to show
}

// runs are those on one device.
type runs struct {
	Seconds float64 `json:"seconds,omitempty"` // what one takes; 0: none has ended
	Count   int     `json:"count,omitempty"`
	At      int64   `json:"at,omitempty"` // Unix time of the last one
	// Bound is what a run takes at least, for it was given up then, and Lost how many were.
	Bound float64 `json:"bound,omitempty"`
	Lost  int     `json:"lost,omitempty"`
}

func (r *record) on(d physical.Device) *runs {
	if d == physical.GPU {
		return &r.GPU
	}
	return &r.CPU
}

const (
	// staleAfter is when a time has to be confirmed by a race.
	staleAfter = 24 * time.Hour
	// forgetAfter is when a statement that nobody runs is forgotten.
	forgetAfter = 30 * 24 * time.Hour
	// mostRecords is how many statements are remembered; those that ran longest ago are forgotten first.
	mostRecords = 4096
	// firstRace and lastRace bound how many runs there are between two races of a statement.
	firstRace, lastRace = 32, 4096
	// convincing is how many races the GPU has to lose, columns and kernels being there: what it does once only takes part of the first.
	convincing = 2
	// surprise is how many times as long as before a run may take without a new race.
	surprise = 4
	// leastSurprise: what takes less is not worth a race, whatever it took before.
	leastSurprise = 5 * time.Millisecond
)

// fresh says whether a time is known that need not be confirmed.
func (x *runs) fresh(now time.Time) bool {
	return x.Seconds > 0 && now.Sub(time.Unix(x.At, 0)) < staleAfter
}

// ended adds a run that took so long. Under load it says only that a run takes no longer.
func (x *runs) ended(took float64, now time.Time, loaded bool) {
	slower := slowly
	if loaded {
		slower = 0
	}
	x.add(took, now, 0.5, slower)
	x.Bound, x.Lost = 0, 0
}

// slowly is the weight of a run that took longer than those before.
const slowly = 0.2

// add adds a run that took so long, with a weight beside the runs before that depends on whether it was faster or slower.
func (x *runs) add(took float64, now time.Time, faster, slower float64) {
	switch {
	case x.Seconds == 0:
		x.Seconds = took
	case took < x.Seconds:
		x.Seconds += faster * (took - x.Seconds)
	default:
		x.Seconds += slower * (took - x.Seconds)
	}
	x.Count++
	x.At = now.Unix()
}

// least adds a run of which those that take the least count.
func (x *runs) least(took float64, now time.Time) {
	if !x.fresh(now) {
		*x = runs{}
	}
	x.add(took, now, 1, slowly)
}

// leastSettled is how many runs on GPUs that found all kernels and columns say what one takes.
const leastSettled = 2

// settled is what a run takes; 0: too few runs say so, or it has to be confirmed.
func (x *runs) settled(now time.Time) time.Duration {
	if x.Count < leastSettled || !x.fresh(now) {
		return 0
	}
	return duration(x.Seconds)
}

// given adds a run that was given up after so long.
func (x *runs) given(after float64) {
	x.Bound = max(x.Bound, after)
	x.Lost++
}

// raced notes that there was a race.
func (r *record) raced() {
	r.Since = 0
	r.Next = min(max(2*r.Next, firstRace), lastRace)
}

// due says whether it is time for another race.
func (r *record) due() bool { return r.Since >= max(r.Next, firstRace) }

// refuse notes why the GPU could not run the statement: it is not asked for twice as many runs as the last time.
func (r *record) refuse(reason string) {
	r.Pause = min(max(2*r.Pause, 4), lastRace)
	r.Refused, r.Tries = reason, r.Pause
}
