package query

import (
	"slices"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/physical"
)

// plannedFor is the device that queries are planned for where no race decides.
func plannedFor(s gpu.Setting) physical.Device {
	if s == gpu.Never {
		return physical.CPU
	}
	return physical.GPU
}

// readsInformationSchema says whether a pipeline reads a table of information_schema.
func readsInformationSchema(p *physical.Pipeline) bool {
	scan, ok := p.Source.(*physical.TableScan)
	return ok && scan.Table.Schema.Database == infoschema.Name
}

// forced plans a query for the device that radish_device names, or that tests choose instead of 'auto'.
func forced(st *session.Statement, p *Planned, device gpu.Setting) error {
	var err error
	if p.Plan, err = lowered(st, p, plannedFor(device)); err != nil {
		return err
	}
	if p.gpu, p.placement, err = Place(st, p.Plan, device, p); p.gpu != nil {
		p.Plan = p.gpu.Plan
	}
	return err
}

// Place puts the pipelines of a plan on the device that radish_device names. p knows where the plan was placed before, if it is kept; nil: nobody does. placed is nil if all run on the CPU.
func Place(st *session.Statement, plan *physical.Plan, device gpu.Setting, p *Planned) (placed *gpu.Placed, where physical.Placement, err error) {
	s := st.Session
	switch {
	case slices.ContainsFunc(plan.All(), readsInformationSchema):
		return nil, physical.OnCPU("information_schema is read on the CPU"), nil // it says what is wrong with a GPU
	case device == gpu.Never:
		return nil, physical.OnCPU("radish_device is 'cpu'"), nil
	}
	d, err := s.Vars.NeedGPU(device)
	if err != nil {
		return nil, where, err
	}
	wish := wish(s, s.DB.Auto.PlacedAs(device), "")
	if p != nil {
		wish.Kept, wish.Shared.Took = p.placing(), p.took(d)
	}
	if device == gpu.Auto {
		wish.Reason = "a test wants it there"
	}
	return d.Place(plan, st.Expressions(), wish)
}

// wish is how the session's plans are placed on a GPU, for a reason that counts where the setting does not give one.
func wish(s *session.Session, setting gpu.Setting, reason string) gpu.Wish {
	return gpu.Wish{
		Setting: setting, Reason: reason, Limit: s.Vars.Integer("radish_gpu_memory_limit"), Tables: s.Vars.Integer("radish_gpu_table_memory"),
		Joins: gpu.Joins{
			InPartitions: gpu.Partitioning(s.Vars.Text(variables.GPUJoinPartitions)), Passes: int(s.Vars.Integer("radish_gpu_join_passes")), Bits: int(s.Vars.Integer("radish_gpu_join_bits")),
			Sorted: gpu.Sorting(s.Vars.Text(variables.GPUJoinSorted)),
		},
		Shared: gpu.SharingWish{Fleet: s.Vars.Fleet(), When: gpu.Share(s.Vars.Text(variables.GPUShare))},
	}
}
