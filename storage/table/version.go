package table

import (
	"fmt"
	"sort"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// RowGroupSize is the number of rows in a full row group.
const RowGroupSize = 1 << 17

// ColumnDef describes a column of a table.
type ColumnDef struct {
	Name     string
	Type     types.Type
	Nullable bool
	Default  *Default // nil: NULL if Nullable, else none
	Comment  string
	// OnUpdate is the text of the value that the column gets when another one of its row changes: CURRENT_TIMESTAMP; empty: it keeps its own.
	OnUpdate  string
	Generated *Generated // nil: the column is given its values
	// Foreign is the type of a file's column for which SQL has none, in the words of its format: list<int32>. Queries may not name such a
	// column. Its rows are NULL, and Type means nothing. Empty: it is a column like others.
	Foreign string
	// IsAutoIncrement: a row that gives no value, NULL or 0 gets the next one (see Version.NextAuto).
	IsAutoIncrement bool
}

// Generated is the definition of a column whose values follow from the others of its row. They are stored in any case.
type Generated struct {
	SQL    string
	Stored bool // as it was defined: STORED, or VIRTUAL
}

// Default is a column's default: a value of the column's type, or an expression's text that is evaluated per insert
// (CURRENT_TIMESTAMP and expressions in parentheses).
type Default struct {
	Value types.Value
	Expr  string // SQL text; empty: Value
}

// Key is a primary key, a unique key or a plain index. Plain indexes are kept for SHOW and DESCRIBE only.
type Key struct {
	Name    string
	Columns []int // ordinals
	Primary bool
	Unique  bool // true for primary keys too
}

// Schema is a table's definition. It is immutable.
type Schema struct {
	Database string
	Name     string
	Columns  []ColumnDef
	Keys     []Key
	Foreign  []ForeignKey
	Checks   []Check
	Comment  string
	// Collation is that of columns that are added without one.
	Collation types.Collation
}

// Ordinal returns the position of the column called name (case-insensitive), or -1.
func (s *Schema) Ordinal(name string) int {
	for i := range s.Columns {
		if strings.EqualFold(s.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// DistinctNames makes the names that a file gives its columns distinct, in any case of letters, as DuckDB does: one that stands before already gets _1, _2, ...
func DistinctNames(names []string) {
	taken := map[string]bool{}
	for i, name := range names {
		unique := name
		for n := 1; taken[strings.ToLower(unique)]; n++ {
			unique = fmt.Sprintf("%s_%d", name, n)
		}
		taken[strings.ToLower(unique)] = true
		names[i] = unique
	}
}

// Version is an immutable state of a table. Append, Delete, Update and Truncate make further ones; any number of them
// may be made from one version, by different goroutines.
type Version struct {
	Schema *Schema
	// groups are the row groups in the order of their rows; none is empty. Their columns may lack changes of single rows: see Groups.
	groups []*RowGroup

	rows   int64    // live ones
	tail   *tail    // the buffers behind the last group if that is open for appending; else nil
	shared *lineage // encoders
	auto   *counter // of the AUTO_INCREMENT column
	index  *indexes // of the keys
	// numbers is the same in two versions of a table only if a row that both have has the same number in both.
	numbers *numbering
	stats   statsCache    // of the columns
	worn    bool          // an index has many entries that are not this version's: see renewIndexes
	outline *outline      // of a file's table; else nil
	merged  *mergedGroups // what Groups gives if some groups have changes pending; else nil
}

// numbering stands for a way in which rows were given their numbers; only its address means something.
type numbering struct{ _ byte }

// RowGroup is up to RowGroupSize rows (more only in tables that were registered from outside), column by column.
type RowGroup struct {
	// First is the row number of the group's first row in the version, deleted rows counted.
	First   int64
	Rows    int               // deleted rows counted
	AtMost  bool              // Rows is a bound: who reads Stream learns how many there are
	Columns []*encoding.Chunk // by ordinal
	// Deleted has a set bit for each deleted row; nil: none.
	Deleted column.Bitmap
	// Stream reads the rows; nil: they are in Columns. Else the chunks of Columns have zone maps, which may leave anything open, and no values, and there may be more
	// than RowGroupSize rows.
	Stream Stream

	pending *pending // changes of rows that Columns and Deleted do not show; nil: none
}

// New returns the empty version of a new table.
func New(schema *Schema) *Version { return newVersion(schema, newLineage(schema)) }

func newVersion(schema *Schema, shared *lineage) *Version {
	return &Version{Schema: schema, shared: shared, auto: new(counter), index: newIndexes(schema), numbers: new(numbering), stats: newStatsCache(len(schema.Columns))}
}

// Blank returns a version of a table without columns that has rows all the same: what is left of them where nobody reads any.
func Blank(schema *Schema, rows int64) *Version {
	v := New(schema)
	for at := int64(0); at < rows; at += RowGroupSize {
		v.addGroup(&RowGroup{Rows: int(min(RowGroupSize, rows-at))}, nil)
	}
	v.rows = rows
	return v
}

// Rows returns the number of rows that are not deleted.
func (v *Version) Rows() int64 { return v.rows }

// Span returns the number of row numbers in use: row numbers are below it.
func (v *Version) Span() int64 {
	if len(v.groups) == 0 {
		return 0
	}
	last := v.groups[len(v.groups)-1]
	return last.First + int64(last.Rows)
}

// Live returns the number of rows of the group that are not deleted.
func (g *RowGroup) Live() int {
	live := g.Rows
	if g.Deleted != nil {
		live = g.Deleted.CountZeros(g.Rows)
	}
	if g.pending != nil {
		live -= g.pending.deleted
	}
	return live
}

// Locate returns the group that holds row number row, and the row's position in it; ok is false if there is no such row
// or it is deleted.
func (v *Version) Locate(row int64) (group, offset int, ok bool) {
	if row < 0 || row >= v.Span() {
		return 0, 0, false
	}
	group = sort.Search(len(v.groups), func(i int) bool { return v.groups[i].First > row }) - 1
	g := v.groups[group]
	offset = int(row - g.First)
	return group, offset, g.live(offset)
}

// Row returns the values of a row that is not deleted. It is for edges and tests, not for loops over rows.
func (v *Version) Row(row int64) (values []types.Value, ok bool) {
	group, offset, ok := v.Locate(row)
	if !ok {
		return nil, false
	}
	values = make([]types.Value, len(v.Schema.Columns))
	g := v.groups[group]
	for i := range values {
		values[i] = g.at(i, offset)
	}
	return values, true
}

// WithSchema returns the same rows under another definition, which has the same columns' types in the same order: for
// renaming.
func (v *Version) WithSchema(schema *Schema) *Version {
	out := *v
	out.Schema = schema
	return &out
}

// Truncate returns the table without rows.
func (v *Version) Truncate() *Version { return New(v.Schema) }

// Project returns a table of some of the columns, which shares their memory. It has no keys.
func (v *Version) Project(ordinals []int) *Version {
	schema := &Schema{Database: v.Schema.Database, Name: v.Schema.Name, Comment: v.Schema.Comment}
	for _, o := range ordinals {
		schema.Columns = append(schema.Columns, v.Schema.Columns[o])
	}
	out := New(schema)
	out.rows = v.rows
	for _, g := range v.Groups() {
		own := *g
		own.Columns = make([]*encoding.Chunk, len(ordinals))
		for i, o := range ordinals {
			own.Columns[i] = g.Columns[o]
		}
		out.groups = append(out.groups, &own)
	}
	return out
}
