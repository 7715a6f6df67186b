package infoschema

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Name is the name of the database that holds these tables.
const Name = "information_schema"

// Source is what the tables say beside what a snapshot of the catalog says. A session is one. A method is called when a table that needs it is made.
type Source interface {
	// ViewSchema describes the columns of a view of the snapshot. It is false if the view's query cannot be bound, or while the session describes another view.
	ViewSchema(snap *catalog.Snapshot, db, name string) (*table.Schema, bool)
	// IsUpdatable says whether statements may write through a view.
	IsUpdatable(db, view string) bool
	Variables() []Variable
	Memory() []MemoryUse
	Processes() []Process
	// Devices lists what pipelines can run on: the processor, and every GPU. Where none can be used, one says why.
	Devices() []Device
	// GPU returns the GPU that comes first, if it is open. GPUs are all that are open.
	GPU() (*gpu.Device, bool)
	GPUs() []*gpu.Device
	// Location is the session's time zone.
	Location() *time.Location
}

// Variable is a system variable with its value in the session.
type Variable struct {
	Name, Value, Doc string
	IsReadOnly       bool
}

// MemoryUse says how many bytes something takes of the database's memory.
type MemoryUse struct {
	For   string
	Bytes int64
	Peak  int64 // negative: unknown
	Limit int64 // 0: none
}

// Process is a session.
type Process struct {
	ID         uint64
	Database   string
	Text       string // of the statement that runs; empty: none does
	IsKilled   bool
	LastChange time.Time // when the statement began or, without one, the last ended
}

// definition is a table of information_schema: its columns, and its rows as a snapshot has them.
type definition struct {
	columns []table.ColumnDef
	rows    func(source Source, snap *catalog.Snapshot) [][]types.Value
}

func col(name string, t types.Type) table.ColumnDef {
	return table.ColumnDef{Name: name, Type: t, Nullable: true}
}

var name64 = types.Varchar(64)

// definitions are the tables, by lower-case names.
var definitions = union(catalogTables, keyTables, serverTables, emptyTables, radishTables)

func union(parts ...map[string]definition) map[string]definition {
	all := map[string]definition{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// names returns columns for the names of things.
func names(list ...string) (out []table.ColumnDef) {
	for _, n := range list {
		out = append(out, col(n, name64))
	}
	return out
}

func number(name string) table.ColumnDef { return col(name, types.Int64) }

func text(s string) types.Value { return types.Value{Type: types.Text, S: s} }

// Columns returns the columns of a table, by its lower-case name.
func Columns(name string) []table.ColumnDef { return definitions[name].columns }

// Names returns the names of the tables, in order.
func Names() []string {
	var out []string
	for n := range definitions {
		out = append(out, strings.ToUpper(n))
	}
	slices.Sort(out)
	return out
}

// Table makes the table of a name as it is in a snapshot.
func Table(source Source, snap *catalog.Snapshot, name string) (*table.Version, error) {
	def, ok := definitions[strings.ToLower(name)]
	if !ok {
		return nil, sqlerr.NoSuchTable(Name+"."+name, sqlerr.Suggest(name, Names()))
	}
	schema := &table.Schema{Database: Name, Name: strings.ToUpper(name), Columns: def.columns}
	rows := def.rows(source, snap)
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
