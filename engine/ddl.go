package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// createTable runs CREATE TABLE, CREATE TABLE ... LIKE and CREATE TABLE ... AS SELECT.
// createTable runs CREATE TABLE, with LIKE and with a query, and CREATE TEMPORARY TABLE.
func (s *Session) createTable(st *statement, n *ast.CreateTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, name, err := s.qualify(n.Table)
	if err != nil {
		return nil, err
	}
	snap := s.snapshot()
	dbName, err := snap.DatabaseName(db)
	if err != nil {
		return nil, err
	}
	taken := n.TemporaryKeyword == ast.TemporaryLocal && s.shadowing(db, name) != ""
	if n.TemporaryKeyword == ast.TemporaryNone && snap.Exists(db, name) {
		taken = true
	}
	if taken {
		if n.IfNotExists {
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeTableExists, "Table '%s' already exists", name)
			return &Result{}, nil
		}
		return nil, sqlerr.TableExists(name)
	}
	switch {
	case n.TemporaryKeyword == ast.TemporaryGlobal:
		return nil, sqlerr.NotSupportedf("a GLOBAL TEMPORARY table", "CREATE TEMPORARY TABLE makes one for the session")
	case n.Partition != nil:
		return nil, sqlerr.NotSupportedf("PARTITION BY", "tables are kept in row groups with zone maps instead")
	}
	if n.TemporaryKeyword == ast.TemporaryLocal {
		dbName = s.hiddenDatabase(dbName)
	}
	schema, q, err := s.defineTable(st, snap, n, dbName, name)
	if err != nil {
		return nil, err
	}
	schema = schema.Own()
	v := table.New(schema)
	for _, o := range n.Options {
		if o.Tp == ast.TableOptionAutoIncrement && o.UintValue > 1 && schema.AutoIncrement() >= 0 {
			v.SkipAuto(int64(min(o.UintValue, 1<<63-1)) - 1)
		}
	}
	var rows int64
	if q != nil {
		if v, rows, err = s.fillNew(st, v, q); err != nil {
			return nil, err
		}
	}
	if n.TemporaryKeyword == ast.TemporaryLocal {
		return &Result{RowsAffected: rows}, s.addTemporary(st, v, db)
	}
	return &Result{RowsAffected: rows}, st.change("CREATE TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		return snap.CreateTable(v)
	})
}

// defineTable returns the definition of the table that a statement makes, and the query that fills it; nil: none does.
func (s *Session) defineTable(st *statement, snap *catalog.Snapshot, n *ast.CreateTableStmt, db, name string) (schema *table.Schema, q *logical.Query, err error) {
	schema = &table.Schema{Database: db, Name: name}
	if n.ReferTable != nil {
		if schema, err = s.likeSchema(snap, n.ReferTable, db, name); err != nil {
			return nil, nil, err
		}
	} else if err = s.tableSchema(st, schema, n); err != nil {
		return nil, nil, err
	}
	if n.Select != nil {
		if q, err = s.createAs(st, schema, n); err != nil {
			return nil, nil, err
		}
	}
	if len(schema.Columns) == 0 {
		return nil, nil, sqlerr.New(sqlerr.CodeTableMustHaveColumns, sqlerr.User, "A table must have at least 1 column")
	}
	if n.ReferTable == nil {
		if err := s.constrain(st, schema, n.Constraints); err != nil {
			return nil, nil, err
		}
	}
	return schema, q, s.addForeignKeys(snap, schema, n.Constraints)
}

// fillNew fills a new table from a query.
func (s *Session) fillNew(st *statement, v *table.Version, q *logical.Query) (filled *table.Version, rows int64, err error) {
	computed, checks, err := st.binder().TableRules(v.Schema, q.Cols)
	if err != nil {
		return nil, 0, err
	}
	rules, err := write.NewRules(st, v, computed, checks, q.Cols)
	if err != nil {
		return nil, 0, err
	}
	if !s.checking { // else the table stays empty
		if v, rows, err = s.fill(st, v, q, "CREATE TABLE", rules); err != nil {
			return nil, 0, err
		}
		rules.Settle()
	}
	return v, rows, write.CheckRows(st, v, v.Schema.Foreign)
}

func (s *Session) likeSchema(snap *catalog.Snapshot, like *ast.TableName, db, name string) (*table.Schema, error) {
	fromDB, from, err := s.find(like)
	if err != nil {
		return nil, err
	}
	v, err := snap.Table(fromDB, from)
	if err != nil {
		return nil, err
	}
	out := *v.Schema
	out.Database, out.Name, out.Foreign = db, name, nil
	out.Checks = slices.Clone(out.Checks)
	for i := range out.Checks { // their names are unique in the database, so they get new ones, as in MySQL
		out.Checks[i].Name = name + catalog.GeneratedCheck + strconv.Itoa(i+1)
	}
	return &out, nil
}

// tableSchema fills schema from the column definitions of n.
func (s *Session) tableSchema(st *statement, schema *table.Schema, n *ast.CreateTableStmt) error {
	var err error
	if schema.Collation, err = s.newTableCollation(n); err != nil {
		return err
	}
	for _, c := range n.Cols {
		if err := s.addColumn(st, schema, c); err != nil {
			return err
		}
	}
	for _, o := range n.Options {
		if o.Tp == ast.TableOptionComment {
			schema.Comment = o.StrValue
		}
	}
	return nil
}

// constrain adds the constraints that stand by themselves, foreign keys aside, to a schema that has all its columns.
func (s *Session) constrain(st *statement, schema *table.Schema, constraints []*ast.Constraint) error {
	for _, c := range constraints {
		if c.Tp == ast.ConstraintForeignKey {
			continue // see addForeignKeys
		}
		if err := addConstraint(schema, c); err != nil {
			return err
		}
	}
	return s.completeSchema(st, schema)
}

// completeSchema checks what can only be checked of a whole definition, and completes it.
func (s *Session) completeSchema(st *statement, schema *table.Schema) error {
	// A primary key makes its columns NOT NULL.
	for _, k := range schema.Keys {
		if k.Primary {
			for _, o := range k.Columns {
				schema.Columns[o].Nullable = false
			}
		}
	}
	for i := range schema.Columns {
		if !schema.Columns[i].AutoIncrement {
			continue
		}
		first := slices.ContainsFunc(schema.Keys, func(k table.Key) bool { return k.Columns[0] == i })
		if !first || schema.AutoIncrement() != i {
			return sqlerr.WrongAutoKey()
		}
	}
	for i := range schema.Columns {
		if schema.Columns[i].Generated != nil {
			if err := st.binder().CheckGenerated(schema, i); err != nil {
				return err
			}
		}
	}
	for i := range schema.Checks {
		c := &schema.Checks[i]
		if strings.HasPrefix(c.Name, generatedCheck) {
			c.Name = checkName(schema.Name, func(name string) bool {
				return slices.ContainsFunc(schema.Checks, func(x table.Check) bool { return strings.EqualFold(x.Name, name) })
			})
		}
		for j := range i {
			if strings.EqualFold(schema.Checks[j].Name, c.Name) {
				return sqlerr.DuplicateCheck(c.Name)
			}
		}
		b := st.binder()
		if _, err := b.CheckCondition(schema, c.SQL, b.TableColumns(schema)); err != nil {
			return err
		}
	}
	return nil
}

func addConstraint(schema *table.Schema, c *ast.Constraint) error {
	switch c.Tp {
	case ast.ConstraintCheck:
		return addCheck(schema, c.Name, c.Expr, c.Enforced)
	case ast.ConstraintFulltext:
		return sqlerr.NotSupportedf("FULLTEXT", "there is no full-text index; use LIKE or REGEXP")
	}
	key := table.Key{Name: c.Name}
	switch c.Tp {
	case ast.ConstraintPrimaryKey:
		key.Name, key.Primary, key.Unique = "PRIMARY", true, true
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		key.Unique = true
	}
	var err error
	if key.Columns, err = keyColumns(schema, c.Keys); err != nil {
		return err
	}
	return addKey(schema, key)
}

// suggestColumn returns the column that a name was probably meant to be.
func suggestColumn(schema *table.Schema, name string) string {
	names := make([]string, len(schema.Columns))
	for i := range names {
		names[i] = schema.Columns[i].Name
	}
	return sqlerr.Suggest(name, names)
}

func keyColumns(schema *table.Schema, parts []*ast.IndexPartSpecification) ([]int, error) {
	var out []int
	for _, p := range parts {
		if p.Expr != nil {
			return nil, sqlerr.NotSupportedf("an index on an expression", "index a column")
		}
		o := schema.Ordinal(p.Column.Name.O)
		if o < 0 {
			return nil, sqlerr.KeyColumnMissing(p.Column.Name.O, suggestColumn(schema, p.Column.Name.O))
		}
		out = append(out, o)
	}
	return out, nil
}

// addKey adds a key; one without a name gets its first column's, made unique by a number.
func addKey(schema *table.Schema, k table.Key) error {
	if k.Name == "" {
		k.Name = freeName(schema.Columns[k.Columns[0]].Name, func(name string) bool { return hasKey(schema, name) })
	}
	if hasKey(schema, k.Name) {
		if k.Primary {
			return sqlerr.MultiplePrimaryKey()
		}
		return sqlerr.DupKeyName(k.Name)
	}
	schema.Keys = append(schema.Keys, k)
	return nil
}

// freeName returns a name that is not taken: base, or base and a number.
func freeName(base string, taken func(string) bool) string {
	name := base
	for i := 2; taken(name); i++ {
		name = base + "_" + types.IntValue(int64(i)).Text()
	}
	return name
}

func hasKey(schema *table.Schema, name string) bool {
	for _, k := range schema.Keys {
		if strings.EqualFold(k.Name, name) {
			return true
		}
	}
	return false
}

// createAs binds the query of CREATE TABLE ... AS and adds its columns to the schema: a column that was also defined
// takes the definition. The query's columns come in its order, behind those that are only defined.
func (s *Session) createAs(st *statement, schema *table.Schema, n *ast.CreateTableStmt) (*logical.Query, error) {
	q, err := st.binder().Query(n.Select)
	if err != nil {
		return nil, err
	}
	defined := len(schema.Columns)
	from := make([]int, defined) // the query's column for each one, from 1; 0: none
	var selected []int
	seen := map[string]bool{}
	for i, name := range q.Names {
		if seen[strings.ToLower(name)] {
			return nil, sqlerr.DupFieldName(name)
		}
		seen[strings.ToLower(name)] = true
		if o := schema.Ordinal(name); o >= 0 && o < defined {
			if schema.Columns[o].Generated != nil {
				return nil, sqlerr.New(sqlerr.CodeGeneratedValue, sqlerr.User, "The value specified for generated column '%s' in table '%s' is not allowed.", name, schema.Name)
			}
			from[o] = i + 1
			selected = append(selected, o)
			continue
		}
		typ := q.Cols[i].Typ
		if typ.Collation == types.CollationNone {
			typ.Collation = types.CollationBin
		}
		switch { // MySQL makes columns of '' and NULL that have room for nothing else
		case typ.Kind == types.KindNull, typ.Kind == types.KindVarchar && typ.Length == 0:
			typ = types.Text.Collate(typ.Collation)
		case typ.Kind == types.KindVarbinary && typ.Length == 0:
			typ = types.Blob
		}
		selected = append(selected, len(schema.Columns))
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: name, Type: typ, Nullable: q.Cols[i].Null})
		from = append(from, i+1)
	}
	var order []int
	for o := range defined {
		if from[o] == 0 {
			order = append(order, o)
		}
	}
	order = append(order, selected...)
	arrange(schema, order)
	p := &logical.Project{Input: q.Root}
	out := &logical.Query{Root: p, Alloc: q.Alloc}
	for i, o := range order {
		def := &schema.Columns[i]
		var e expr.Expr
		switch {
		case from[o] > 0:
			e = q.Cols[from[o]-1]
		case def.Default != nil && def.Default.Expr == "":
			e = &expr.Const{Value: def.Default.Value}
		default:
			e = &expr.Const{Value: types.NullOf(def.Type)}
		}
		if e.Type() != def.Type {
			e = &expr.Cast{Arg: e, To: def.Type, Strict: true, Column: def.Name}
		}
		c := q.Alloc.New("", def.Name, def.Type, e.Nullable())
		p.Items = append(p.Items, logical.Item{Col: c, Expr: e})
		out.Cols, out.Names = append(out.Cols, c), append(out.Names, def.Name)
	}
	return out, nil
}

// arrange puts a schema's columns into another order, of their ordinals so far.
func arrange(schema *table.Schema, order []int) {
	columns, place := make([]table.ColumnDef, len(order)), make([]int, len(order))
	for i, o := range order {
		columns[i], place[o] = schema.Columns[o], i
	}
	schema.Columns = columns
	for _, k := range schema.Keys {
		for i, o := range k.Columns {
			k.Columns[i] = place[o]
		}
	}
}

func (s *Session) dropTable(st *statement, n *ast.DropTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if n.TemporaryKeyword != ast.TemporaryNone {
		return s.dropTemporaryTables(n)
	}
	var temporary []*ast.TableName
	err = st.change("DROP TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		var dropped []*table.Schema
		for _, t := range n.Tables {
			db, name, err := s.qualify(t)
			if err != nil {
				return nil, err
			}
			if hidden := s.shadowing(db, name); hidden != "" && !n.IsView {
				db, temporary = hidden, append(temporary, t)
			}
			if n.IfExists && !snap.Exists(db, name) {
				s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownTable, "Unknown table '%s.%s'", db, name)
				continue
			}
			drop := snap.DropTable
			if n.IsView {
				drop = snap.DropView
			}
			next, err := drop(db, name)
			if err != nil {
				if !n.IfExists {
					return nil, err
				}
				s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownTable, "Unknown table '%s.%s'", db, name)
				continue
			}
			if v, err := snap.Table(db, name); err == nil {
				dropped = append(dropped, v.Schema)
			}
			snap = next
		}
		return snap, s.mayDrop(snap, dropped)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range temporary {
		if db, name, err := s.qualify(t); err == nil {
			s.forgetTemporary(db, name)
		}
	}
	return &Result{}, nil
}

func (s *Session) createDatabase(st *statement, n *ast.CreateDatabaseStmt) (*Result, error) {
	if catalog.IsHidden(n.Name.O) {
		return nil, sqlerr.New(sqlerr.CodeWrongDatabaseName, sqlerr.User, "Incorrect database name '%s'", n.Name.O)
	}
	return &Result{RowsAffected: 1}, st.change("CREATE DATABASE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if snap.HasDatabase(n.Name.O) && n.IfNotExists {
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeDBCreateExists, "Can't create database '%s'; database exists", n.Name.O)
			return snap, nil
		}
		snap, err := snap.WithDatabase(n.Name.O)
		if err != nil {
			return nil, err
		}
		return withDatabaseOptions(snap, n.Name.O, n.Options)
	})
}

func (s *Session) dropDatabase(st *statement, n *ast.DropDatabaseStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	err = st.change("DROP DATABASE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		if catalog.IsHidden(n.Name.O) {
			return nil, sqlerr.NoSuchDatabaseToDrop(n.Name.O)
		}
		if !snap.HasDatabase(n.Name.O) && n.IfExists {
			s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeDBDropExists, "Can't drop database '%s'; database doesn't exist", n.Name.O)
			return snap, nil
		}
		var dropped []*table.Schema
		for _, name := range snap.Tables(n.Name.O) {
			if v, err := snap.Table(n.Name.O, name); err == nil {
				dropped = append(dropped, v.Schema)
			}
		}
		next, err := snap.WithoutDatabase(n.Name.O)
		if err != nil {
			return nil, err
		}
		return next, s.mayDrop(next, dropped)
	})
	if err == nil && strings.EqualFold(s.database, n.Name.O) {
		s.database = ""
	}
	return &Result{}, err
}

// createIndex keeps an index's definition. A unique one is enforced, so the rows there are checked.
func (s *Session) createIndex(st *statement, n *ast.CreateIndexStmt) (*Result, error) {
	if n.KeyType != ast.IndexKeyTypeNone && n.KeyType != ast.IndexKeyTypeUnique {
		return nil, sqlerr.NotSupportedf("a FULLTEXT or SPATIAL index", "create a plain index")
	}
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.changeSchema(st, "CREATE INDEX", n.Table, func(schema *table.Schema) error {
		cols, err := keyColumns(schema, n.IndexPartSpecifications)
		if err != nil {
			return err
		}
		if n.IfNotExists && hasKey(schema, n.IndexName) {
			return nil
		}
		return addKey(schema, table.Key{Name: n.IndexName, Columns: cols, Unique: n.KeyType == ast.IndexKeyTypeUnique})
	})
}

func (s *Session) dropIndex(st *statement, n *ast.DropIndexStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.changeSchema(st, "DROP INDEX", n.Table, func(schema *table.Schema) error {
		for i, k := range schema.Keys {
			if strings.EqualFold(k.Name, n.IndexName) {
				schema.Keys = append(schema.Keys[:i:i], schema.Keys[i+1:]...)
				return nil
			}
		}
		if n.IfExists {
			return nil
		}
		var names []string
		for _, k := range schema.Keys {
			names = append(names, k.Name)
		}
		return sqlerr.CantDrop(n.IndexName, sqlerr.Suggest(n.IndexName, names))
	})
}

// changeSchema gives a table a changed copy of its definition.
func (s *Session) changeSchema(st *statement, operation string, t *ast.TableName, change func(*table.Schema) error) (*Result, error) {
	db, name, err := s.find(t)
	if err != nil {
		return nil, err
	}
	return &Result{}, st.change(operation, func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		v, err := snap.Table(db, name)
		if err != nil {
			return nil, err
		}
		schema := *v.Schema
		schema.Keys = append([]table.Key(nil), schema.Keys...)
		if err := change(&schema); err != nil {
			return nil, err
		}
		if err := s.checkDefinition(snap, &schema, v.Schema); err != nil {
			return nil, err
		}
		next, err := v.WithKeys(st.ctx, schema.Own())
		if err != nil {
			return nil, err
		}
		return snap.ReplaceTable(next)
	})
}

func (s *Session) renameTable(st *statement, n *ast.RenameTableStmt) (*Result, error) {
	unlock, err := s.lockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return &Result{}, st.change("RENAME TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		for _, r := range n.TableToTables {
			fromDB, from, err := s.qualify(r.OldTable)
			if err != nil {
				return nil, err
			}
			toDB, to, err := s.qualify(r.NewTable)
			if err != nil {
				return nil, err
			}
			if snap, err = snap.RenameTable(fromDB, from, toDB, to); err != nil {
				return nil, err
			}
		}
		return snap, nil
	})
}
