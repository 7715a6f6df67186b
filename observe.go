package radish

import (
	"context"
	"strings"
	"time"

	"github.com/radish-sql/radish/engine/observe"
)

// Profile is what a query has cost.
type Profile struct {
	Wall       time.Duration
	PeakMemory int64  // bytes
	Fallback   string // why the CPU ran what had been placed on a GPU; empty: it did not
	Pipelines  []PipelineProfile
}

// PipelineProfile is the cost of one pipeline: its source, its transforms and its sink.
type PipelineProfile struct {
	ID        int
	Device    string // "cpu", "gpu"
	Workers   int
	Wall      time.Duration
	Kernel    time.Duration // on the GPU
	Operators []OperatorProfile
}

// OperatorProfile is the cost of one operator, summed over its workers.
type OperatorProfile struct {
	Name            string
	RowsIn, RowsOut int64 // -1: not counted, as in the middle of a GPU's kernel; RowsOut of an aggregation: its groups
	Time            time.Duration
	Memory          int64  // bytes that it held when its input was complete
	Bytes           int64  // encoded bytes of columns that a scan read
	Note            string // what the executor chose: the form of an aggregation's groups
}

// WithProfile returns a context whose queries are measured, also through database/sql: f is called with the profile of each when
// its rows have been read or closed, in the goroutine that does so. Measuring costs some percent of a query's time.
func WithProfile(ctx context.Context, f func(Profile)) context.Context {
	return observe.Observe(ctx, observe.Observer{Profile: func(p *observe.QueryProfile) { f(profileOf(p)) }})
}

func profileOf(p *observe.QueryProfile) Profile {
	out := Profile{Wall: p.Wall, PeakMemory: p.PeakMemory, Fallback: p.Fallback}
	for _, pl := range p.Pipelines {
		each := PipelineProfile{ID: pl.ID, Device: "cpu", Workers: pl.Workers, Wall: pl.Wall}
		if pl.GPU != nil {
			each.Device, each.Kernel = "gpu", pl.GPU.Kernel
		}
		for _, o := range pl.Operators {
			if o.Fused {
				o.RowsIn, o.RowsOut = observe.Uncounted, observe.Uncounted
			}
			each.Operators = append(each.Operators, OperatorProfile{
				Name: strings.TrimSpace(o.Name), RowsIn: o.RowsIn, RowsOut: o.RowsOut, Time: o.CPU, Memory: o.Memory, Bytes: o.Bytes, Note: o.Note,
			})
		}
		out.Pipelines = append(out.Pipelines, each)
	}
	return out
}

// Progress says how far a running query is.
type Progress struct {
	Rows      int64   // rows that its operators have read so far
	Fraction  float64 // of the rows of tables that it has to read: 0 to 1
	Pipelines int     // parts of the plan
	Done      int     // parts that have ended
	Device    string  // where it runs at the moment: "cpu", "gpu"
	// Reading is the file that is read into memory before the rows flow; Fraction is then that of its bytes. Empty: none is.
	Reading string
}

// WithProgress returns a context whose queries report how far they are, also through database/sql: f is called each interval (0:
// 100 ms) while one runs, by another goroutine, and never after its rows have ended. f must return soon.
func WithProgress(ctx context.Context, interval time.Duration, f func(Progress)) context.Context {
	return observe.Observe(ctx, observe.Observer{Interval: interval, Progress: func(s observe.QueryProgress) {
		p := Progress{Rows: s.Rows, Pipelines: s.Pipelines, Done: min(s.PipelinesDone, s.Pipelines), Device: "cpu"}
		if s.OnGPU {
			p.Device = "gpu"
		}
		if p.Reading = s.Reading; s.Reading != "" {
			p.Fraction = min(1, float64(s.ReadBytes)/float64(max(1, s.FileBytes)))
		} else if s.Total > 0 {
			p.Fraction = min(1, float64(s.Scanned)/float64(s.Total))
		}
		f(p)
	}})
}
