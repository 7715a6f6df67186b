package join

import (
	"fmt"

	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// MatchedWord is the address of a byte for each row of a build: it has found a match.
type MatchedWord struct{ of }

// OpenUnmatched writes the loop over a build's rows that found no match.
func (all Forms) OpenUnmatched(k *kernel.Kernel, s *codegen.Scope, src *physical.UnmatchedScan) error {
	f, err := all.of(k.Plan, src.Build)
	if err != nil {
		return err
	}
	if f.Radix != nil {
		f.Radix.OpenUnmatched(k, s, src)
		return nil
	}
	k.Line("// rows of the build without a match")
	k.OpenStored(src.Build, fmt.Sprintf("!%s[row]", k.Pointer("const u8", MatchedWord{of{src.Build}})))
	k.BindStored(s, src.Build, f.rows, f.payAt, src.Build.Payload, "row", "")
	for _, c := range src.Nulls {
		s.Bind(c.ID, codegen.NullOf(form.ClassOf(c.Typ), c.Typ))
	}
	return nil
}
