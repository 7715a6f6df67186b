package engine

import (
	"slices"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// fleet are all GPUs that can work together. They are opened when one of them is first asked for.
func (e *Engine) fleet() *gpu.Fleet { return gpu.OpenFleet(e.opts.GPULibrary, nil) }

// gpu returns the GPU of the process that comes first.
func (e *Engine) gpu() (*gpu.Device, error) { return e.limited(e.fleet()).First() }

// gpuIfOpen is the GPU if somebody has asked for it, and it could be opened.
func (e *Engine) gpuIfOpen() (d *gpu.Device, ok bool) { return gpu.AnyOpen(e.opts.GPULibrary) }

// limited has devices keep to the engine's limit, each of them, for as long as the engine lives.
func (e *Engine) limited(f *gpu.Fleet) *gpu.Fleet {
	if e.opts.GPUMemoryLimit > 0 && !e.closed.Load() {
		f.LimitMemory(e, e.opts.GPUMemoryLimit)
	}
	return f
}

// gpuDevices names the variable that lists the GPUs of queries.
const gpuDevices = "radish_gpu_devices"

// setGPUDevices checks a list of GPUs, and opens those that it names.
func setGPUDevices(v *variables, value string) (string, error) {
	ordinals, err := gpu.ParseDevices(value)
	if err != nil {
		return "", sqlerr.WrongValueForVar(gpuDevices, value).WithHint("it is 'all', or numbers of devices such as '0,1': %s", err)
	}
	if ordinals == nil {
		value = gpu.AllDevices
	} else if _, err := gpu.OpenFleet(v.engine.opts.GPULibrary, ordinals).Wait(); err != nil {
		return "", sqlerr.NotSupportedf(gpuDevices+" = '"+value+"'", "the GPUs cannot be used: %s", v.withoutPaths(err)).
			WithHint("information_schema.radish_devices has the numbers of those that can").WithCause(err)
	}
	v.gpus = ordinals
	return value, nil
}

// fleet are the GPUs of the session's queries.
func (v *variables) fleet() *gpu.Fleet {
	return v.engine.limited(gpu.OpenFleet(v.engine.opts.GPULibrary, v.gpus))
}

// needGPU is the first of the session's GPUs, or an error for people: what is missing and how to get it.
func (v *variables) needGPU(value gpu.Setting) (*gpu.Device, error) {
	d, err := v.fleet().First()
	if err != nil {
		return nil, sqlerr.NotSupportedf("radish_device = '"+string(value)+"'", "there is no usable GPU: %s", v.withoutPaths(err)).
			WithHint("SET radish_device = 'auto' to go on with the CPU").WithCause(err)
	}
	return d, nil
}

// withoutPaths is the text of an error about a GPU, which may name files and say whether there are such, for those who may read all of them.
func (v *variables) withoutPaths(err error) string {
	if v.access.ReadsAll() {
		return err.Error()
	}
	return "why names files, which radish_file_access = '" + v.access.String() + "' hides"
}

// readsInformationSchema says whether a pipeline reads a table of information_schema.
func readsInformationSchema(p *physical.Pipeline) bool {
	scan, ok := p.Source.(*physical.TableScan)
	return ok && scan.Table.Schema.Database == infoschema.Name
}

// forced plans a query for the device that radish_device names, or that tests choose instead of 'auto'.
func (s *Session) forced(st *statement, p *planned, device gpu.Setting) error {
	var err error
	if p.plan, err = s.lowered(st, p, plannedFor(device)); err != nil {
		return err
	}
	if p.gpu, p.placement, err = s.place(st, p.plan, device, p); p.gpu != nil {
		p.plan = p.gpu.Plan
	}
	return err
}

// place puts the pipelines of a plan on the device that radish_device names. p knows where the plan was placed before, if it is kept; nil: nobody does. placed is nil if all run on the CPU.
func (s *Session) place(st *statement, plan *physical.Plan, device gpu.Setting, p *planned) (placed *gpu.Placed, where physical.Placement, err error) {
	switch {
	case slices.ContainsFunc(plan.All(), readsInformationSchema):
		return nil, physical.OnCPU("information_schema is read on the CPU"), nil // it says what is wrong with a GPU
	case device == gpu.Never:
		return nil, physical.OnCPU("radish_device is 'cpu'"), nil
	}
	d, err := s.vars.needGPU(device)
	if err != nil {
		return nil, where, err
	}
	wish := s.wish(s.engine.auto.placedAs(device), "")
	if p != nil {
		wish.Kept, wish.Shared.Took = p.placing(), p.took(d)
	}
	if device == gpu.Auto {
		wish.Reason = "a test wants it there"
	}
	return d.Place(plan, st.exprContext(), wish)
}

// wish is how the session's plans are placed on a GPU, for a reason that counts where the setting does not give one.
func (s *Session) wish(setting gpu.Setting, reason string) gpu.Wish {
	return gpu.Wish{
		Setting: setting, Reason: reason, Limit: s.vars.integer("radish_gpu_memory_limit"), Tables: s.vars.integer("radish_gpu_table_memory"),
		Joins: gpu.Joins{
			InPartitions: gpu.Partitioning(s.vars.get(variableByName[gpuJoinPartitions])), Passes: int(s.vars.integer("radish_gpu_join_passes")), Bits: int(s.vars.integer("radish_gpu_join_bits")),
			Sorted: gpu.Sorting(s.vars.get(variableByName[gpuJoinSorted])),
		},
		Shared: gpu.Sharing{Fleet: s.vars.fleet(), When: gpu.Share(s.vars.get(variableByName[gpuShare]))},
	}
}
