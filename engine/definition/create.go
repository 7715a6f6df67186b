// Package definition has the text of definitions: the statements that make tables, views and foreign keys again, as SHOW CREATE and errors show them.
package definition

import (
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// CreateTableSQL writes the statement that makes a table like v, without its rows.
func CreateTableSQL(v *table.Version) string {
	schema := v.Schema
	var parts []string
	for i := range schema.Columns {
		parts = append(parts, "  "+columnSQL(schema, &schema.Columns[i]))
	}
	for _, k := range schema.Keys {
		names := make([]string, len(k.Columns))
		for i, o := range k.Columns {
			names[i] = QuoteName(schema.Columns[o].Name)
		}
		kind := "KEY " + QuoteName(k.Name)
		switch {
		case k.Primary:
			kind = "PRIMARY KEY"
		case k.Unique:
			kind = "UNIQUE KEY " + QuoteName(k.Name)
		}
		parts = append(parts, "  "+kind+" ("+strings.Join(names, ",")+")")
	}
	for i := range schema.Foreign {
		parts = append(parts, "  "+ForeignKeySQL(schema, &schema.Foreign[i]))
	}
	for _, c := range schema.Checks {
		p := "  CONSTRAINT " + QuoteName(c.Name) + " CHECK (" + c.SQL + ")"
		if c.NotEnforced {
			p += " NOT ENFORCED"
		}
		parts = append(parts, p)
	}
	kind := "TABLE "
	if catalog.IsHidden(schema.Database) {
		kind = "TEMPORARY TABLE "
	}
	out := "CREATE " + kind + QuoteName(schema.Name) + " (\n" + strings.Join(parts, ",\n") + "\n)"
	if schema.AutoIncrement() >= 0 && v.Auto() > 1 {
		out += " AUTO_INCREMENT=" + strconv.FormatInt(v.Auto(), 10)
	}
	if schema.Collation != types.CollationBin {
		out += " DEFAULT CHARSET=utf8mb4 COLLATE=" + schema.Collation.String()
	}
	if schema.Comment != "" {
		out += " COMMENT=" + types.QuoteText(schema.Comment)
	}
	return out
}

// columnSQL writes what CREATE TABLE says of a column.
func columnSQL(schema *table.Schema, c *table.ColumnDef) string {
	p := QuoteName(c.Name) + " " + c.Type.String()
	if c.Type.HasCollation() && c.Type.Collation != schema.Collation {
		p += " COLLATE " + c.Type.Collation.String()
	}
	if g := c.Generated; g != nil {
		if p += " GENERATED ALWAYS AS (" + g.SQL + ")"; g.Stored {
			p += " STORED"
		} else {
			p += " VIRTUAL"
		}
	}
	if !c.Nullable {
		p += " NOT NULL"
	}
	if d := c.Default; d != nil {
		switch {
		case d.Expr != "":
			now := strings.HasPrefix(d.Expr, "CURRENT_TIMESTAMP") && (c.Type.Kind == types.KindTimestamp || c.Type.Kind == types.KindDatetime)
			if !now && !strings.HasPrefix(d.Expr, "(") { // a call that stood alone
				p += " DEFAULT (" + d.Expr + ")"
			} else {
				p += " DEFAULT " + d.Expr
			}
		case !d.Value.Null:
			p += " DEFAULT " + types.QuoteText(d.Value.Text())
		}
	}
	if c.OnUpdate != "" {
		p += " ON UPDATE " + c.OnUpdate
	}
	if c.IsAutoIncrement {
		p += " AUTO_INCREMENT"
	}
	if c.Comment != "" {
		p += " COMMENT " + types.QuoteText(c.Comment)
	}
	return p
}

// CreateViewSQL writes the statement that makes a view.
func CreateViewSQL(v *catalog.View) string {
	names := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		names[i] = QuoteName(c)
	}
	out := "CREATE "
	if v.IsTempTable {
		out += "ALGORITHM=TEMPTABLE "
	}
	out += "VIEW " + QuoteName(v.Name) + " (" + strings.Join(names, ",") + ") AS " + v.SQL
	if v.Check != "" {
		out += " WITH " + v.Check + " CHECK OPTION"
	}
	return out
}

// QuoteName writes a name in backticks.
func QuoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// DescribeForeignKey writes a foreign key as errors name it.
func DescribeForeignKey(schema *table.Schema, f *table.ForeignKey) string {
	return QuoteName(schema.Database) + "." + QuoteName(schema.Name) + ", " + ForeignKeySQL(schema, f)
}

// ForeignKeySQL writes a foreign key as CREATE TABLE defines it.
func ForeignKeySQL(schema *table.Schema, f *table.ForeignKey) string {
	columns, referenced := make([]string, len(f.Columns)), make([]string, len(f.Columns))
	for i, o := range f.Columns {
		columns[i], referenced[i] = QuoteName(schema.Columns[o].Name), QuoteName(f.Referenced[i])
	}
	parent := QuoteName(f.Table)
	if !strings.EqualFold(f.Database, schema.Database) {
		parent = QuoteName(f.Database) + "." + parent
	}
	out := "CONSTRAINT " + QuoteName(f.Name) + " FOREIGN KEY (" + strings.Join(columns, ", ") + ") REFERENCES " + parent + " (" + strings.Join(referenced, ", ") + ")"
	if f.OnDelete != table.NoAction {
		out += " ON DELETE " + f.OnDelete.String()
	}
	if f.OnUpdate != table.NoAction {
		out += " ON UPDATE " + f.OnUpdate.String()
	}
	return out
}
