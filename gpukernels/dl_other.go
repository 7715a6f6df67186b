//go:build !(linux && (amd64 || arm64))

package gpukernels

import (
	"errors"
	"runtime"
	"time"
)

var errPlatform = errors.New("Radish runs on GPUs under Linux on x86-64 and arm64 only, and this is " + runtime.GOOS + "/" + runtime.GOARCH)

func dlOpen(string) (uintptr, error)            { return 0, errPlatform }
func dlSym(uintptr, string) (uintptr, error)    { return 0, errPlatform }
func dlClose(uintptr)                           {}
func callC(fn uintptr, args ...uintptr) uintptr { return 0 }
func nap(d time.Duration)                       { time.Sleep(d) }
