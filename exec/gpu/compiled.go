package gpu

import (
	"context"
	"iter"
	"slices"

	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/exec/gpu/load"
	"github.com/radish-sql/radish/exec/gpu/program"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// preferCompiled chooses the kernels of a plan so that a query waits as little as possible for the compiler.
func (d *Device) preferCompiled(p *Placed) {
	p.program = d.preferLoading(p.written)
	if !p.waits() || d.isWholeCompiled(p.program) {
		return
	}
	first := p.program
	if p.limit == 0 {
		first = withoutPartitions(first)
	}
	if first = d.hurried(first); first != p.program {
		p.better, p.program = p.program, first
	}
}

// waits says whether the query waits for the kernels that are not compiled. Otherwise the CPU runs it meanwhile.
func (p *Placed) waits() bool { return p.setting.NeedsGPU() }

// hurries says whether the query waits, and its kernels are to be compiled quickly. Where they go over very many rows they would take longer than compiling saves.
func (p *Placed) hurries() bool {
	return p.waits() && !slices.ContainsFunc(p.Plan.Pipelines, func(x *physical.Pipeline) bool {
		scan, ok := x.Source.(*physical.TableScan)
		return ok && float64(scan.Table.Rows()) > p.program.Target.Tuning.Scan.FirstRows
	})
}

// withoutPartitions makes groups without partitions, for a query that waits for its kernels: those that partition rows take several times as long to compile as others.
func withoutPartitions(g *program.Program) *program.Program {
	rows, ok := g.Partitions()
	if !ok || g.Target.Places != nil || rows > g.Target.Tuning.Partition.FirstRows {
		return g
	}
	return preferAll(g.WithoutPartitions(), g)
}

// hurried has those kernels be short that have to be compiled, for a query that waits for them.
func (d *Device) hurried(g *program.Program) *program.Program {
	pipelines := map[*physical.Pipeline]bool{}
	for p, k := range g.Kernels {
		if k.Shorter && !d.isCompiled(k) {
			pipelines[p] = true
		}
	}
	if len(pipelines) == 0 {
		return g
	}
	return preferAll(g.Hurried(pipelines), g)
}

// preferAll returns the first of two programs of a plan, unless it lacks kernels that the other one has.
func preferAll(first, other *program.Program) *program.Program {
	for x := range other.Kernels {
		if first.Kernels[x] == nil {
			return other
		}
	}
	return first
}

// isWholeCompiled says whether no kernel of a program has to be compiled. Where all are loaded that takes 0.1 µs a kernel, so it is asked for each query.
func (d *Device) isWholeCompiled(g *program.Program) bool {
	for _, k := range g.Kernels {
		if !d.isCompiled(k) {
			return false
		}
	}
	return true
}

// preferLoading writes a program's kernels so that as few as possible have to be compiled. How a scan loads its columns follows from how many rows are
// estimated to pass its filters, so from their literals. Where the kernel that suits the estimate is not compiled but the other one is, the other one serves,
// and the better one is compiled in the background, for the next time.
func (d *Device) preferLoading(g *program.Program) *program.Program {
	flipped := map[*physical.TableScan]program.Loading{}
	for _, k := range g.Kernels {
		if k.Either && !d.isCompiled(k) {
			flipped[k.Rows.Scan] = program.Flipped
		}
	}
	if len(flipped) == 0 {
		return g
	}
	serves, all := g.WithLoading(flipped), len(flipped)
	for p, k := range serves.Kernels {
		if scan := k.Rows.Scan; flipped[scan] == program.Flipped && !d.isCompiled(k) {
			delete(flipped, scan)
		} else if flipped[scan] == program.Flipped {
			d.compileLater(g.Kernels[p])
		}
	}
	switch len(flipped) {
	case 0:
		return g
	case all:
		return serves
	}
	return g.WithLoading(flipped)
}

// isCompiled says whether a pipeline's kernels need not be compiled.
func (d *Device) isCompiled(k *kernel.Kernel) bool {
	return !slices.ContainsFunc(k.All(), func(k *kernel.Kernel) bool { return !d.runner.Device.Made(k.CUDA) })
}

// compileLater compiles a pipeline's kernels while nobody waits for them.
func (d *Device) compileLater(k *kernel.Kernel) {
	var texts []string
	for _, k := range k.All() {
		texts = append(texts, k.CUDA)
	}
	d.compileTexts(texts)
}

func (d *Device) compileTexts(texts []string) {
	turn := gpukernels.NewBackgroundTurn()
	for _, text := range texts {
		d.later.Go(func() {
			_ = sqlerr.Guard(func() error { // who needs the kernel will meet the same error
				m, _, err := d.runner.Device.BeginIn(context.Background(), turn, text).Wait(context.Background())
				if err == nil {
					m.Release()
				}
				return err
			})
		})
	}
}

// CompileLater compiles the kernels that are missing while nobody waits for them, the longest first. It takes no memory of the device for that.
func (p *Placed) CompileLater() {
	for _, d := range p.devices() {
		d.compileMissing(slices.Collect(textsOf(p.program)))
	}
}

// compileMissing compiles those of some texts that are missing while nobody waits for them, the longest first.
func (d *Device) compileMissing(texts []string) {
	texts = slices.DeleteFunc(texts, d.runner.Device.Known)
	slices.SortStableFunc(texts, load.CompareWork)
	d.compileTexts(texts)
}

// textsOf yields the texts of all kernels that a run of a program is expected to need: those of the pipelines, then those that bring rows into order.
func textsOf(g *program.Program) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text := range pipelineTexts(g) {
			if !yield(text) {
				return
			}
		}
		for s := range g.Sinks {
			if x := g.Order(s); x != nil {
				for _, text := range x.Texts() {
					if !yield(text) {
						return
					}
				}
			}
		}
	}
}

// pipelineTexts yields the texts of the pipelines' kernels.
func pipelineTexts(g *program.Program) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, k := range g.Kernels {
			for _, k := range k.All() {
				if !yield(k.CUDA) {
					return
				}
			}
		}
	}
}
