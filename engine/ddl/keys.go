package ddl

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// AddIndex adds the key of CREATE INDEX to a definition.
func AddIndex(schema *table.Schema, n *ast.CreateIndexStmt) error {
	cols, err := keyColumns(schema, n.IndexPartSpecifications)
	if err != nil {
		return err
	}
	if n.IfNotExists && hasKey(schema, n.IndexName) {
		return nil
	}
	return addKey(schema, table.Key{Name: n.IndexName, Columns: cols, Unique: n.KeyType == ast.IndexKeyTypeUnique})
}

// DropIndex takes the key of DROP INDEX from a definition.
func DropIndex(schema *table.Schema, n *ast.DropIndexStmt) error {
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
