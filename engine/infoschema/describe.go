package infoschema

import (
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// DescribeColumn is a column as DESCRIBE shows it.
func DescribeColumn(schema *table.Schema, ordinal int) []types.Value {
	def := &schema.Columns[ordinal]
	null := "NO"
	if def.Nullable {
		null = "YES"
	}
	value := types.NullOf(types.Text)
	extra := ""
	if d := def.Default; d != nil {
		if d.Expr != "" {
			value, extra = text(d.Expr), "DEFAULT_GENERATED"
		} else if !d.Value.Null {
			value = text(d.Value.Text())
		}
	}
	if def.IsAutoIncrement {
		extra = "auto_increment"
	}
	if def.OnUpdate != "" {
		extra = strings.TrimLeft(extra+" on update "+def.OnUpdate, " ")
	}
	if g := def.Generated; g != nil {
		if extra = "VIRTUAL GENERATED"; g.Stored {
			extra = "STORED GENERATED"
		}
	}
	return []types.Value{
		text(def.Name), text(shownType(def)), text(null), text(keyOf(schema, ordinal)), value, text(extra),
	}
}

// shownType returns a column's type as DESCRIBE shows it; a file's column that no query can read has its format's.
func shownType(def *table.ColumnDef) string {
	if def.Foreign != "" {
		return def.Foreign
	}
	return strings.ToLower(def.Type.String())
}

// keyOf returns MySQL's letters for the part that a column plays in keys: PRI, UNI, MUL or nothing.
func keyOf(schema *table.Schema, ordinal int) string {
	out := ""
	for _, k := range schema.Keys {
		for i, o := range k.Columns {
			switch {
			case o != ordinal:
			case k.Primary:
				return "PRI"
			case k.Unique && len(k.Columns) == 1:
				out = "UNI"
			case i == 0 && out == "":
				out = "MUL"
			}
		}
	}
	return out
}
