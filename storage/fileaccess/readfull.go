package fileaccess

import (
	"context"
	"io"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// readAtOnce is how many bytes are read before the context is looked at again: some milliseconds of a disk.
const readAtOnce = 8 << 20

// ReadFull fills b with the bytes of a file that begin at an offset, and ends soon after ctx is cancelled.
func ReadFull(ctx context.Context, file io.ReaderAt, b []byte, at int64) error {
	for len(b) > 0 {
		if err := ctx.Err(); err != nil {
			return sqlerr.Interrupted(err)
		}
		n, err := file.ReadAt(b[:min(len(b), readAtOnce)], at)
		if b, at = b[n:], at+int64(n); err != nil && len(b) > 0 {
			return err
		}
	}
	return nil
}
