package engine

import (
	"slices"
	"strings"

	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/planner/joinorder"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/planner/rules"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// The values of radish_device.
const (
	deviceAuto   = "auto"
	deviceCPU    = "cpu"
	deviceGPU    = "gpu"
	deviceStrict = "gpu_strict"
)

// gpu returns the GPU of the process, opened when it is first asked for.
func (e *Engine) gpu() (*gpu.Device, error) { return gpu.Shared(e.opts.GPULibrary) }

// needGPU is gpu, with an error for people: what is missing and how to get it.
func (v *variables) needGPU(value string) (*gpu.Device, error) {
	d, err := v.engine.gpu()
	if err != nil {
		return nil, sqlerr.NotSupportedf("radish_device = '"+value+"'", "there is no usable GPU: %s", v.withoutPaths(err)).WithCause(err)
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

func setDevice(v *variables, value string) (string, error) {
	switch value = strings.ToLower(value); value {
	case deviceAuto, deviceCPU:
		return value, nil
	case deviceGPU, deviceStrict:
		_, err := v.needGPU(value)
		return value, err
	}
	return "", sqlerr.WrongValueForVar("radish_device", value).WithHint("it can be auto, cpu, gpu or gpu_strict")
}

// joinModel says what joins cost on the device that a query is expected to run on.
func (s *Session) joinModel(q *logical.Query) joinorder.Model {
	switch s.vars.get(variableByName["radish_device"]) {
	case deviceCPU:
		return joinorder.Model{}
	case deviceAuto:
		if s.engine.autoMode == gpu.Auto && rules.TableRows(q) < gpu.LeastRows() {
			return joinorder.Model{}
		}
		if _, err := s.engine.gpu(); err != nil {
			return joinorder.Model{}
		}
	}
	return joinorder.GPU
}

// readsInformationSchema says whether a pipeline reads a table of information_schema.
func readsInformationSchema(p *physical.Pipeline) bool {
	scan, ok := p.Source.(*physical.TableScan)
	return ok && scan.Table.Schema.Database == informationSchema
}

// place chooses the devices of a plan's pipelines. It returns nil if all run on the CPU.
func (s *Session) place(st *statement, plan *physical.Plan) (*gpu.Placed, error) {
	value := s.vars.get(variableByName["radish_device"])
	mode := gpu.Always
	stay := func(reason string) (*gpu.Placed, error) {
		for _, p := range plan.All() {
			p.Reason = reason
		}
		return nil, nil
	}
	if slices.ContainsFunc(plan.All(), readsInformationSchema) {
		return stay("information_schema is read on the CPU") // which says what is wrong with a GPU
	}
	switch value {
	case deviceCPU:
		return stay("radish_device is 'cpu'")
	case deviceAuto:
		mode = s.engine.autoMode
		if reason := gpu.Small(plan); mode == gpu.Auto && reason != "" {
			return stay(reason)
		}
	case deviceStrict:
		mode = gpu.Strict
	}
	d, err := s.vars.needGPU(value)
	switch {
	case err != nil && value == deviceAuto:
		return nil, nil // the CPU does
	case err != nil:
		return nil, err
	}
	return d.Place(plan, st.exprContext(), mode, s.vars.threads(s.engine), s.vars.integer("radish_gpu_memory_limit"))
}
