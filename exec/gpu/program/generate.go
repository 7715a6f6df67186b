package program

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/join"
	"github.com/radish-sql/radish/exec/gpu/kernel"
)

// generate writes the kernel.
func (k *writer) generate() (*kernel.Kernel, error) {
	sink, err := k.newSink()
	if err != nil {
		return nil, err
	}
	s := codegen.NewScope()
	if err := k.openSource(s); err != nil {
		return nil, err
	}
	out := k.Gap() // variables that the sink takes out of the row's blocks
	s = k.openRow(s)
	for _, t := range k.Pipeline.Transforms {
		if s, err = k.transform(s, t); err != nil {
			return nil, err
		}
	}
	if err := sink.Row(s); err != nil {
		return nil, err
	}
	if err := k.closeRow(sink, out); err != nil {
		return nil, err
	}
	if err := sink.After(); err != nil {
		return nil, err
	}
	declared := sink.Declare()
	declared = append(declared, join.DeclareFilters(k.Kernel)...)
	if k.Stops {
		declared = append(declared, fmt.Sprintf("bool stop = raised(%s);", k.ErrorAddress()))
	}
	k.Fill(k.Declarations, 1, declared)
	for _, x := range k.All() {
		if most := k.g.Target.LaunchWords; len(x.Params) > most {
			return nil, codegen.Refuse("its kernel would need more than %d literals, columns and arrays", most)
		}
		x.CUDA = x.File(k.Defines)
	}
	return k.Kernel, nil
}

// closeRow closes the blocks of a row, has the sink store the block's rows together, and closes the loop over the source.
func (k *writer) closeRow(sink kernel.Sink, out codegen.Gap) error {
	for i := len(k.Ends) - 1; i >= 0; i-- {
		if k.Ends[i] != "" {
			k.Line("%s", k.Ends[i])
		}
		k.Close()
	}
	outside, err := sink.Together()
	if err != nil {
		return err
	}
	k.Fill(out, k.Depth(), outside)
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
	return nil
}
