package infoschema

import (
	"cmp"
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// catalogTables tell of databases, tables and views.
var catalogTables = map[string]definition{
	"schemata": {
		[]table.ColumnDef{
			col("CATALOG_NAME", name64), col("SCHEMA_NAME", name64), col("DEFAULT_CHARACTER_SET_NAME", name64),
			col("DEFAULT_COLLATION_NAME", name64),
		},
		schemataRows,
	},
	"tables": {
		[]table.ColumnDef{
			col("TABLE_CATALOG", name64), col("TABLE_SCHEMA", name64), col("TABLE_NAME", name64), col("TABLE_TYPE", name64),
			col("ENGINE", name64), col("VERSION", types.Int64), col("ROW_FORMAT", name64), col("TABLE_ROWS", types.Uint64), col("AVG_ROW_LENGTH", types.Uint64),
			col("DATA_LENGTH", types.Uint64), col("MAX_DATA_LENGTH", types.Uint64), col("INDEX_LENGTH", types.Uint64), col("DATA_FREE", types.Uint64),
			col("AUTO_INCREMENT", types.Uint64), col("CREATE_TIME", types.Datetime), col("UPDATE_TIME", types.Datetime), col("CHECK_TIME", types.Datetime),
			col("TABLE_COLLATION", name64), col("CHECKSUM", types.Int64), col("CREATE_OPTIONS", name64), col("TABLE_COMMENT", types.Text),
		},
		tablesRows,
	},
	"columns": {
		[]table.ColumnDef{
			col("TABLE_CATALOG", name64), col("TABLE_SCHEMA", name64), col("TABLE_NAME", name64), col("COLUMN_NAME", name64),
			col("ORDINAL_POSITION", types.Int64), col("COLUMN_DEFAULT", types.Text), col("IS_NULLABLE", types.Varchar(3)),
			col("DATA_TYPE", name64), col("CHARACTER_MAXIMUM_LENGTH", types.Int64), col("CHARACTER_OCTET_LENGTH", types.Int64),
			col("NUMERIC_PRECISION", types.Int64), col("NUMERIC_SCALE", types.Int64), col("DATETIME_PRECISION", types.Int64),
			col("CHARACTER_SET_NAME", name64), col("COLLATION_NAME", name64),
			col("COLUMN_TYPE", types.Text), col("COLUMN_KEY", types.Varchar(3)), col("EXTRA", types.Text), col("PRIVILEGES", name64),
			col("COLUMN_COMMENT", types.Text), col("GENERATION_EXPRESSION", types.Text),
		},
		columnsRows,
	},
	"views": {
		[]table.ColumnDef{
			col("TABLE_CATALOG", name64), col("TABLE_SCHEMA", name64), col("TABLE_NAME", name64),
			col("VIEW_DEFINITION", types.Text), col("CHECK_OPTION", name64), col("IS_UPDATABLE", types.Varchar(3)), col("DEFINER", name64),
			col("SECURITY_TYPE", name64), col("CHARACTER_SET_CLIENT", name64), col("COLLATION_CONNECTION", name64),
		},
		viewsRows,
	},
}

// EachTable calls f with every table of a snapshot.
func EachTable(snap *catalog.Snapshot, f func(db string, v *table.Version)) {
	for _, db := range snap.Databases() {
		for _, name := range snap.Tables(db) {
			if v, err := snap.Table(db, name); err == nil {
				f(db, v)
			}
		}
	}
}

func schemataRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	for _, db := range append(snap.Databases(), Name) {
		c, _ := snap.Collation(db)
		rows = append(rows, []types.Value{text("def"), text(db), text("utf8mb4"), text(c.String())})
	}
	return rows
}

func tablesRows(_ Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	for _, db := range snap.Databases() {
		for _, x := range TableStatus(snap, db) {
			kind := "BASE TABLE"
			if x[1].Null {
				kind = "VIEW"
			}
			rows = append(rows, append([]types.Value{text("def"), text(db), x[0], text(kind)}, x[1:]...))
		}
	}
	return rows
}

// TableStatus lists the tables and views of a database as SHOW TABLE STATUS does.
func TableStatus(snap *catalog.Snapshot, db string) (rows [][]types.Value) {
	null, never, nothing := types.NullOf(types.Uint64), types.NullOf(types.Datetime), types.NullOf(name64)
	for _, name := range snap.Tables(db) {
		v, err := snap.Table(db, name)
		if err != nil {
			continue // cannot be: the name came from the snapshot
		}
		average, auto := uint64(0), null
		if n := v.Rows(); n > 0 {
			average = uint64(v.Bytes() / n)
		}
		if v.Schema.AutoIncrement() >= 0 {
			auto = types.UintValue(uint64(v.Auto()))
		}
		zero := types.UintValue(0)
		rows = append(rows, []types.Value{text(name), text("Radish"), types.IntValue(10), text("Columnar"), types.UintValue(uint64(v.Rows())), types.UintValue(average),
			types.UintValue(uint64(v.Bytes())), zero, zero, zero, auto, never, never, never, text(v.Schema.Collation.String()), types.NullOf(types.Int64), text(""), text(v.Schema.Comment)})
	}
	for _, name := range snap.Views(db) {
		rows = append(rows, []types.Value{text(name), nothing, types.NullOf(types.Int64), nothing, null, null, null, null, null, null, null, never, never, never, nothing,
			types.NullOf(types.Int64), nothing, text("VIEW")})
	}
	return rows
}

func columnsRows(source Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	add := func(db string, schema *table.Schema) {
		for i := range schema.Columns {
			c, d, f := &schema.Columns[i], DescribeColumn(schema, i), typeFacts(schema.Columns[i].Type)
			row := append([]types.Value{text("def"), text(db), text(schema.Name), text(c.Name), types.IntValue(int64(i + 1)), d[4], d[2]}, f...)
			rows = append(rows, append(row, d[1], d[3], d[5], text("select,insert,update,references"), text(c.Comment), text(generationOf(c))))
		}
	}
	EachTable(snap, func(db string, v *table.Version) { add(db, v.Schema) })
	for _, db := range snap.Databases() {
		for _, name := range snap.Views(db) {
			if schema, ok := source.ViewSchema(snap, db, name); ok {
				add(db, schema)
			}
		}
	}
	return rows
}

func generationOf(c *table.ColumnDef) string {
	if c.Generated == nil {
		return ""
	}
	return c.Generated.SQL
}

func viewsRows(source Source, snap *catalog.Snapshot) (rows [][]types.Value) {
	for _, db := range snap.Databases() {
		for _, name := range snap.Views(db) {
			if v, err := snap.View(db, name); err == nil {
				rows = append(rows, []types.Value{text("def"), text(db), text(name), text(v.SQL), text(cmp.Or(v.Check, "NONE")), text(yesNo(source.IsUpdatable(db, name))),
					text("root@localhost"), text("DEFINER"), text("utf8mb4"), text(v.Collation.String())})
			}
		}
	}
	return rows
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
