package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Go's collector lets the heap grow to twice what is live before it runs. Where budgets have limits the program would hold twice of what they allow, so the
// collector is told of them: of those of databases, and of those of statements that have one of their own. It is to keep the program's memory within what the
// limits allow together, what the program holds besides, and some headroom. That is there after each collection, however wrong other figures are,
// so that no program collects all the time.

// leastHeadroom is what the program may allocate between two collections at least.
const leastHeadroom = 16 << 20

func headroom(limits int64) int64 { return max(leastHeadroom, limits/10) }

// collector is the state of the process. A program that sets a limit of its own meanwhile has the last word.
var collector collectorState

type collectorState struct {
	sync.Mutex
	budgets map[weak.Pointer[Budget]]bool
	watched bool  // an object is there whose end tells of the next collection
	own     int64 // the limit that was set before
	set     int64 // what was set here last

	others [8]int64 // what the last collections said of other memory
	next   int      // of others

	ceiling  atomic.Int64 // of the heap, at that limit; 0: there is none
	reserved atomic.Int64 // since the heap's size was compared with it
	coming   coming
	freed    atomic.Int64 // what budgets with limits have given back, ever
	forced   sync.Mutex   // held while a goroutine of pace collects
	collects atomic.Bool  // whether one does

	// freedBefore is what freed was when the collection before the last one had ended. What is given back while a collection runs is called live by it.
	freedBefore, freedLast atomic.Int64
}

// paceBytes is how much budgets reserve between two looks at the heap's size.
const paceBytes = 2 << 20

// pace is told what a budget with a limit reserves, before the memory is taken. The collector lets a program exceed the limit that allocates while it runs, as much as the
// program is faster: such a program waits here until a collection has ended, with all of its goroutines.
func pace(bytes int64) {
	c := &collector
	ceiling := c.ceiling.Load()
	if ceiling == 0 {
		return
	}
	if c.collects.Load() {
		c.forced.Lock()
		c.forced.Unlock() //lint:ignore SA2001 nothing is to be done but to wait until the other has collected
	}
	if c.reserved.Add(bytes) < paceBytes {
		return
	}
	bytes = c.coming.add(c.reserved.Swap(0), allocated())
	if !above(ceiling, bytes) && !resident(bytes) {
		return
	}
	c.forced.Lock()
	c.collects.Store(true)
	defer func() {
		c.collects.Store(false)
		c.forced.Unlock()
	}()
	if above(ceiling, bytes) { // nobody has collected meanwhile
		runtime.GC()
	}
	if resident(bytes) {
		debug.FreeOSMemory()
	}
}

// coming is what was reserved and is not on the heap yet. Without it, goroutines that reserve at the same time would each find the same memory free.
type coming struct {
	sync.Mutex
	before, bytes int64     // reserved before since, and from then on
	since         time.Time // some comingTime ago at most
	allocated     int64     // by the program in all, when they were found
}

// comingTime is the time after which memory that was reserved is taken to have come, or never to come: some is reserved for the worst case.
const comingTime = 50 * time.Millisecond

// add returns what is coming when so many bytes more are reserved. What the program has allocated meanwhile has come.
func (c *coming) add(bytes, allocated int64) int64 {
	c.Lock()
	defer c.Unlock()
	if now := time.Now(); now.Sub(c.since) > comingTime {
		c.before = c.bytes
		if c.bytes = 0; now.Sub(c.since) > 2*comingTime {
			c.before = 0
		}
		c.since = now
	}
	came := allocated - c.allocated
	c.bytes = max(0, c.bytes-max(0, came-c.before)) + bytes
	c.before = max(0, c.before-came)
	c.allocated = allocated
	return c.before + c.bytes
}

// reset forgets what is coming.
func (c *coming) reset() {
	c.Lock()
	defer c.Unlock()
	c.before, c.bytes = 0, 0
}

// allocated returns the bytes that the program has ever allocated.
func allocated() int64 {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64())
}

// collecting is 1 while a collection runs that Collect has begun, and 2 if another one is to follow.
var collecting atomic.Int32

// Collect begins a collection in the background. What is free by now is found by it, or by another one behind that which runs.
func Collect() {
	if collecting.Swap(2) != 0 {
		return
	}
	go func() {
		_ = sqlerr.Guard(func() error {
			for collecting.Store(1); ; collecting.Store(1) {
				runtime.GC()
				if collecting.CompareAndSwap(1, 0) {
					return nil
				}
			}
		})
	}()
}

// resident says whether the program would exceed the collector's limit with so many bytes more though much of its memory is free. The collector returns free memory to the
// system too, but late where strings of megabytes come and go: the time that it may take is bounded.
func resident(bytes int64) bool {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	return value(0)-value(1)+bytes > debug.SetMemoryLimit(-1)+leastHeadroom/2 && value(2) > leastHeadroom
}

// above says whether so many bytes more make the heap larger than its ceiling, and collecting may help.
func above(ceiling, bytes int64) bool {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	size := int64(samples[0].Value.Uint64())
	garbage := size - int64(samples[1].Value.Uint64()) + collector.freed.Load() - collector.freedBefore.Load()
	return size+bytes > ceiling && garbage > leastHeadroom/2
}

// LimitCollector makes the collector observe b's limit, if it has one, until release is called.
func (b *Budget) LimitCollector() (release func()) {
	if b.Limit() <= 0 {
		return func() {}
	}
	watch(b)
	return func() { unwatch(b) }
}

// watch makes the collector observe b's limit.
func watch(b *Budget) {
	root := b.root()
	if root.setting != "" {
		return // of a device
	}
	c := &collector
	c.Lock()
	defer c.Unlock()
	if len(c.budgets) == 0 {
		c.next = 0
		c.budgets = map[weak.Pointer[Budget]]bool{}
		c.own = debug.SetMemoryLimit(-1)
		c.set = c.own
		c.coming.reset()
	}
	if root.Limit() <= 0 {
		root.recent.Store(root.Used())
	}
	watchCollector()
	c.budgets[weak.Make(b)] = true
	limitCollector()
}

func unwatch(b *Budget) {
	c := &collector
	c.Lock()
	defer c.Unlock()
	if p := weak.Make(b); c.budgets[p] {
		delete(c.budgets, p)
		limitCollector()
	}
}

// watchCollector sets the limit anew after each collection, as long as there are budgets. Only one object tells of a collection: with two, what was given back before it
// would count as found. The caller holds the collector's lock.
func watchCollector() {
	if collector.watched {
		return
	}
	collector.watched = true
	sentinel := new([16]byte) // too large to share its memory with another object
	runtime.AddCleanup(sentinel, func(struct{}) {
		collector.Lock()
		defer collector.Unlock()
		c := &collector
		if c.watched = false; len(c.budgets) > 0 {
			c.freedBefore.Store(c.freedLast.Swap(c.freed.Load()))
			limitCollector()
			watchCollector()
		}
	}, struct{}{})
}

// limitCollector sets the limit. The caller holds the collector's lock.
func limitCollector() {
	c := &collector
	if debug.SetMemoryLimit(-1) != c.set {
		return // the program has set its own
	}
	var limits, allowed, used int64
	for root, statements := range c.roots() {
		most, own := allowedTo(root, statements)
		limits += own
		allowed += most
		used += max(root.recent.Swap(root.Used()), root.Used())
	}
	limit, ceiling := c.own, int64(0)
	if limits > 0 {
		objects, runtimes := otherMemory(used)
		c.others[c.next%len(c.others)] = objects // too much: what was made while the collector ran is called live
		c.next++
		ceiling = slices.Min(c.others[:min(c.next, len(c.others))]) + allowed + headroom(limits)
		limit = min(limit, ceiling+runtimes)
	}
	c.ceiling.Store(ceiling)
	if limit != c.set {
		c.set = limit
		debug.SetMemoryLimit(limit)
	}
}

// roots returns the databases that have limits, or whose statements have, and these statements. The caller holds the collector's lock.
func (c *collectorState) roots() map[*Budget][]*Budget {
	roots := map[*Budget][]*Budget{}
	for p := range c.budgets {
		b := p.Value()
		if b == nil { // nobody uses it, and nobody has closed it
			delete(c.budgets, p)
			continue
		}
		root := b.root()
		statements := roots[root]
		if b != root {
			statements = append(statements, b)
		}
		roots[root] = statements
	}
	return roots
}

// allowedTo returns how many bytes a database may take that has a limit, or statements with limits of their own, and the limits that this follows from. Without a limit of the
// database, its other statements may take twice what they have: they would else be collected for all the time.
func allowedTo(root *Budget, statements []*Budget) (bytes, limits int64) {
	limit := root.Limit()
	if limit <= 0 {
		limit = math.MaxInt64
	}
	limit = min(limit, math.MaxInt64/1024)
	if len(statements) == 0 {
		return limit, limit
	}
	bytes = root.Used()
	others := statements[0].parent.Used()
	for _, s := range statements {
		used, own := s.Used(), min(s.Limit(), limit)
		bytes += max(0, own-used)
		others -= used
		limits += own
	}
	return min(bytes+max(0, others), limit), min(limits, limit)
}

// otherMemory returns what the program holds that collecting cannot free, besides what budgets count: objects that no budget knows, and what
// the run-time system needs itself.
func otherMemory(used int64) (objects, runtimes int64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) int64 { return int64(min(samples[i].Value.Uint64(), math.MaxInt64/1024)) }
	return max(0, value(0)-used), max(0, value(1)-value(2)-value(3)-value(4)-value(5))
}
