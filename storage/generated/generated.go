// Package generated is the list of generators of test data that a program has linked, and what a generator makes. The engine runs one by
// CALL of its name. A generator such as storage/tpch registers itself when it is imported, so programs that do not ask for it do not carry it.
package generated

import (
	"context"

	"github.com/radish-sql/radish/sql/types"
)

// Generator makes the tables of a benchmark.
type Generator struct {
	Name string // of the procedure, in lower case
	// MinScale and MaxScale bound the scale factor; MaxScale itself is too large.
	MinScale, MaxScale float64
	Tables             []Table
	// Generate calls emit with the chunks of all tables, from several goroutines and in any order, until emit returns an error or ctx ends.
	Generate func(ctx context.Context, scale float64, o Options, emit func(*Chunk) error) error
}

// Table describes a table.
type Table struct {
	Name       string
	Columns    []ColumnDef
	PrimaryKey []string
}

// ColumnDef describes a column. None is nullable.
type ColumnDef struct {
	Name string
	Type types.Type
}

// Options says how to generate.
type Options struct {
	ChunkRows int      // rows of every chunk but a table's last
	Workers   int      // goroutines that call emit
	Without   []string // names of columns that no chunk has, in any table
}

// Chunk is a run of a table's rows.
type Chunk struct {
	Table   string
	Part    int // 0-based; the rows of chunk p+1 follow those of chunk p
	Rows    int
	Columns []Column
}

// Column is the values of a column in a chunk, in one of three forms.
type Column struct {
	Ints []int64 // integers, dates (days since 1970-01-01), decimals (unscaled)

	Codes []uint32 // strings of few distinct values: positions in Dict
	Dict  []string // ascending, and shared by all chunks of one run

	Offsets []uint32 // other strings: row i is Bytes[Offsets[i]:Offsets[i+1]]
	Bytes   []byte
}

var generators = map[string]*Generator{}

// Register adds a generator. Packages do that when they are initialized.
func Register(g *Generator) {
	if generators[g.Name] != nil {
		panic("generator " + g.Name + " is registered twice")
	}
	generators[g.Name] = g
}

// Lookup returns the generator of a name, or nil if the program has not linked it.
func Lookup(name string) *Generator { return generators[name] }
