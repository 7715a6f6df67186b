//go:build unix

package database

import (
	"syscall"
	"time"
)

// CPUTime returns the processor time that the process has used, all threads and the garbage collector included.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
