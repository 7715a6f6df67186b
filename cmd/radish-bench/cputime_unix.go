//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that the process has used, all threads and the garbage collector included.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
