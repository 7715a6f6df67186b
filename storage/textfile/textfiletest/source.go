// Package textfiletest has what tests of text formats share.
package textfiletest

import (
	"bytes"
	"context"
	"io"

	"github.com/radish-sql/radish/storage/textfile"
)

// Source is a text in memory.
func Source(name string, text []byte) textfile.Source {
	return textfile.Source{Name: name, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}
