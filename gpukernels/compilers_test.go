package gpukernels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fakeVariable makes this test program a compiler process of a certain kind: see TestMain.
const fakeVariable = "RADISH_TEST_FAKE_COMPILER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(fakeVariable); kind != "" {
		fakeCompiler(kind)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func fakeAnswer(kind, code int, text string) {
	head := binary.NativeEndian.AppendUint32(nil, uint32(kind))
	head = binary.NativeEndian.AppendUint32(head, uint32(code))
	head = binary.NativeEndian.AppendUint32(head, uint32(len(text)))
	_, _ = os.Stdout.Write(append(head, text...))
}

// fakeCompiler speaks the protocol. An image is "there:" and the source. What sources say happens: some kill the process, or make it silent or confused.
func fakeCompiler(kind string) {
	debug.SetTraceback("crash") // a Go program that crashes ends by a signal then, as others do
	switch kind {
	case "silent":
		time.Sleep(time.Hour)
	case "garbage":
		fmt.Print("this is no compiler, but it says a lot of things")
		time.Sleep(time.Hour)
	case "unfit":
		fakeAnswer(0, workerProtocol, "another compiler")
	case "old":
		fakeAnswer(0, workerProtocol-1, "fake")
	case "without":
		fakeAnswer(int(KindUnavailable), 0, "there is no NVRTC")
	case "exits":
		return
	}
	fakeAnswer(0, workerProtocol, "fake")
	for {
		var head [16]byte
		if _, err := io.ReadFull(os.Stdin, head[:]); err != nil {
			return
		}
		var texts [3]string
		for i := range texts {
			b := make([]byte, binary.NativeEndian.Uint32(head[4+4*i:]))
			if _, err := io.ReadFull(os.Stdin, b); err != nil {
				return
			}
			texts[i] = string(b)
		}
		what, argument, _ := strings.Cut(texts[0], " ")
		switch what {
		case "crash":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
			time.Sleep(time.Hour)
		case "crash-once": // until the file is there
			if _, err := os.Stat(argument); err != nil {
				_ = os.WriteFile(argument, nil, 0o600)
				_ = syscall.Kill(os.Getpid(), syscall.SIGABRT)
				time.Sleep(time.Hour)
			}
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "exit":
			os.Exit(3)
		case "hang":
			time.Sleep(time.Hour)
		case "confuse":
			fmt.Print(strings.Repeat("confused ", 100))
			time.Sleep(time.Hour)
		case "half":
			head := binary.NativeEndian.AppendUint32(make([]byte, 8), 1000)
			_, _ = os.Stdout.Write(head)
			os.Exit(0)
		case "sleep":
			ms, _ := strconv.Atoi(argument)
			time.Sleep(time.Duration(ms) * time.Millisecond)
		case "meet":
			if err := meet(argument); err != nil {
				fakeAnswer(int(KindInternal), 7, err.Error())
				continue
			}
		case "wrong":
			fakeAnswer(int(KindInternal), 6, "line 1: "+argument)
			continue
		}
		fakeAnswer(0, 0, fmt.Sprintf("there:%d:%s:%s:%s", binary.NativeEndian.Uint32(head[:]), texts[0], texts[1], texts[2]))
	}
}

// meet waits until so many sources are being compiled, or have been, and each has left a file in a folder: "4 /folder".
func meet(argument string) error {
	number, folder, _ := strings.Cut(argument, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "there")
	if err != nil {
		return err
	}
	f.Close()
	for end := time.Now().Add(meetingLimit); ; time.Sleep(time.Millisecond) {
		all, err := os.ReadDir(folder)
		switch {
		case err != nil:
			return err
		case len(all) >= n:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%d of %d sources are compiled at once", len(all), n)
		}
	}
}

// meetingLimit is generous, for a busy machine.
const meetingLimit = 20 * time.Second

// fakeCompilers is a pool of this program's processes. What this process compiles is "here:" and the source.
func fakeCompilers(t *testing.T, kind string, most int) *Compilers {
	t.Helper()
	t.Setenv(fakeVariable, kind)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &Compilers{
		command: []string{exe}, most: most, alone: 2, beside: 1,
		here: func(_ int, source string, _ []string) ([]byte, error) {
			if ms, ok := strings.CutPrefix(source, "sleep "); ok {
				n, _ := strconv.Atoi(ms)
				time.Sleep(time.Duration(n) * time.Millisecond)
			}
			return []byte("here:" + source), nil
		},
		include: func() (string, error) { return "folder", nil },
		version: func() (string, error) { return "fake", nil },
		limits:  compilerLimits{workerStart, workerLimit, time.Hour, time.Hour, 0, 0},
	}
	t.Cleanup(c.Close)
	return c
}

// until waits for something to come true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(meetingLimit); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("this did not come true: ", what)
		}
	}
}

// ready starts processes and waits for them.
func ready(t *testing.T, c *Compilers, n int) {
	t.Helper()
	c.Start(n)
	until(t, fmt.Sprint(n, " processes"), func() bool { return c.Status().Processes == n })
}

// fullHere keeps this process from compiling of itself, so that what a process does is seen.
func fullHere(c *Compilers) { c.alone, c.beside = 0, 0 }

func TestCompilersAnswer(t *testing.T) {
	c := fakeCompilers(t, "good", 2)
	ready(t, c, 2)
	image, took, err := c.Compile(NewTurn(), 90, "a source", "-DA=1", "-DB")
	if want := "there:90:a source:folder:-DA=1\n-DB"; string(image) != want || err != nil || took <= 0 {
		t.Errorf("image %q, %v, %v; want %q", image, took, err, want)
	}
	_, _, err = c.Compile(NewTurn(), 90, "wrong parenthesis")
	var e *Error
	if !errors.As(err, &e) || e.Kind != KindInternal || e.Code != 6 || e.Message != "line 1: parenthesis" {
		t.Errorf("error %#v", err)
	}
	long := strings.Repeat("long ", 1<<20) // more than a pipe holds
	if image, _, err = c.Compile(NewTurn(), 90, long); err != nil || len(image) < len(long) {
		t.Errorf("%d bytes, %v", len(image), err)
	}
	if s := c.Status(); s.Processes != 2 || s.Problem != "" {
		t.Errorf("status %+v", s)
	}
}

// TestCompilersFail has processes fail at a source in all ways. This process compiles it then, and the status says what happened.
func TestCompilersFail(t *testing.T) {
	for _, x := range []struct{ source, why string }{
		{"kill", "signal: killed"},
		{"exit", "exit status 3"},
		{"hang", "longer than"},
		{"confuse", "something else than the protocol has"},
		{"half", "it ended"},
	} {
		t.Run(x.source, func(t *testing.T) {
			c := fakeCompilers(t, "good", 1)
			fullHere(c)
			ready(t, c, 1)
			if x.source == "hang" {
				c.limits.task = 300 * time.Millisecond
			}
			image, _, err := c.Compile(NewTurn(), 90, x.source)
			if err != nil || string(image) != "here:"+x.source {
				t.Errorf("image %q, %v", image, err)
			}
			if s := c.Status(); !strings.Contains(s.Problem, x.why) || s.Processes != 0 {
				t.Errorf("status %+v, want %q", s, x.why)
			}
			c.limits.task = workerLimit
			image, _, err = c.Compile(NewTurn(), 90, "the next") // by a new process
			if err != nil || !strings.HasPrefix(string(image), "there:") {
				t.Errorf("then: image %q, %v", image, err)
			}
		})
	}
}

// TestCompilersCrash: a source at which the compiler crashes is not given to this process. Another process tries it once.
func TestCompilersCrash(t *testing.T) {
	c := fakeCompilers(t, "good", 1)
	fullHere(c)
	c.here = func(int, string, []string) ([]byte, error) { panic("this process compiles what crashed others") }
	ready(t, c, 1)
	_, _, err := c.Compile(NewTurn(), 90, "crash")
	if !errors.Is(err, ErrInternal) || !strings.Contains(fmt.Sprint(err), "signal: aborted") {
		t.Errorf("error %v", err)
	}
	once := "crash-once " + filepath.Join(t.TempDir(), "there")
	image, _, err := c.Compile(NewTurn(), 90, once)
	if err != nil || !strings.HasPrefix(string(image), "there:90:"+once) {
		t.Errorf("crashing once: %q, %v", image, err)
	}
	if s := c.Status(); s.Processes != 1 || !strings.Contains(s.Problem, "aborted") {
		t.Errorf("status %+v", s)
	}
}

// TestCompilersUnfit starts programs that are none, or of no use. This process compiles, and none of them is started again at once.
func TestCompilersUnfit(t *testing.T) {
	for _, x := range []struct{ kind, why string }{
		{"silent", "starting took longer than"},
		{"garbage", "something else than the protocol has"},
		{"unfit", "another compiler"},
		{"old", "version 0 of the protocol"},
		{"without", "there is no NVRTC"},
		{"exits", "it ended: exit status 0"},
		{"missing", "no such file"},
		{"forbidden", "permission denied"},
	} {
		t.Run(x.kind, func(t *testing.T) {
			c := fakeCompilers(t, x.kind, 2)
			switch x.kind {
			case "silent":
				c.limits.start = 100 * time.Millisecond
			case "missing":
				c.command = []string{filepath.Join(t.TempDir(), "none")}
			case "forbidden":
				c.command = []string{filepath.Join(t.TempDir(), "text")}
				if err := os.WriteFile(c.command[0], []byte("text"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 5 {
				image, _, err := c.Compile(NewTurn(), 90, fmt.Sprint(i))
				if err != nil || string(image) != fmt.Sprint("here:", i) {
					t.Errorf("image %q, %v", image, err)
				}
			}
			until(t, x.why, func() bool { return strings.Contains(c.Status().Problem, x.why) })
			starting := func() int {
				c.mutex.Lock()
				defer c.mutex.Unlock()
				return c.starting
			}
			until(t, "no process is starting", func() bool { return starting() == 0 })
			c.mutex.Lock()
			c.startSome(2)
			if c.starting != 0 {
				t.Error("a program of no use is started again at once")
			}
			c.not = time.Now()
			c.startSome(2)
			if c.starting == 0 {
				t.Error("it is never started again")
			}
			c.mutex.Unlock()
		})
	}
}

// TestCompilersMany has sixteen queries ask at once, while processes are killed: idle ones at random, and by some sources. Every source is compiled exactly as asked.
func TestCompilersMany(t *testing.T) {
	c := fakeCompilers(t, "good", 4)
	c.limits.pause = time.Millisecond
	here := c.here
	c.here = func(capability int, source string, options []string) ([]byte, error) {
		time.Sleep(2 * time.Millisecond) // so that most is left to the processes
		return here(capability, source, options)
	}
	ready(t, c, 4)
	stop := make(chan struct{})
	var killer, queries sync.WaitGroup
	killer.Go(func() {
		rng := rand.New(rand.NewPCG(1, 2))
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			c.mutex.Lock()
			if n := len(c.free); n > 0 {
				_ = c.free[rng.IntN(n)].process.Process.Kill()
			}
			c.mutex.Unlock()
		}
	})
	source := func(q, k int) string {
		if (q+k)%8 == 0 {
			return fmt.Sprintf("kill %d of query %d", k, q)
		}
		return fmt.Sprintf("kernel %d of query %d", k, q)
	}
	var there atomic.Int64
	for q := range 16 {
		queries.Go(func() {
			turn := NewTurn()
			var begun []*compilation
			for k := range 20 {
				begun = append(begun, c.begin(turn, 90, source(q, k), nil, &BusyClock{}))
			}
			for k, x := range begun {
				<-x.done
				want := source(q, k)
				if x.err != nil || string(x.image) != "here:"+want && string(x.image) != "there:90:"+want+":folder:" {
					t.Errorf("image %q, %v, want %q", x.image, x.err, want)
				}
				if strings.HasPrefix(string(x.image), "there:") {
					there.Add(1)
				}
			}
		})
	}
	queries.Wait()
	close(stop)
	killer.Wait()
	if n := there.Load(); n == 0 || n > 16*20*7/8 {
		t.Errorf("processes have compiled %d sources", n)
	}
	if s := c.Status(); !strings.Contains(s.Problem, "killed") {
		t.Errorf("status %+v", s)
	}
}

// TestCompilersAtOnce: with four processes, four sources are compiled at a time beside the one here.
func TestCompilersAtOnce(t *testing.T) {
	c := fakeCompilers(t, "good", 4)
	ready(t, c, 4)
	source := fmt.Sprint("meet 5 ", t.TempDir())
	var here atomic.Int64
	c.here = func(_ int, source string, _ []string) ([]byte, error) {
		if here.Add(1) > 1 {
			t.Error("two sources are compiled here at once")
		}
		defer here.Add(-1)
		return nil, meet(strings.TrimPrefix(source, "meet "))
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, _, err := c.Compile(NewTurn(), 90, source); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s := c.Status(); s.Processes != 4 || s.Problem != "" {
		t.Errorf("status %+v", s)
	}
}

// TestCompilersIdle: processes that have nothing to do end, but for those that are to be ready for the next query; more are started for the next sources.
func TestCompilersIdle(t *testing.T) {
	const idle = 50 * time.Millisecond
	c := fakeCompilers(t, "good", 4)
	fullHere(c)
	ready(t, c, 4)
	idleAfter := func(d time.Duration) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.limits.idle = d
	}
	all4 := func() { // has each of four processes compile a source
		source := fmt.Sprint("meet 4 ", t.TempDir())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				image, _, err := c.Compile(NewTurn(), 90, source)
				if err != nil || !strings.HasPrefix(string(image), "there:") {
					t.Errorf("image %q, %v", image, err)
				}
			})
		}
		all.Wait()
	}
	idleAfter(idle)
	all4()
	until(t, "two have ended", func() bool { return c.Status().Processes == warmWorkers })
	time.Sleep(4 * idle)
	if n := c.Status().Processes; n != warmWorkers {
		t.Errorf("%d processes are left", n)
	}
	idleAfter(time.Minute)
	all4()
	if s := c.Status(); s.Processes != 4 || s.Problem != "" {
		t.Errorf("ending of idleness is a problem: %+v", s)
	}
}

// TestCompilersClose waits for what is being compiled, and leaves no process.
func TestCompilersClose(t *testing.T) {
	c := fakeCompilers(t, "good", 2)
	fullHere(c)
	ready(t, c, 2)
	c.mutex.Lock()
	workers := []*worker{c.free[0], c.free[1]}
	c.mutex.Unlock()
	x := c.begin(NewTurn(), 90, "sleep 200", nil, &BusyClock{})
	c.Close()
	<-x.done
	if x.err != nil || !strings.HasPrefix(string(x.image), "there:") {
		t.Errorf("image %q, %v", x.image, x.err)
	}
	for _, w := range workers {
		select {
		case <-w.ended:
		default:
			t.Error("a process is left")
		}
	}
	c.alone = 1
	if image, _, err := c.Compile(NewTurn(), 90, "late"); err != nil || string(image) != "here:late" {
		t.Errorf("after the end: %q, %v", image, err)
	}
}

// TestQueueFair: queries take turns, each in its own order; the background waits.
func TestQueueFair(t *testing.T) {
	var q compileQueue
	named := func(s string) *compilation { return &compilation{source: s} }
	big, small, later := NewTurn(), NewTurn(), NewBackgroundTurn()
	l1, l2 := named("later 1"), named("later 2")
	q.add(later, l1)
	q.add(later, l2)
	for i := range 4 {
		q.add(big, named(fmt.Sprint("big ", i)))
	}
	q.add(small, named("small 0"))
	var got []string
	take := func() { got = append(got, q.next().source) }
	take()
	take()
	q.hasten(l2, small)
	q.hasten(l2, big) // it is nobody's background any more
	for q.size > 0 {
		take()
	}
	if want := "big 0,small 0,big 1,later 2,big 2,big 3,later 1"; strings.Join(got, ",") != want {
		t.Errorf("order %v\nwant  %s", got, want)
	}
	if len(q.turns)+len(q.later) != 0 {
		t.Error("turns are left in which nothing waits")
	}
}

// TestQuiet: kernels that nobody waits for are compiled when nobody has waited for any for a while, or when they themselves have waited for long.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := compilerLimits{quiet: 250 * time.Millisecond, held: 5 * time.Second}
		var q quiet
		left := func(want time.Duration) {
			t.Helper()
			if got := q.left(limits); got != want {
				t.Errorf("%v are left, want %v", got, want)
			}
		}
		wanted, behind := &compilation{isWanted: true}, &compilation{}
		left(0)
		q.begin(behind)
		left(0)
		q.begin(wanted)
		left(250 * time.Millisecond)
		time.Sleep(time.Second)
		left(250 * time.Millisecond)
		q.end(behind)
		left(250 * time.Millisecond)
		q.end(wanted)
		time.Sleep(100 * time.Millisecond)
		left(150 * time.Millisecond)
		time.Sleep(150 * time.Millisecond)
		left(0)
		q.begin(wanted)
		left(250 * time.Millisecond)
		time.Sleep(5 * time.Second)
		left(0)
		q.end(wanted)
		left(0)
		time.Sleep(time.Second)
		left(0)
		q.begin(wanted)
		left(250 * time.Millisecond)
	})
}

// TestCompilersQuiet: what nobody waits for stays in the queue after somebody has waited, until a query needs it.
func TestCompilersQuiet(t *testing.T) {
	c := fakeCompilers(t, "good", 2)
	fullHere(c)
	c.limits.quiet, c.limits.held = time.Hour, time.Hour
	ready(t, c, 2)
	if _, _, err := c.Compile(NewTurn(), 90, "wanted"); err != nil {
		t.Fatal(err)
	}
	x := c.begin(NewBackgroundTurn(), 90, "behind", nil, &BusyClock{})
	select {
	case <-x.done:
		t.Error("compiled at once")
	case <-time.After(50 * time.Millisecond):
	}
	c.hasten(x, NewTurn())
	<-x.done
	if x.err != nil || !strings.HasPrefix(string(x.image), "there:") {
		t.Errorf("image %q, %v", x.image, x.err)
	}
}

// TestWorkerCount says how many processes there are by processors, and reads the variable.
func TestWorkerCount(t *testing.T) {
	t.Setenv(CompilersVariable, "")
	for processors, want := range map[int]int{1: 0, 2: 1, 8: 6, 16: 12, 128: mostWorkers} {
		if n, err := workerCount(processors); n != want || err != nil {
			t.Errorf("%d processors: %d, %v", processors, n, err)
		}
	}
	for text, want := range map[string]int{"0": 0, "3": 3, "none": -1, "-2": -1, "100000": -1} {
		t.Setenv(CompilersVariable, text)
		n, err := workerCount(16)
		if (want < 0) != (err != nil) || want >= 0 && n != want {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if err != nil && !strings.Contains(err.Error(), CompilersVariable) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWorkerEndsWithParent starts a program that starts a process and is killed.
func TestWorkerEndsWithParent(t *testing.T) {
	if os.Getenv("RADISH_TEST_PARENT") != "" {
		c := fakeCompilers(t, "good", 1)
		ready(t, c, 1)
		fmt.Printf("\nworker %d\n", c.free[0].process.Process.Pid)
		time.Sleep(time.Minute)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe, "-test.run=^TestWorkerEndsWithParent$", "-test.v")
	parent.Env = append(os.Environ(), "RADISH_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for b, line := make([]byte, 1), ""; pid == 0; {
		if _, err := out.Read(b); err != nil {
			t.Fatal("the parent said nothing: ", err)
		}
		if line += string(b); b[0] == '\n' {
			_, _ = fmt.Sscanf(line, "worker %d", &pid)
			line = ""
		}
	}
	if syscall.Kill(pid, 0) != nil {
		t.Fatal("there is no process")
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	until(t, "the process has ended", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return err != nil || strings.Contains(string(status), "State:\tZ") // nobody may be there to reap it
	})
}
