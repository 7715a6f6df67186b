// Package load compiles and loads the kernels of one query, and keeps those loaded that order rows by any columns (anysorts.go).
//
// A run creates a [Loader] for its program and begins to load all kernels at once, those that take longest first. Each pipeline then waits for its own kernels alone, so that the
// first ones run while others are still compiled. Modules come from gpukernels, which shares them between queries and keeps them in a cache on disk.
package load

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/exec/gpu/rowsort"
	"github.com/radish-sql/radish/exec/gpu/sort"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Loader compiles and loads a query's kernels: those of pipelines, and those that order rows. It serves one goroutine.
type Loader struct {
	Background bool           // nobody waits for the query
	Soon       bool           // the query waits for its kernels, so that those which have to be compiled are compiled quickly
	Loading    sync.WaitGroup // of the kernels that are being loaded

	program *program.Program
	device  *gpukernels.Device
	modules map[*kernel.Kernel]*Kernel
	sorters map[physical.Sink]*Sorter
	hurried []string // sources that were not compiled, or compiled quickly
}

// New returns a loader of a program's kernels. Begin begins to load them. Close the loader.
func New(g *program.Program, d *gpukernels.Device) *Loader {
	return &Loader{program: g, device: d, modules: map[*kernel.Kernel]*Kernel{}, sorters: map[physical.Sink]*Sorter{}}
}

// Kernel is a kernel that was compiled, or is being compiled.
type Kernel struct {
	Module   *gpukernels.Module
	Function *gpukernels.Function
	Origin   gpukernels.Origin

	ready chan struct{} // closed when the rest is known
	err   error
}

// Source is a text that is not loaded yet, and a function that takes its module; nil: nobody waits for it.
type Source struct {
	source string
	take   func(*gpukernels.Module, gpukernels.Origin, error)
}

// Missing notes all kernels of pipelines, and returns those that are not loaded yet.
func (l *Loader) Missing() []Source {
	var missing []Source
	for _, p := range l.program.Plan.Pipelines {
		for _, k := range l.program.Kernels[p].All() {
			m := &Kernel{ready: make(chan struct{}), Module: l.device.Loaded(k.CUDA)}
			l.modules[k] = m
			if m.Module != nil {
				m.Function, m.err = m.Module.Function(k.Title)
				close(m.ready)
				continue
			}
			missing = append(missing, Source{k.CUDA, func(module *gpukernels.Module, origin gpukernels.Origin, err error) {
				defer close(m.ready)
				if m.Module, m.Origin, m.err = module, origin, err; err == nil {
					m.Function, m.err = module.Function(k.Title)
				}
			}})
		}
	}
	return missing
}

// Begin begins to load sources, in the query's turn. Those that take longest come first, so that no long one is begun last.
func (l *Loader) Begin(ctx context.Context, missing []Source) {
	turn := gpukernels.NewTurn()
	if l.Background {
		turn = gpukernels.NewBackgroundTurn()
	}
	if len(missing) > 0 && !l.device.Info().Emulated() {
		missing = append(missing, l.ahead()...)
	}
	slices.SortStableFunc(missing, func(a, b Source) int { return CompareWork(a.source, b.source) })
	for _, x := range missing {
		begun := l.begin(ctx, turn, x.source)
		if x.take == nil {
			go func() {
				_ = sqlerr.Guard(func() error { // who asks for it will meet the same error
					m, _, err := begun.Wait(context.WithoutCancel(ctx))
					if err == nil {
						m.Release()
					}
					return err
				})
			}()
			continue
		}
		l.Loading.Go(func() {
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

// ahead are the kernels that a sort would ask for if its rows were more or fewer than is expected: else the query would wait for them last, and they are long. Nobody waits for those that it
// does not ask for.
func (l *Loader) ahead() (sources []Source) {
	for s := range l.program.Sinks {
		x := l.Sorter(s)
		if x == nil {
			continue
		}
		for step, text := range x.Ahead() {
			if m, _ := l.anySort(x, step, text); m != nil {
				m.Release()
				continue
			}
			sources = append(sources, Source{source: text})
		}
	}
	return sources
}

// begin begins to load a source.
func (l *Loader) begin(ctx context.Context, turn *gpukernels.Turn, source string) *gpukernels.Loading {
	if !l.Soon || l.device.Made(source) {
		return l.device.BeginIn(ctx, turn, source)
	}
	if !slices.Contains(l.hurried, source) {
		l.hurried = append(l.hurried, source)
	}
	return l.device.BeginSoon(ctx, turn, source)
}

// Hurried are the sources that were compiled quickly, for this query or an earlier one: better kernels of them are not made yet.
func (l *Loader) Hurried() []string { return l.hurried }

// Loaded waits for a kernel.
func (l *Loader) Loaded(k *kernel.Kernel) (*Kernel, error) {
	m := l.modules[k]
	select {
	case <-m.ready:
	default:
		end := l.device.Span("wait for "+k.Title+" of pipeline", k.Pipeline.ID)
		<-m.ready
		end()
	}
	if m.err != nil {
		return nil, fmt.Errorf("compiling the kernel %s of pipeline %d: %w", k.Title, k.Pipeline.ID, m.err)
	}
	return m, nil
}

// Function is the function of a kernel that Loaded has returned.
func (l *Loader) Function(k *kernel.Kernel) *gpukernels.Function { return l.modules[k].Function }

// Err waits for all kernels, and returns what went wrong with one of them.
func (l *Loader) Err() error {
	for k := range l.modules {
		if _, err := l.Loaded(k); err != nil {
			return err
		}
	}
	return nil
}

// Sorter returns what orders the rows of a sink; nil: they stay as they come.
func (l *Loader) Sorter(s physical.Sink) *Sorter {
	x, known := l.sorters[s]
	if !known {
		if order := l.program.Order(s); order != nil {
			x = &Sorter{Order: order, Arrays: make([]rowsort.Arrays, len(order.Columns))}
		}
		l.sorters[s] = x
	}
	return x
}

// Step returns the kernels of a step that orders the rows of a sink, loaded.
func (l *Loader) Step(ctx context.Context, x *Sorter, step sort.Step) (rowsort.Kernels, error) {
	m := &x.steps[step]
	text := sort.Text(x.Columns, step)
	if m.ready == nil && m.module == nil {
		m.module, m.isAny = l.anySort(x, step, text)
	}
	module, err := l.sortModule(ctx, m, text)
	return rowsort.Kernels{Module: module, IsAny: m.isAny}, err
}

// anySort returns the kernels of a step that order by any columns, if a query would wait for those of its columns, which are compiled behind it then; nil: it does not, or there are none.
func (l *Loader) anySort(x *Sorter, step sort.Step, text string) (m *gpukernels.Module, isAny bool) {
	if !l.Soon || !sort.ServesAny(x.Columns, step) || x.Rows > x.Tuning.AnyRows || l.device.Made(text) {
		return nil, false
	}
	if m = l.device.Loaded(sort.AnyText(step)); m == nil {
		return nil, false
	}
	if x.Needs(step) && !slices.Contains(l.hurried, text) {
		l.hurried = append(l.hurried, text)
	}
	return m, true
}

// Then returns the kernels that run once the rows of a sink are in order, loaded.
func (l *Loader) Then(ctx context.Context, x *Sorter) (*gpukernels.Module, error) {
	return l.sortModule(ctx, &x.then, x.Order.Then)
}

func (l *Loader) sortModule(ctx context.Context, m *sortModule, text string) (*gpukernels.Module, error) {
	if m.ready != nil {
		<-m.ready
	}
	if m.module == nil {
		var err error
		if m.module, _, err = l.begin(ctx, gpukernels.NewTurn(), text).Wait(ctx); err != nil {
			return nil, err
		}
	}
	return m.module, nil
}

// MissingSorts adds the kernels that order rows, which are compiled beside the plan's other kernels: those for the expected number of rows. Errors show when the kernels are asked for.
func (l *Loader) MissingSorts(missing []Source) []Source {
	add := func(m *sortModule, text string) {
		m.ready = make(chan struct{})
		if m.module = l.device.Loaded(text); m.module != nil {
			close(m.ready)
			return
		}
		missing = append(missing, Source{text, func(module *gpukernels.Module, _ gpukernels.Origin, err error) {
			defer close(m.ready)
			if err == nil {
				m.module = module
			}
		}})
	}
	for s := range l.program.Sinks {
		x := l.Sorter(s)
		if x == nil {
			continue
		}
		for step := range sort.Steps {
			if !x.Needs(step) {
				continue
			}
			m, text := &x.steps[step], sort.Text(x.Columns, step)
			if m.module, m.isAny = l.anySort(x, step, text); m.module == nil {
				add(m, text)
			}
		}
		if x.Then != "" {
			add(&x.then, x.Then)
		}
	}
	return missing
}

// Close lets go of all kernels. None is being loaded any more.
func (l *Loader) Close() {
	for _, m := range l.modules {
		if m.Module != nil {
			m.Module.Release()
		}
	}
	clear(l.modules)
	for _, x := range l.sorters {
		if x == nil {
			continue
		}
		for _, m := range append(x.steps[:], x.then) {
			if m.module != nil {
				m.module.Release()
			}
		}
	}
	clear(l.sorters)
}

// Sorter orders the rows of a sink.
type Sorter struct {
	*program.Order
	Arrays []rowsort.Arrays // of each column

	steps [sort.Steps]sortModule
	then  sortModule
}

// sortModule is a step's kernels.
type sortModule struct {
	module *gpukernels.Module // nil: not loaded
	isAny  bool               // it orders by any columns
	ready  chan struct{}      // closed when that is settled; nil: nobody asked yet
}
