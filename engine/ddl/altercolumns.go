package ddl

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/table"
)

// What ALTER TABLE does to columns, and to what is made of them.

func (a *Alteration) columnNames() []string {
	var names []string
	for _, c := range a.columns {
		names = append(names, c.def.Name)
	}
	return names
}

// column finds a column by its name.
func (a *Alteration) column(name *ast.ColumnName) (*alteredColumn, error) {
	if i := a.position(name.Name.O); i >= 0 {
		return a.columns[i], nil
	}
	return nil, sqlerr.UnknownColumn(name.Name.O, a.schema.Name, sqlerr.Suggest(name.Name.O, a.columnNames()))
}

func (a *Alteration) position(name string) int {
	return slices.IndexFunc(a.columns, func(c *alteredColumn) bool { return strings.EqualFold(c.def.Name, name) })
}

// define reads a column's definition; keys and checks that stand in it are added.
func (a *Alteration) define(def *ast.ColumnDef, from int) (*alteredColumn, error) {
	own := &table.Schema{Database: a.schema.Database, Name: a.schema.Name, Collation: a.collation}
	if err := addColumn(a.st, own, def); err != nil {
		return nil, err
	}
	c := &alteredColumn{own.Columns[0], from}
	for _, k := range own.Keys {
		if err := a.addKey(&alteredKey{k, []*alteredColumn{c}}); err != nil {
			return nil, err
		}
	}
	for _, check := range own.Checks {
		if err := a.addCheck(check); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (a *Alteration) addColumns(spec *ast.AlterTableSpec) error {
	for _, def := range spec.NewColumns {
		if a.position(def.Name.Name.O) >= 0 {
			if spec.IfNotExists {
				continue
			}
			return sqlerr.DupFieldName(def.Name.Name.O)
		}
		c, err := a.define(def, -1)
		if err != nil {
			return err
		}
		if err := a.insert(c, spec.Position); err != nil {
			return err
		}
	}
	for _, c := range spec.NewConstraints {
		if err := a.addConstraint(c); err != nil {
			return err
		}
	}
	return nil
}

// insert puts a column where FIRST or AFTER says, or last.
func (a *Alteration) insert(c *alteredColumn, position *ast.ColumnPosition) error {
	at := len(a.columns)
	if position != nil {
		switch position.Tp {
		case ast.ColumnPositionFirst:
			at = 0
		case ast.ColumnPositionAfter:
			before, err := a.column(position.RelativeColumn)
			if err != nil {
				return err
			}
			at = slices.Index(a.columns, before) + 1
		}
	}
	a.columns = slices.Insert(a.columns, at, c)
	return nil
}

func (a *Alteration) dropColumn(spec *ast.AlterTableSpec) error {
	i := a.position(spec.OldColumnName.Name.O)
	if i < 0 {
		if spec.IfExists {
			return nil
		}
		name := spec.OldColumnName.Name.O
		return sqlerr.CantDrop(name, sqlerr.Suggest(name, a.columnNames()))
	}
	c := a.columns[i]
	if len(a.columns) == 1 {
		return sqlerr.New(sqlerr.CodeCantRemoveAllFields, sqlerr.User, "You can't delete all columns with ALTER TABLE; use DROP TABLE instead")
	}
	if err := a.generatesFrom(c); err != nil {
		return err
	}
	for _, f := range a.foreign {
		if slices.Contains(f.columns, c) {
			return sqlerr.ForeignColumnDrop(c.def.Name, f.Name)
		}
	}
	// A check that names this column alone goes with it.
	var kept []table.Check
	for _, check := range a.checks {
		names, err := columnsOf(check.SQL)
		if err != nil {
			return err
		}
		switch uses := slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, c.def.Name) }); {
		case !uses:
			kept = append(kept, check)
		case slices.ContainsFunc(names, func(n string) bool { return !strings.EqualFold(n, c.def.Name) }):
			return sqlerr.CheckNeedsColumn(check.Name, c.def.Name)
		}
	}
	a.checks = kept
	a.columns = slices.Delete(a.columns, i, i+1)
	for _, k := range a.keys {
		k.columns = slices.DeleteFunc(k.columns, func(x *alteredColumn) bool { return x == c })
	}
	a.keys = slices.DeleteFunc(a.keys, func(k *alteredKey) bool { return len(k.columns) == 0 })
	return nil
}

// changeColumn runs MODIFY and CHANGE.
func (a *Alteration) changeColumn(spec *ast.AlterTableSpec, old *ast.ColumnName) error {
	c, err := a.column(old)
	if err != nil {
		return err
	}
	def := spec.NewColumns[0]
	if err := a.renameColumn(c, def.Name.Name.O); err != nil {
		return err
	}
	changed, err := a.define(def, c.from)
	if err != nil {
		return err
	}
	c.def = changed.def
	for _, k := range a.keys {
		for i, x := range k.columns {
			if x == changed {
				k.columns[i] = c
			}
		}
	}
	if spec.Position == nil || spec.Position.Tp == ast.ColumnPositionNone {
		return nil
	}
	at := slices.Index(a.columns, c)
	a.columns = slices.Delete(a.columns, at, at+1)
	return a.insert(c, spec.Position)
}

func (a *Alteration) renameColumn(c *alteredColumn, name string) error {
	if name == c.def.Name {
		return nil
	}
	if i := a.position(name); i >= 0 && a.columns[i] != c {
		return sqlerr.DupFieldName(name)
	}
	if !strings.EqualFold(name, c.def.Name) {
		if err := a.generatesFrom(c); err != nil {
			return err
		}
	}
	for _, check := range a.checks {
		names, err := columnsOf(check.SQL)
		if err != nil {
			return err
		}
		if !strings.EqualFold(name, c.def.Name) && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, c.def.Name) }) {
			return sqlerr.CheckNeedsColumn(check.Name, c.def.Name)
		}
	}
	c.def.Name = name
	return nil
}

// sameGenerated says whether two columns are generated by the same expression, or not generated.
func sameGenerated(a, b *table.ColumnDef) bool {
	return a.Generated == nil && b.Generated == nil || a.Generated != nil && b.Generated != nil && a.Generated.SQL == b.Generated.SQL
}

// generatesFrom refuses the dropping and renaming of a column that a generated one is made of.
func (a *Alteration) generatesFrom(c *alteredColumn) error {
	for _, x := range a.columns {
		if x == c || x.def.Generated == nil {
			continue
		}
		names, err := columnsOf(x.def.Generated.SQL)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, c.def.Name) }) {
			return sqlerr.New(sqlerr.CodeGeneratedDependency, sqlerr.User, "Column '%s' has a generated column dependency.", c.def.Name)
		}
	}
	return nil
}

// columnsOf returns the names of the columns in an expression that is kept as text.
func columnsOf(text string) ([]string, error) {
	stmt, err := parse.One("SELECT "+text, parse.DefaultMode)
	if err != nil {
		return nil, err
	}
	var f columnFinder
	stmt.Node.Accept(&f)
	return f.names, nil
}

// columnFinder collects the names of columns.
type columnFinder struct{ names []string }

func (f *columnFinder) Enter(n ast.Node) (ast.Node, bool) {
	if c, is := n.(*ast.ColumnName); is {
		f.names = append(f.names, c.Name.O)
	}
	return n, false
}

func (f *columnFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
