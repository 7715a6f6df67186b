package gpukernels

import (
	"sync"
	"time"
)

// Busy adds up tasks of which several may run at once.
type Busy struct {
	Tasks int
	Each  time.Duration // all their times
	Any   time.Duration // while at least one ran
}

// Sub is what has been added since an earlier sum.
func (b Busy) Sub(earlier Busy) Busy {
	return Busy{b.Tasks - earlier.Tasks, b.Each - earlier.Each, b.Any - earlier.Any}
}

// A BusyClock measures tasks. Its zero value is ready.
type BusyClock struct {
	mutex  sync.Mutex
	total  Busy
	active int
	since  time.Time // when active rose from 0
}

// Time runs a task and returns what it took.
func (c *BusyClock) Time(task func()) time.Duration {
	start := time.Now()
	c.mutex.Lock()
	if c.active++; c.active == 1 {
		c.since = start
	}
	c.mutex.Unlock()
	task()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	end := time.Now()
	if c.active--; c.active == 0 {
		c.total.Any += end.Sub(c.since)
	}
	c.total.Tasks++
	c.total.Each += end.Sub(start)
	return end.Sub(start)
}

// Total adds up the tasks that have ended.
func (c *BusyClock) Total() Busy {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.total
}
