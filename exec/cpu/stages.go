package cpu

import (
	"slices"
	"time"

	"github.com/radish-sql/radish/exec/cpu/join"
	"github.com/radish-sql/radish/exec/profile"
	"github.com/radish-sql/radish/planner/physical"
)

// staged is a pipeline that looks rows up in builds whose rows are in the temporary file. It is cut in front of each such probe, and its pieces run one
// after the other.
type staged struct {
	q     *execution
	p     *physical.Pipeline
	cuts  []int // the numbers of the probes among the transforms, ascending
	last  bool
	costs []profile.Pipeline // of the pieces; empty: not profiled
}

// spilledProbes returns the numbers of the transforms that look up in builds whose rows are in the temporary file.
func (q *execution) spilledProbes(p *physical.Pipeline) (at []int) {
	for i, t := range p.Transforms {
		if t, ok := t.(*physical.Probe); ok && q.builds[t.Build] != nil && q.builds[t.Build].IsSpilled() {
			at = append(at, i)
		}
	}
	return at
}

// maySpill says whether a build's rows may go to the temporary file. A recursion runs its pipelines many times, and forgets what they held.
func (q *execution) maySpill(b *physical.Build) bool {
	for _, p := range q.shared.Plan.All() {
		uses := p.Sink == physical.Sink(b) || slices.ContainsFunc(p.Transforms, func(t physical.Transform) bool {
			x, ok := t.(*physical.Probe)
			return ok && x.Build == b
		})
		if uses && !slices.Contains(q.shared.Plan.Pipelines, p) {
			return false
		}
	}
	return true
}

// IsSmall says that the client reads beside the pipeline.
func (s *staged) IsSmall() bool { return false }

// Run runs the pieces.
func (s *staged) Run() error {
	rest, from := *s.p, 0
	for _, to := range s.cuts {
		probe := s.p.Transforms[to].(*physical.Probe)
		stored := &physical.Materialize{Cols: s.p.AliveBefore(to)}
		first := rest
		first.Transforms, first.Sink, first.EstRows = s.p.Transforms[from:to], stored, s.p.RowsBefore(to)
		partitioned := join.NewPartitioned(s.q.Query, s.q.builds[probe.Build], probe, stored.Cols)
		s.q.sinks[stored] = partitioned
		if err := s.runPiece(&first, true); err != nil {
			return err
		}
		read := &physical.SinkScan{From: stored, Cols: stored.Cols}
		for _, c := range stored.Cols {
			read.Ins = append(read.Ins, c.ID)
		}
		rest.Source, rest.Transforms, from = read, s.p.Transforms[to:], to
	}
	if err := s.runPiece(&rest, s.last); err != nil {
		return err
	}
	if len(s.costs) > 0 {
		s.q.shared.Report(joined(s.costs))
	}
	return nil
}

// runPiece runs one piece.
func (s *staged) runPiece(p *physical.Pipeline, last bool) error {
	pl, err := s.q.preparePiece(p, s.p, last)
	if err != nil {
		return err
	}
	pl.report = func(cost profile.Pipeline) { s.costs = append(s.costs, cost) }
	if err := pl.Run(); err != nil {
		return err
	}
	if read, ok := pl.source.(*join.Partitioned); ok {
		read.Close()
	}
	return nil
}

// joined makes the costs of pieces those of their pipeline: writing rows and reading them is a part of the probe between two of them.
func joined(pieces []profile.Pipeline) profile.Pipeline {
	out := pieces[0]
	for _, x := range pieces[1:] {
		n := len(out.Operators) - 1
		written, read := out.Operators[n], x.Operators[0]
		out.Operators = append(slices.Clone(out.Operators[:n]), x.Operators[1:]...)
		probe := &out.Operators[n]
		probe.CPU += written.CPU + read.CPU
		probe.Note = written.Note
		probe.Memory = max(probe.Memory, written.Memory)
		out.Wall, out.Finish = out.Wall+x.Wall, out.Finish+x.Finish
		out.Workers, out.Morsels = max(out.Workers, x.Workers), out.Morsels+x.Morsels
	}
	return out
}

// reportCost hands over the cost of a pipeline that has run.
func (pl *prepared) reportCost(begin, ran time.Time, memory int64) {
	if pl.stats == nil {
		return
	}
	cost := pl.stats.cost(pl, begin, ran, memory)
	if pl.report != nil {
		pl.report(cost)
		return
	}
	pl.q.shared.Report(cost)
}
