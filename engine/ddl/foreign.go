package ddl

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/definition"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// foreignDef is a FOREIGN KEY clause: names of columns instead of ordinals, and of the index that it makes if there is none.
type foreignDef struct {
	table.ForeignKey
	columns []string
	index   string
}

// foreignDefOf reads a FOREIGN KEY clause of a table of a database, where its parent is if the clause does not say.
func foreignDefOf(c *ast.Constraint, database string) (*foreignDef, error) {
	d := &foreignDef{index: c.Name}
	d.Name = c.Name
	label := d.Name
	if label == "" {
		label = "foreign key without name"
	}
	d.Database, d.Table = database, c.Refer.Table.Name.O
	if db := c.Refer.Table.Schema.O; db != "" {
		d.Database = db
	}
	var err error
	for _, p := range c.Keys {
		if p.Expr != nil {
			return nil, sqlerr.WrongForeignKey(label)
		}
		d.columns = append(d.columns, p.Column.Name.O)
	}
	for _, p := range c.Refer.IndexPartSpecifications {
		if p.Expr != nil {
			return nil, sqlerr.WrongForeignKey(label)
		}
		d.Referenced = append(d.Referenced, p.Column.Name.O)
	}
	if len(d.columns) != len(d.Referenced) {
		return nil, sqlerr.WrongForeignKey(label)
	}
	if m := c.Refer.Match; m == ast.MatchFull || m == ast.MatchPartial {
		return nil, sqlerr.NotSupportedf("MATCH FULL or PARTIAL", "a row with a NULL in a foreign key refers to nothing, as with MATCH SIMPLE")
	}
	if o := c.Refer.OnDelete; o != nil {
		if d.OnDelete, err = referentialAction(o.ReferOpt); err != nil {
			return nil, err
		}
	}
	if o := c.Refer.OnUpdate; o != nil {
		d.OnUpdate, err = referentialAction(o.ReferOpt)
	}
	return d, err
}

func referentialAction(o ast.ReferOptionType) (table.ReferentialAction, error) {
	switch o {
	case ast.ReferOptionRestrict:
		return table.Restrict, nil
	case ast.ReferOptionCascade:
		return table.Cascade, nil
	case ast.ReferOptionSetNull:
		return table.SetNull, nil
	case ast.ReferOptionSetDefault:
		return 0, sqlerr.New(sqlerr.CodeCannotAddForeign, sqlerr.User, "Cannot add foreign key constraint").
			WithHint("InnoDB has no SET DEFAULT, and neither has Radish: use CASCADE, SET NULL or RESTRICT")
	}
	return table.NoAction, nil
}

// addForeignKeys adds the FOREIGN KEY clauses of CREATE TABLE to a definition, with an index for those that have none.
func addForeignKeys(st Statement, snap *catalog.Snapshot, schema *table.Schema, constraints []*ast.Constraint) error {
	for _, c := range constraints {
		if c.Tp != ast.ConstraintForeignKey {
			continue
		}
		d, err := foreignDefOf(c, schema.Database)
		if err != nil {
			return err
		}
		for _, name := range d.columns {
			o := schema.Ordinal(name)
			if o < 0 {
				return sqlerr.KeyColumnMissing(name, suggestColumn(schema, name))
			}
			d.Columns = append(d.Columns, o)
		}
		if supportingKey(schema, d.Columns) < 0 {
			key := table.Key{Name: d.index, Columns: d.Columns}
			if hasKey(schema, key.Name) {
				key.Name = ""
			}
			if err := addKey(schema, key); err != nil {
				return err
			}
		}
		if d.Name == "" {
			d.Name = foreignName(schema.Name, func(name string) bool {
				return slices.ContainsFunc(schema.Foreign, func(f table.ForeignKey) bool { return strings.EqualFold(f.Name, name) })
			})
		}
		schema.Foreign = append(schema.Foreign, d.ForeignKey)
	}
	return CheckForeignKeys(st, snap, schema, nil)
}

// foreignName returns InnoDB's name for a foreign key without one.
func foreignName(tableName string, taken func(string) bool) string {
	for i := 1; ; i++ {
		if name := tableName + catalog.GeneratedForeignKey + types.IntValue(int64(i)).Text(); !taken(name) {
			return name
		}
	}
}

// supportingKey returns the ordinal of a key that begins with the given columns, or -1.
func supportingKey(schema *table.Schema, columns []int) int {
	return slices.IndexFunc(schema.Keys, func(k table.Key) bool {
		return len(k.Columns) >= len(columns) && slices.Equal(k.Columns[:len(columns)], columns)
	})
}

// CheckForeignKeys checks the foreign keys of a table that is made or altered, and those of others which refer to it. before is its
// definition until now; nil: there was none.
func CheckForeignKeys(st Statement, snap *catalog.Snapshot, schema, before *table.Schema) error {
	if len(schema.Foreign) > 0 && catalog.IsHidden(schema.Database) {
		return sqlerr.New(sqlerr.CodeCannotAddForeign, sqlerr.User, "Cannot add foreign key constraint").WithHint("temporary tables have no foreign keys")
	}
	for i := range schema.Foreign {
		f := &schema.Foreign[i]
		var err error
		if snap.HasForeignKey(schema, f.Name) {
			err = sqlerr.ForeignDuplicateName(f.Name)
		}
		for j := range i {
			if strings.EqualFold(schema.Foreign[j].Name, f.Name) {
				err = sqlerr.ForeignDuplicateName(f.Name)
			}
		}
		if err != nil {
			return err
		}
		if supportingKey(schema, f.Columns) < 0 {
			return sqlerr.DropIndexForeignKey(f.Name)
		}
		if err := checksLeave(schema, f); err != nil {
			return err
		}
		parent := schema
		if !f.RefersTo(schema.Database, schema.Name) {
			if _, view, err := snap.Lookup(f.Database, f.Table); err == nil && view != nil {
				_, err := snap.Table(f.Database, f.Table)
				return err
			}
			v, err := snap.Table(f.Database, f.Table)
			switch {
			case err == nil:
				parent = v.Schema
			case st.Setting("foreign_key_checks") == 0:
				continue // it may come later
			default:
				return sqlerr.ForeignNoParent(f.Table)
			}
		}
		if err := checkForeign(schema, f, parent); err != nil {
			return err
		}
	}
	var err error
	snap.Referring(schema.Database, schema.Name, func(child *table.Version, f *table.ForeignKey) {
		if err != nil || catalog.IDOf(child.Schema) == catalog.IDOf(schema) {
			return
		}
		if before != nil && before.UniqueKey(f.Referenced) >= 0 && !slices.ContainsFunc(f.Referenced, func(c string) bool { return schema.Ordinal(c) < 0 }) &&
			schema.UniqueKey(f.Referenced) < 0 {
			err = sqlerr.DropIndexForeignKey(before.Keys[before.UniqueKey(f.Referenced)].Name)
			return
		}
		err = checkForeign(child.Schema, f, schema)
	})
	return err
}

// checkForeign checks a foreign key against the definition of its parent.
func checkForeign(child *table.Schema, f *table.ForeignKey, parent *table.Schema) error {
	for i, name := range f.Referenced {
		o := parent.Ordinal(name)
		if o < 0 {
			return sqlerr.ForeignNoColumnParent(name, f.Name, parent.Name)
		}
		c := &child.Columns[f.Columns[i]]
		if !comparableTypes(c.Type, parent.Columns[o].Type) {
			return sqlerr.ForeignIncompatibleTypes(c.Name, parent.Columns[o].Name, f.Name)
		}
		if !c.Nullable && (f.OnDelete == table.SetNull || f.OnUpdate == table.SetNull) {
			return sqlerr.ForeignColumnNotNull(c.Name, f.Name)
		}
	}
	if parent.UniqueKey(f.Referenced) < 0 {
		return sqlerr.ForeignNoIndexParent(f.Name, parent.Name)
	}
	return nil
}

// checksLeave refuses a CHECK or a generated column over columns that a foreign key changes by itself: these would not be tested or computed then.
func checksLeave(schema *table.Schema, f *table.ForeignKey) error {
	if f.OnDelete != table.SetNull && f.OnUpdate != table.SetNull && f.OnUpdate != table.Cascade {
		return nil
	}
	for i := range schema.Columns {
		def := &schema.Columns[i]
		if def.Generated == nil {
			continue
		}
		names, err := columnsOf(def.Generated.SQL)
		if err != nil {
			return err
		}
		for _, o := range f.Columns {
			if o == i || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, schema.Columns[o].Name) }) {
				return sqlerr.GeneratedForeignKey(f.OnDelete.String(), f.OnUpdate.String())
			}
		}
	}
	for _, c := range schema.Checks {
		names, err := columnsOf(c.SQL)
		if err != nil {
			return err
		}
		for _, o := range f.Columns {
			if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, schema.Columns[o].Name) }) {
				return sqlerr.CheckForeignColumn(schema.Columns[o].Name, c.Name, f.Name)
			}
		}
	}
	return nil
}

// comparableTypes says whether a foreign key may have a column of type a that refers to one of type b: the types are the same, but
// that strings may differ in length.
func comparableTypes(a, b types.Type) bool {
	if a.IsString() && b.IsString() && a.Kind != types.KindEnum {
		a.Length, a.Kind, b.Length = 0, b.Kind, 0
	}
	return a == b
}

// MayTruncate refuses TRUNCATE of a table that others refer to.
func MayTruncate(st Statement, snap *catalog.Snapshot, schema *table.Schema) (err error) {
	if st.Setting("foreign_key_checks") == 0 {
		return nil
	}
	snap.Referring(schema.Database, schema.Name, func(child *table.Version, f *table.ForeignKey) {
		if err == nil && catalog.IDOf(child.Schema) != catalog.IDOf(schema) {
			err = sqlerr.TruncateReferenced(definition.DescribeForeignKey(child.Schema, f))
		}
	})
	return err
}

// MayDrop refuses the dropping of tables that others refer to; snap is what is left.
func MayDrop(st Statement, snap *catalog.Snapshot, dropped []*table.Schema) (err error) {
	if st.Setting("foreign_key_checks") == 0 {
		return nil
	}
	for _, schema := range dropped {
		snap.Referring(schema.Database, schema.Name, func(child *table.Version, f *table.ForeignKey) {
			if err == nil {
				err = sqlerr.DropReferenced(schema.Name, f.Name, child.Schema.Name)
			}
		})
	}
	return err
}
