package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
)

// hint is an optimizer hint of a SELECT in sight. SET_VAR is the session's business, not the binder's.
type hint struct {
	join   logical.JoinHint
	agg    logical.AggHint
	tables []string // empty: every join of the block
}

// enterHints brings the hints of a query block into sight; the returned function takes them out.
func (b *Binder) enterHints(hs []*ast.TableOptimizerHint) (leave func()) {
	saved := b.hints
	b.hints = nil
	for _, h := range hs {
		var out hint
		switch h.HintName.L {
		case "hash_join":
			out.join = logical.HintHashJoin
		case "merge_join":
			out.join = logical.HintMergeJoin
		case "inl_join":
			out.join = logical.HintIndexLoop
		case "hash_agg":
			out.agg = logical.HintHashAgg
		case "stream_agg":
			out.agg = logical.HintStreamAgg
		default:
			continue
		}
		for _, t := range h.Tables {
			out.tables = append(out.tables, t.TableName.L)
		}
		b.hints = append(b.hints, out)
	}
	return func() { b.hints = saved }
}

// joinHint returns the hint for a join over the tables of sc.
func (b *Binder) joinHint(sc *scope) logical.JoinHint {
	for _, h := range b.hints {
		if h.join == logical.NoJoinHint {
			continue
		}
		if len(h.tables) == 0 {
			return h.join
		}
		for _, t := range h.tables {
			for _, c := range sc.cols {
				if strings.EqualFold(c.table, t) {
					return h.join
				}
			}
		}
	}
	return logical.NoJoinHint
}

func (b *Binder) aggHint() logical.AggHint {
	for _, h := range b.hints {
		if h.agg != logical.NoAggHint {
			return h.agg
		}
	}
	return logical.NoAggHint
}
