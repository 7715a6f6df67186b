package infoschema

import (
	"slices"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// keyTables tell of keys and constraints.
var keyTables = map[string]definition{
	"statistics": {
		slices.Concat(names("TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME"), []table.ColumnDef{number("NON_UNIQUE")}, names("INDEX_SCHEMA", "INDEX_NAME"),
			[]table.ColumnDef{number("SEQ_IN_INDEX")}, names("COLUMN_NAME", "COLLATION"), []table.ColumnDef{number("CARDINALITY"), number("SUB_PART")},
			names("PACKED", "NULLABLE", "INDEX_TYPE", "COMMENT", "INDEX_COMMENT", "IS_VISIBLE", "EXPRESSION")),
		statisticsRows,
	},
	"key_column_usage": {
		slices.Concat(names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME"),
			[]table.ColumnDef{number("ORDINAL_POSITION"), number("POSITION_IN_UNIQUE_CONSTRAINT")},
			names("REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME", "REFERENCED_COLUMN_NAME")),
		keyColumnRows,
	},
	"table_constraints": {
		names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_SCHEMA", "TABLE_NAME", "CONSTRAINT_TYPE", "ENFORCED"),
		constraintRows,
	},
	"check_constraints": {
		append(names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME"), col("CHECK_CLAUSE", types.Text)),
		checkRows,
	},
	"referential_constraints": {
		names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "UNIQUE_CONSTRAINT_CATALOG", "UNIQUE_CONSTRAINT_SCHEMA", "UNIQUE_CONSTRAINT_NAME",
			"MATCH_OPTION", "UPDATE_RULE", "DELETE_RULE", "TABLE_NAME", "REFERENCED_TABLE_NAME"),
		referentialRows,
	},
}

func statisticsRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	EachTable(snap, func(db string, v *table.Version) {
		for _, k := range v.Schema.Keys {
			for i := range k.Columns {
				x := IndexRow(v, &k, i)
				rows = append(rows, []types.Value{text("def"), text(db), x[0], x[1], text(db), x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14]})
			}
		}
	})
	return rows
}

// IndexRow is column i of a key as SHOW INDEX shows it.
func IndexRow(v *table.Version, k *table.Key, i int) []types.Value {
	nonUnique, null := int64(1), ""
	if k.Unique {
		nonUnique = 0
	}
	c := &v.Schema.Columns[k.Columns[i]]
	if c.Nullable {
		null = "YES"
	}
	none := types.NullOf(types.Text)
	return []types.Value{
		text(v.Schema.Name), types.IntValue(nonUnique), text(k.Name), types.IntValue(int64(i + 1)), text(c.Name), text("A"),
		types.IntValue(v.Rows()), types.NullOf(types.Int64), none, text(null), text("HASH"), text(""), text(""), text("YES"), none,
	}
}

func keyColumnRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	none := types.NullOf(name64)
	EachTable(snap, func(db string, v *table.Version) {
		for _, k := range v.Schema.Keys {
			if !k.Unique {
				continue
			}
			for i, o := range k.Columns {
				rows = append(rows, []types.Value{text("def"), text(db), text(k.Name), text("def"), text(db), text(v.Schema.Name), text(v.Schema.Columns[o].Name),
					types.IntValue(int64(i + 1)), types.NullOf(types.Int64), none, none, none})
			}
		}
		for _, f := range v.Schema.Foreign {
			for i, o := range f.Columns {
				rows = append(rows, []types.Value{text("def"), text(db), text(f.Name), text("def"), text(db), text(v.Schema.Name), text(v.Schema.Columns[o].Name),
					types.IntValue(int64(i + 1)), types.IntValue(int64(i + 1)), text(f.Database), text(f.Table), text(f.Referenced[i])})
			}
		}
	})
	return rows
}

func referentialRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	EachTable(snap, func(db string, v *table.Version) {
		for _, f := range v.Schema.Foreign {
			unique := types.NullOf(name64)
			if parent, err := snap.Table(f.Database, f.Table); err == nil {
				if k := parent.Schema.UniqueKey(f.Referenced); k >= 0 {
					unique = text(parent.Schema.Keys[k].Name)
				}
			}
			rows = append(rows, []types.Value{text("def"), text(db), text(f.Name), text("def"), text(f.Database), unique, text("NONE"),
				text(f.OnUpdate.String()), text(f.OnDelete.String()), text(v.Schema.Name), text(f.Table)})
		}
	})
	return rows
}

func constraintRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	EachTable(snap, func(db string, v *table.Version) {
		add := func(name, kind string, enforced bool) {
			rows = append(rows, []types.Value{text("def"), text(db), text(name), text(db), text(v.Schema.Name), text(kind), text(yesNo(enforced))})
		}
		for _, k := range v.Schema.Keys {
			switch {
			case k.Primary:
				add(k.Name, "PRIMARY KEY", true)
			case k.Unique:
				add(k.Name, "UNIQUE", true)
			}
		}
		for _, f := range v.Schema.Foreign {
			add(f.Name, "FOREIGN KEY", true)
		}
		for _, c := range v.Schema.Checks {
			add(c.Name, "CHECK", !c.NotEnforced)
		}
	})
	return rows
}

func checkRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	EachTable(snap, func(db string, v *table.Version) {
		for _, c := range v.Schema.Checks {
			rows = append(rows, []types.Value{text("def"), text(db), text(c.Name), text(c.SQL)})
		}
	})
	return rows
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}
