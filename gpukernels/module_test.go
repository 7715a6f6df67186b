package gpukernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// openEmulated opens the emulated device with an empty cache of its own, and gives a function that loads the i-th of some kernels.
func openEmulated(t *testing.T) (*Device, func(i int) (*Module, Origin)) {
	t.Helper()
	t.Setenv(CacheVariable, t.TempDir())
	ctx := context.Background()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	path, err := BuildEmulated(ctx, filepath.Join(cache, "radish", "emulated")) // where package gputest has it
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	lib, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	d, err := lib.OpenDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, func(i int) (*Module, Origin) {
		t.Helper()
		m, origin, err := d.Load(ctx, fmt.Sprintf("#include \"radish.cuh\"\nRADISH_KERNEL(k%d, 1) {}\n", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Function(fmt.Sprint("k", i)); err != nil {
			t.Fatal(err)
		}
		return m, origin
	}
}

// TestBeginSoon compiles a kernel quickly, and then well: each is a module, and an image on disk, of its own. Who asks in a hurry gets the better one as soon as it is there.
func TestBeginSoon(t *testing.T) {
	d, _ := openEmulated(t)
	d.UseQuickOptions("-DQUICK")
	const source = "#include \"radish.cuh\"\n#ifdef QUICK\nRADISH_KERNEL(quick, 1) {}\n#else\nRADISH_KERNEL(good, 1) {}\n#endif\n"
	ctx := context.Background()
	expect := func(begun *Loading, kernel string, from Origin) {
		t.Helper()
		m, origin, err := begun.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if origin != from {
			t.Errorf("%s comes from %v, want %v", kernel, origin, from)
		}
		if _, err := m.Function(kernel); err != nil {
			t.Error(err)
		}
		m.Release()
	}
	expect(d.BeginSoon(ctx, NewTurn(), source), "quick", Compiled)
	expect(d.BeginSoon(ctx, NewTurn(), source), "quick", FromMemory)
	if d.Made(source) || d.Loaded(source) != nil {
		t.Error("a kernel that was compiled quickly counts as the better one")
	}
	expect(d.BeginIn(ctx, NewBackgroundTurn(), source), "good", Compiled)
	expect(d.BeginSoon(ctx, NewTurn(), source), "good", FromMemory)
	other, err := d.lib.OpenDevice(0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	expect(other.BeginSoon(ctx, NewTurn(), source), "good", FromDisk)
}

// TestUnusedModules loads more kernels than may stay unused: the one that was released longest ago goes, a used one never.
func TestUnusedModules(t *testing.T) {
	d, load := openEmulated(t)
	d.modules.limit = 2
	held, _ := load(0)
	for i := 1; i <= 4; i++ {
		m, origin := load(i)
		if origin != Compiled {
			t.Errorf("kernel %d comes from %v", i, origin)
		}
		m.Release()
	}
	for _, c := range []struct {
		kernel int
		want   Origin
	}{{0, FromMemory}, {3, FromMemory}, {4, FromMemory}, {1, FromDisk}, {2, FromDisk}} {
		m, origin := load(c.kernel)
		defer m.Release()
		if origin != c.want {
			t.Errorf("kernel %d comes from %v, want %v", c.kernel, origin, c.want)
		}
	}
	held.Release()
	if n := len(d.modules.entries); n != 5 {
		t.Errorf("%d modules are loaded", n)
	}
}

// TestForgetKernels wants unused kernels to be compiled again, others not, and every compilation to be counted.
func TestForgetKernels(t *testing.T) {
	d, load := openEmulated(t)
	held, _ := load(0)
	defer held.Release()
	m, _ := load(1)
	m.Release()
	before := d.Compiling()
	if before.Tasks != 2 || before.Any <= 0 || before.Each != before.Any {
		t.Errorf("compiling two kernels one after the other: %+v", before)
	}
	const known, unknown = "#include \"radish.cuh\"\nRADISH_KERNEL(k1, 1) {}\n", "#include \"radish.cuh\"\nRADISH_KERNEL(k2, 1) {}\n"
	if !d.Known(known) || d.Known(unknown) {
		t.Error("a compiled kernel is not known, or another is")
	}
	d.ForgetKernels()
	if d.Known(known) {
		t.Error("a kernel is known that was forgotten")
	}
	for i, want := range []Origin{FromMemory, Compiled} {
		m, origin := load(i)
		m.Release()
		if origin != want {
			t.Errorf("kernel %d comes from %v, want %v", i, origin, want)
		}
	}
	if n := d.Compiling().Tasks; n != 3 {
		t.Errorf("%d compilations, want 3", n)
	}
}

// TestBegin begins sources and waits for them later, twice for one of them, and not at all for one.
func TestBegin(t *testing.T) {
	d, _ := openEmulated(t)
	ctx := context.Background()
	source := func(i int) string {
		return fmt.Sprintf("#include \"radish.cuh\"\nRADISH_KERNEL(k%d, 1) {}\n", i)
	}
	first, again := d.Begin(ctx, source(1)), d.Begin(ctx, source(1))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := d.Begin(gone, source(2)).Wait(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting after the end: %v", err)
	}
	module, origin, err := first.Wait(ctx)
	if err != nil || origin != Compiled {
		t.Fatalf("the kernel comes from %v, %v", origin, err)
	}
	same, origin, err := again.Wait(ctx)
	if err != nil || origin != FromMemory || same != module {
		t.Errorf("the kernel comes from %v the second time, %v", origin, err)
	}
	other, _, err := d.Load(ctx, source(2)) // it was compiled all the same
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Module{module, same, other} {
		m.Release()
	}
	for key, e := range d.modules.entries {
		if e.uses != 0 {
			t.Errorf("%d uses are left of %s", e.uses, key)
		}
	}
	if n := len(d.modules.entries); n != 2 || d.modules.unused.Len() != n {
		t.Errorf("%d modules are loaded, %d unused", n, d.modules.unused.Len())
	}
	if _, _, err := d.Begin(ctx, "RADISH_KERNEL(").Wait(ctx); err == nil {
		t.Error("what is no kernel was compiled")
	}
}

// TestBeginInBackground begins kernels that nobody waits for. One that somebody then asks for is compiled before the others.
func TestBeginInBackground(t *testing.T) {
	d, _ := openEmulated(t)
	ctx := context.Background()
	source := func(i int) string {
		return fmt.Sprintf("#include \"radish.cuh\"\nRADISH_KERNEL(k%d, 1) {}\n", i)
	}
	if _, err := d.Compiler(); err != nil { // asked once, it does not come between
		t.Fatal(err)
	}
	d.compilers.alone = 1
	var mutex sync.Mutex
	var order []int
	compile := d.compilers.here
	begun := make(chan struct{})
	d.compilers.here = func(capability int, text string, options []string) ([]byte, error) {
		var i int
		_, _ = fmt.Sscanf(text[strings.Index(text, "(k"):], "(k%d", &i)
		mutex.Lock()
		order = append(order, i)
		mutex.Unlock()
		<-begun // the first is compiled until the others wait
		return compile(capability, text, options)
	}
	later := NewBackgroundTurn()
	all := []*Loading{d.Begin(ctx, source(0))} // the others wait for this one
	for i := 1; i <= 3; i++ {
		all = append(all, d.BeginIn(ctx, later, source(i)))
	}
	all = append(all, d.BeginIn(ctx, NewBackgroundTurn(), source(2)), d.Begin(ctx, source(3)))
	close(begun)
	for _, l := range all {
		m, _, err := l.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m.Release()
	}
	if want := []int{0, 3, 1, 2}; !slices.Equal(order, want) {
		t.Errorf("compiled in the order %v, want %v", order, want)
	}
}

// TestDevicesShareCompilations has two devices load the same kernels at once, without a cache on disk: each kernel is compiled once, and again after it was forgotten.
func TestDevicesShareCompilations(t *testing.T) {
	d, _ := openEmulated(t)
	t.Setenv(CacheVariable, "off")
	var devices []*Device
	for range 2 {
		x, err := d.Library().OpenDevice(0)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		devices = append(devices, x)
	}
	if devices[0].compilers != d.compilers || devices[1].compilers != d.compilers {
		t.Error("devices of a library have compilers of their own")
	}
	compiled := func() int { return devices[0].Compiling().Tasks + devices[1].Compiling().Tasks }
	loadAll := func() {
		t.Helper()
		var all sync.WaitGroup
		for i := range 3 {
			for _, x := range devices {
				all.Go(func() {
					m, _, err := x.Load(context.Background(), fmt.Sprintf("#include \"radish.cuh\"\nRADISH_KERNEL(k%d, 1) {}\n", i))
					if err == nil {
						_, err = m.Function(fmt.Sprint("k", i))
						m.Release()
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
	}
	loadAll()
	if n := compiled(); n != 3 {
		t.Errorf("two devices compiled 3 kernels %d times", n)
	}
	for _, x := range devices {
		x.ForgetKernels()
	}
	loadAll()
	if n := compiled(); n != 6 {
		t.Errorf("%d compilations after 3 kernels were forgotten, want 6", n)
	}
	for range 2 {
		if _, _, err := devices[0].Load(context.Background(), "#include \"radish.cuh\"\nRADISH_KERNEL(k, 1) { no_such_thing(); }\n"); err == nil {
			t.Error("a defect was compiled")
		}
	}
	if n := compiled(); n != 8 {
		t.Errorf("%d compilations: what failed is tried again", n)
	}
}
