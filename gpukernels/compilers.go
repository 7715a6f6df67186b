package gpukernels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// compilerName is the program that `make gpu` builds beside the library.
const compilerName = "radish-gpu-compiler"

// CompilersVariable is the environment variable that says how many processes compile kernels at most; 0: none, this process compiles them all.
const CompilersVariable = "RADISH_GPU_COMPILERS"

// What bounds the processes of a pool.
const (
	mostWorkers  = 16               // more gain nothing for one query, and each takes 35 MB of memory of its own
	warmWorkers  = 2                // that are started before any kernel is missing, and stay
	workerStart  = 10 * time.Second // a process that is not ready then is given up
	workerLimit  = time.Minute      // for one kernel: the longest takes a third of a second
	workerIdle   = time.Minute      // then a process that has nothing to do ends, if more than the warm ones are left
	workerPause  = time.Minute      // in which no process is started, after one could not be or several failed
	mostFailures = 3                // in a row; then there is a pause

	quietTime = 250 * time.Millisecond // without anybody who waits, before kernels that nobody waits for are compiled: those who run one new statement often run the next one
	mostHeld  = 5 * time.Second        // that such kernels wait for it
)

// Compilers compile sources, in processes of their own and in this one. NVRTC lets one thread of a process in at a time for two thirds of what a kernel takes, so several
// processes compile as many kernels at once. Where there are none, this process compiles alone.
type Compilers struct {
	command []string // of a process; nil: there is none
	most    int      // processes
	alone   int      // compilations at once in this process where no other one compiles
	beside  int      // and where some do
	here    func(capability int, source string, options []string) ([]byte, error)
	include func() (string, error)
	version func() (string, error) // of the compiler here, with which the processes' must agree
	limits  compilerLimits

	queue compileQueue

	mutex    sync.Mutex
	recent   recentImages
	free     []*worker // that wait for work, the one that was busy last at the end
	busy     int       // processes that compile
	starting int
	running  int       // compilations in this process
	failures int       // of processes, since one has compiled something
	not      time.Time // before which no process is started
	problem  string    // the last failure of a process, or why there is none; empty: none
	closed   bool
	closing  sync.WaitGroup // workers that are being started or busy
}

// compilerLimits bound what processes take; see workerStart and those behind it.
type compilerLimits struct{ start, task, idle, pause, quiet, held time.Duration }

// CompilerStatus says who compiles kernels.
type CompilerStatus struct {
	Processes int    // there are now
	Most      int    // there may be
	Problem   string // why there are none, or what last went wrong with one; empty: nothing
}

// workerCount is how many processes compile at most for so many processors, where nobody says how many: for three quarters of them. Queries want the others.
func workerCount(processors int) (int, error) {
	text := os.Getenv(CompilersVariable)
	if text == "" {
		return min(processors*3/4, mostWorkers), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1024 {
		return 0, fmt.Errorf("%s is a number of processes from 0 to 1024, not %q", CompilersVariable, text)
	}
	return n, nil
}

// NewCompilers makes a pool of at most so many processes for a library, which compile for chips of that compute capability; -1: as many as suit the machine. Close it. It
// is for benchmarks; the devices of a library that are of one capability share another one (compilerPools).
func (l *Library) NewCompilers(capability, processes int) *Compilers {
	c := &Compilers{
		most: processes, alone: max(runtime.GOMAXPROCS(0), 2), beside: 1,
		include: l.headers.path, version: l.compilerVersion,
		limits: compilerLimits{workerStart, workerLimit, workerIdle, workerPause, quietTime, mostHeld},
	}
	c.here = func(capability int, source string, options []string) ([]byte, error) {
		if capability > 0 { // the emulated device's compiler takes the headers' other half
			source = excerpt(source)
		}
		return l.Compile(capability, source, options...)
	}
	if capability == 0 { // the emulated device's compiler is a process in any case
		c.most, c.limits.quiet = 0, 0
		return c
	}
	if processes < 0 {
		var err error
		if c.most, err = workerCount(runtime.GOMAXPROCS(0)); err != nil {
			c.problem = err.Error()
		}
	}
	switch program, err := l.compilerProgram(); {
	case c.most == 0 && c.problem == "":
		c.problem = "no processes are wanted"
	case err != nil:
		c.most, c.problem = 0, err.Error()
	default:
		c.command = []string{program, fmt.Sprint(capability)}
	}
	return c
}

// compilerProgram finds the program beside the library.
func (l *Library) compilerProgram() (string, error) {
	library := l.path
	if !strings.ContainsRune(library, '/') {
		library = mappedFile(library)
	}
	if library == "" {
		return "", fmt.Errorf("the folder of %s, where %s ought to be, is not known", l.path, compilerName)
	}
	library, err := filepath.EvalSymlinks(library)
	if err != nil {
		return "", err
	}
	program, err := filepath.Abs(filepath.Join(filepath.Dir(library), compilerName))
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(program); {
	case os.IsNotExist(err):
		return "", fmt.Errorf("there is no %s; `make gpu` builds it", program)
	case err != nil:
		return "", err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return "", fmt.Errorf("%s is no program", program)
	}
	return program, nil
}

// QuickOptions are those by which NVRTC takes a seventh less time, for code that takes more registers. nil: the compiler has none such, or there is none.
func (c *Compilers) QuickOptions() []string {
	var major int
	version, err := c.version()
	if err == nil {
		_, err = fmt.Sscanf(version, "NVRTC %d.", &major)
	}
	if err != nil || major < 13 {
		return nil
	}
	return []string{"--Ofast-compile=mid", "-DRADISH_QUICK"}
}

// Status says who compiles.
func (c *Compilers) Status() CompilerStatus {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return CompilerStatus{Processes: len(c.free) + c.busy, Most: c.most, Problem: c.problem}
}

// Warm starts some processes, so that they are ready when the first kernels are missing.
func (c *Compilers) Warm() { c.Start(warmWorkers) }

// Start starts processes until there are so many, or as many as may be. It does not wait for them.
func (c *Compilers) Start(processes int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.startSome(min(processes, c.most) - len(c.free) - c.busy - c.starting)
}

// startSome starts so many more. The mutex is held.
func (c *Compilers) startSome(n int) {
	if c.closed || c.command == nil || time.Now().Before(c.not) {
		return
	}
	for range min(n, c.most-len(c.free)-c.busy-c.starting) {
		c.starting++
		c.closing.Add(1)
		go func() {
			defer c.closing.Done()
			var w *worker
			err := guard(func() (err error) {
				w, err = c.newWorker()
				return err
			})
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.starting--
			if err != nil {
				c.failed(err, true)
			} else {
				c.rest(w)
			}
			c.dispatch()
		}()
	}
}

// newWorker starts a process and checks that it compiles as this one does.
func (c *Compilers) newWorker() (*worker, error) {
	w, err := startWorker(c.command, c.limits.start)
	if err != nil {
		return nil, err
	}
	version, err := c.version()
	if err == nil && version != w.version {
		err = fmt.Errorf("it compiles with %s, and the library with %s; run `make gpu` again", w.version, version)
	}
	if err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// failed notes what is wrong with a process. Where none can be started, or several failed in a row, none is started for a while. The mutex is held.
func (c *Compilers) failed(err error, starting bool) {
	c.problem = fmt.Sprintf("%s: %v", c.command[0], err)
	if c.failures++; starting || c.failures >= mostFailures {
		c.failures = 0
		c.not = time.Now().Add(c.limits.pause)
	}
}

// rest makes a process wait for work. The mutex is held.
func (c *Compilers) rest(w *worker) {
	if c.closed {
		w.stop()
		return
	}
	c.free = append(c.free, w)
	w.since = time.Now()
	time.AfterFunc(c.limits.idle, func() { c.retire(w) })
}

// retire ends a process that has had nothing to do since it was put to rest. Some stay: a new one takes 50 to 150 ms longer for its first kernel, and who loads
// tables for minutes before the first query would find none.
func (c *Compilers) retire(w *worker) {
	c.mutex.Lock()
	at := slices.Index(c.free, w)
	if at < 0 || time.Since(w.since) < c.limits.idle || len(c.free)+c.busy <= warmWorkers {
		c.mutex.Unlock()
		return
	}
	c.free = slices.Delete(c.free, at, at+1)
	c.mutex.Unlock()
	w.stop()
}

// begin puts a source into a turn's queue. Its done is closed when it has been compiled; the clock counts that.
func (c *Compilers) begin(t *Turn, capability int, source string, options []string, clock *BusyClock) *compilation {
	x := &compilation{capability: capability, source: source, options: options, clock: clock, done: make(chan struct{})}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.queue.add(t, x)
	c.dispatch()
	return x
}

// beginOnce is begin for a source whose image has a key. What is being compiled under that key already, or was lately, for this or another device, is not compiled
// again.
func (c *Compilers) beginOnce(key string, t *Turn, capability int, source string, options []string, clock *BusyClock) *compilation {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if x := c.recent.find(key); x != nil {
		c.queue.hasten(x, t)
		c.dispatch()
		return x
	}
	x := &compilation{capability: capability, source: source, options: options, clock: clock, done: make(chan struct{})}
	c.recent.add(key, x)
	c.queue.add(t, x)
	c.dispatch()
	return x
}

// hasten moves a compilation that waits in the background to the turn of a query that needs it.
func (c *Compilers) hasten(x *compilation, t *Turn) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.queue.hasten(x, t)
	c.dispatch()
}

// Compile compiles a source in its turn, and says what that took without the time in which it waited.
func (c *Compilers) Compile(t *Turn, capability int, source string, options ...string) ([]byte, time.Duration, error) {
	x := c.begin(t, capability, source, options, &BusyClock{})
	<-x.done
	return x.image, x.took, x.err
}

// Go is Compile without waiting: then is called, in a goroutine of its own, when the source has been compiled. So the sources of a turn are compiled in the order of the calls.
func (c *Compilers) Go(t *Turn, capability int, source string, options []string, then func(image []byte, took time.Duration, err error)) {
	x := c.begin(t, capability, source, options, &BusyClock{})
	go func() {
		<-x.done
		then(x.image, x.took, x.err)
	}()
}

// dispatch gives out what waits, while somebody has time for it. The mutex is held.
func (c *Compilers) dispatch() {
	for c.queue.size > 0 {
		wanted := c.queue.size - len(c.free) - c.starting
		if c.background() {
			if wait := c.queue.quiet.left(c.limits); wait > 0 {
				c.dispatchAfter(wait)
				return
			}
			if c.processes() > 0 && c.busy >= c.behind() {
				return
			}
			wanted = min(wanted, c.behind()-c.processes())
		}
		c.startSome(wanted)
		switch last := len(c.free) - 1; {
		case last >= 0:
			w := c.free[last]
			c.free = c.free[:last]
			c.busy++
			c.closing.Add(1)
			go c.compileThere(w, c.queue.next())
		case c.running < c.lanes() && !(c.background() && c.processes() > 0): // processes run at a lower priority
			c.running++
			go c.compileHere(c.queue.next())
		default:
			return
		}
	}
}

// dispatchAfter gives out what waits after a while. The mutex is held.
func (c *Compilers) dispatchAfter(wait time.Duration) {
	if c.queue.quiet.isAwaited {
		return
	}
	c.queue.quiet.isAwaited = true
	time.AfterFunc(wait, func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.queue.quiet.isAwaited = false
		c.dispatch()
	})
}

// lanes is how many compilations this process does at once. The mutex is held.
func (c *Compilers) lanes() int {
	if c.processes() > 0 {
		return c.beside
	}
	return c.alone
}

// processes is how many there are, or will be soon. The mutex is held.
func (c *Compilers) processes() int { return c.busy + len(c.free) + c.starting }

// background says that nobody waits for any of what waits. The mutex is held.
func (c *Compilers) background() bool { return len(c.queue.turns) == 0 }

// behind is how many processes compile in the background at once: queries run on the CPU meanwhile.
func (c *Compilers) behind() int { return max(1, c.most/2) }

// compileHere compiles in this process.
func (c *Compilers) compileHere(x *compilation) {
	x.run("here", func() ([]byte, error) { return c.here(x.capability, x.source, x.options) })
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.running--
	c.queue.quiet.end(x)
	c.dispatch()
}

// compileThere has a process compile. Where the process fails, this one compiles, unless the source may be what made the compiler crash: then another process
// tries it, and what crashes that, too, is an error, since this process would not survive it.
func (c *Compilers) compileThere(w *worker, x *compilation) {
	defer c.closing.Done()
	x.run(fmt.Sprint("in process ", w.process.Process.Pid), func() ([]byte, error) {
		include, err := c.include()
		if err != nil {
			c.settle(w, nil)
			return nil, err
		}
		image, failure, err := c.compileWith(w, x, include)
		if failure != nil && failure.crashed {
			if another, cannot := c.newWorker(); cannot == nil {
				c.mutex.Lock()
				c.busy++
				c.mutex.Unlock()
				image, failure, err = c.compileWith(another, x, include)
			}
		}
		switch {
		case failure == nil:
			return image, err
		case failure.crashed:
			return nil, &Error{Kind: KindInternal, Call: "compile", Message: "the compiler crashed at this source: " + failure.Error()}
		}
		return c.here(x.capability, x.source, x.options)
	})
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.queue.quiet.end(x)
}

// compileWith has a busy process compile, and puts it to rest. failure is why it did not answer.
func (c *Compilers) compileWith(w *worker, x *compilation, include string) (image []byte, failure *errWorker, err error) {
	image, err = w.compile(x.capability, excerpt(x.source), include, x.options, c.limits.task)
	if errors.As(err, &failure) {
		w, err = nil, nil
	}
	c.settle(w, failure)
	return image, failure, err
}

// settle ends a process's being busy: it waits for more, or, if it has failed, it is gone.
func (c *Compilers) settle(w *worker, failure *errWorker) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.busy--
	if failure != nil {
		c.failed(failure, false)
	} else {
		c.failures = 0
		c.rest(w)
	}
	c.dispatch()
}

// Close ends the processes, after what they compile. What still waits is compiled by this one.
func (c *Compilers) Close() {
	c.mutex.Lock()
	c.closed = true
	free := c.free
	c.free = nil
	c.mutex.Unlock()
	for _, w := range free {
		w.stop()
	}
	c.closing.Wait()
}
