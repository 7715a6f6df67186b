package write

import (
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Integrity enforces foreign keys while a statement writes. It notes what the statement does to its tables and follows ON DELETE and ON UPDATE to other tables.
// At the end of the statement it checks that each new reference has its row, and that no row refers to a key that is gone. It works on sets of rows, by
// joins or hash indexes.
//
// Versions that the statement makes keep the numbers of their rows until that end. They are compacted last.
type Integrity struct {
	st      Statement
	snap    *catalog.Snapshot
	IsOff   bool                               // foreign_key_checks = 0
	now     map[catalog.TableID]*table.Version // the tables that were written
	order   []catalog.TableID                  // of now
	sparse  map[catalog.TableID]bool           // rows of them were deleted
	changes []rowChange                        // to be followed
	made    []referring                        // to be checked: rows that may refer to nothing
	lost    []losing                           // and keys that may be referred to
}

// rowChange is what happens to keys of rows of a table: deleted (after is nil), or changed.
type rowChange struct {
	id     catalog.TableID
	schema *table.Schema
	rows   int
	before func(ordinals []int) []*column.Vector // the values that some columns had
	after  func(ordinals []int) []*column.Vector
	path   []catalog.TableID // tables that changes of keys have passed through on their way here
	// replaced: others may have taken the keys of deleted rows, which were gone all the same (REPLACE).
	replaced bool
}

// referring are rows of a table whose values in the columns of a foreign key are new.
type referring struct {
	id      catalog.TableID
	foreign *table.ForeignKey
	rows    []int64 // nil: all rows from first on
	first   int64
}

// losing are keys removed by DELETE or UPDATE.
type losing struct {
	parent, child catalog.TableID
	foreign       *table.ForeignKey
	keys          []*column.Vector
	rows          int
	replaced      bool
}

func NewIntegrity(st Statement) *Integrity {
	return &Integrity{
		st: st, snap: st.Snapshot(), IsOff: st.Setting("foreign_key_checks") == 0, now: map[catalog.TableID]*table.Version{}, sparse: map[catalog.TableID]bool{},
	}
}

// version returns a table as the statement has made it so far.
func (g *Integrity) version(id catalog.TableID) *table.Version {
	if v := g.now[id]; v != nil {
		return v
	}
	v, err := g.snap.Table(id.Database, id.Name)
	if err != nil {
		return nil
	}
	return v
}

// parentOf returns the parent of a foreign key as the statement has made it so far; nil if there is none.
func (g *Integrity) parentOf(f *table.ForeignKey) *table.Version {
	return g.version(catalog.NewTableID(f.Database, f.Table))
}

// current returns what the statement has made of v so far.
func (g *Integrity) current(v *table.Version) *table.Version {
	if now := g.now[catalog.IDOf(v.Schema)]; now != nil {
		return now
	}
	return v
}

func (g *Integrity) Set(v *table.Version) {
	id := catalog.IDOf(v.Schema)
	if g.now[id] == nil {
		g.order = append(g.order, id)
	}
	g.now[id] = v
}

// Inserted takes a version with new rows, from number first on.
func (g *Integrity) Inserted(v *table.Version, first int64) {
	g.Set(v)
	if g.IsOff {
		return
	}
	for i := range v.Schema.Foreign {
		g.made = append(g.made, referring{id: catalog.IDOf(v.Schema), foreign: &v.Schema.Foreign[i], first: first})
	}
}

// Update changes rows of a table: column ordinals[i] of row rows[j] gets value j of cols[i]. It returns the number of rows that have got
// other values.
func (g *Integrity) Update(v *table.Version, rows []int64, ordinals []int, cols []*column.Vector, operation string, path []catalog.TableID) (int64, error) {
	// The columns of every row group with a changed row are written anew.
	encoded := int64(0)
	for _, o := range ordinals {
		encoded += v.ColumnBytes(o)
	}
	if few := int64(len(rows)) * table.RowGroupSize; few < v.Span() {
		encoded = encoded * few / v.Span()
	}
	if err := g.st.Making(operation).Add(max(encoded, longStrings(cols, len(rows)))); err != nil {
		return 0, err
	}
	next, changed, err := v.Update(g.st.Ctx(), rows, ordinals, cols)
	if err != nil {
		return 0, err
	}
	g.Set(next)
	if g.IsOff {
		return changed, nil
	}
	id := catalog.IDOf(v.Schema)
	for i := range v.Schema.Foreign {
		f := &v.Schema.Foreign[i]
		if !intersects(f.Columns, ordinals) {
			continue
		}
		if rows := next.Changed(v, rows, f.Columns); len(rows) > 0 {
			g.made = append(g.made, referring{id: id, foreign: f, rows: rows})
		}
	}
	if !g.referenced(v.Schema, ordinals) {
		return changed, nil
	}
	rows = next.Changed(v, rows, ordinals)
	g.changes = append(g.changes, rowChange{
		id: id, schema: v.Schema, rows: len(rows), path: append(slices.Clone(path), id),
		before: func(o []int) []*column.Vector { return v.Gather(rows, o) },
		after:  func(o []int) []*column.Vector { return next.Gather(rows, o) },
	})
	return changed, nil
}

// longStrings returns the bytes of values that are stored one by one, being too long to be coded by a dictionary most likely.
func longStrings(cols []*column.Vector, rows int) int64 {
	const long = 128
	bytes := int64(0)
	for _, v := range cols {
		if !v.Type.IsString() {
			continue
		}
		for i := range rows {
			if n := len(v.StringAt(i)); n >= long {
				bytes += int64(n)
			}
		}
	}
	return bytes
}

// Delete deletes rows of a table and returns how many there were.
func (g *Integrity) Delete(v *table.Version, rows []int64) (int64, error) {
	next, removed, err := v.Mark(g.st.Ctx(), rows)
	if err != nil || removed == 0 {
		return 0, err
	}
	g.Set(next)
	id := catalog.IDOf(v.Schema)
	g.sparse[id] = true
	if !g.IsOff && g.referenced(v.Schema, nil) {
		g.changes = append(g.changes, rowChange{
			id: id, schema: v.Schema, rows: len(rows), before: func(o []int) []*column.Vector { return v.Gather(rows, o) },
		})
	}
	return removed, nil
}

// rewritten takes a version of a table in which rows were deleted, others changed, and new ones appended.
func (g *Integrity) rewritten(before, after *table.Version, deleted, changed []int64) {
	g.Set(after)
	id := catalog.IDOf(after.Schema)
	g.sparse[id] = len(deleted) > 0
	if g.IsOff {
		return
	}
	schema := after.Schema
	for i := range schema.Foreign {
		f := &schema.Foreign[i]
		made := []int64{}
		for _, row := range changed {
			if !equalValues(before, row, after, row, f.Columns) {
				made = append(made, row)
			}
		}
		for row := before.Span(); row < after.Span(); row++ {
			made = append(made, row)
		}
		g.made = append(g.made, referring{id: id, foreign: f, rows: made})
	}
	if !g.referenced(schema, nil) {
		return
	}
	if len(deleted) > 0 {
		g.changes = append(g.changes, rowChange{
			id: id, schema: schema, rows: len(deleted), before: func(o []int) []*column.Vector { return before.Gather(deleted, o) }, replaced: true,
		})
	}
	if len(changed) > 0 {
		g.changes = append(g.changes, rowChange{
			id: id, schema: schema, rows: len(changed), path: []catalog.TableID{id},
			before: func(o []int) []*column.Vector { return before.Gather(changed, o) },
			after:  func(o []int) []*column.Vector { return after.Gather(changed, o) },
		})
	}
}

// equalValues says whether two rows have the same values in some columns.
func equalValues(a *table.Version, row int64, b *table.Version, other int64, ordinals []int) bool {
	x, y := a.Gather([]int64{row}, ordinals), b.Gather([]int64{other}, ordinals)
	for i := range ordinals {
		if !equalRows([]types.Value{x[i].Value(0)}, []types.Value{y[i].Value(0)}) {
			return false
		}
	}
	return true
}

// referenced says whether foreign keys refer to one of some columns of a table; nil: to any.
func (g *Integrity) referenced(schema *table.Schema, ordinals []int) bool {
	found := false
	g.snap.Referring(schema.Database, schema.Name, func(_ *table.Version, f *table.ForeignKey) {
		found = found || ordinals == nil || intersects(ordinalsOf(schema, f.Referenced), ordinals)
	})
	return found
}

func intersects(a, b []int) bool {
	return slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}

// ordinalsOf returns the ordinals of columns that the table has.
func ordinalsOf(schema *table.Schema, names []string) []int {
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = schema.Ordinal(name)
	}
	return out
}

// Finish follows the changes to other tables, checks all foreign keys that they concern, and makes everything visible.
func (g *Integrity) Finish(operation string) error {
	if err := g.settle(operation); err != nil {
		return err
	}
	if len(g.order) == 0 {
		return nil
	}
	return g.st.Publish(operation, g.apply)
}

// settle follows the changes to other tables and checks all foreign keys that they concern.
func (g *Integrity) settle(operation string) error {
	for len(g.changes) > 0 {
		c := g.changes[0]
		g.changes = g.changes[1:]
		var err error
		g.snap.Referring(c.schema.Database, c.schema.Name, func(child *table.Version, f *table.ForeignKey) {
			if err == nil {
				err = g.follow(&c, catalog.IDOf(child.Schema), f, operation)
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range g.lost {
		if err := g.checkLost(&g.lost[i]); err != nil {
			return err
		}
	}
	for i := range g.made {
		if err := g.checkMade(&g.made[i]); err != nil {
			return err
		}
	}
	for _, id := range g.order {
		if g.sparse[id] {
			compact, err := g.now[id].Compact(g.st.Ctx())
			if err != nil {
				return err
			}
			g.now[id] = compact
		}
	}
	return nil
}

// apply puts the tables into a snapshot of the catalog.
func (g *Integrity) apply(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
	for _, id := range g.order {
		var err error
		if snap, err = snap.ReplaceTable(g.now[id]); err != nil {
			return nil, err
		}
	}
	return snap, nil
}

// follow does to the rows of a child what its foreign key says.
func (g *Integrity) follow(c *rowChange, child catalog.TableID, f *table.ForeignKey, operation string) error {
	key := ordinalsOf(c.schema, f.Referenced)
	old, n := c.before(key), c.rows
	action := f.OnDelete
	var changed []*column.Vector
	if c.after != nil {
		action, changed = f.OnUpdate, c.after(key)
		// As in InnoDB, a change of keys does not come back to a table that it has passed through.
		if slices.Contains(c.path, child) {
			action = table.Restrict
		}
	}
	keys, err := keyTable(old, changed, n)
	if err != nil || keys.n == 0 {
		return err
	}
	if action == table.NoAction || action == table.Restrict {
		g.lost = append(g.lost, losing{c.id, child, f, keys.columns, keys.n, c.replaced})
		return nil
	}
	v := g.version(child)
	if v.Rows() == 0 {
		return nil
	}
	rows, news, err := g.referringTo(v, f.Columns, keys)
	if err != nil || len(rows) == 0 {
		return err
	}
	if action == table.Cascade && c.after == nil {
		_, err := g.Delete(v, rows)
		return err
	}
	if action == table.SetNull {
		news = make([]*column.Vector, len(f.Columns))
		for i, o := range f.Columns {
			news[i] = column.ConstVector(types.NullOf(v.Schema.Columns[o].Type))
		}
	}
	_, err = g.Update(v, rows, f.Columns, news, operation, c.path)
	return err
}

// keyRows are keys as the rows of a table in no catalog.
type keyRows struct {
	version *table.Version
	columns []*column.Vector // the keys, n of them, without NULLs
	n       int
}

// keyTable makes a table of those of n keys that have no NULL and, where after says what they become, are changed. The further columns
// of the table are what they become.
func keyTable(before, after []*column.Vector, n int) (keyRows, error) {
	return keysOf(before, after, n, func(i int) bool {
		for j, c := range before {
			if after == nil {
				return true
			}
			a, b := c.Value(i), after[j].Value(i)
			if b.Null || types.Compare(a, b) != 0 || a.S != b.S {
				return true
			}
		}
		return false
	})
}

// keysOf makes a table of those of n keys that have no NULL and are wanted, with further columns behind them; its version is nil if there
// are none.
func keysOf(cols, further []*column.Vector, n int, wanted func(i int) bool) (keyRows, error) {
	schema := &table.Schema{Name: "keys"}
	var sel []int32
	for i := range n {
		null := slices.ContainsFunc(cols, func(c *column.Vector) bool { return c.IsNull(i) })
		if !null && wanted(i) {
			sel = append(sel, int32(i))
		}
	}
	if len(sel) == 0 {
		return keyRows{}, nil
	}
	b := &column.Batch{N: n, Sel: sel, Cols: slices.Concat(cols, further)}
	k := keyRows{n: len(sel)}
	for i, c := range b.Cols {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: "k" + types.IntValue(int64(i)).Text(), Type: c.Type, Nullable: i >= len(cols)})
	}
	for _, c := range cols {
		own := column.New(c.Type, 0)
		column.AppendSelected(own, 0, c, sel, n)
		k.columns = append(k.columns, own)
	}
	var err error
	k.version, err = table.New(schema).Append(b)
	return k, err
}

// referringTo finds the rows of v whose values in some columns are keys, and what these become.
func (g *Integrity) referringTo(v *table.Version, columns []int, keys keyRows) (rows []int64, news []*column.Vector, err error) {
	q, err := g.st.Binder().Referring(v, columns, keys.version)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range q.Cols[1:] {
		news = append(news, column.New(c.Typ, 0))
	}
	release, err := g.st.EachBatch(q, "foreign keys", func(b *column.Batch) (int64, error) {
		before := len(rows)
		rows = AppendRowIDs(rows, b)
		for i := range news {
			column.AppendSelected(news[i], before, b.Cols[i+1], b.Sel, b.N)
		}
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, nil, err
	}
	release() // they are counted again as what is written
	return rows, news, nil
}

// checkLost fails if rows refer to keys that no row has any more.
func (g *Integrity) checkLost(l *losing) error {
	child, parent := g.version(l.child), g.version(l.parent)
	if child.Rows() == 0 {
		return nil
	}
	keys, err := g.gone(l.keys, l.rows, parent, l.foreign, l.replaced)
	if err != nil || keys.version == nil {
		return err
	}
	referred, err := g.anyReferring(child, l.foreign.Columns, keys)
	if err == nil && referred {
		err = sqlerr.RowIsReferenced(definition.DescribeForeignKey(child.Schema, l.foreign))
	}
	return err
}

// gone returns those of n keys that no row of the parent has; replaced: all of them.
func (g *Integrity) gone(keys []*column.Vector, n int, parent *table.Version, f *table.ForeignKey, replaced bool) (keyRows, error) {
	if !replaced {
		rows := make([]int64, n)
		if err := parent.Find(g.st.Ctx(), parent.Schema.UniqueKey(f.Referenced), keys, n, rows); err != nil {
			return keyRows{}, err
		}
		var sel []int32
		for i, row := range rows {
			if row < 0 {
				sel = append(sel, int32(i))
			}
		}
		if len(sel) == 0 {
			return keyRows{}, nil
		}
		if len(sel) < n {
			own := make([]*column.Vector, len(keys))
			for i, c := range keys {
				own[i] = column.New(c.Type, 0)
				column.AppendSelected(own[i], 0, c, sel, n)
			}
			keys, n = own, len(sel)
		}
	}
	return keyTable(keys, nil, n)
}

// anyReferring says whether a row has one of the keys in some columns.
func (g *Integrity) anyReferring(v *table.Version, columns []int, keys keyRows) (bool, error) {
	rows, _, err := g.referringTo(v, columns, keys)
	return len(rows) > 0, err
}

// fewRows is the number of rows up to which references are looked up in the parent's index one by one, however large the parent is.
const fewRows = 4096

// checkMade fails if a row refers to one that is not there.
func (g *Integrity) checkMade(m *referring) error {
	child := g.version(m.id)
	orphan, err := g.orphan(child, g.parentOf(m.foreign), m.foreign, m.rows, m.first)
	if err == nil && orphan {
		err = sqlerr.NoReferencedRow(definition.DescribeForeignKey(child.Schema, m.foreign))
	}
	return err
}

// CheckRows checks foreign keys of a table that was filled, or of which they are new, over all of its rows.
func CheckRows(st Statement, v *table.Version, keys []table.ForeignKey) error {
	g := NewIntegrity(st)
	if g.IsOff || len(keys) == 0 {
		return nil
	}
	g.Set(v)
	for i := range keys {
		if err := g.checkMade(&referring{id: catalog.IDOf(v.Schema), foreign: &keys[i]}); err != nil {
			return err
		}
	}
	return nil
}

// orphan says whether one of some rows of child, or of those from number first on, refers to no row of parent, which may be nil.
func (g *Integrity) orphan(child, parent *table.Version, f *table.ForeignKey, rows []int64, first int64) (bool, error) {
	key := -1
	if parent != nil {
		key = parent.Schema.UniqueKey(f.Referenced)
	}
	if rows == nil && key >= 0 && child.Span()-first > fewRows {
		q, err := g.st.Binder().Orphans(child, f.Columns, first, parent, ordinalsOf(parent.Schema, f.Referenced))
		if err != nil {
			return false, err
		}
		found := false
		release, err := g.st.EachBatch(q, "foreign keys", func(b *column.Batch) (int64, error) {
			found = found || b.Rows() > 0
			return 0, nil
		})
		if err == nil {
			release()
		}
		return found, err
	}
	if rows == nil {
		var err error
		if rows, err = child.RowsFrom(g.st.Ctx(), first); err != nil {
			return false, err
		}
	} else {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row int64) bool { _, _, live := child.Locate(row); return !live })
	}
	cols, found := child.Gather(rows, f.Columns), make([]int64, len(rows))
	if key >= 0 {
		if err := parent.Find(g.st.Ctx(), key, cols, len(rows), found); err != nil {
			return false, err
		}
	}
	for i := range rows {
		if (key < 0 || found[i] < 0) && !slices.ContainsFunc(cols, func(c *column.Vector) bool { return c.IsNull(i) }) {
			return true, nil
		}
	}
	return false, nil
}
