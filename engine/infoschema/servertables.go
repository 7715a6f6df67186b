package infoschema

import (
	"slices"
	"time"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// serverTables tell of the server that MySQL's tools expect: character sets, sessions, the one user.
var serverTables = map[string]definition{
	"character_sets": {
		append(names("CHARACTER_SET_NAME", "DEFAULT_COLLATE_NAME", "DESCRIPTION"), number("MAXLEN")),
		func(Source, *catalog.Snapshot) (rows [][]types.Value) {
			for _, c := range Charsets {
				rows = append(rows, []types.Value{text(c.Name), text(c.Collation), text(c.Description), types.IntValue(c.Width)})
			}
			return rows
		},
	},
	"collations": {
		slices.Concat(names("COLLATION_NAME", "CHARACTER_SET_NAME"), []table.ColumnDef{number("ID")}, names("IS_DEFAULT", "IS_COMPILED"), []table.ColumnDef{number("SORTLEN")}, names("PAD_ATTRIBUTE")),
		func(Source, *catalog.Snapshot) [][]types.Value { return CollationRows() },
	},
	"collation_character_set_applicability": {
		names("COLLATION_NAME", "CHARACTER_SET_NAME"),
		func(Source, *catalog.Snapshot) (rows [][]types.Value) {
			for _, c := range types.Collations() {
				rows = append(rows, []types.Value{text(c.String()), text(c.Charset())})
			}
			return rows
		},
	},
	"engines": {
		names("ENGINE", "SUPPORT", "COMMENT", "TRANSACTIONS", "XA", "SAVEPOINTS"),
		func(Source, *catalog.Snapshot) [][]types.Value { return EngineRows() },
	},
	"processlist": {
		[]table.ColumnDef{col("ID", types.Uint64), col("USER", name64), col("HOST", name64), col("DB", name64), col("COMMAND", name64), number("TIME"), col("STATE", name64), col("INFO", types.Text)},
		func(source Source, _ *catalog.Snapshot) [][]types.Value { return ProcessRows(source, true) },
	},
	"user_privileges": {
		names("GRANTEE", "TABLE_CATALOG", "PRIVILEGE_TYPE", "IS_GRANTABLE"),
		func(Source, *catalog.Snapshot) [][]types.Value {
			return [][]types.Value{{text("'root'@'localhost'"), text("def"), text("ALL PRIVILEGES"), text("YES")}}
		},
	},
}

// emptyTables are asked for by tools and have no rows: there are no routines, triggers, events, partitions or plugins, and nobody has privileges of single tables.
var emptyTables = map[string]definition{
	"routines": empty(names("SPECIFIC_NAME", "ROUTINE_CATALOG", "ROUTINE_SCHEMA", "ROUTINE_NAME", "ROUTINE_TYPE", "DATA_TYPE"), []table.ColumnDef{col("ROUTINE_DEFINITION", types.Text)},
		names("ROUTINE_COMMENT", "DEFINER")),
	"parameters": empty(names("SPECIFIC_CATALOG", "SPECIFIC_SCHEMA", "SPECIFIC_NAME"), []table.ColumnDef{number("ORDINAL_POSITION")},
		names("PARAMETER_MODE", "PARAMETER_NAME", "DATA_TYPE", "ROUTINE_TYPE")),
	"triggers": empty(names("TRIGGER_CATALOG", "TRIGGER_SCHEMA", "TRIGGER_NAME", "EVENT_MANIPULATION", "EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE", "ACTION_STATEMENT", "ACTION_TIMING",
		"DEFINER")),
	"events": empty(names("EVENT_CATALOG", "EVENT_SCHEMA", "EVENT_NAME", "DEFINER", "EVENT_DEFINITION", "STATUS")),
	"partitions": empty(names("TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "PARTITION_NAME", "SUBPARTITION_NAME"), []table.ColumnDef{number("PARTITION_ORDINAL_POSITION"), number("TABLE_ROWS")},
		names("PARTITION_METHOD")),
	"plugins":           empty(names("PLUGIN_NAME", "PLUGIN_VERSION", "PLUGIN_STATUS", "PLUGIN_TYPE")),
	"schema_privileges": empty(names("GRANTEE", "TABLE_CATALOG", "TABLE_SCHEMA", "PRIVILEGE_TYPE", "IS_GRANTABLE")),
	"table_privileges":  empty(names("GRANTEE", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "PRIVILEGE_TYPE", "IS_GRANTABLE")),
	"column_privileges": empty(names("GRANTEE", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "PRIVILEGE_TYPE", "IS_GRANTABLE")),
}

func empty(columns ...[]table.ColumnDef) definition {
	return definition{slices.Concat(columns...), func(Source, *catalog.Snapshot) [][]types.Value { return nil }}
}

// Charset is a character set with its default collation.
type Charset struct {
	Name, Collation, Description string
	Width                        int64
}

// Charsets are the character sets that there are.
var Charsets = []Charset{
	{"utf8mb4", "utf8mb4_bin", "UTF-8 Unicode", 4},
	{"binary", "binary", "Binary pseudo charset", 1},
}

// CollationRows are the rows of SHOW COLLATION.
func CollationRows() (rows [][]types.Value) {
	for _, c := range types.Collations() {
		isDefault, pad := "", "NO PAD"
		if c == types.CollationBin || c == types.CollationBinary {
			isDefault = "Yes"
		}
		if c.Pads() {
			pad = "PAD SPACE"
		}
		rows = append(rows, []types.Value{text(c.String()), text(c.Charset()), types.IntValue(c.ID()), text(isDefault), text("Yes"), types.IntValue(c.SortLen()), text(pad)})
	}
	return rows
}

// EngineRows are the rows of SHOW ENGINES.
func EngineRows() [][]types.Value {
	return [][]types.Value{{text("Radish"), text("DEFAULT"), text("In-memory columnar tables"), text("YES"), text("NO"), text("YES")}}
}

// ProcessRows are the rows of SHOW PROCESSLIST. The text of a statement is cut unless all of it is asked for.
func ProcessRows(source Source, full bool) (rows [][]types.Value) {
	for _, p := range source.Processes() {
		command, state, info, db := "Sleep", "", types.NullOf(types.Text), types.NullOf(types.Text)
		if p.Text != "" {
			command, state = "Query", "executing"
			info = text(p.Text)
			if runes := []rune(p.Text); !full && len(runes) > 100 {
				info = text(string(runes[:100]))
			}
		}
		if p.IsKilled {
			command = "Killed"
		}
		if p.Database != "" {
			db = text(p.Database)
		}
		rows = append(rows, []types.Value{
			types.UintValue(p.ID), text("root"), text("localhost"), db, text(command),
			types.IntValue(int64(time.Since(p.LastChange).Seconds())), text(state), info,
		})
	}
	return rows
}
