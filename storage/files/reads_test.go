package files_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/table"
)

// Readers of every format tell the bytes that they were said to read.
func TestReadsAreTold(t *testing.T) {
	text := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(text, []byte("id,name\n"+strings.Repeat("1,some name\n", 20000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{text, "../parquet/testdata/deep.parquet", "../parquet/testdata/deep.jsonl", "../arrowipc/testdata/deep.arrow", "../arrowipc/testdata/deep.arrows"} {
		s, err := files.Open(context.Background(), fileaccess.Full(), files.Source{Pattern: name})
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for i := range s.Columns {
			all = append(all, i)
		}
		var told atomic.Int64
		if _, err := s.Read(table.WithReads(context.Background(), func(bytes int64) { told.Add(bytes) }), "", "t", all, -1); err != nil {
			t.Fatal(err)
		}
		// The beginnings of files and of batches are left out.
		if want := s.ReadBytes(all); told.Load() > want || told.Load() < want*4/5 {
			t.Errorf("%s: %d bytes of %d", name, told.Load(), want)
		}
	}
}
