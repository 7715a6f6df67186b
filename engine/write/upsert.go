package write

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// upserting runs REPLACE, INSERT IGNORE and INSERT ... ON DUPLICATE KEY UPDATE. Rows are taken in order, as each may meet
// one that the statement itself has written. What the statement writes is kept aside; at its end the rows that are gone
// are deleted from the table and the new ones appended.
type upserting struct {
	st      Statement
	ins     *bind.Insert
	keys    []int            // the unique keys' ordinals
	taken   []map[string]int // by key: the new row that has a value
	rows    []newRow
	moved   map[int64]int  // by the number of a row of the table: the new row that it has become
	gone    map[int64]bool // rows of the table
	count   int64          // rows affected, as MySQL counts
	row     int64          // the number of the row that is being inserted, from 1
	inserts int            // how many were
	held    int64          // bytes of the new rows, about
	account memory.Account // which counts them
	set     *expr.ProgramSet
	rules   *Rules
	context *expr.Context
	keeps   *Integrity
	// referenced: foreign keys refer to the table, for which a replaced row is gone.
	referenced bool
	// onUpdate are the values that columns get when their row changes.
	onUpdate map[int]types.Value
}

type newRow struct {
	values []types.Value
	gone   bool
	from   int64 // the number of the table's row that it was; -1: it is new
}

// rowRef says where a row is: in the table or among the new ones.
type rowRef struct {
	key int // the index in keys of the key that found it
	row int64
	new bool
}

func newUpsert(st Statement, ins *bind.Insert, rules *Rules, keeps *Integrity) (*upserting, error) {
	u := &upserting{st: st, ins: ins, account: memory.Account{Budget: st.Budget(), Operator: "insert"}, moved: map[int64]int{}, gone: map[int64]bool{}, rules: rules, context: st.Expressions(), keeps: keeps, referenced: keeps.referenced(ins.Table.Schema, nil)}
	for ordinal := range ins.Table.Schema.Keys {
		if ins.Table.Schema.Keys[ordinal].Unique {
			u.keys = append(u.keys, ordinal)
			u.taken = append(u.taken, map[string]int{})
		}
	}
	return u, ins.Table.EnsureIndexes(st.Ctx())
}

// Upsert runs a statement and returns the rows affected, as MySQL counts them.
func Upsert(st Statement, ins *bind.Insert, rules *Rules, keeps *Integrity) (affected int64, err error) {
	u, err := newUpsert(st, ins, rules, keeps)
	if err != nil {
		return 0, err
	}
	defer u.account.Close()
	if up := ins.Upsert; up != nil {
		slots := map[expr.ColumnID]int{}
		for _, c := range append(slices.Clone(up.Old), up.New...) {
			slots[c.ID] = len(slots)
		}
		values, err := withoutSubqueries(st, up.Exprs, ins.Query.Alloc)
		if err != nil {
			return 0, err
		}
		if u.set, err = expr.CompileAll(values, slots); err != nil {
			return 0, err
		}
		if u.onUpdate, err = onUpdate(st, ins.Table.Schema, up.Ordinals); err != nil {
			return 0, err
		}
	}
	release, err := st.EachBatch(ins.Query, "insert", func(b *column.Batch) (int64, error) {
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			u.row++
			inserts, first := u.inserts, u.rules.generated()
			values, err := u.valuesAt(b, at)
			if err == nil {
				err = u.rules.testRow(ins.Table.Schema, values)
			}
			if err == nil {
				err = u.write(values)
			}
			if u.inserts == inserts { // what was generated or brought is no row's
				u.rules.forget(first)
			} else {
				u.rules.Settle()
			}
			if ins.Ignores && isLeftOut(err) {
				u.context.Warnings.AddError(sqlerr.From(err))
				continue
			}
			if err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	if err != nil {
		return 0, err
	}
	defer release()
	return u.count, u.finish()
}

func (u *upserting) valuesAt(b *column.Batch, at int) ([]types.Value, error) {
	values := make([]types.Value, len(b.Cols))
	for i, c := range b.Cols {
		values[i] = c.Value(at)
	}
	if err := u.own(values, 0); err != nil {
		return nil, err
	}
	for i := range values {
		def := &u.ins.Table.Schema.Columns[i]
		values[i].Type = def.Type
		if def.IsAutoIncrement {
			var err error
			if values[i], err = u.rules.next(values[i], def.Type); err != nil {
				return nil, err
			}
		}
		if values[i].Null && !def.Nullable && def.Generated == nil {
			if !u.ins.Ignores { // also if the row is in the way of another, which would change instead
				return nil, sqlerr.BadNull(def.Name)
			}
			if !def.Type.IsTemporal() {
				values[i] = types.Value{Type: def.Type}
				u.context.Warnings.AddError(sqlerr.BadNull(def.Name))
			}
		}
	}
	return values, u.rules.computeRow(u.ins.Table.Schema, values)
}

// own makes copies of the strings of values, which count before they are made, beside the rows and so many other bytes.
func (u *upserting) own(values []types.Value, besides int64) error {
	if err := u.account.Set(u.held + besides + stringBytes(values)); err != nil {
		return err
	}
	for i := range values {
		values[i].S = strings.Clone(values[i].S)
	}
	return nil
}

func stringBytes(values []types.Value) (n int64) {
	for i := range values {
		n += int64(len(values[i].S))
	}
	return n
}

// write inserts one row.
func (u *upserting) write(values []types.Value) error {
	p, found := u.find(values)
	switch {
	case !found:
		if u.ins.Ignores {
			if f, err := u.missing(values); err != nil {
				return err
			} else if f != nil {
				u.context.Warnings.AddError(sqlerr.NoReferencedRow(definition.DescribeForeignKey(u.ins.Table.Schema, f)))
				return nil
			}
		}
		u.add(values, -1)
		u.count++
	case u.ins.OnDuplicate == bind.DuplicateIgnore:
		u.context.Warnings.AddError(u.duplicate(p, values))
	case u.ins.OnDuplicate == bind.DuplicateReplace:
		from := int64(-1)
		for ; found; p, found = u.find(values) {
			// MySQL does not count a row that it replaces by an equal one, which it notices at the last key, if no foreign key refers to the table.
			if u.referenced || p.key < len(u.keys)-1 || !equalRows(u.values(p), values) {
				u.count++
			}
			if !p.new && from < 0 && !u.referenced {
				from = p.row // as if it had been changed
			}
			u.remove(p)
		}
		u.add(values, from)
		if from >= 0 {
			u.inserts++
		}
		u.count++
	default:
		return u.change(p, values)
	}
	return nil
}

// change applies ON DUPLICATE KEY UPDATE to the row at p. Two rows are counted, or none if nothing changed.
func (u *upserting) change(p rowRef, inserted []types.Value) error {
	old := u.values(p)
	b := &column.Batch{N: 1, FirstRow: u.row}
	for i, v := range append(slices.Clone(old), inserted...) {
		v.Type = u.ins.Table.Schema.Columns[i%len(old)].Type
		b.Cols = append(b.Cols, column.ConstVector(v))
	}
	results, err := u.set.Eval(u.context, b)
	if err != nil {
		return err
	}
	values := make([]types.Value, len(results))
	for i := range values {
		values[i] = results[i].Value(0)
	}
	if err := u.own(values, stringBytes(inserted)); err != nil {
		return err
	}
	changed := slices.Clone(old)
	for i, o := range u.ins.Upsert.Ordinals {
		changed[o] = values[i]
		changed[o].Type = u.ins.Table.Schema.Columns[o].Type
	}
	inserts := u.inserts
	done, err := u.become(p, old, changed)
	u.inserts = inserts // a row of this statement that changes is written again
	if done {
		u.count += 2
	}
	return err
}

// become changes the row at p, and says whether it did so: with IGNORE a row that cannot be changed stays as it is.
func (u *upserting) become(p rowRef, old, changed []types.Value) (bool, error) {
	schema := u.ins.Table.Schema
	for o := range changed {
		var err error
		if changed[o], err = u.notNull(&schema.Columns[o], changed[o]); err != nil {
			return false, err
		}
	}
	if equalRows(old, changed) {
		return false, nil
	}
	for o, v := range u.onUpdate {
		changed[o] = v
	}
	if err := u.rules.computeRow(schema, changed); err != nil {
		return false, err
	}
	if err := u.rules.testRow(schema, changed); u.ins.Ignores && isLeftOut(err) {
		u.context.Warnings.AddError(sqlerr.From(err))
		return false, nil
	} else if err != nil {
		return false, err
	}
	if u.ins.Ignores {
		if f, err := u.missing(changed); err != nil {
			return false, err
		} else if f != nil {
			u.context.Warnings.AddError(sqlerr.NoReferencedRow(definition.DescribeForeignKey(schema, f)))
			return false, nil
		}
	}
	from := p.row
	if p.new {
		from = u.rows[p.row].from
	}
	u.remove(p)
	if other, taken := u.taker(old, changed); taken {
		err := u.duplicate(other, changed)
		if !u.ins.Ignores {
			return false, err
		}
		u.context.Warnings.AddError(err)
		if p.new {
			u.add(old, from)
		} else {
			delete(u.gone, p.row)
		}
		return false, nil
	}
	if o := schema.AutoIncrement(); o >= 0 {
		u.ins.Table.SkipAuto(changed[o].I)
	}
	u.add(changed, from)
	return true, nil
}

// isLeftOut says whether err refuses a row that IGNORE leaves out: a CHECK, the view that it is written through, or AUTO_INCREMENT at its largest value.
func isLeftOut(err error) bool {
	return errors.Is(err, sqlerr.CodeCheckViolated) || errors.Is(err, sqlerr.CodeViewCheckFailed) || errors.Is(err, sqlerr.CodeAutoIncrementFailed)
}

// notNull returns a value as a column takes it: with IGNORE one that is NOT NULL takes zero or an empty string for NULL, with a warning.
func (u *upserting) notNull(def *table.ColumnDef, v types.Value) (types.Value, error) {
	if !v.Null || def.Nullable || def.Generated != nil {
		return v, nil
	}
	if !u.ins.Ignores || def.Type.IsTemporal() {
		return v, sqlerr.BadNull(def.Name)
	}
	u.context.Warnings.AddError(sqlerr.BadNull(def.Name))
	return types.Value{Type: def.Type}, nil
}

// withoutSubqueries returns expressions in which values stand instead of subqueries.
func withoutSubqueries(st Statement, exprs []expr.Expr, alloc *expr.Allocator) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(exprs))
	var err error
	for i, e := range exprs {
		out[i] = expr.Rewrite(e, func(e expr.Expr) expr.Expr {
			sub, is := e.(*expr.Subquery)
			if !is || err != nil {
				return e
			}
			item := logical.NewItem(alloc, "subquery", sub)
			q := &logical.Query{Root: &logical.Project{Input: logical.OneRow(), Items: []logical.Item{item}}, Cols: []*expr.Column{item.Col}, Names: []string{item.Col.Name}, Alloc: alloc}
			value := types.NullOf(item.Col.Typ)
			var release func()
			release, err = st.EachBatch(q, "subquery", func(b *column.Batch) (int64, error) {
				at := 0
				if b.Sel != nil {
					at = int(b.Sel[0])
				}
				value = b.Cols[0].Value(at)
				value.S = strings.Clone(value.S)
				return 0, nil
			})
			if err != nil {
				return e
			}
			release()
			return &expr.Const{Value: value}
		})
	}
	return out, err
}

// values returns those of the row at p.
func (u *upserting) values(p rowRef) []types.Value {
	if p.new {
		return u.rows[p.row].values
	}
	values, _ := u.ins.Table.Row(p.row)
	return values
}

func (u *upserting) add(values []types.Value, from int64) {
	for i, ordinal := range u.keys {
		if text, ok := u.keyText(ordinal, values); ok {
			u.taken[i][text] = len(u.rows)
			u.held += int64(len(text))
		}
	}
	if from >= 0 {
		u.moved[from] = len(u.rows)
	} else {
		u.inserts++
	}
	u.rows = append(u.rows, newRow{values: values, from: from})
	u.held += u.bytes(values)
}

// bytes returns about how much memory a new row takes.
func (u *upserting) bytes(values []types.Value) int64 {
	return rowBytes + int64(len(values))*int64(unsafe.Sizeof(types.Value{})) + upsertKeyBytes*int64(len(u.keys)+1) + stringBytes(values)
}

// rowBytes is what a row takes in upserting.rows, which are copied when they grow.
const rowBytes = 2 * int64(unsafe.Sizeof(newRow{}))

// upsertKeyBytes is about what a row takes in one of the maps of rows and keys.
const upsertKeyBytes = 64

func (u *upserting) remove(p rowRef) {
	if !p.new {
		u.gone[p.row] = true
		return
	}
	r := &u.rows[p.row]
	r.gone = true
	u.held -= u.bytes(r.values) - rowBytes // its slot among the rows stays
	for i, ordinal := range u.keys {
		if text, ok := u.keyText(ordinal, r.values); ok {
			delete(u.taken[i], text)
			u.held -= int64(len(text))
		}
	}
	r.values = nil
}

// finish deletes and appends the rows.
func (u *upserting) finish() error {
	v := u.ins.Table
	var changed []newRow
	for _, r := range u.rows {
		if !r.gone && r.from >= 0 {
			changed = append(changed, r)
			delete(u.gone, r.from)
		}
	}
	fresh := slices.DeleteFunc(u.rows, func(r newRow) bool { return r.gone || r.from >= 0 })
	gone := slices.Collect(maps.Keys(u.gone))
	next, _, err := v.Mark(u.st.Ctx(), gone)
	if err != nil {
		return err
	}
	numbers, next, err := u.changeIn(next, changed)
	if err != nil {
		return err
	}
	if next, err = u.appendTo(next, fresh); err != nil {
		return err
	}
	u.keeps.rewritten(v, next, gone, numbers)
	return nil
}

// changeIn gives rows of the table their new values. They keep their numbers, so that the indexes do not grow with every change.
func (u *upserting) changeIn(v *table.Version, rows []newRow) (numbers []int64, next *table.Version, err error) {
	if len(rows) == 0 {
		return nil, v, nil
	}
	differs := make([]bool, len(v.Schema.Columns))
	for _, r := range rows {
		numbers = append(numbers, r.from)
		before, _ := v.Row(r.from)
		for o, a := range before {
			b := r.values[o]
			differs[o] = differs[o] || a.Null != b.Null || a.I != b.I || a.F != b.F || a.D != b.D || a.S != b.S
		}
	}
	var ordinals []int
	var cols []*column.Vector
	for o := range v.Schema.Columns {
		if !differs[o] {
			continue
		}
		c := column.New(v.Schema.Columns[o].Type, len(rows))
		for i, r := range rows {
			c.Set(i, len(rows), r.values[o])
		}
		ordinals, cols = append(ordinals, o), append(cols, c)
	}
	if len(ordinals) == 0 {
		return numbers, v, nil
	}
	next, _, err = v.Update(u.st.Ctx(), numbers, ordinals, cols)
	return numbers, next, err
}

// appendTo adds rows to the table's version without those that are gone.
func (u *upserting) appendTo(v *table.Version, rows []newRow) (*table.Version, error) {
	var batches []*column.Batch
	var builder *table.Builder
	if len(rows) > BulkRows {
		builder = Builder(u.st, v, "INSERT")
	}
	for len(rows) > 0 {
		if err := u.st.Ctx().Err(); err != nil {
			return nil, err
		}
		n := min(len(rows), column.VectorSize)
		b := &column.Batch{N: n}
		for c := range v.Schema.Columns {
			vector := column.New(v.Schema.Columns[c].Type, n)
			for i := range n {
				vector.Set(i, n, rows[i].values[c])
			}
			b.Cols = append(b.Cols, vector)
		}
		clear(rows[:n]) // they are in the batch
		rows = rows[n:]
		if builder == nil {
			batches = append(batches, b)
		} else if err := builder.Append(b); err != nil {
			return nil, err
		}
	}
	if builder == nil {
		return v.Append(batches...)
	}
	return builder.Finish()
}
