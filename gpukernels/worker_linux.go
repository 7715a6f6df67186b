package gpukernels

import (
	"bufio"
	"os"
	"strings"
	"syscall"
)

// workerAttributes: a process ends with this one, and in a group of its own, so that a terminal's Ctrl-C, which cancels a query, does not end it.
func workerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// crashed says whether a process ended by a fault of its own, not by somebody's order.
func crashed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT:
		return true
	}
	return false
}

// mappedFile is the path of a file with that name that is mapped into this process; "": there is none. So a library that the system's loader found is located.
func mappedFile(name string) string {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return ""
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if i := strings.IndexByte(lines.Text(), '/'); i >= 0 && strings.HasSuffix(lines.Text(), "/"+name) {
			return lines.Text()[i:]
		}
	}
	return ""
}
