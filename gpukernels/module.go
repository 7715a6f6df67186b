package gpukernels

import (
	"container/list"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// A Module is a loaded image with its kernels. Load counts a use of it, Release takes that back; unused modules stay loaded
// until many newer ones are.
type Module struct {
	device *Device
	handle uintptr
	entry  *moduleEntry

	// CompileTime is what compiling took; 0 if the image came from a cache.
	CompileTime time.Duration

	mutex     sync.Mutex
	functions map[string]*Function
}

// A Function is a kernel of a module and lives as long.
type Function struct {
	module *Module
	handle uintptr
	name   string

	usages sync.Map // of usageKey: Usage
}

type usageKey struct {
	block  int
	shared int64
}

// Name is the kernel's.
func (f *Function) Name() string { return f.name }

// Origin says where Load found a module.
type Origin int

// From the cheapest to the dearest.
const (
	FromMemory Origin = iota // it was loaded
	FromDisk                 // its image was in the cache on disk
	Compiled
)

func (o Origin) String() string { return [...]string{"memory", "disk", "compiled"}[o] }

// maxUnused is how many modules that nobody uses stay loaded on a device: those of several hundred statements. To load one again takes
// about a millisecond.
const maxUnused = 2048

// moduleKey names a module among those of a device: hashing the source as imageKey does would take longer than all else about a kernel that
// is loaded.
func moduleKey(source string, options []string) string {
	if len(options) == 0 {
		return source
	}
	return source + "\x00" + strings.Join(options, "\x00")
}

// moduleCache holds a device's modules by their moduleKey.
type moduleCache struct {
	mutex   sync.Mutex
	entries map[string]*moduleEntry
	unused  list.List // of *moduleEntry, those that were released longest ago first
	limit   int       // of unused ones
}

type moduleEntry struct {
	key     string
	ready   chan struct{} // closed when module or err is there
	module  *Module
	image   string // its key on disk
	err     error
	uses    int
	unused  *list.Element // in the cache's list; nil: it is used
	dropped bool          // not in the map any more

	turn      *Turn        // in which it is compiled
	compiling *compilation // nil: not begun
}

// made says whether the entry has its module.
func (e *moduleEntry) made() bool {
	select {
	case <-e.ready:
		return e.module != nil
	default:
		return false // still being compiled, though nobody waits any more
	}
}

// Loaded returns the module that an earlier Load of the source made, if it is still loaded, as Load would; nil: it is not.
func (d *Device) Loaded(source string) *Module {
	c := &d.modules
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e := c.entries[source]
	if e == nil || d.Lost() != nil || !e.made() {
		return nil
	}
	c.use(e)
	return e.module
}

// use adds a use. The caller holds the mutex.
func (c *moduleCache) use(e *moduleEntry) {
	if e.unused != nil {
		c.unused.Remove(e.unused)
		e.unused = nil
	}
	e.uses++
}

// take takes an entry out. The caller holds the mutex.
func (c *moduleCache) take(e *moduleEntry) {
	e.dropped = true
	delete(c.entries, e.key)
	if e.unused != nil {
		c.unused.Remove(e.unused)
		e.unused = nil
	}
}

// Known says whether Load would find a source's image, in memory or on disk, or is making it.
func (d *Device) Known(source string) bool { return d.known(source, true) }

// Made says whether Load would find a source's image, in memory or on disk, so that it need not wait for the compiler.
func (d *Device) Made(source string) bool { return d.known(source, false) }

func (d *Device) known(source string, orMaking bool) bool {
	c := &d.modules
	c.mutex.Lock()
	e := c.entries[moduleKey(source, nil)]
	c.mutex.Unlock()
	if e != nil {
		return orMaking || e.made()
	}
	compiler, err := d.compiler()
	return err == nil && d.disk.has(imageKey(compiler, source, nil))
}

// Load compiles a source, or finds what an earlier compilation of it made, and loads it. The source includes "radish.cuh"; options
// are the compiler's (-DNAME=VALUE). When ctx ends first, Load returns its error and the compilation goes on for the next who asks.
// Release the module when it is needed no more.
func (d *Device) Load(ctx context.Context, source string, options ...string) (*Module, Origin, error) {
	return d.Begin(ctx, source, options...).Wait(ctx)
}

// A Loading is a source on its way to be a module.
type Loading struct {
	device *Device
	entry  *moduleEntry
	origin chan Origin // where it comes from; nil: somebody else had begun before
	err    error       // it was not begun
}

// Begin is the beginning of Load, in a turn of its own. Wait must be called once for each.
func (d *Device) Begin(ctx context.Context, source string, options ...string) *Loading {
	return d.BeginIn(ctx, NewTurn(), source, options...)
}

// BeginIn is Begin in a turn: it returns when the source waits for the compiler, if that is needed, or ctx ends. So the sources of a turn are compiled in the order
// in which they were begun. One that waits in the background takes this turn.
func (d *Device) BeginIn(ctx context.Context, turn *Turn, source string, options ...string) *Loading {
	if err := d.Lost(); err != nil {
		return &Loading{err: err}
	}
	key := moduleKey(source, options)
	c := &d.modules
	c.mutex.Lock()
	e, known := c.entries[key]
	if known {
		c.use(e)
		if e.turn.background {
			e.turn = turn
			if e.compiling != nil {
				d.compilers.hasten(e.compiling, turn)
			}
		}
	} else {
		e = &moduleEntry{key: key, ready: make(chan struct{}), uses: 1, turn: turn}
		if c.entries == nil {
			c.entries = map[string]*moduleEntry{}
		}
		c.entries[key] = e
	}
	c.mutex.Unlock()
	l := &Loading{device: d, entry: e}
	if known {
		return l
	}
	l.origin = make(chan Origin, 1)
	begun := make(chan struct{})
	go func() {
		begin := sync.OnceFunc(func() { close(begun) })
		l.origin <- d.guardedMake(e, source, options, begin)
		begin()
		close(e.ready)
		if e.err != nil {
			c.drop(e) // the next who asks tries again
		}
	}()
	select {
	case <-begun:
	case <-ctx.Done():
	}
	return l
}

// Wait is the rest of Load.
func (l *Loading) Wait(ctx context.Context) (*Module, Origin, error) {
	if l.err != nil {
		return nil, 0, l.err
	}
	e := l.entry
	select {
	case <-e.ready:
	default:
		select {
		case <-e.ready:
		case <-ctx.Done():
			l.device.modules.release(e)
			return nil, 0, context.Cause(ctx)
		}
	}
	origin := FromMemory
	if l.origin != nil {
		origin = <-l.origin
	}
	if e.err != nil {
		return nil, origin, e.err
	}
	return e.module, origin, nil
}

// BeginSoon is BeginIn for who waits. A source that has to be compiled is compiled by quick options, so the kernel is there sooner and runs slower. It is a module of its own: BeginIn of the
// same source compiles the better one.
func (d *Device) BeginSoon(ctx context.Context, turn *Turn, source string) *Loading {
	if d.Made(source) {
		return d.BeginIn(ctx, turn, source)
	}
	return d.BeginIn(ctx, turn, source, d.quick()...)
}

// UseQuickOptions is for tests: BeginSoon compiles by these options. It must not be called beside BeginSoon.
func (d *Device) UseQuickOptions(options ...string) { d.quick = func() []string { return options } }

// LoadAll has sources compiled and loaded at once, by all processes that compile. Who loads them later finds them.
func (d *Device) LoadAll(ctx context.Context, sources []string) error {
	turn := NewTurn()
	var all []*Loading
	for _, s := range sources {
		all = append(all, d.BeginIn(ctx, turn, s))
	}
	var first error
	for _, x := range all {
		m, _, err := x.Wait(ctx)
		if err == nil {
			m.Release()
		} else if first == nil {
			first = err
		}
	}
	return first
}

// guardedMake is make. A panic in it becomes the entry's error, so that nobody waits for ever.
func (d *Device) guardedMake(e *moduleEntry, source string, options []string, begun func()) (origin Origin) {
	err := guard(func() error {
		origin = d.make(e, source, options, begun)
		return nil
	})
	if err != nil {
		e.err = err
	}
	return origin
}

// guard turns a panic, which is a bug, into an error with its stack, lest it ends the program.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Kind: KindInternal, Call: "panic", Message: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}

// make fills an entry, from the disk or by compiling. It says when the source has its position in its turn, or needs none.
func (d *Device) make(e *moduleEntry, source string, options []string, begun func()) Origin {
	m := &Module{device: d, entry: e, functions: map[string]*Function{}}
	compiler, err := d.compiler()
	if err != nil {
		e.err = err
		return FromDisk
	}
	e.image = imageKey(compiler, source, options)
	if image := d.disk.get(e.image); image != nil {
		begun()
		if d.loadImage(m, image) == nil {
			e.module = m
			return FromDisk
		} // not an image of this device after all: it is made anew
	}
	d.modules.mutex.Lock()
	x := d.compilers.beginOnce(e.image, e.turn, d.info.ComputeCapability, source, options, &d.compiling)
	e.compiling = x
	d.modules.mutex.Unlock()
	begun()
	asked := time.Now()
	<-x.done
	d.compiled(x, asked)
	m.CompileTime = x.took
	if e.err = x.err; e.err == nil {
		e.err = d.loadImage(m, x.image)
	}
	if e.err == nil {
		d.disk.put(e.image, x.image)
		e.module = m
	}
	return Compiled
}

func (d *Device) loadImage(m *Module, image []byte) error {
	return d.call(fnModuleLoad, d.handle, uintptr(unsafe.Pointer(unsafe.SliceData(image))), uintptr(len(image)), uintptr(unsafe.Pointer(&m.handle)))
}

// Release says that a module that Load gave is needed no more by who asked for it.
func (m *Module) Release() { m.device.modules.release(m.entry) }

// release ends a use, and unloads the modules that were released longest ago when there are many.
func (c *moduleCache) release(e *moduleEntry) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e.uses--
	if e.uses > 0 || e.dropped {
		return
	}
	e.unused = c.unused.PushBack(e)
	for x := c.unused.Front(); x != nil && c.unused.Len() > c.limit; {
		oldest := x.Value.(*moduleEntry)
		x = x.Next()
		if oldest.made() {
			c.take(oldest)
			oldest.module.unload()
		}
	}
}

// drop takes an entry without a module out.
func (c *moduleCache) drop(e *moduleEntry) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !e.dropped {
		c.take(e)
	}
}

// ForgetKernels is for benchmarks: it unloads the modules that nobody uses and deletes their images on disk, so that who asks for them again has
// them compiled.
func (d *Device) ForgetKernels() {
	d.compilers.forget()
	c := &d.modules
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, e := range c.entries {
		if e.uses > 0 || !e.made() {
			continue
		}
		c.take(e)
		e.module.unload()
		d.disk.remove(e.image)
	}
}

// Compiling adds up all compilations that have ended since the device was opened.
func (d *Device) Compiling() Busy { return d.compiling.Total() }

// Compilers are what compiles the device's kernels.
func (d *Device) Compilers() *Compilers { return d.compilers }

// unloadAll waits for what is being made, which needs the mutex. Nobody asks for more meanwhile.
func (c *moduleCache) unloadAll() {
	c.mutex.Lock()
	entries := maps.Clone(c.entries)
	c.mutex.Unlock()
	for _, e := range entries {
		<-e.ready
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, e := range entries {
		if e.module != nil && !e.dropped {
			e.module.unload()
		}
		c.take(e)
	}
}

func (m *Module) unload() { m.device.lib.callVoid(fnModuleUnload, m.handle) }

// Function finds a kernel by its name.
func (m *Module) Function(name string) (*Function, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	f := &Function{module: m, name: name}
	if err := m.device.call(fnModuleFunction, m.handle, uintptr(unsafe.Pointer(cText(name))), uintptr(unsafe.Pointer(&f.handle))); err != nil {
		return nil, err
	}
	m.functions[name] = f
	return f, nil
}

// Usage is what a kernel needs of a multiprocessor.
type Usage struct {
	Registers  int // of a thread
	LocalBytes int // of a thread, spilled registers included
	Blocks     int // that a multiprocessor holds at once
}

// Usage asks for blocks of that many threads and that much dynamic shared memory. What was asked once is remembered.
func (f *Function) Usage(block int, shared int64) (Usage, error) {
	key := usageKey{block, shared}
	if u, ok := f.usages.Load(key); ok {
		return u.(Usage), nil
	}
	var registers, local, blocks int32
	err := f.module.device.call(fnFunctionInfo, f.handle, uintptr(block), uintptr(shared), uintptr(unsafe.Pointer(&registers)),
		uintptr(unsafe.Pointer(&local)), uintptr(unsafe.Pointer(&blocks)))
	u := Usage{int(registers), int(local), int(blocks)}
	if err == nil {
		f.usages.Store(key, u)
	}
	return u, err
}
