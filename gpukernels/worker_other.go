//go:build !linux

package gpukernels

import (
	"os"
	"syscall"
)

// Device libraries are Linux's (dl_linux.go), and so are the processes that compile for them.

func workerAttributes() *syscall.SysProcAttr { return nil }

func crashed(*os.ProcessState) bool { return false }

func mappedFile(string) string { return "" }
