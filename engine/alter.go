package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/sql/parse"
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
	if err := st.checkRows(next, a.newForeign()); err != nil {
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
			s.temporary[tableID{strings.ToLower(toDB), strings.ToLower(to)}] = true
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

func (a *alteration) columnNames() []string {
	var names []string
	for _, c := range a.columns {
		names = append(names, c.def.Name)
	}
	return names
}

func (a *alteration) keyNames() []string {
	var names []string
	for _, k := range a.keys {
		names = append(names, k.Name)
	}
	return names
}

// column finds a column by its name.
func (a *alteration) column(name *ast.ColumnName) (*alteredColumn, error) {
	if i := a.position(name.Name.O); i >= 0 {
		return a.columns[i], nil
	}
	return nil, sqlerr.UnknownColumn(name.Name.O, a.schema.Name, sqlerr.Suggest(name.Name.O, a.columnNames()))
}

func (a *alteration) position(name string) int {
	return slices.IndexFunc(a.columns, func(c *alteredColumn) bool { return strings.EqualFold(c.def.Name, name) })
}

// define reads a column's definition; keys and checks that stand in it are added.
func (a *alteration) define(def *ast.ColumnDef, from int) (*alteredColumn, error) {
	own := &table.Schema{Database: a.schema.Database, Name: a.schema.Name, Collation: a.collation}
	if err := a.session.addColumn(a.st, own, def); err != nil {
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

func (a *alteration) addColumns(spec *ast.AlterTableSpec) error {
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
		if err := a.place(c, spec.Position); err != nil {
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

// place puts a column where FIRST or AFTER says, or last.
func (a *alteration) place(c *alteredColumn, position *ast.ColumnPosition) error {
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

func (a *alteration) dropColumn(spec *ast.AlterTableSpec) error {
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
func (a *alteration) changeColumn(spec *ast.AlterTableSpec, old *ast.ColumnName) error {
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
	return a.place(c, spec.Position)
}

func (a *alteration) renameColumn(c *alteredColumn, name string) error {
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

func (a *alteration) addConstraint(c *ast.Constraint) error {
	if c.Tp == ast.ConstraintForeignKey {
		return a.addForeign(c)
	}
	// The names of columns are looked up in a definition that has those of now.
	own := &table.Schema{Name: a.schema.Name}
	for _, c := range a.columns {
		own.Columns = append(own.Columns, c.def)
	}
	if err := addConstraint(own, c); err != nil {
		return err
	}
	for _, check := range own.Checks {
		if err := a.addCheck(check); err != nil {
			return err
		}
	}
	for _, k := range own.Keys {
		key := &alteredKey{Key: k}
		for _, o := range k.Columns {
			key.columns = append(key.columns, a.columns[o])
		}
		if c.Name == "" && !k.Primary {
			key.Name = ""
		}
		if c.IfNotExists && a.key(key.Name) >= 0 {
			continue
		}
		if err := a.addKey(key); err != nil {
			return err
		}
	}
	return nil
}

// key returns the index of the key of a name, or -1.
func (a *alteration) key(name string) int {
	return slices.IndexFunc(a.keys, func(k *alteredKey) bool { return strings.EqualFold(k.Name, name) })
}

// addKey adds a key; one without a name gets its first column's, made unique by a number.
func (a *alteration) addKey(k *alteredKey) error {
	if k.Name == "" {
		k.Name = freeName(k.columns[0].def.Name, func(name string) bool { return a.key(name) >= 0 })
	}
	if a.key(k.Name) >= 0 {
		if k.Primary {
			return sqlerr.MultiplePrimaryKey()
		}
		return sqlerr.DupKeyName(k.Name)
	}
	a.keys = append(a.keys, k)
	return nil
}

func (a *alteration) dropKey(name string, ifExists bool) error {
	i := a.key(name)
	switch {
	case i >= 0:
		a.keys = slices.Delete(a.keys, i, i+1)
		return nil
	case ifExists:
		return nil
	}
	return sqlerr.CantDrop(name, sqlerr.Suggest(name, a.keyNames()))
}

func (a *alteration) renameKey(from, to string) error {
	i := a.key(from)
	if i < 0 {
		return sqlerr.NoSuchKey(from, a.schema.Name, sqlerr.Suggest(from, a.keyNames()))
	}
	if j := a.key(to); j >= 0 && j != i {
		return sqlerr.DupKeyName(to)
	}
	a.keys[i].Name = to
	return nil
}

func (a *alteration) addCheck(c table.Check) error {
	taken := func(name string) bool {
		return slices.ContainsFunc(a.checks, func(x table.Check) bool { return strings.EqualFold(x.Name, name) })
	}
	switch {
	case c.Name == "" || strings.HasPrefix(c.Name, generatedCheck):
		c.Name = checkName(a.schema.Name, taken)
	case taken(c.Name):
		return sqlerr.DuplicateCheck(c.Name)
	}
	a.checks = append(a.checks, c)
	a.tested = true
	return nil
}

// changeCheck drops a CHECK constraint, or lets it be enforced or not. DROP CONSTRAINT may mean a key as well.
func (a *alteration) changeCheck(spec *ast.AlterTableSpec) error {
	name := spec.Constraint.Name
	i := slices.IndexFunc(a.checks, func(c table.Check) bool { return strings.EqualFold(c.Name, name) })
	switch {
	case i < 0 && spec.Tp == ast.AlterTableDropCheck && a.key(name) >= 0:
		return a.dropKey(name, false)
	case i < 0 && spec.Tp == ast.AlterTableDropCheck && a.foreignKey(name) >= 0:
		return a.dropForeign(name, false)
	case i < 0:
		var names []string
		for _, c := range a.checks {
			names = append(names, c.Name)
		}
		return sqlerr.NoSuchCheck(name, sqlerr.Suggest(name, names))
	case spec.Tp == ast.AlterTableDropCheck:
		a.checks = slices.Delete(a.checks, i, i+1)
	default:
		a.checks[i].NotEnforced = !spec.Constraint.Enforced
		a.tested = a.tested || spec.Constraint.Enforced
	}
	return nil
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
		rules, err := a.st.storing(empty, computed, checks, q.Cols)
		if err != nil {
			return nil, err
		}
		if next, _, err = a.session.fill(a.st, empty, q, "ALTER TABLE", rules); err != nil {
			return nil, err
		}
		if schema.AutoIncrement() >= 0 && v.Schema.AutoIncrement() >= 0 {
			next.SkipAuto(v.Auto() - 1)
		}
	}
	if err == nil && a.auto > 1 && schema.AutoIncrement() >= 0 {
		next.SkipAuto(int64(min(a.auto, 1<<63-1)) - 1)
	}
	return next, err
}

// sameGenerated says whether two columns are generated by the same expression, or not generated.
func sameGenerated(a, b *table.ColumnDef) bool {
	return a.Generated == nil && b.Generated == nil || a.Generated != nil && b.Generated != nil && a.Generated.SQL == b.Generated.SQL
}

// generatesFrom refuses the dropping and renaming of a column that a generated one is made of.
func (a *alteration) generatesFrom(c *alteredColumn) error {
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
