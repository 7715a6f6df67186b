package parquet

import (
	"context"

	"github.com/radish-sql/radish/storage/fileaccess"
)

// Open opens whatever file the process may read.
func Open(path string) (*File, error) {
	return OpenIn(context.Background(), fileaccess.Full(), path, nil)
}
