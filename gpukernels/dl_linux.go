//go:build linux && (amd64 || arm64)

package gpukernels

import (
	"runtime"
	"syscall"
	"time"

	"github.com/ebitengine/purego"
)

// dlOpen loads a shared library. What went wrong is asked for by a second call, and each thread has its own answer.
func dlOpen(path string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// dlSym finds a function of a loaded library, on one thread as dlOpen does.
func dlSym(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(handle, name)
}

// dlClose unloads a library that turned out to be a wrong one.
func dlClose(handle uintptr) { _ = purego.Dlclose(handle) }

// callC calls a C function with integer arguments.
//
//go:uintptrescapes
func callC(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// nap sleeps for a time that may be far below a millisecond.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil)
}
