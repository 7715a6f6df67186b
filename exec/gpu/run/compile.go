package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/rowsort"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// loader compiles and loads a query's kernels: those of pipelines, and those that order rows.
type loader struct {
	program    *program.Program
	device     *gpukernels.Device
	modules    map[*kernel.Kernel]*loadedKernel
	sorters    map[physical.Sink]*sorter
	loading    sync.WaitGroup
	background bool // nobody waits for the query
}

func newLoader(g *program.Program, d *gpukernels.Device) *loader {
	return &loader{program: g, device: d, modules: map[*kernel.Kernel]*loadedKernel{}, sorters: map[physical.Sink]*sorter{}}
}

// loadedKernel is a kernel that was compiled, or is being compiled.
type loadedKernel struct {
	ready    chan struct{} // closed when the rest is there
	module   *gpukernels.Module
	function *gpukernels.Function
	origin   gpukernels.Origin
	err      error
}

// load is a source that is not loaded yet, and what takes its module.
type load struct {
	source string
	take   func(*gpukernels.Module, gpukernels.Origin, error)
}

// missing notes all kernels of pipelines, and returns those that are not loaded yet.
func (l *loader) missing() []load {
	var missing []load
	for _, p := range l.program.Plan.Pipelines {
		for _, k := range l.program.Kernels[p].All() {
			m := &loadedKernel{ready: make(chan struct{}), module: l.device.Loaded(k.CUDA)}
			l.modules[k] = m
			if m.module != nil {
				m.function, m.err = m.module.Function(k.Title)
				close(m.ready)
				continue
			}
			missing = append(missing, load{k.CUDA, func(module *gpukernels.Module, origin gpukernels.Origin, err error) {
				defer close(m.ready)
				if m.module, m.origin, m.err = module, origin, err; err == nil {
					m.function, m.err = module.Function(k.Title)
				}
			}})
		}
	}
	return missing
}

// begin begins to load sources, in the query's turn: first those that take longest, so that none of these is begun when the others have ended.
func (l *loader) begin(ctx context.Context, missing []load) {
	slices.SortStableFunc(missing, func(a, b load) int { return CompareWork(a.source, b.source) })
	turn := gpukernels.NewTurn()
	if l.background {
		turn = gpukernels.NewBackgroundTurn()
	}
	for _, x := range missing {
		begun := l.device.BeginIn(ctx, turn, x.source)
		l.loading.Go(func() {
			var module *gpukernels.Module
			var origin gpukernels.Origin
			err := sqlerr.Guard(func() (err error) {
				module, origin, err = begun.Wait(ctx)
				return err
			})
			x.take(module, origin, err)
		})
	}
}

// loaded waits for a kernel.
func (l *loader) loaded(k *kernel.Kernel) (*loadedKernel, error) {
	m := l.modules[k]
	<-m.ready
	if m.err != nil {
		return nil, fmt.Errorf("compiling the kernel %s of pipeline %d: %w", k.Title, k.Pipeline.ID, m.err)
	}
	return m, nil
}

// sorter returns what orders the rows of a sink; nil: they stay as they come.
func (l *loader) sorter(s physical.Sink) *sorter {
	x, known := l.sorters[s]
	if !known {
		if order := l.program.Order(s); order != nil {
			x = &sorter{Order: order, arrays: make([]rowsort.Arrays, len(order.Columns))}
		}
		l.sorters[s] = x
	}
	return x
}

// orderStep returns some of the kernels that order rows, loaded.
func (l *loader) orderStep(ctx context.Context, m *sortModule, text string) (*gpukernels.Module, error) {
	if m.ready != nil {
		<-m.ready
	}
	if m.module == nil {
		var err error
		if m.module, _, err = l.device.Load(ctx, text); err != nil {
			return nil, err
		}
	}
	return m.module, nil
}

// missingSorts adds the kernels that order rows, which are compiled beside the plan's other kernels: those that as many rows as are expected need. An error
// shows when they are asked for.
func (l *loader) missingSorts(missing []load) []load {
	add := func(m *sortModule, text string) {
		m.ready = make(chan struct{})
		if m.module = l.device.Loaded(text); m.module != nil {
			close(m.ready)
			return
		}
		missing = append(missing, load{text, func(module *gpukernels.Module, _ gpukernels.Origin, err error) {
			defer close(m.ready)
			if err == nil {
				m.module = module
			}
		}})
	}
	for s := range l.program.Sinks {
		x := l.sorter(s)
		if x == nil {
			continue
		}
		for step := range sort.Steps {
			if x.Needs(step) {
				add(&x.steps[step], sort.Text(x.Columns, step))
			}
		}
		if x.Tree != "" {
			add(&x.tree, x.Tree)
		}
	}
	return missing
}

// close lets go of all kernels. None is being loaded any more.
func (l *loader) close() {
	for _, m := range l.modules {
		if m.module != nil {
			m.module.Release()
		}
	}
	clear(l.modules)
	for _, x := range l.sorters {
		if x == nil {
			continue
		}
		for _, m := range append(x.steps[:], x.tree) {
			if m.module != nil {
				m.module.Release()
			}
		}
	}
	clear(l.sorters)
}

// CompareWork orders sources by what compiling them takes, the longest first.
func CompareWork(a, b string) int { return compileWork(b) - compileWork(a) }

// compileWork is what compiling a source takes: it is about 30 µs for each byte of text, and as much as for so many bytes for some functions
// of the device headers.
func compileWork(source string) int {
	work := len(source)
	for _, x := range []struct {
		name  string
		bytes int
	}{{"HotSearch", 6000}, {"div_decimal", 2000}, {"\"string.cuh\"", 2000}, {"sort_merge", 1000}} {
		if strings.Contains(source, x.name) {
			work += x.bytes
		}
	}
	return work
}

// sorter orders the rows of a sink.
type sorter struct {
	*program.Order
	arrays []rowsort.Arrays // of each column
	steps  [sort.Steps]sortModule
	tree   sortModule
}

// sortModule is a step's kernels.
type sortModule struct {
	module *gpukernels.Module // nil: not loaded
	ready  chan struct{}      // closed when that is settled; nil: nobody asked yet
}
