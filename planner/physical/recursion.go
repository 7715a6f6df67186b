package physical

import (
	"fmt"
	"slices"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Recursion stores the rows of the pipelines that end in it. Then, round by round, it stores those that Step gives over the rows of the
// round before, which are read from Work.
//
//   - A round that gives no row is the last. One round too many (more than @@cte_max_recursion_depth, while there are rows to start from) is error 3636.
//   - With Distinct a row that has been given before, to judge by the columns By (nil: all), is dropped, NULLs being equal.
//   - Rows come round by round.
//   - The pipelines of Step run once a round, on the CPU, each after those that it depends on. They end in Round or in sinks that are
//     theirs alone. What does not depend on the round stands before, in the plan.
//   - Pipelines of Step may probe builds of the plan, so all of a plan that is [Plan.Recursive] runs on the CPU.
type Recursion struct {
	Name     string
	Cols     []*expr.Column
	Distinct bool
	By       []int // positions in Cols
	Enough   int64 // rows after which no round is needed; logical.NoLimit: all are
	Step     []*Pipeline
	Round    *Materialize
	Work     *WorkTable
}

// WorkTable stands, as what a SinkScan reads, for the rows of a recursion's last round, under the recursion's columns.
type WorkTable struct{ Cols []*expr.Column }

func (*Recursion) sink() {}
func (*WorkTable) sink() {}

// All returns the plan's pipelines, those of a recursion's rounds behind the last one that ends in it.
func (p *Plan) All() []*Pipeline {
	if !p.Recursive() {
		return p.Pipelines
	}
	var out []*Pipeline
	for i, pl := range p.Pipelines {
		out = append(out, pl)
		r, ok := pl.Sink.(*Recursion)
		if ok && !slices.ContainsFunc(p.Pipelines[i+1:], func(o *Pipeline) bool { return o.Sink == pl.Sink }) {
			out = append(out, r.Step...)
		}
	}
	return out
}

// Recursive says whether some pipelines of the plan run in rounds.
func (p *Plan) Recursive() bool {
	return slices.ContainsFunc(p.Pipelines, func(pl *Pipeline) bool {
		_, ok := pl.Sink.(*Recursion)
		return ok
	})
}

func (l *lowering) recursive(x *logical.Recursive) ([]*Pipeline, error) {
	seed, err := l.transform(x.Seed, rename(x.SeedCols, x.Cols))
	if err != nil {
		return nil, err
	}
	r := &Recursion{
		Name: x.Loop.Name, Cols: x.Cols, Distinct: x.Distinct, By: x.By, Enough: x.Enough,
		Round: &Materialize{Cols: x.Cols}, Work: &WorkTable{Cols: x.Cols},
	}
	if l.work == nil {
		l.work = map[*logical.Loop]*WorkTable{}
	}
	l.work[x.Loop] = r.Work
	before := len(l.done)
	step, err := l.transform(x.Step, rename(x.StepCols, x.Cols))
	if err != nil {
		return nil, err
	}
	l.close(step, r.Round, l.est.Rows(x.Step))
	made := slices.Clone(l.done[before:])
	l.done = l.done[:before]
	rounds := inRounds(made, r.Work)
	for _, p := range made {
		if !rounds[p] {
			l.done = append(l.done, p)
			continue
		}
		if _, ok := p.Sink.(*Recursion); ok {
			return nil, sqlerr.NotSupportedf("A recursion in each round of another one", "the expression `%s` starts one", x.Loop.Name)
		}
		r.Step = append(r.Step, p)
	}
	for _, p := range seed {
		p.Deps = append(p.Deps, l.done[before:]...)
	}
	l.close(seed, r, l.est.Rows(x))
	return l.reopen(seed, r, x.Cols), nil
}

// probeByRounds exchanges the sides of an inner join whose right side alone depends on a recursion's round: the other one is then
// stored once, not read in every round.
func (l *lowering) probeByRounds(x *logical.Join) *logical.Join {
	if len(l.work) == 0 || x.Kind != logical.InnerJoin || l.readsWork(x.Left) || !l.readsWork(x.Right) {
		return x
	}
	return &logical.Join{Kind: x.Kind, Left: x.Right, Right: x.Left, On: x.On, Hint: x.Hint}
}

func (l *lowering) readsWork(n logical.Node) (reads bool) {
	logical.Walk(n, func(n logical.Node) bool {
		w, ok := n.(*logical.WorkTable)
		reads = reads || ok && l.work[w.Loop] != nil
		return !reads
	})
	return reads
}

// workTable opens a reader of the round before.
func (l *lowering) workTable(x *logical.WorkTable) ([]*Pipeline, error) {
	work := l.work[x.Loop]
	if work == nil {
		return nil, sqlerr.Bug("the rows of %s are read outside of it", x.Loop.Name)
	}
	return []*Pipeline{{Source: &SinkScan{From: work, Cols: x.Cols, Ins: ids(work.Cols)}}}, nil
}

// inRounds finds the pipelines that give something else in each round. These are those that read the work table, directly or through others,
// those that share a sink with such a one, and those that note in a build which of its rows matched.
func inRounds(made []*Pipeline, work *WorkTable) map[*Pipeline]bool {
	in := map[*Pipeline]bool{}
	for again := true; again; {
		again = false
		for _, p := range made {
			if in[p] {
				continue
			}
			scan, ok := p.Source.(*SinkScan)
			depends := ok && scan.From == Sink(work) || slices.ContainsFunc(p.Deps, func(d *Pipeline) bool { return in[d] })
			for _, o := range made {
				depends = depends || in[o] && o.Sink == p.Sink
			}
			if b, ok := p.Sink.(*Build); ok && b.KeepUnmatched {
				depends = true
			}
			if depends {
				in[p], again = true, true
			}
		}
	}
	return in
}

// checkRecursion checks what a recursion stores; its work table is filled with it.
func checkRecursion(r *Recursion, alive logical.ColSet, filled map[Sink]logical.ColSet) error {
	if err := present(r.Cols, alive); err != nil {
		return err
	}
	if len(r.Step) == 0 || r.Step[len(r.Step)-1].Sink != Sink(r.Round) {
		return fmt.Errorf("the rounds of a recursion do not end where they should")
	}
	filled[r] = logical.SetOfCols(r.Cols)
	filled[r.Work] = logical.SetOfCols(r.Work.Cols)
	return nil
}
