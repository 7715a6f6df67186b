package engine

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/arrowipc"
	"github.com/radish-sql/radish/storage/parquet"
	"github.com/radish-sql/radish/storage/table"
)

// dataFile is an open file of any format.
type dataFile interface {
	Columns() []table.ColumnDef
	// Load appends the columns at ordinals (nil: all) to a builder.
	Load(ctx context.Context, b *table.Builder, ordinals []int) error
	Close() error
}

// openers open data files by the ending of their names.
var openers = map[string]func(path string) (dataFile, error){
	".parquet": func(path string) (dataFile, error) { return parquet.Open(path) },
	".arrow":   openArrow, ".arrows": openArrow, ".feather": openArrow, ".ipc": openArrow,
}

func openArrow(path string) (dataFile, error) { return arrowipc.Open(path) }

func openerFor(name string) func(path string) (dataFile, error) {
	return openers[strings.ToLower(filepath.Ext(name))]
}

// readFile reads a whole data file into a table that is named after it.
func readFile(ctx context.Context, path string) (*table.Version, error) {
	f, err := openerFor(path)(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	b := table.NewBuilder(table.New(&table.Schema{Name: name, Columns: f.Columns()}))
	if err := f.Load(ctx, b, nil); err != nil {
		return nil, err
	}
	return b.Finish()
}

func fileError(name string, err error) error {
	return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "Can't read '%s': %v", name, err).WithCause(err)
}
