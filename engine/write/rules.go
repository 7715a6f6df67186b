package write

import (
	"math"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Rules is what happens to rows on their way into a table: AUTO_INCREMENT values are given out, CHECK constraints tested.
// nil stands for nothing.
type Rules struct {
	table    *table.Version
	auto     int  // the ordinal of the AUTO_INCREMENT column; -1: none
	zeroes   bool // sql_mode NO_AUTO_VALUE_ON_ZERO: 0 is a value as any other
	checks   *expr.ProgramSet
	tested   []bind.Check // what checks computes
	computed []computedColumn
	context  *expr.Context
	step     int64 // auto_increment_increment
	start    int64 // auto_increment_offset
	first    int64 // the first value that was given out; 0: none
	last     int64 // the last value that a row brought itself; 0: none
	rows     int64 // how many have come
	began    int64 // the first value that was given out to any row, refused ones included; 0: none
	made     int64 // the value that was given out to the last row; 0: none
	back     int64 // a value that a refused row had, for the next one; 0: none
	ahead    int64 // the largest value of rows that brought one and may yet be refused: the table does not count on from there before settle
}

// NewRules returns what happens to rows that are stored in v. What is computed and the checks are over cols, the columns of the batches.
func NewRules(st Statement, v *table.Version, computed []bind.Computed, checks []bind.Check, cols []*expr.Column) (*Rules, error) {
	s := &Rules{table: v, auto: v.Schema.AutoIncrement(), context: st.Expressions()}
	if s.auto < 0 && len(checks) == 0 && len(computed) == 0 {
		return nil, nil
	}
	s.step, s.start = st.Setting("auto_increment_increment"), st.Setting("auto_increment_offset")
	if s.start > s.step {
		s.start = 1
	}
	s.zeroes = st.StoresZero()
	slots := map[expr.ColumnID]int{}
	for i, c := range cols {
		slots[c.ID] = i
	}
	for _, c := range computed {
		set, err := expr.CompileAll([]expr.Expr{c.Expr}, slots)
		if err != nil {
			return nil, err
		}
		s.computed = append(s.computed, computedColumn{c.Slot, c.Expr.Type(), set})
	}
	if len(checks) == 0 {
		return s, nil
	}
	s.tested = checks
	var conditions []expr.Expr
	for _, c := range checks {
		conditions = append(conditions, c.Cond)
	}
	var err error
	s.checks, err = expr.CompileAll(conditions, slots)
	return s, err
}

// Batch returns the rows of b as they are to be stored. The table's columns come first in it.
func (s *Rules) Batch(b *column.Batch) (*column.Batch, error) {
	if s == nil {
		return b, nil
	}
	b, err := s.count(b)
	if err != nil {
		return nil, err
	}
	return s.Complete(b)
}

// count fills in the AUTO_INCREMENT column.
func (s *Rules) count(b *column.Batch) (*column.Batch, error) {
	if s.auto < 0 {
		return b, nil
	}
	typ := s.table.Schema.Columns[s.auto].Type
	own := *b
	own.Cols = append([]*column.Vector(nil), b.Cols...)
	given, v := b.Cols[s.auto], column.New(typ, b.N)
	for i := range b.Rows() {
		at := i
		if b.Sel != nil {
			at = int(b.Sel[i])
		}
		n, err := s.next(given.Value(at), typ)
		if err != nil {
			return nil, err
		}
		v.I64[at] = n.I
	}
	own.Cols[s.auto] = v
	return &own, nil
}

// next returns the value of a row's AUTO_INCREMENT column, given what the row brings.
func (s *Rules) next(given types.Value, typ types.Type) (types.Value, error) {
	s.rows++
	if !given.Null && (given.I != 0 || s.zeroes) {
		s.last, s.ahead, s.made = given.I, max(s.ahead, given.I), 0
		if given.I < 0 && typ.IsUnsigned() {
			s.ahead = math.MaxInt64
		}
		return given, nil
	}
	s.Settle()
	n, err := s.back, error(nil)
	if n == 0 {
		n, err = s.table.NextAuto(s.step, s.start)
	}
	s.back, s.made = 0, n
	if err == nil && s.first == 0 {
		s.first = n
	}
	if s.began == 0 {
		s.began = n
	}
	return types.Value{Type: typ, I: n}, err
}

// generated returns the first value that was given out; 0: none.
func (s *Rules) generated() int64 {
	if s == nil {
		return 0
	}
	return s.first
}

// Settle counts on behind the values that rows brought, now that the rows are stored. As in InnoDB, a value that a refused row brought
// does not count; the next row gets one that was given out to such a row.
func (s *Rules) Settle() {
	if s != nil && s.ahead > 0 {
		s.table.SkipAuto(s.ahead)
		if s.back <= s.ahead {
			s.back = 0
		}
		s.ahead = 0
	}
}

// Reserve counts on as far as the rows of VALUES could have needed. As InnoDB, INSERT sets a value aside for each of them when it gives out the first.
func (s *Rules) Reserve() {
	if s != nil && s.began != 0 && s.rows > 1 {
		s.table.ReserveAuto(s.began, s.rows-1, s.step)
	}
}

// forget takes back the value of a row that was not inserted: one that it brought, or one that was given out, which the next row gets. first is what generated gave before.
func (s *Rules) forget(first int64) {
	if s != nil {
		s.first, s.ahead = first, 0
		if s.made != 0 {
			s.back, s.made = s.made, 0
		}
	}
}

// test reports the first CHECK constraint that a row violates.
func (s *Rules) test(b *column.Batch) error {
	if s == nil || s.checks == nil {
		return nil
	}
	results, err := s.checks.Eval(s.context, b)
	if err != nil {
		return err
	}
	for c, v := range results {
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			if x := v.Value(at); !x.Null && x.I == 0 {
				return s.tested[c].Violated()
			}
		}
	}
	return nil
}

// testRow does so for one row.
func (s *Rules) testRow(schema *table.Schema, values []types.Value) error {
	if s == nil || s.checks == nil {
		return nil
	}
	return s.test(rowBatch(schema, values))
}

// InsertID returns the first AUTO_INCREMENT value that was given out, or else the last that rows brought; 0: none. isGiven says that it was given out.
func (s *Rules) InsertID() (id int64, isGiven bool) {
	switch {
	case s == nil:
		return 0, false
	case s.first != 0:
		return s.first, true
	}
	return s.last, false
}
