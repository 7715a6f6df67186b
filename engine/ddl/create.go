package ddl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Create completes the definition of the table that a statement makes, and returns the query that fills it; nil: none does. schema has the table's name and
// its database's collation, or with LIKE what [Like] returns. snap has the tables that foreign keys refer to.
func Create(st Statement, snap *catalog.Snapshot, schema *table.Schema, n *ast.CreateTableStmt) (q *logical.Query, err error) {
	if n.ReferTable == nil {
		if err := tableSchema(st, schema, n); err != nil {
			return nil, err
		}
	}
	if n.Select != nil {
		if q, err = createAs(st, schema, n); err != nil {
			return nil, err
		}
	}
	if len(schema.Columns) == 0 {
		return nil, sqlerr.New(sqlerr.CodeTableMustHaveColumns, sqlerr.User, "A table must have at least 1 column")
	}
	if n.ReferTable == nil {
		if err := constrain(st, schema, n.Constraints); err != nil {
			return nil, err
		}
	}
	return q, addForeignKeys(st, snap, schema, n.Constraints)
}

// Like returns the definition of a table like another one: CREATE TABLE ... LIKE.
func Like(schema *table.Schema, db, name string) *table.Schema {
	out := *schema
	out.Database, out.Name, out.Foreign = db, name, nil
	out.Checks = slices.Clone(out.Checks)
	for i := range out.Checks { // their names are unique in the database, so they get new ones, as in MySQL
		out.Checks[i].Name = name + catalog.GeneratedCheck + strconv.Itoa(i+1)
	}
	return &out
}

// tableSchema fills schema from the column definitions of n.
func tableSchema(st Statement, schema *table.Schema, n *ast.CreateTableStmt) error {
	var err error
	if schema.Collation, err = tableCollation(n.Options, schema.Collation); err != nil {
		return err
	}
	names := make(map[string]bool, len(n.Cols)) // a table may have very many columns
	for i, c := range n.Cols {
		name := strings.ToLower(strings.ToUpper(c.Name.Name.O)) // names that strings.EqualFold calls equal have one
		if names[name] {
			return sqlerr.DupFieldName(c.Name.Name.O)
		}
		names[name] = true
		if i&255 == 0 {
			if err := st.Expressions().Interrupted(); err != nil {
				return err
			}
		}
		if err := addColumn(st, schema, c); err != nil {
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
func constrain(st Statement, schema *table.Schema, constraints []*ast.Constraint) error {
	for _, c := range constraints {
		if c.Tp == ast.ConstraintForeignKey {
			continue // see addForeignKeys
		}
		if err := addConstraint(schema, c); err != nil {
			return err
		}
	}
	return completeSchema(st, schema)
}

// completeSchema checks what can only be checked of a whole definition, and completes it.
func completeSchema(st Statement, schema *table.Schema) error {
	// A primary key makes its columns NOT NULL.
	for _, k := range schema.Keys {
		if k.Primary {
			for _, o := range k.Columns {
				schema.Columns[o].Nullable = false
			}
		}
	}
	for i := range schema.Columns {
		if !schema.Columns[i].IsAutoIncrement {
			continue
		}
		first := slices.ContainsFunc(schema.Keys, func(k table.Key) bool { return k.Columns[0] == i })
		if !first || schema.AutoIncrement() != i {
			return sqlerr.WrongAutoKey()
		}
	}
	for i := range schema.Columns {
		if schema.Columns[i].Generated != nil {
			if err := st.Binder().CheckGenerated(schema, i); err != nil {
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
		b := st.Binder()
		if _, err := b.CheckCondition(schema, c.SQL, b.TableColumns(schema)); err != nil {
			return err
		}
	}
	return nil
}

// createAs binds the query of CREATE TABLE ... AS and adds its columns to the schema: a column that was also defined
// takes the definition. The query's columns come in its order, behind those that are only defined.
func createAs(st Statement, schema *table.Schema, n *ast.CreateTableStmt) (*logical.Query, error) {
	q, err := st.Binder().Query(n.Select)
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
		switch { // MySQL makes columns of '' and NULL that hold nothing else
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
	columns, position := make([]table.ColumnDef, len(order)), make([]int, len(order))
	for i, o := range order {
		columns[i], position[o] = schema.Columns[o], i
	}
	schema.Columns = columns
	for _, k := range schema.Keys {
		for i, o := range k.Columns {
			k.Columns[i] = position[o]
		}
	}
}
