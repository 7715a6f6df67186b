package engine

import (
	"cmp"
	"sort"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

const informationSchema = "information_schema"

// virtual is a table of information_schema: its columns, and its rows as a snapshot has them.
type virtual struct {
	columns []table.ColumnDef
	rows    func(s *Session, snap *catalog.Snapshot) [][]types.Value
}

func col(name string, t types.Type) table.ColumnDef {
	return table.ColumnDef{Name: name, Type: t, Nullable: true}
}

var name64 = types.Varchar(64)

// virtualTables lists information_schema, by name.
var virtualTables = map[string]virtual{
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
	"radish_variables": {
		[]table.ColumnDef{col("NAME", name64), col("VALUE", types.Text), col("READ_ONLY", types.Varchar(3)), col("DESCRIPTION", types.Text)},
		variablesRows,
	},
	"radish_memory": {
		[]table.ColumnDef{col("USED_FOR", name64), col("BYTES", types.Uint64), col("PEAK_BYTES", types.Uint64), col("LIMIT_BYTES", types.Uint64)},
		memoryRows,
	},
	"radish_devices": {
		deviceColumns,
		devicesRows,
	},
	"radish_device_columns": {
		[]table.ColumnDef{
			col("DEVICE", name64), col("TABLE_SCHEMA", name64), col("TABLE_NAME", name64), col("COLUMN_NAME", name64), col("BYTES", types.Uint64),
			col("STATUS", types.Varchar(16)), col("USES", types.Uint64),
		},
		deviceColumnRows,
	},
	"radish_learned": {learnedColumns, learnedRows},
}

func virtualTableNames() []string {
	var out []string
	for n := range virtualTables {
		out = append(out, strings.ToUpper(n))
	}
	sort.Strings(out)
	return out
}

// virtualTable makes a table of information_schema as it is in a snapshot.
func (s *Session) virtualTable(snap *catalog.Snapshot, name string) (*table.Version, error) {
	def, ok := virtualTables[strings.ToLower(name)]
	if !ok {
		return nil, sqlerr.NoSuchTable(informationSchema+"."+name, sqlerr.Suggest(name, virtualTableNames()))
	}
	schema := &table.Schema{Database: informationSchema, Name: strings.ToUpper(name), Columns: def.columns}
	rows := def.rows(s, snap)
	b := &column.Batch{N: len(rows)}
	for c := range def.columns {
		v := column.New(def.columns[c].Type, len(rows))
		for i, row := range rows {
			v.Set(i, len(rows), row[c])
		}
		b.Cols = append(b.Cols, v)
	}
	return table.New(schema).Append(b)
}

func schemataRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	for _, db := range append(snap.Databases(), informationSchema) {
		c, _ := snap.Collation(db)
		rows = append(rows, []types.Value{text("def"), text(db), text("utf8mb4"), text(c.String())})
	}
	return rows
}

func tablesRows(_ *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	for _, db := range snap.Databases() {
		for _, x := range tableStatus(snap, db) {
			kind := "BASE TABLE"
			if x[1].Null {
				kind = "VIEW"
			}
			rows = append(rows, append([]types.Value{text("def"), text(db), x[0], text(kind)}, x[1:]...))
		}
	}
	return rows
}

// tableStatus lists the tables and views of a database as SHOW TABLE STATUS does.
func tableStatus(snap *catalog.Snapshot, db string) (rows [][]types.Value) {
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

func columnsRows(s *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	add := func(db string, schema *table.Schema) {
		for i := range schema.Columns {
			c, d, f := &schema.Columns[i], describeColumn(schema, i), typeFacts(schema.Columns[i].Type)
			row := append([]types.Value{text("def"), text(db), text(schema.Name), text(c.Name), types.IntValue(int64(i + 1)), d[4], d[2]}, f...)
			rows = append(rows, append(row, d[1], d[3], d[5], text("select,insert,update,references"), text(c.Comment), text(generationOf(c))))
		}
	}
	eachTable(snap, func(db string, v *table.Version) { add(db, v.Schema) })
	if s.describing {
		return rows // a view of this very table
	}
	s.describing = true
	defer func() { s.describing = false }()
	for _, db := range snap.Databases() {
		for _, name := range snap.Views(db) {
			st := &statement{ctx: s.engine.ctx, session: s}
			// A view of something that is gone has no columns.
			if schema, err := s.viewSchema(st, snap, db, name); err == nil {
				add(db, schema)
			}
			st.end()
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

func viewsRows(s *Session, snap *catalog.Snapshot) (rows [][]types.Value) {
	for _, db := range snap.Databases() {
		for _, name := range snap.Views(db) {
			if v, err := snap.View(db, name); err == nil {
				st := &statement{ctx: s.engine.ctx, session: s}
				updatable := "NO"
				if st.binder().Updatable(db, name) {
					updatable = "YES"
				}
				st.end()
				rows = append(rows, []types.Value{text("def"), text(db), text(name), text(v.SQL), text(cmp.Or(v.Check, "NONE")), text(updatable), text("root@localhost"), text("DEFINER"), text("utf8mb4"), text(v.Collation.String())})
			}
		}
	}
	return rows
}

func variablesRows(s *Session, _ *catalog.Snapshot) (rows [][]types.Value) {
	for i := range systemVariables {
		def := &systemVariables[i]
		readOnly := "NO"
		if def.readOnly {
			readOnly = "YES"
		}
		rows = append(rows, []types.Value{text(def.name), text(s.vars.shown(def)), text(readOnly), text(def.doc)})
	}
	return rows
}

// memoryRows says what the database's memory is used for: for tables and files, cached ones among them, and for statements.
func memoryRows(s *Session, _ *catalog.Snapshot) [][]types.Value {
	e := s.engine
	row := func(what string, b *memory.Budget) []types.Value {
		limit := types.NullOf(types.Uint64)
		if b.Limit() > 0 {
			limit = types.UintValue(uint64(b.Limit()))
		}
		return []types.Value{text(what), types.UintValue(uint64(b.Used())), types.UintValue(uint64(b.Peak())), limit}
	}
	cached := []types.Value{
		text("cached files"), types.UintValue(uint64(e.files.cached())), types.NullOf(types.Uint64), types.UintValue(uint64(e.files.share)),
	}
	return [][]types.Value{row("database", e.budget), row("tables and files", e.stored.budget), cached, row("statements", e.statements), row("sessions", e.keptBudget)}
}
