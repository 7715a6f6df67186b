package engine

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
)

// Collations in statements: SET NAMES, COLLATE of columns and tables, and the variables behind them. What they do to queries is
// planner/bind's and sql/expr's matter.

// setCollation takes the name of a collation of text.
func setCollation(_ *variables, value string) (string, error) {
	c, err := textCollation(value)
	return c.String(), err
}

// textCollation returns the collation of that name, which is not to be that of bytes.
func textCollation(name string) (types.Collation, error) {
	c, err := expr.ParseCollation(name)
	if err == nil && c == types.CollationBinary {
		return c, sqlerr.NotSupportedf("the collation binary for text", "utf8mb4_bin compares by bytes too")
	}
	return c, err
}

// collation returns the value of a variable that holds a collation, utf8mb4_bin unless it was set.
func (v *variables) collation(name string) types.Collation {
	c, _ := types.CollationByName(v.values[name])
	return c
}

// collationOfNames returns the collation of SET NAMES: the default if it has none.
func collationOfNames(a *ast.VariableAssignment) string {
	if a.ExtendValue != nil {
		return a.ExtendValue.GetString()
	}
	return types.CollationBin.String()
}

// tableCollation returns the default collation that the options of a table name, or else the one given.
func tableCollation(options []*ast.TableOption, otherwise types.Collation) (types.Collation, error) {
	for _, o := range options {
		if o.Tp == ast.TableOptionCollate {
			var err error
			if otherwise, err = textCollation(o.StrValue); err != nil {
				return 0, err
			}
		}
	}
	return otherwise, nil
}

// newTableCollation returns the default collation of a new table: that which it names, or its database's, or the session's.
func (s *Session) newTableCollation(n *ast.CreateTableStmt) (types.Collation, error) {
	db, _, err := s.qualify(n.Table)
	if err != nil {
		return 0, err
	}
	return tableCollation(n.Options, s.databaseCollation(db))
}

// databaseCollation returns the collation of new tables in a database that name none.
func (s *Session) databaseCollation(db string) types.Collation {
	if c, ok := s.snapshot().Collation(db); ok {
		return c
	}
	return s.vars.collation("collation_server")
}

// collationDatabase is the value of @@collation_database.
func collationDatabase(v *variables) string {
	return v.session.databaseCollation(v.session.database).String()
}

// withDatabaseOptions applies the options of CREATE DATABASE.
func withDatabaseOptions(snap *catalog.Snapshot, db string, options []*ast.DatabaseOption) (*catalog.Snapshot, error) {
	for _, o := range options {
		if o.Tp != ast.DatabaseOptionCollate {
			continue
		}
		c, err := textCollation(o.Value)
		if err != nil {
			return nil, err
		}
		if snap, err = snap.WithCollation(db, c); err != nil {
			return nil, err
		}
	}
	return snap, nil
}

// columnCollation gives a column's type the collation that its definition names, or else the table's.
func columnCollation(t types.Type, def *ast.ColumnDef, table types.Collation) (types.Type, error) {
	c := table
	for _, o := range def.Options {
		if o.Tp != ast.ColumnOptionCollate {
			continue
		}
		var err error
		if c, err = expr.ParseCollation(o.StrValue); err != nil {
			return t, err
		}
		if t.HasCollation() && c == types.CollationBinary || t.IsBinaryString() && c != types.CollationBinary {
			return t, sqlerr.New(sqlerr.CodeCollationCharsetMismatch, sqlerr.User, "COLLATION '%s' is not valid for CHARACTER SET '%s'",
				c, map[bool]string{true: "binary", false: "utf8mb4"}[t.IsBinaryString()])
		}
	}
	t = t.Collate(c)
	if t.Kind == types.KindEnum {
		seen := map[string]bool{}
		for _, name := range t.Enum.Names {
			key := t.Collation.Key(name)
			if seen[key] {
				return t, sqlerr.New(sqlerr.CodeDuplicatedValueInType, sqlerr.User, "Column '%s' has duplicated value '%s' in ENUM", def.Name.Name.O, name)
			}
			seen[key] = true
		}
	}
	return t, nil
}

// setCollation applies DEFAULT COLLATE, which is for columns to come, and CONVERT TO CHARACTER SET ... COLLATE, which is for all.
func (a *alteration) setCollation(options []*ast.TableOption) error {
	var err error
	if a.collation, err = tableCollation(options, a.collation); err != nil {
		return err
	}
	for _, o := range options {
		if o.Tp == ast.TableOptionCharset && o.UintValue == ast.TableOptionCharsetWithConvertTo {
			for _, c := range a.columns {
				c.def.Type = c.def.Type.Collate(a.collation)
			}
		}
	}
	return nil
}
