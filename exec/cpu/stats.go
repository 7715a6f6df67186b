package cpu

import (
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/scan"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
)

// pipelineStats measures a pipeline's operators: 0 is the source, then the transforms, last the sink. A nil
// *pipelineStats measures nothing.
type pipelineStats struct {
	ops []opStats
}

type opStats struct {
	name    string
	rows    atomic.Int64 // into the operator
	batches atomic.Int64
	time    atomic.Int64 // nanoseconds in it and in what comes after it
}

func newPipelineStats(p *physical.Pipeline) *pipelineStats {
	s := &pipelineStats{ops: make([]opStats, len(p.Transforms)+2)}
	s.ops[0].name = operatorName(p.Source)
	for i, t := range p.Transforms {
		s.ops[i+1].name = operatorName(t)
	}
	s.ops[len(s.ops)-1].name = operatorName(p.Sink)
	return s
}

func operatorName(x any) string {
	switch x := x.(type) {
	case *physical.TableScan:
		return "scan " + x.Alias
	case *physical.SinkScan:
		return "scan of stored rows"
	case *physical.UnmatchedScan:
		return "unmatched rows"
	case *physical.ValuesScan:
		return "values"
	case *physical.Filter:
		return "filter"
	case *physical.Project:
		return "project"
	case *physical.Probe:
		return "probe"
	case *physical.Limit:
		return "limit"
	case *physical.Repeat:
		return "repeat"
	case *physical.Unnest:
		return "unnest"
	case *physical.Build:
		return "build"
	case *physical.Aggregate:
		return "aggregate"
	case *physical.Sort:
		return "sort"
	case *physical.Recursion:
		return "recursion"
	case *physical.Window:
		return "window"
	case *physical.Materialize:
		return "materialize"
	}
	return "result"
}

// wrap measures the operator i in front of which it is put.
func (s *pipelineStats) wrap(i int, next pipeline.Op) pipeline.Op {
	if s == nil {
		return next
	}
	return &measured{stats: &s.ops[i], next: next}
}

func (s *pipelineStats) wrapReader(r pipeline.Reader) pipeline.Reader {
	if s == nil {
		return r
	}
	return &measuredReader{stats: &s.ops[0], next: r}
}

type measured struct {
	stats *opStats
	next  pipeline.Op
}

func (m *measured) Push(b *column.Batch) error {
	rows := int64(b.Rows())
	begin := time.Now()
	err := m.next.Push(b)
	m.stats.time.Add(int64(time.Since(begin)))
	m.stats.rows.Add(rows)
	m.stats.batches.Add(1)
	return err
}

type measuredReader struct {
	stats *opStats
	next  pipeline.Reader
}

func (m *measuredReader) Read(morsel int) error {
	begin := time.Now()
	err := m.next.Read(morsel)
	m.stats.time.Add(int64(time.Since(begin)))
	return err
}

// cost is what the pipeline took. memory is what the sink holds.
func (s *pipelineStats) cost(pl *prepared, begin, ran time.Time, memory int64) profile.Pipeline {
	p := profile.Pipeline{ID: pl.p.ID, Workers: pl.workers, Morsels: pl.source.Morsels(), Wall: time.Since(begin), Finish: time.Since(ran)}
	for i := range s.ops {
		o := &s.ops[i]
		x := profile.Operator{Name: o.name, RowsIn: o.rows.Load(), Batches: o.batches.Load(), CPU: time.Duration(o.time.Load())}
		if i == 0 {
			x.RowsIn = int64(pl.source.Rows())
			if s, ok := pl.source.(*scan.Stored); ok {
				x.RowsIn = s.RowsRead()
			}
			if pl.scan != nil {
				x.RowsIn = pl.scan.RowsRead()
				x.Bytes = pl.scan.EncodedBytes() + pl.scan.StreamedBytes.Load()
			}
		}
		if i == len(s.ops)-1 {
			x.CPU += p.Finish
			x.Memory = max(0, memory)
		}
		if i+1 < len(s.ops) {
			x.RowsOut = s.ops[i+1].rows.Load()
			x.CPU -= time.Duration(s.ops[i+1].time.Load())
		} else if d, ok := pl.sink.(pipeline.Describer); ok {
			x.RowsOut = profile.Uncounted
			if pl.last { // no other pipeline adds to them
				x.RowsOut, x.Note = d.Describe()
			}
		}
		p.Operators = append(p.Operators, x)
	}
	return p
}
