package engine

import (
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// SHOW CREATE, and the statements that make tables and views again.

func (s *Session) showCreate(n *ast.ShowStmt, snap *catalog.Snapshot) (*Result, error) {
	db, name, err := s.find(n.Table)
	if err != nil {
		return nil, err
	}
	v, view, err := snap.Lookup(db, name)
	if err != nil {
		return nil, err
	}
	if view != nil {
		return rowsResult(textColumns("View", "Create View", "character_set_client", "collation_connection"),
			[][]types.Value{{text(view.Name), text(CreateViewSQL(view)), text("utf8mb4"), text(view.Collation.String())}}), nil
	}
	if n.Tp == ast.ShowCreateView {
		return nil, sqlerr.New(sqlerr.CodeWrongObject, sqlerr.User, "'%s.%s' is not VIEW", db, name)
	}
	return rowsResult(textColumns("Table", "Create Table"), [][]types.Value{{text(v.Schema.Name), text(CreateTableSQL(v))}}), nil
}

// CreateTableSQL writes the statement that makes a table like v, without its rows.
func CreateTableSQL(v *table.Version) string {
	schema := v.Schema
	var parts []string
	for i := range schema.Columns {
		c := &schema.Columns[i]
		p := "  " + quoteName(c.Name) + " " + c.Type.String()
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
		if c.AutoIncrement {
			p += " AUTO_INCREMENT"
		}
		if c.Comment != "" {
			p += " COMMENT " + types.QuoteText(c.Comment)
		}
		parts = append(parts, p)
	}
	for _, k := range schema.Keys {
		names := make([]string, len(k.Columns))
		for i, o := range k.Columns {
			names[i] = quoteName(schema.Columns[o].Name)
		}
		kind := "KEY " + quoteName(k.Name)
		switch {
		case k.Primary:
			kind = "PRIMARY KEY"
		case k.Unique:
			kind = "UNIQUE KEY " + quoteName(k.Name)
		}
		parts = append(parts, "  "+kind+" ("+strings.Join(names, ",")+")")
	}
	for i := range schema.Foreign {
		parts = append(parts, "  "+foreignKeySQL(schema, &schema.Foreign[i]))
	}
	for _, c := range schema.Checks {
		p := "  CONSTRAINT " + quoteName(c.Name) + " CHECK (" + c.SQL + ")"
		if c.NotEnforced {
			p += " NOT ENFORCED"
		}
		parts = append(parts, p)
	}
	kind := "TABLE "
	if catalog.IsHidden(schema.Database) {
		kind = "TEMPORARY TABLE "
	}
	out := "CREATE " + kind + quoteName(schema.Name) + " (\n" + strings.Join(parts, ",\n") + "\n)"
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

// CreateViewSQL writes the statement that makes a view.
func CreateViewSQL(v *catalog.View) string {
	names := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		names[i] = quoteName(c)
	}
	out := "CREATE "
	if v.TempTable {
		out += "ALGORITHM=TEMPTABLE "
	}
	out += "VIEW " + quoteName(v.Name) + " (" + strings.Join(names, ",") + ") AS " + v.SQL
	if v.Check != "" {
		out += " WITH " + v.Check + " CHECK OPTION"
	}
	return out
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
