package engine

import (
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// More of information_schema: what MySQL's tools ask for.

func init() {
	number := func(name string) table.ColumnDef { return col(name, types.Int64) }
	names := func(list ...string) (out []table.ColumnDef) {
		for _, n := range list {
			out = append(out, col(n, name64))
		}
		return out
	}
	join := func(parts ...[]table.ColumnDef) (out []table.ColumnDef) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	none := func(*Session, *catalog.Snapshot) [][]types.Value { return nil }
	virtualTables["statistics"] = virtual{
		join(names("TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME"), []table.ColumnDef{number("NON_UNIQUE")}, names("INDEX_SCHEMA", "INDEX_NAME"),
			[]table.ColumnDef{number("SEQ_IN_INDEX")}, names("COLUMN_NAME", "COLLATION"), []table.ColumnDef{number("CARDINALITY"), number("SUB_PART")},
			names("PACKED", "NULLABLE", "INDEX_TYPE", "COMMENT", "INDEX_COMMENT", "IS_VISIBLE", "EXPRESSION")),
		statisticsRows,
	}
	virtualTables["key_column_usage"] = virtual{
		join(names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME"),
			[]table.ColumnDef{number("ORDINAL_POSITION"), number("POSITION_IN_UNIQUE_CONSTRAINT")},
			names("REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME", "REFERENCED_COLUMN_NAME")),
		keyColumnRows,
	}
	virtualTables["table_constraints"] = virtual{
		names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_SCHEMA", "TABLE_NAME", "CONSTRAINT_TYPE", "ENFORCED"),
		constraintRows,
	}
	virtualTables["check_constraints"] = virtual{
		join(names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME"), []table.ColumnDef{col("CHECK_CLAUSE", types.Text)}),
		checkRows,
	}
	virtualTables["referential_constraints"] = virtual{
		names("CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "UNIQUE_CONSTRAINT_CATALOG", "UNIQUE_CONSTRAINT_SCHEMA", "UNIQUE_CONSTRAINT_NAME",
			"MATCH_OPTION", "UPDATE_RULE", "DELETE_RULE", "TABLE_NAME", "REFERENCED_TABLE_NAME"), referentialRows,
	}
	virtualTables["character_sets"] = virtual{
		join(names("CHARACTER_SET_NAME", "DEFAULT_COLLATE_NAME", "DESCRIPTION"), []table.ColumnDef{number("MAXLEN")}),
		func(*Session, *catalog.Snapshot) [][]types.Value {
			var rows [][]types.Value
			for _, c := range charsets {
				rows = append(rows, []types.Value{text(c.name), text(c.collation), text(c.description), types.IntValue(c.width)})
			}
			return rows
		},
	}
	virtualTables["collations"] = virtual{
		join(names("COLLATION_NAME", "CHARACTER_SET_NAME"), []table.ColumnDef{number("ID")}, names("IS_DEFAULT", "IS_COMPILED"), []table.ColumnDef{number("SORTLEN")}, names("PAD_ATTRIBUTE")),
		func(*Session, *catalog.Snapshot) [][]types.Value { return collationRows() },
	}
	virtualTables["collation_character_set_applicability"] = virtual{
		names("COLLATION_NAME", "CHARACTER_SET_NAME"),
		func(*Session, *catalog.Snapshot) [][]types.Value {
			var rows [][]types.Value
			for _, c := range types.Collations() {
				rows = append(rows, []types.Value{text(c.String()), text(c.Charset())})
			}
			return rows
		},
	}
	virtualTables["engines"] = virtual{
		names("ENGINE", "SUPPORT", "COMMENT", "TRANSACTIONS", "XA", "SAVEPOINTS"),
		func(*Session, *catalog.Snapshot) [][]types.Value { return engineRows() },
	}
	virtualTables["processlist"] = virtual{
		[]table.ColumnDef{col("ID", types.Uint64), col("USER", name64), col("HOST", name64), col("DB", name64), col("COMMAND", name64), number("TIME"), col("STATE", name64), col("INFO", types.Text)},
		func(s *Session, _ *catalog.Snapshot) [][]types.Value { return s.processRows(true) },
	}
	virtualTables["routines"] = virtual{
		join(names("SPECIFIC_NAME", "ROUTINE_CATALOG", "ROUTINE_SCHEMA", "ROUTINE_NAME", "ROUTINE_TYPE", "DATA_TYPE"), []table.ColumnDef{col("ROUTINE_DEFINITION", types.Text)}, names("ROUTINE_COMMENT", "DEFINER")), none,
	}
	virtualTables["parameters"] = virtual{
		join(names("SPECIFIC_CATALOG", "SPECIFIC_SCHEMA", "SPECIFIC_NAME"), []table.ColumnDef{number("ORDINAL_POSITION")}, names("PARAMETER_MODE", "PARAMETER_NAME", "DATA_TYPE", "ROUTINE_TYPE")), none,
	}
	virtualTables["triggers"] = virtual{
		names("TRIGGER_CATALOG", "TRIGGER_SCHEMA", "TRIGGER_NAME", "EVENT_MANIPULATION", "EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE", "ACTION_STATEMENT", "ACTION_TIMING", "DEFINER"), none,
	}
	virtualTables["events"] = virtual{names("EVENT_CATALOG", "EVENT_SCHEMA", "EVENT_NAME", "DEFINER", "EVENT_DEFINITION", "STATUS"), none}
	virtualTables["partitions"] = virtual{
		join(names("TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "PARTITION_NAME", "SUBPARTITION_NAME"), []table.ColumnDef{number("PARTITION_ORDINAL_POSITION"), number("TABLE_ROWS")}, names("PARTITION_METHOD")), none,
	}
	virtualTables["plugins"] = virtual{names("PLUGIN_NAME", "PLUGIN_VERSION", "PLUGIN_STATUS", "PLUGIN_TYPE"), none}
	virtualTables["user_privileges"] = virtual{
		names("GRANTEE", "TABLE_CATALOG", "PRIVILEGE_TYPE", "IS_GRANTABLE"),
		func(*Session, *catalog.Snapshot) [][]types.Value {
			return [][]types.Value{{text("'root'@'localhost'"), text("def"), text("ALL PRIVILEGES"), text("YES")}}
		},
	}
	for name, what := range map[string][]string{
		"schema_privileges": {"GRANTEE", "TABLE_CATALOG", "TABLE_SCHEMA", "PRIVILEGE_TYPE", "IS_GRANTABLE"},
		"table_privileges":  {"GRANTEE", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "PRIVILEGE_TYPE", "IS_GRANTABLE"},
		"column_privileges": {"GRANTEE", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "PRIVILEGE_TYPE", "IS_GRANTABLE"},
	} {
		virtualTables[name] = virtual{names(what...), none}
	}
}

// charset is a character set with its default collation.
type charset struct {
	name, collation, description string
	width                        int64
}

var charsets = []charset{
	{"utf8mb4", "utf8mb4_bin", "UTF-8 Unicode", 4},
	{"binary", "binary", "Binary pseudo charset", 1},
}

func collationRows() (rows [][]types.Value) {
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

func engineRows() [][]types.Value {
	return [][]types.Value{{text("Radish"), text("DEFAULT"), text("In-memory columnar tables"), text("YES"), text("NO"), text("YES")}}
}

// eachTable calls f with every table of a snapshot.
func eachTable(snap *catalog.Snapshot, f func(db string, v *table.Version)) {
	for _, db := range snap.Databases() {
		for _, name := range snap.Tables(db) {
			if v, err := snap.Table(db, name); err == nil {
				f(db, v)
			}
		}
	}
}

func statisticsRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	eachTable(snap, func(db string, v *table.Version) {
		for _, k := range v.Schema.Keys {
			for i := range k.Columns {
				x := indexRow(v, &k, i)
				rows = append(rows, []types.Value{text("def"), text(db), x[0], x[1], text(db), x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14]})
			}
		}
	})
	return rows
}

// indexRow is column i of a key as SHOW INDEX shows it.
func indexRow(v *table.Version, k *table.Key, i int) []types.Value {
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

func keyColumnRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	none := types.NullOf(name64)
	eachTable(snap, func(db string, v *table.Version) {
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

func referentialRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	eachTable(snap, func(db string, v *table.Version) {
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

func constraintRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	eachTable(snap, func(db string, v *table.Version) {
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

func checkRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	eachTable(snap, func(db string, v *table.Version) {
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

// typeFacts are what information_schema.COLUMNS says of a type: its name, the length in characters and bytes, the precision and scale
// of numbers, the digits behind the seconds, character set and collation.
func typeFacts(t types.Type) []types.Value {
	name := strings.TrimSuffix(strings.ToLower(t.Kind.Name()), " unsigned")
	if t.Kind == types.KindBool {
		name = "tinyint"
	}
	null := types.NullOf(types.Int64)
	chars, bytes, precision, scale, fsp := null, null, null, null, null
	set, collation := types.NullOf(name64), types.NullOf(name64)
	switch {
	case t.Kind == types.KindDecimal:
		precision, scale = types.IntValue(int64(t.Precision)), types.IntValue(int64(t.Scale))
	case t.IsInteger() && t.Kind != types.KindYear:
		precision, scale = types.IntValue(integerDigits[name]), types.IntValue(0)
		if t.Kind == types.KindUint64 {
			precision.I++
		}
	case t.Kind == types.KindDouble:
		precision = types.IntValue(22)
	case t.Kind == types.KindFloat:
		precision = types.IntValue(12)
	case t.IsTemporal() && t.Kind != types.KindDate:
		fsp = types.IntValue(int64(t.Scale))
	case t.IsString():
		n := int64(max(t.Length, 0))
		if t.Length == 0 {
			n = 1<<32 - 1
		}
		width := int64(1)
		if !t.IsBinaryString() && t.Kind != types.KindJSON {
			set, collation = text("utf8mb4"), text(t.Collation.String())
			if t.Length != 0 {
				width = 4
			}
		}
		chars, bytes = types.IntValue(n), types.IntValue(n*width)
	case t.Kind == types.KindEnum:
		set, collation = text("utf8mb4"), text(t.Collation.String())
		n := int64(types.TextLength(t))
		chars, bytes = types.IntValue(n), types.IntValue(4*n)
	}
	return []types.Value{text(name), chars, bytes, precision, scale, fsp, set, collation}
}

var integerDigits = map[string]int64{"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19}
