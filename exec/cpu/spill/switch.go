package spill

import (
	"sync/atomic"

	"github.com/radish-sql/radish/exec/cpu/task"
)

// Switch says from when on an operator's rows go to the temporary file: once what its workers hold does not fit the memory. The zero value never does.
type Switch struct {
	q    *task.Query // nil: rows may not go there
	isOn atomic.Bool
	held []atomic.Int64 // by worker, in bytes
}

// Bytes that are less than a 64th of the memory limit are no reason to write rows: what writing takes would be more.
const leastShare = 64

// Allow lets rows go to q's temporary file.
func (s *Switch) Allow(q *task.Query) { s.q, s.held = q, make([]atomic.Int64, q.Threads) }

// IsAllowed says whether rows may go to the file.
func (s *Switch) IsAllowed() bool { return s.q != nil }

// IsOn says whether rows go to the file.
func (s *Switch) IsOn() bool { return s.isOn.Load() }

// Hold notes how many bytes a worker holds.
func (s *Switch) Hold(worker int, bytes int64) { s.held[worker].Store(bytes) }

// Try has rows go to the file from now on, if what the workers hold, and so many bytes beside, are too many to be held twice with so many to spare.
func (s *Switch) Try(beside, spare int64) bool {
	need := beside
	for i := range s.held {
		need += s.held[i].Load()
	}
	if most := s.q.Tuning.SpilledBytes; most == 0 || need < most {
		if need < s.q.Memory.Least()/leastShare || s.q.Memory.CanReserve(need+spare) {
			return false
		}
	}
	s.isOn.Store(true)
	return true
}
