package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// openScript opens a file of statements: a text, which may be compressed by gzip or zstd, whatever its name. A pipe waits for who writes it; Ctrl-C ends
// that wait, and any wait for more text.
func openScript(policy *fileaccess.Policy, name string) (io.ReadCloser, error) {
	ctx, stop := context.Background(), func() {}
	if isPipe(name) {
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
	}
	f, err := policy.OpenStream(ctx, name)
	if err == nil {
		f, err = unpackScript(f, name)
	}
	if err == nil {
		return &openedScript{f, stop}, nil
	}
	stop()
	if plain := plainly(err); plain != err {
		return nil, plain
	}
	return nil, fmt.Errorf("cannot read %s: %v%s", name, reason(err), notThere(name, err))
}

// openedScript is an open file of statements.
type openedScript struct {
	io.ReadCloser
	stop func() // looking for Ctrl-C
}

func (s *openedScript) Close() error {
	s.stop()
	return s.ReadCloser.Close()
}

// unpackScript returns the text of a file of statements, which it closes, or an error that says what the file is instead.
func unpackScript(f io.ReadCloser, name string) (io.ReadCloser, error) {
	text, head, err := textfile.Detect(f, name)
	if err != nil {
		return nil, err
	}
	what := ""
	switch {
	case bytes.HasPrefix(head, []byte("SQLite format 3")):
		what = "a database of SQLite; sqlite3 " + name + " .dump gives statements, and .mode csv its tables"
	case len(head) >= 12 && string(head[8:12]) == "DUCK":
		what = "a database of DuckDB; its EXPORT DATABASE 'folder' (FORMAT PARQUET) writes files that can be read"
	case files.Recognize(head) != files.Unknown, files.CheckReading(name) == nil && files.FormatOf(name) != files.CSV:
		what = fmt.Sprintf("data, no statements; FROM `%s` reads it, and radish %s opens it", name, name)
	case bytes.IndexByte(head, 0) >= 0:
		what = "binary, no statements"
	}
	if what == "" {
		return text, nil
	}
	_ = text.Close() // nothing of it is read
	return nil, fmt.Errorf("%s is %s", name, what)
}

// notThere says what a name may have meant for which there is no file.
func notThere(name string, err error) string {
	switch ending := filepath.Ext(name); {
	case reason(err) == nil || reason(err).Error() != "no such file or directory":
	case isDatabaseFile(ending) && !strings.EqualFold(ending, ".sql"):
		return "; a database is no file: tables live in memory, .backup and .restore, or .dump, keep them"
	}
	return ""
}
