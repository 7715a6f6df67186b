package accumulate

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// concatSpec is what the accumulators of one GROUP_CONCAT share.
type concatSpec struct {
	q     *task.Query
	item  *logical.AggItem
	args  int          // the first so many inputs are concatenated, the others order
	types []types.Type // of the inputs
	limit int          // bytes of a result
}

// concatenation makes the texts of GROUP_CONCAT.
type concatenation struct {
	heldRows
	spec  *concatSpec
	texts []concatText // by group
}

// concatText is what came of a group.
type concatText struct {
	text string
	some bool // else NULL
	cut  bool
}

func newConcatenation(s *concatSpec) *concatenation {
	a := &concatenation{spec: s}
	a.hold(s.q, "GROUP_CONCAT", s.args, s.types, a)
	for i, k := range s.item.OrderBy {
		a.by = append(a.by, heldKey{s.args + i, k.Desc})
	}
	return a
}

func (a *concatenation) start(_ []*column.Vector, groups int) { a.texts = make([]concatText, groups) }

// finish makes the text of one group of the rows that it has.
func (a *concatenation) finish(g int, cols []*column.Vector, rows []int32) error {
	q := a.spec.q
	var buf, piece, key []byte
	var seen map[string]bool
	known := 0 // bytes of seen
	held := memory.Account{Budget: q.Memory, Operator: "GROUP_CONCAT"}
	defer held.Close()
	if a.spec.item.Distinct {
		seen = map[string]bool{}
	}
	for i, r := range rows {
		if i&(task.CheckRows>>4) == task.CheckRows>>4 {
			if err := q.Check(); err != nil {
				return err
			}
		}
		if len(buf) > a.spec.limit {
			break
		}
		if n := int64(growing*cap(buf) + known); n >= held.Used()+concatGrain {
			if err := held.Set(n); err != nil {
				return err
			}
		}
		piece, key = piece[:0], key[:0]
		for c := range a.spec.args {
			text := textAt(cols[1+c], int(r))
			piece = append(piece, text...)
			if seen == nil {
				continue
			}
			if t := a.spec.types[c]; t.Folds() {
				text = t.Collation.Key(text)
			}
			key = append(binary.AppendUvarint(key, uint64(len(text))), text...)
		}
		if seen != nil {
			if seen[string(key)] {
				continue
			}
			seen[string(key)] = true
			known += len(key) + seenEntry
		}
		if i > 0 {
			buf = append(buf, a.spec.item.Sep...)
		}
		buf = append(buf, piece...)
	}
	t := &a.texts[g]
	if t.some = true; len(buf) > a.spec.limit {
		t.cut, buf = true, cutText(buf, a.spec.limit)
	}
	size := len(buf)
	if size < concatGrain {
		t.text = string(buf)
	} else {
		t.text, size = vec.BytesToString(buf), cap(buf)
	}
	return q.Memory.Reserve("GROUP_CONCAT", int64(size))
}

// What finish counts: a text that grows is copied to a larger piece of memory while the smaller one is there, in steps of
// concatGrain, and an entry of a set of texts takes seenEntry bytes besides its text.
const (
	growing     = 2
	concatGrain = 64 << 10
	seenEntry   = 40
)

// values stores the texts of groups.
func (a *concatenation) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		t := &a.texts[g]
		if !t.some {
			v.SetNull(i, len(groups))
			continue
		}
		if t.cut {
			a.spec.q.Expr.Warnings.Add(sqlerr.LevelWarning, 1260, "Row %d was cut by GROUP_CONCAT()", g+1)
		}
		v.Set(i, len(groups), types.Value{Type: v.Type, S: t.text})
	}
	return nil
}

// cutText cuts at a character's boundary.
func cutText(b []byte, limit int) []byte {
	for limit > 0 && !utf8.RuneStart(b[limit]) {
		limit--
	}
	return b[:limit]
}

func textAt(v *column.Vector, p int) string {
	if v.Type.IsString() {
		return v.StringAt(p)
	}
	return v.Value(p).Text()
}

// concatLimit returns @@group_concat_max_len.
func concatLimit(q *task.Query) int {
	n := q.IntegerVariable("group_concat_max_len", 1024)
	if n <= 0 || n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(n)
}
