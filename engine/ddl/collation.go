package ddl

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// tableCollation returns the default collation that the options of a table name, or else the one given.
func tableCollation(options []*ast.TableOption, otherwise types.Collation) (types.Collation, error) {
	for _, o := range options {
		if o.Tp == ast.TableOptionCollate {
			var err error
			if otherwise, err = expr.ParseStringCollation(o.StrValue); err != nil {
				return 0, err
			}
		}
	}
	return otherwise, nil
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
func (a *Alteration) setCollation(options []*ast.TableOption) error {
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
