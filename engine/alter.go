package engine

import (
	"errors"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// alteration is a table's definition while ALTER TABLE changes it. Keys hold their columns themselves, for the ordinals change.
type alteration struct {
	session *Session
	st      *statement
	schema  *table.Schema // as it was
	columns []*alteredColumn
	foreign []*alteredForeign
	keys    []*alteredKey
	checks  []table.Check
	comment string
	// collation is that of new columns.
	collation types.Collation
	auto      uint64 // AUTO_INCREMENT = n; 0: not given
	rename    *ast.TableName
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

// alterTable runs ALTER TABLE. Changes of the definition alone keep the rows where they are; others make the rows anew, by a
// query.
func (s *Session) alterTable(st *statement, n *ast.AlterTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, name, err := s.find(n.Table)
	if err != nil {
		return nil, err
	}
	v, err := s.snapshot().Table(db, name)
	if err != nil {
		return nil, err
	}
	a := newAlteration(s, st, v.Schema)
	for _, spec := range n.Specs {
		if err := a.apply(spec); err != nil {
			return nil, err
		}
	}
	schema, err := a.finish()
	if err != nil {
		return nil, err
	}
	snap, children, err := a.renameReferenced(s.snapshot(), schema)
	if err != nil {
		return nil, err
	}
	if err := s.checkDefinition(snap, schema, v.Schema); err != nil {
		return nil, err
	}
	next, err := a.rebuild(v, schema)
	if errors.Is(err, sqlerr.CodeBadNull) {
		err = sqlerr.New(sqlerr.CodeInvalidUseOfNull, sqlerr.User, "Invalid use of NULL value").WithHint("%s", sqlerr.From(err).Message)
	}
	if err != nil {
		return nil, err
	}
	if err := write.CheckRows(st, next, a.newForeign()); err != nil {
		return nil, err
	}
	return &Result{}, st.change("ALTER TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		snap, err := snap.ReplaceTable(next)
		for _, child := range children {
			if err == nil {
				snap, err = snap.ReplaceTable(child)
			}
		}
		if err != nil || a.rename == nil {
			return snap, err
		}
		toDB, to, err := s.qualify(a.rename)
		if err != nil {
			return nil, err
		}
		if catalog.IsHidden(db) {
			if s.hiddenDatabase(toDB) != db {
				return nil, sqlerr.NotSupportedf("moving a temporary table to another database", "make it there")
			}
			s.forgetTemporary(toDB, name)
			s.temporary[catalog.NewTableID(toDB, to)] = true
			toDB = db
		}
		return snap.RenameTable(db, name, toDB, to)
	})
}

func newAlteration(s *Session, st *statement, schema *table.Schema) *alteration {
	a := &alteration{session: s, st: st, schema: schema, checks: slices.Clone(schema.Checks), comment: schema.Comment, collation: schema.Collation}
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

// apply makes one change.
func (a *alteration) apply(spec *ast.AlterTableSpec) error {
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
			return a.session.setDefault(a.st, &c.def, options[0].Expr)
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
		a.rename = spec.NewTable
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

func (a *alteration) setOptions(options []*ast.TableOption) error {
	if err := a.setCollation(options); err != nil {
		return err
	}
	for _, o := range options {
		switch o.Tp {
		case ast.TableOptionComment:
			a.comment = o.StrValue
		case ast.TableOptionAutoIncrement:
			a.auto = o.UintValue
		}
	}
	return nil
}

// finish returns the new definition.
func (a *alteration) finish() (*table.Schema, error) {
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
	return out, a.session.completeSchema(a.st, out)
}

// rebuild returns the table with the new definition.
func (a *alteration) rebuild(v *table.Version, schema *table.Schema) (*table.Version, error) {
	same := len(a.columns) == len(v.Schema.Columns) && !a.tested && schema.AutoIncrement() == v.Schema.AutoIncrement()
	columns := make([]bind.Rebuild, len(a.columns))
	for i, c := range a.columns {
		def := &schema.Columns[i]
		columns[i] = bind.Rebuild{Def: def, From: c.from}
		same = same && c.from == i && sameGenerated(def, &v.Schema.Columns[i]) && def.Type == v.Schema.Columns[i].Type && (def.Nullable || !v.Schema.Columns[i].Nullable)
	}
	next, err := v, error(nil)
	if same {
		next, err = v.WithKeys(a.st.ctx, schema)
	} else {
		b := a.st.binder()
		q, err := b.Rebuild(v, columns)
		if err != nil {
			return nil, err
		}
		computed, checks, err := b.TableRules(schema, q.Cols)
		if err != nil {
			return nil, err
		}
		empty := table.New(schema)
		rules, err := write.NewRules(a.st, empty, computed, checks, q.Cols)
		if err != nil {
			return nil, err
		}
		if next, _, err = a.session.fill(a.st, empty, q, "ALTER TABLE", rules); err != nil {
			return nil, err
		}
		rules.Settle()
		if schema.AutoIncrement() >= 0 && v.Schema.AutoIncrement() >= 0 {
			next.SkipAuto(v.Auto() - 1)
		}
	}
	if err == nil && a.auto > 1 && schema.AutoIncrement() >= 0 {
		next.SkipAuto(int64(min(a.auto, 1<<63-1)) - 1)
	}
	return next, err
}
