//go:build unix

package engine

import (
	"syscall"
	"time"
)

// processorTime is the time that the process has spent computing: on a busy machine it says more than the clock.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
