package gpukernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A worker is a process that compiles kernels: src/compiler/main.cpp, which says what the two tell each other.
type worker struct {
	process *exec.Cmd
	in      *os.File      // its requests
	out     *os.File      // its answers
	version string        // of its compiler
	ended   chan struct{} // closed when the process has ended
	since   time.Time     // when it last became free
}

const (
	workerProtocol = 1
	mostAnswer     = 256 << 20 // bytes of an image
	mostText       = 64 << 20  // bytes of a source

	endingLimit = 10 * time.Second // from the end of a process's pipes to its own, on a busy machine
)

// errWorker is why a worker did not answer. It is not the source's fault as far as anyone knows.
type errWorker struct {
	why     string
	crashed bool // the process ended by a fault of its own, at which the source may have a part
}

func (e *errWorker) Error() string { return e.why }

// starter starts processes. A process that asks to end with its parent ends with the thread that started it, so that must live as long as this
// process does.
var starter = sync.OnceValue(func() chan<- func() {
	tasks := make(chan func())
	go func() {
		runtime.LockOSThread()
		for task := range tasks {
			task()
		}
	}()
	return tasks
})

// startWorker starts a process and waits until it is ready to compile.
func startWorker(command []string, limit time.Duration) (*worker, error) {
	requests, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		requests.Close()
		in.Close()
		return nil, err
	}
	w := &worker{process: exec.Command(command[0], command[1:]...), in: in, out: out, ended: make(chan struct{})}
	w.process.Stdin, w.process.Stdout = requests, answers
	w.process.SysProcAttr = workerAttributes()
	started := make(chan error)
	starter() <- func() { started <- w.process.Start() }
	err = <-started
	requests.Close()
	answers.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go func() {
		_ = w.process.Wait()
		close(w.ended)
	}()
	_ = out.SetReadDeadline(time.Now().Add(limit))
	kind, code, version, err := w.answer()
	switch {
	case err != nil:
		return nil, w.fail("starting", err, limit)
	case kind != 0:
		w.stop()
		return nil, &Error{Kind: kind, Code: code, Message: string(version)}
	case code != workerProtocol:
		w.stop()
		return nil, fmt.Errorf("it speaks version %d of the protocol, and this program version %d; run `make gpu` again", code, workerProtocol)
	}
	w.version = string(version)
	return w, nil
}

// compile has a source compiled. An *errWorker means that the worker is of no use any more, an *Error is the compiler's.
func (w *worker) compile(capability int, source, include string, options []string, limit time.Duration) ([]byte, error) {
	end := time.Now().Add(limit)
	_ = w.in.SetWriteDeadline(end)
	_ = w.out.SetReadDeadline(end)
	texts := []string{source, include, strings.Join(options, "\n")}
	request := binary.NativeEndian.AppendUint32(nil, uint32(capability))
	for _, t := range texts {
		if len(t) > mostText {
			return nil, &Error{Kind: KindUser, Message: fmt.Sprintf("a source of %d bytes", len(t))}
		}
		request = binary.NativeEndian.AppendUint32(request, uint32(len(t)))
	}
	for _, t := range texts {
		request = append(request, t...)
	}
	_, err := w.in.Write(request)
	var kind Kind
	var code int32
	var image []byte
	if err == nil {
		kind, code, image, err = w.answer()
	}
	if err != nil {
		return nil, w.fail("compiling", err, limit)
	}
	if kind != 0 {
		return nil, &Error{Kind: kind, Code: code, Call: "compile", Message: string(image)}
	}
	return image, nil
}

// answer reads one.
func (w *worker) answer() (kind Kind, code int32, text []byte, err error) {
	var head [12]byte
	if _, err := io.ReadFull(w.out, head[:]); err != nil {
		return 0, 0, nil, err
	}
	kind, code = Kind(binary.NativeEndian.Uint32(head[:])), int32(binary.NativeEndian.Uint32(head[4:]))
	bytes := binary.NativeEndian.Uint32(head[8:])
	if kind < 0 || kind > KindUnavailable || bytes > mostAnswer {
		return 0, 0, nil, errors.New("it answered with something else than the protocol has")
	}
	text = make([]byte, bytes)
	_, err = io.ReadFull(w.out, text)
	return kind, code, text, err
}

// fail ends the process, if it has not ended, and words why.
func (w *worker) fail(doing string, err error, limit time.Duration) error {
	gone := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
	if gone { // of itself, most likely: its pipes are closed a little before the parent hears of its end
		select {
		case <-w.ended:
		case <-time.After(endingLimit):
			gone = false
		}
	}
	w.stop()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &errWorker{why: fmt.Sprintf("%s took longer than %v", doing, limit)}
	case !gone:
		return &errWorker{why: fmt.Sprintf("%s: %v", doing, err)}
	}
	return &errWorker{why: fmt.Sprintf("%s: it ended: %v", doing, w.process.ProcessState), crashed: crashed(w.process.ProcessState)}
}

// stop ends the process and waits until it has.
func (w *worker) stop() {
	_ = w.process.Process.Kill()
	<-w.ended
	w.in.Close()
	w.out.Close()
}
