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
	limit int          // bytes of a result, from which it is cut
}

// concatenation makes the strings of GROUP_CONCAT.
type concatenation struct {
	heldRows
	spec *concatSpec
	once *heldOnce      // of DISTINCT values; nil: all rows are held
	made []concatString // by group
}

// concatString is what came of a group.
type concatString struct {
	text   string
	some   bool // else NULL
	wasCut bool
}

func newConcatenation(s *concatSpec) *concatenation {
	a := &concatenation{spec: s}
	if s.item.Distinct {
		a.once = newHeldOnce(s.q, s.types)
	}
	a.hold(s.q, "GROUP_CONCAT", s.args, s.types, a)
	for i, k := range s.item.OrderBy {
		a.by = append(a.by, heldKey{s.args + i, k.Desc})
	}
	return a
}

func (a *concatenation) Bytes() int64 { return a.heldRows.Bytes() + a.once.bytes() }

func (a *concatenation) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	groups, sel, err := a.once.first(groups, args, sel)
	if err != nil || len(sel) == 0 {
		return err
	}
	return a.heldRows.Update(groups, args, sel)
}

func (a *concatenation) Complete() error {
	a.once.end()
	return a.heldRows.Complete()
}

func (a *concatenation) start(_ []*column.Vector, groups int) { a.made = make([]concatString, groups) }

// finish makes the string of one group of the rows that it has.
func (a *concatenation) finish(g int, cols []*column.Vector, rows []int32) error {
	q := a.spec.q
	var seen map[string]bool
	b := concatBuffer{held: memory.Account{Budget: q.Memory, Operator: "GROUP_CONCAT"}}
	defer b.held.Close()
	if a.spec.item.Distinct {
		seen = map[string]bool{}
	}
	before, behind := a.spec.item.Form.Brackets()
	if seen == nil && a.spec.limit > concatGrain {
		if err := b.grow(min(a.stringBytes(cols, rows)+len(before)+len(behind), a.spec.limit+1)); err != nil {
			return err
		}
	}
	b.text = append(b.text, before...)
	for i, r := range rows {
		if i&(task.CheckRows>>4) == task.CheckRows>>4 {
			if err := q.Check(); err != nil {
				return err
			}
		}
		if len(b.text) > a.spec.limit {
			break
		}
		if seen != nil {
			b.key = b.key[:0]
			for c, t := range a.spec.types[:a.spec.args] {
				text := stringAt(cols[1+c], int(r))
				if t.Folds() {
					text = t.Collation.Key(text)
				}
				b.key = append(binary.AppendUvarint(b.key, uint64(len(text))), text...)
			}
			if seen[string(b.key)] {
				continue
			}
			b.seen += len(b.key) + seenEntry
			if n := int64(b.bytes()); n >= b.held.Used()+concatGrain {
				if err := b.held.Set(n); err != nil {
					return err
				}
			}
			seen[string(b.key)] = true
		}
		if i > 0 {
			if err := b.grow(len(a.spec.item.Sep)); err != nil {
				return err
			}
			b.text = append(b.text, a.spec.item.Sep...)
		}
		for c := range a.spec.args {
			text := stringAt(cols[1+c], int(r))
			if err := b.grow(len(text)); err != nil {
				return err
			}
			b.text = append(b.text, text...)
		}
	}
	b.text = append(b.text, behind...)
	t := &a.made[g]
	if t.some = true; len(b.text) > a.spec.limit {
		t.wasCut, b.text = true, cutString(b.text, a.spec.limit)
	}
	size := len(b.text)
	if size < concatGrain {
		t.text = string(b.text)
	} else {
		t.text, size = vec.BytesToString(b.text), cap(b.text)
	}
	return b.held.Leave(int64(size))
}

// concatBuffer is the string of a group while it is made.
type concatBuffer struct {
	held memory.Account
	text []byte
	key  []byte // of a row, for DISTINCT
	seen int    // bytes of the keys seen
}

func (b *concatBuffer) bytes() int { return cap(b.text) + cap(b.key) + b.seen }

// grow takes capacity for n more bytes. They are counted before they are there, beside the old text, which stays until it is copied.
func (b *concatBuffer) grow(n int) error {
	need := len(b.text) + n
	if need <= cap(b.text) {
		return nil
	}
	if need < concatGrain {
		b.text = append(make([]byte, 0, max(need, 2*cap(b.text))), b.text...)
		return nil
	}
	capacity := max(need, cap(b.text)+cap(b.text)/4)
	if err := b.held.Set(int64(b.bytes() + capacity)); err != nil {
		return err
	}
	b.text = append(make([]byte, 0, capacity), b.text...)
	return b.held.Set(int64(b.bytes()))
}

// stringBytes is how long the text of rows is, as far as it comes from strings: that many bytes need not be copied while the text grows.
func (a *concatenation) stringBytes(cols []*column.Vector, rows []int32) int {
	n := 0
	for c := range a.spec.args {
		if v := cols[1+c]; v.Type.IsString() {
			for _, r := range rows {
				n += len(a.spec.item.Sep) + len(stringAt(v, int(r)))
			}
		}
	}
	return n
}

// A string is counted from concatGrain bytes on, and an entry of a set of strings takes seenEntry bytes besides its own.
const (
	concatGrain = 64 << 10
	seenEntry   = 40
)

// values stores the strings of groups.
func (a *concatenation) values(_ *Output, groups []uint32, _ *Count, v *column.Vector) error {
	for i, g := range groups {
		t := &a.made[g]
		if !t.some {
			v.SetNull(i, len(groups))
			continue
		}
		if t.wasCut {
			a.spec.q.Expr.Warnings.Add(sqlerr.LevelWarning, 1260, "Row %d was cut by GROUP_CONCAT()", g+1)
		}
		v.Set(i, len(groups), types.Value{Type: v.Type, S: t.text})
	}
	return nil
}

// cutString cuts at a character's boundary.
func cutString(b []byte, limit int) []byte {
	for limit > 0 && !utf8.RuneStart(b[limit]) {
		limit--
	}
	return b[:limit]
}

func stringAt(v *column.Vector, p int) string {
	if v.Type.IsString() {
		return v.StringAt(p)
	}
	return v.Value(p).Text()
}

// concatLimit returns @@group_concat_max_len for what it cuts.
func concatLimit(q *task.Query, form logical.JoinedForm) int {
	if form != logical.CutString {
		return math.MaxInt - 1
	}
	n := q.IntegerVariable("group_concat_max_len", 1024)
	if n <= 0 || n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(n)
}
