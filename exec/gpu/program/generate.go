package program

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// generate writes the kernels. All of it is decided: nothing is refused any more.
func (k *writer) generate() *kernel.Kernel {
	if x := k.g.choices.Probe[k.Pipeline]; x != nil {
		return k.generateApart(x)
	}
	k.write(endOf(k.Pipeline).write(k), k.Pipeline.Transforms)
	return k.finished()
}

// generateApart writes the kernels of a pipeline whose rows go to partitions for one of its joins: what stands behind the join is in a kernel of its own.
func (k *writer) generateApart(x *radix.Join) *kernel.Kernel {
	k.write(x.ProbeSide().Sink(k.Kernel), k.Pipeline.Transforms[:x.At()])
	j := &writer{Kernel: kernel.New(k.Outline), g: k.g}
	j.Title = k.Title + "_join"
	sink := endOf(j.Pipeline).write(j)
	s, out := j.openMatches(x)
	threads, blocks, defines := j.Threads, j.Blocks, j.Defines
	j.writeRows(s, out, sink, k.Pipeline.Transforms[x.At()+1:])
	j.Threads, j.Blocks, j.Shared.Before = threads, blocks, j.SourceShared
	for _, sub := range append([]*kernel.Kernel{j.Kernel}, j.Then...) {
		sub.CUDA = sub.File(defines)
	}
	if x.Merges() {
		k.Then = append(k.Then, x.Split(j.Kernel))
	}
	k.Then = append(append(k.Then, j.Kernel), j.Then...)
	j.Then = nil
	return k.finished()
}

// openMatches writes a kernel that joins up to the block of a match. out is where the variables stand that the sink takes out of the row's blocks.
func (k *writer) openMatches(x *radix.Join) (s *codegen.Scope, out codegen.Gap) {
	s = codegen.NewScope()
	if x.Merges() {
		return x.Merge(k.Kernel, s)
	}
	x.Open(k.Kernel, s)
	if k.Together {
		return x.MatchesTogether(k.Kernel, s)
	}
	out = k.Gap()
	return x.Matches(k.Kernel, k.openRow(s)), out
}

// write writes a kernel from its source over some transforms to a sink.
func (k *writer) write(sink kernel.Sink, transforms []physical.Transform) {
	s := codegen.NewScope()
	k.openSource(s)
	out := k.Gap() // variables that the sink takes out of the row's blocks
	s = k.openRow(s)
	if k.rowFilter != nil {
		s = k.rowFilter(s)
	}
	k.writeRows(s, out, sink, transforms)
}

// writeRows writes what is done to a row, and what stands around the loop over all.
func (k *writer) writeRows(s *codegen.Scope, out codegen.Gap, sink kernel.Sink, transforms []physical.Transform) {
	for _, t := range transforms {
		s = k.transform(s, t)
	}
	sink.Row(s)
	k.closeRow(sink, out)
	sink.After()
	declared := sink.Declare()
	declared = append(declared, join.DeclareFilters(k.Kernel)...)
	if k.Stops {
		declared = append(declared, fmt.Sprintf("bool stop = raised(%s);", k.ErrorAddress()))
	}
	k.Fill(k.Declarations, 1, declared)
}

// finished gives the kernels their whole texts.
func (k *writer) finished() *kernel.Kernel {
	for _, x := range k.All() {
		if x.CUDA == "" {
			x.CUDA = x.File(k.Defines)
		}
	}
	return k.Kernel
}

// closeRow closes the blocks of a row, has the sink store the block's rows together, and closes the loop over the source.
func (k *writer) closeRow(sink kernel.Sink, out codegen.Gap) {
	for i := len(k.Ends) - 1; i >= 0; i-- {
		if k.Ends[i] != "" {
			k.Line("%s", k.Ends[i])
		}
		k.Close()
	}
	k.Fill(out, k.Depth(), sink.Together())
	for k.Depth() > 1 {
		k.Close()
		if k.Depth() == 2 {
			for _, l := range k.EndTile {
				k.Line("%s", l)
			}
		}
	}
	if k.Tile != "" {
		k.Fill(k.Tile, 2, nil)
	}
	if scan := k.Rows.Scan; scan != nil {
		tiles := fmt.Sprintf("%s, %s, %s", k.Word(kernel.SpansWord{Scan: scan}), k.Word(kernel.FromWord{}), k.Word(kernel.ToWord{}))
		if k.Learn != nil {
			tiles += ", (i64)" + k.Word(kernel.EveryWord{})
		}
		k.Fill(k.Tiles, 1, []string{fmt.Sprintf("for (Tiles<RADISH_ITEMS> t(%s); t.next();) {", tiles)})
	}
}
