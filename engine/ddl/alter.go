package ddl

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// Alteration is a table's definition while ALTER TABLE changes it. Keys hold their columns themselves, for the ordinals change.
type Alteration struct {
	Auto   uint64         // AUTO_INCREMENT = n; 0: not given
	Rename *ast.TableName // the name that the table gets; nil: it keeps its own

	st      Statement
	schema  *table.Schema // as it was
	columns []*alteredColumn
	foreign []*alteredForeign
	keys    []*alteredKey
	checks  []table.Check
	comment string
	// collation is that of new columns.
	collation types.Collation
	tested    bool // there are new checks, which the rows have to pass
}

type alteredColumn struct {
	def  table.ColumnDef
	from int // the ordinal that it had; -1: it is new
}

type alteredKey struct {
	table.Key
	columns []*alteredColumn
}

type alteredForeign struct {
	table.ForeignKey
	columns []*alteredColumn
	isNew   bool
}

// NewAlteration begins with the definition as it is.
func NewAlteration(st Statement, schema *table.Schema) *Alteration {
	a := &Alteration{st: st, schema: schema, checks: slices.Clone(schema.Checks), comment: schema.Comment, collation: schema.Collation}
	for i, def := range schema.Columns {
		a.columns = append(a.columns, &alteredColumn{def, i})
	}
	for _, k := range schema.Keys {
		key := &alteredKey{Key: k}
		for _, o := range k.Columns {
			key.columns = append(key.columns, a.columns[o])
		}
		a.keys = append(a.keys, key)
	}
	for _, f := range schema.Foreign {
		own := &alteredForeign{ForeignKey: f}
		for _, o := range f.Columns {
			own.columns = append(own.columns, a.columns[o])
		}
		a.foreign = append(a.foreign, own)
	}
	return a
}

// Apply makes one change.
func (a *Alteration) Apply(spec *ast.AlterTableSpec) error {
	switch spec.Tp {
	case ast.AlterTableAddColumns:
		return a.addColumns(spec)
	case ast.AlterTableDropColumn:
		return a.dropColumn(spec)
	case ast.AlterTableModifyColumn:
		return a.changeColumn(spec, spec.NewColumns[0].Name)
	case ast.AlterTableChangeColumn:
		return a.changeColumn(spec, spec.OldColumnName)
	case ast.AlterTableRenameColumn:
		c, err := a.column(spec.OldColumnName)
		if err != nil {
			return err
		}
		return a.renameColumn(c, spec.NewColumnName.Name.O)
	case ast.AlterTableAlterColumn:
		c, err := a.column(spec.NewColumns[0].Name)
		if err != nil {
			return err
		}
		c.def.Default = nil
		if options := spec.NewColumns[0].Options; len(options) > 0 {
			return setDefault(a.st, &c.def, options[0].Expr)
		}
		return nil
	case ast.AlterTableAddConstraint:
		return a.addConstraint(spec.Constraint)
	case ast.AlterTableDropPrimaryKey:
		return a.dropKey("PRIMARY", spec.IfExists)
	case ast.AlterTableDropIndex:
		return a.dropKey(spec.Name, spec.IfExists)
	case ast.AlterTableRenameIndex:
		return a.renameKey(spec.FromKey.O, spec.ToKey.O)
	case ast.AlterTableDropCheck, ast.AlterTableAlterCheck:
		return a.changeCheck(spec)
	case ast.AlterTableRenameTable:
		a.Rename = spec.NewTable
		return nil
	case ast.AlterTableOption:
		return a.setOptions(spec.Options)
	case ast.AlterTableLock, ast.AlterTableAlgorithm, ast.AlterTableForce, ast.AlterTableEnableKeys, ast.AlterTableDisableKeys,
		ast.AlterTableWithValidation:
		return nil // how the change is made is not the user's to choose
	case ast.AlterTableDropForeignKey:
		return a.dropForeign(spec.Name, spec.IfExists)
	}
	return sqlerr.NotSupportedf("this ALTER TABLE", "columns, keys, checks, defaults, names and the comment can be altered")
}

func (a *Alteration) setOptions(options []*ast.TableOption) error {
	if err := a.setCollation(options); err != nil {
		return err
	}
	for _, o := range options {
		switch o.Tp {
		case ast.TableOptionComment:
			a.comment = o.StrValue
		case ast.TableOptionAutoIncrement:
			a.Auto = o.UintValue
		}
	}
	return nil
}

// Finish returns the new definition.
func (a *Alteration) Finish() (*table.Schema, error) {
	out := &table.Schema{Database: a.schema.Database, Name: a.schema.Name, Comment: a.comment, Checks: a.checks, Collation: a.collation}
	for _, c := range a.columns {
		out.Columns = append(out.Columns, c.def)
	}
	for _, k := range a.keys {
		key := k.Key
		key.Columns = nil
		for _, c := range k.columns {
			key.Columns = append(key.Columns, slices.Index(a.columns, c))
		}
		out.Keys = append(out.Keys, key)
	}
	for _, f := range a.foreign {
		f.Columns = nil
		for _, c := range f.columns {
			f.Columns = append(f.Columns, slices.Index(a.columns, c))
		}
		out.Foreign = append(out.Foreign, f.ForeignKey)
	}
	out = out.Own()
	return out, completeSchema(a.st, out)
}

// Rebuild says from which columns of the table those of schema, which [Alteration.Finish] has returned, are made, and whether the rows can stay as they are.
func (a *Alteration) Rebuild(schema *table.Schema) (columns []bind.Rebuild, same bool) {
	same = len(a.columns) == len(a.schema.Columns) && !a.tested && schema.AutoIncrement() == a.schema.AutoIncrement()
	columns = make([]bind.Rebuild, len(a.columns))
	for i, c := range a.columns {
		def := &schema.Columns[i]
		columns[i] = bind.Rebuild{Def: def, From: c.from}
		same = same && c.from == i && sameGenerated(def, &a.schema.Columns[i]) && def.Type == a.schema.Columns[i].Type && (def.Nullable || !a.schema.Columns[i].Nullable)
	}
	return columns, same
}
