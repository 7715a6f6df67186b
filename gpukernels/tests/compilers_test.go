package tests

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/gpukernels/gputest"
)

// compilers returns NVRTC in processes, which are ready, or skips the test.
func compilers(t *testing.T, n int) (*gpukernels.Library, *gpukernels.Compilers) {
	t.Helper()
	lib := gputest.CUDALibrary(t)
	if _, err := lib.Compile(90, sumKernel); errors.Is(err, gpukernels.ErrUnavailable) {
		t.Skip(err)
	}
	c := lib.NewCompilers(90, n)
	t.Cleanup(c.Close)
	c.Start(n)
	for end := time.Now().Add(30 * time.Second); c.Status().Processes < n; time.Sleep(10 * time.Millisecond) {
		if s := c.Status(); s.Problem != "" || time.Now().After(end) {
			t.Fatalf("no processes: %+v", s)
		}
	}
	return lib, c
}

// children are the processes of this one that run the compiler.
func children(t *testing.T) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		status, _ := os.ReadFile(file)
		if strings.Contains(string(status), "Name:\tradish-gpu-comp") && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestCompilersOfNVRTC wants processes to give the image that this one gives, and the same error, and a source to be compiled although they were killed.
func TestCompilersOfNVRTC(t *testing.T) {
	lib, c := compilers(t, 1)
	here := lib.NewCompilers(90, 0)
	defer here.Close()
	for _, source := range []string{sumKernel, "RADISH_KERNEL(k, 1) {}"} {
		want, _, failed := here.Compile(gpukernels.NewTurn(), 90, source, "-DRADISH_BLOCK=64")
		got, _, err := c.Compile(gpukernels.NewTurn(), 90, source, "-DRADISH_BLOCK=64")
		if !bytes.Equal(got, want) {
			t.Errorf("an image of %d bytes, and %d here", len(got), len(want))
		}
		if fmt.Sprint(err) != fmt.Sprint(strings.Replace(fmt.Sprint(failed), "compile_for", "compile", 1)) {
			t.Errorf("error %v\nhere  %v", err, failed)
		}
	}
	for _, pid := range children(t) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if _, _, err := c.Compile(gpukernels.NewTurn(), 90, sumKernel); err != nil {
		t.Error(err)
	}
	if s := c.Status(); s.Processes == 1 && s.Problem == "" {
		t.Errorf("nobody noticed: %+v", s)
	}
}

// TestCompilerInherits wants a process to have no file open but its pipes, whatever this one has open without care.
func TestCompilerInherits(t *testing.T) {
	lib := gputest.CUDALibrary(t)
	if _, err := lib.Compile(90, sumKernel); errors.Is(err, gpukernels.ErrUnavailable) {
		t.Skip(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	fd, err := syscall.Open(secret, syscall.O_CREAT|syscall.O_RDWR, 0o600) // not closed on exec
	check(t, err)
	defer syscall.Close(fd)
	before := children(t)
	_, _ = compilers(t, 1)
	for _, pid := range children(t) {
		seen := len(before) == 0
		for _, b := range before {
			seen = seen || b != pid
		}
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if !seen || len(links) == 0 {
			continue
		}
		for _, l := range links {
			if name, _ := os.Readlink(l); name == secret {
				t.Errorf("process %d has %s", pid, name)
			}
		}
		return
	}
	t.Error("no process was looked at")
}

// TestCompilerEnds wants a process to end as soon as its input does, which is what it sees of its parent's end, while it compiles.
func TestCompilerEnds(t *testing.T) {
	lib, _ := compilers(t, 1)
	process := exec.Command(filepath.Join(filepath.Dir(lib.Path()), "radish-gpu-compiler"))
	in, err := process.StdinPipe()
	check(t, err)
	out, err := process.StdoutPipe()
	check(t, err)
	check(t, process.Start())
	hello := make([]byte, 12)
	_, err = io.ReadFull(out, hello)
	check(t, err)
	_, err = io.CopyN(io.Discard, out, int64(binary.NativeEndian.Uint32(hello[8:])))
	check(t, err)
	// Reading this takes NVRTC seconds.
	var functions strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&functions, "__device__ int f%d(int x) { for (int i = 0; i < x; i++) x += x * %d; return x; }\n", i, i)
	}
	source := functions.String()
	request := binary.NativeEndian.AppendUint32(nil, 90)
	for _, n := range []int{len(source), 0, 0} {
		request = binary.NativeEndian.AppendUint32(request, uint32(n))
	}
	_, err = in.Write(append(request, source...))
	check(t, err)
	time.Sleep(50 * time.Millisecond)
	begin := time.Now()
	check(t, in.Close())
	answer, _ := io.ReadAll(out)
	if err := process.Wait(); err != nil || len(answer) > 0 {
		t.Errorf("it ended with %v and an answer of %d bytes", err, len(answer))
	}
	t.Logf("it took %v to end", time.Since(begin)) // had it compiled to the end, there would be an answer
}
