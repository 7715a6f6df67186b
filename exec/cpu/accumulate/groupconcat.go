package accumulate

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/grouptable"
	"github.com/radish-sql/radish/exec/cpu/rowstore"
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

// concatenation keeps the rows of GROUP_CONCAT until their groups are complete.
type concatenation struct {
	spec   *concatSpec
	rows   rowstore.Store    // group number, then the inputs
	more   []*rowstore.Store // of other workers, whose rows follow
	groups int
	id     column.Vector
	sel    []int32
	done   bool
	texts  []concatText // by group
}

// concatText is what came of a group.
type concatText struct {
	text string
	some bool // else NULL
	cut  bool
}

func newConcatenation(s *concatSpec) *concatenation {
	a := &concatenation{spec: s, id: column.Vector{Type: types.Uint32}}
	a.rows.Types = append([]types.Type{types.Uint32}, s.types...)
	a.rows.Mem.Operator = "GROUP_CONCAT"
	a.rows.Begin(0)
	return a
}

func (a *concatenation) Grow(n int) { a.groups = max(a.groups, n) }
func (a *concatenation) Bytes() int64 {
	return int64(a.rows.N)*int64(8+16*len(a.spec.types)) + a.rows.Texts.Bytes
}

func (a *concatenation) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	var n int
	a.sel, n = valuesAt(a.sel, &a.id, groups, args[:a.spec.args], sel)
	if len(a.sel) == 0 {
		return nil
	}
	cols := append([]*column.Vector{&a.id}, args...)
	return a.rows.Append(cols, a.sel, n)
}

func (a *concatenation) Merge([]uint32, Accumulator, []uint32) error {
	return sqlerr.Bug("GROUP_CONCAT is merged as a whole")
}

func (a *concatenation) Adopt(src Accumulator, to []uint32) error {
	s := src.(*concatenation)
	for _, r := range append([]*rowstore.Store{&s.rows}, s.more...) {
		for _, seg := range r.Segs {
			if err := a.spec.q.Check(); err != nil {
				return err
			}
			renumber(seg.Cols[0].I64[:seg.N], to)
		}
		for i := range r.Marks {
			r.Marks[i].Seq += len(a.more) + 1 // its rows follow those that are there
		}
		a.more = append(a.more, r)
	}
	return nil
}

func (a *concatenation) AdoptAll(srcs []Accumulator, to [][]uint32) error {
	for i, s := range srcs {
		if err := a.Adopt(s, to[i]); err != nil {
			return err
		}
	}
	return nil
}

// Complete concatenates each group's rows in order: they are put beside each other, and workers take runs of groups.
func (a *concatenation) Complete() error {
	if a.done {
		return nil
	}
	a.done = true
	a.texts = make([]concatText, a.groups)
	q := a.spec.q
	cols, n, err := rowstore.Concat(q, append([]*rowstore.Store{&a.rows}, a.more...), a.rows.Types)
	if err != nil || n == 0 {
		return err
	}
	if err := q.Memory.Reserve("GROUP_CONCAT", int64(4*n+4*a.groups)); err != nil {
		return err
	}
	defer q.Memory.Release(int64(4*n + 4*a.groups))
	ids := cols[0].I64
	starts, order := make([]int32, a.groups+1), make([]int32, n)
	err = q.Blocks(n, func(from, to int) {
		for _, g := range ids[from:to] {
			starts[g]++
		}
	})
	if err != nil {
		return err
	}
	sum := int32(0)
	for g, k := range starts {
		starts[g] = sum
		sum += k
	}
	err = q.Blocks(n, func(from, to int) {
		for i := from; i < to; i++ {
			g := ids[i]
			order[starts[g]] = int32(i)
			starts[g]++ // where the next group starts, in the end
		}
	})
	if err != nil {
		return err
	}
	tasks := a.tasks(starts, n)
	return q.Parallel(len(tasks), n, func(k int) error {
		from := 0
		if k > 0 {
			from = tasks[k-1]
		}
		for g := from; g < tasks[k]; g++ {
			first := int32(0)
			if g > 0 {
				first = starts[g-1]
			}
			if err := a.concatenate(g, cols, order[first:starts[g]]); err != nil {
				return err
			}
		}
		return nil
	})
}

// tasks cuts the groups into runs of about as many rows and returns where each ends. ends are those of the groups' rows.
func (a *concatenation) tasks(ends []int32, n int) (tasks []int) {
	size := int32(max(1, n/grouptable.MergePartitions))
	last := int32(0)
	for g := range a.groups {
		if ends[g]-last >= size || g == a.groups-1 {
			tasks = append(tasks, g+1)
			last = ends[g]
		}
	}
	return tasks
}

// concatenate makes the text of one group of the rows that it has.
func (a *concatenation) concatenate(g int, cols []*column.Vector, rows []int32) error {
	q := a.spec.q
	if err := q.Check(); err != nil || len(rows) == 0 {
		return err
	}
	if len(a.spec.item.OrderBy) > 0 {
		err := task.SortStable(q, rows, func(x, y int32) int {
			for i, k := range a.spec.item.OrderBy {
				c := vec.CompareNullsFirst(cols[1+a.spec.args+i], int(x), int(y))
				if k.Desc {
					c = -c
				}
				if c != 0 {
					return c
				}
			}
			return 0
		})
		if err != nil {
			return err
		}
	}
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

// What concatenate counts: a text that grows is copied to a larger piece of memory while the smaller one is there, in steps of
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
