//go:build !cgo

package others

import "testing"

func TestDuckDB(t *testing.T) {
	t.Skip("DuckDB's package is a binding by cgo, which is off or has no C compiler")
}
