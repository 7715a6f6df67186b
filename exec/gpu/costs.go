package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/radish-sql/radish/exec/cpu"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/planner/physical"
)

// Costs are what placement estimates with, in seconds.
type Costs struct {
	CPU     Rates   `json:"cpu"` // rows: on one core
	GPU     Rates   `json:"gpu"`
	Upload  float64 `json:"upload"`  // a byte of a table column that is not on the device
	Compile float64 `json:"compile"` // a kernel that is not compiled yet
}

// Rates are the costs of one side.
type Rates struct {
	Start     float64 `json:"start"` // a pipeline, whatever its rows
	Scan      float64 `json:"scan"`  // a row of the source
	Step      float64 `json:"step"`  // a row of a filter or a projection
	Probe     float64 `json:"probe"` // a row that is looked up, or stored to be looked up, sorted or read again
	Aggregate float64 `json:"aggregate"`
}

// defaultCosts are used until something was measured: an H200's (docs/benchmarks.md), whose starts and rows are taken to cost twice as much, so that
// a smaller GPU is not overestimated.
var defaultCosts = Costs{
	CPU:     Rates{Start: 30e-6, Scan: 3e-9, Step: 4e-9, Probe: 10e-9, Aggregate: 8e-9},
	GPU:     Rates{Start: 150e-6, Scan: 4e-12, Step: 2e-12, Probe: 6e-11, Aggregate: 1e-11},
	Upload:  1 / 20e9,
	Compile: 50e-3,
}

const (
	// leastRows: a plan that reads fewer stays on the processor, and no device is opened for it.
	leastRows = 1 << 16
	// uploadShare and compileShare: columns stay on the device, and kernels are kept, so a query is charged a part of what it takes to get them.
	uploadShare  = 0.25
	compileShare = 0.1
)

// Estimate is what a plan takes on the processor and on the device; missing gives the bytes of a scan's columns that are not there yet.
func (c *Costs) Estimate(plan *physical.Plan, threads int, missing func(*physical.TableScan) int64) (onCPU, onGPU time.Duration) {
	here, there := 0.0, 0.0
	for _, p := range plan.Pipelines {
		here += c.CPU.Start + c.CPU.rows(p, true)/float64(cpu.Workers(sourceRows(p), threads))
		there += c.GPU.Start + c.GPU.rows(p, false)
		if scan, ok := p.Source.(*physical.TableScan); ok {
			there += float64(missing(scan)) * c.Upload * uploadShare
		}
	}
	return seconds(here), seconds(there)
}

func seconds(s float64) time.Duration {
	return time.Duration(min(s*1e9, math.MaxInt64/2))
}

// rows is what a pipeline's rows cost. sorted says that builds of range joins are sorted and searched; else joins go over all pairs.
func (r *Rates) rows(p *physical.Pipeline, sorted bool) float64 {
	n := sourceRows(p)
	cost := n * r.Scan
	if scan, ok := p.Source.(*physical.TableScan); ok {
		n = min(n, scan.EstRows)
	}
	for _, t := range p.Transforms {
		switch t := t.(type) {
		case *physical.Probe:
			if a := t.Build.Algorithm; a == physical.NestedLoopJoin || a == physical.RangeJoin && !sorted {
				cost += n * max(t.Build.EstRows, 1) * r.Step
			} else {
				cost += n * r.Probe
			}
			n = t.EstRows
		default:
			cost += n * r.Step
		}
	}
	switch s := p.Sink.(type) {
	case *physical.Aggregate:
		if s.Algorithm == physical.ScalarAggregate {
			return cost + p.EstRows*r.Step
		}
		return cost + p.EstRows*r.Aggregate
	default:
		return cost + p.EstRows*r.Probe
	}
}

// cheaperHere says why a plan is better run on the processor; "" if it is not.
func (d *Device) cheaperHere(plan *physical.Plan, threads int) string {
	if d.Emulated() {
		return "the device is emulated: it runs only what radish_device = 'gpu' puts there"
	}
	if reason := Small(plan); reason != "" {
		return reason
	}
	here, there := d.Costs().Estimate(plan, threads, d.missing)
	if here <= there {
		return fmt.Sprintf("estimated %.2f ms on the CPU, %.2f ms on the GPU", here.Seconds()*1e3, there.Seconds()*1e3)
	}
	return ""
}

// cheaperThanCompiling says why a plan is better run on the processor than by kernels that are not compiled yet; "" if it is not.
func (d *Device) cheaperThanCompiling(g *program, threads int) string {
	unknown := 0
	for _, k := range g.kernels {
		for _, k := range k.all() {
			if !d.device.Known(k.text) {
				unknown++
			}
		}
	}
	if unknown == 0 {
		return ""
	}
	c := d.Costs()
	here, there := c.Estimate(g.plan, threads, d.missing)
	if there += seconds(float64(unknown) * c.Compile * compileShare); here > there {
		return ""
	}
	return fmt.Sprintf("estimated %.2f ms on the CPU, %.2f ms on the GPU, of that a share of compiling %d kernels", here.Seconds()*1e3, there.Seconds()*1e3, unknown)
}

// missing is the bytes of a scan's columns that are not on the device.
func (d *Device) missing(scan *physical.TableScan) int64 {
	_, bytes := d.res.resident(scan.Table, scanOrdinals(scan))
	return bytes
}

// PlanRows is the number of rows that a plan's pipelines are estimated to read.
func PlanRows(plan *physical.Plan) float64 {
	rows := 0.0
	for _, p := range plan.Pipelines {
		rows += sourceRows(p)
	}
	return rows
}

func sourceRows(p *physical.Pipeline) float64 {
	switch src := p.Source.(type) {
	case *physical.TableScan:
		return float64(src.Table.Rows())
	case *physical.ValuesScan:
		return float64(len(src.Rows))
	case *physical.SinkScan:
		if a, ok := src.From.(*physical.Aggregate); ok {
			return a.EstGroups
		}
	}
	return p.EstRows
}

// Small says that a plan reads so little that it stays on the CPU, without opening a device; "" if it does not.
func Small(plan *physical.Plan) string {
	if rows := PlanRows(plan); rows < leastRows {
		return fmt.Sprintf("small inputs stay on the CPU (~%.0f rows)", rows)
	}
	return ""
}

// LeastRows is the number of rows up to which a plan is not worth opening a device for.
func LeastRows() float64 { return leastRows }

// Costs are what placement estimates with: what was measured on this machine, if it was.
func (d *Device) Costs() *Costs {
	if c := d.costs.Load(); c != nil {
		return c
	}
	return &defaultCosts
}

// Learn makes measured costs those of the device, in this process and, where there is a folder for compiled kernels, in later ones.
func (d *Device) Learn(c Costs) error {
	d.costs.Store(&c)
	if file := d.costsFile(); file != "" {
		return c.save(file)
	}
	return nil
}

// recall takes costs that an earlier process measured.
func (d *Device) recall() {
	if file := d.costsFile(); file != "" {
		d.costs.Store(loadCosts(file))
	}
}

func (c *Costs) save(file string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o600)
	}
	return err
}

// loadCosts returns what save wrote; nil if there is no such file, or another's.
func loadCosts(file string) *Costs {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var c Costs
	if json.Unmarshal(text, &c) != nil || !c.valid() {
		return nil
	}
	return &c
}

// valid says whether all figures can be costs.
func (c *Costs) valid() bool {
	for _, r := range []Rates{c.CPU, c.GPU} {
		for _, x := range []float64{r.Start, r.Scan, r.Step, r.Probe, r.Aggregate, c.Upload, c.Compile} {
			if !(x >= 0 && x < 100) {
				return false
			}
		}
		if r.Start == 0 || r.Scan == 0 {
			return false
		}
	}
	return c.Compile > 0
}

// costsFile holds what was measured, by device, driver and processors: a home folder may be several machines'. "": none.
func (d *Device) costsFile() string {
	folder := gpukernels.CacheFolder()
	if folder == "" || d.Emulated() {
		return ""
	}
	i := d.Info()
	machine := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s %d", i.Name, i.DriverVersion, i.Multiprocessors, runtime.GOARCH, runtime.NumCPU()))
	return filepath.Join(folder, "costs-"+hex.EncodeToString(machine[:8])+".json")
}
