package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// Scripts that the command line names are read whatever --file-access says: they are the wish of who types it. Files of rows become views, which read
// them by the session's policy.

// data says whether an input is a file of rows, and not of statements.
func (in input) data() bool {
	return in.file != "" && in.file != "-" && files.FormatOf(in.file) != files.Unknown && !strings.EqualFold(filepath.Ext(fileaccess.PathOf(textfile.Trim(in.file))), ".txt")
}

// runs says whether there is an input of statements.
func (o *options) runs() bool {
	return slices.ContainsFunc(o.inputs, func(in input) bool { return !in.data() })
}

// check returns an error for an input that cannot be read.
func (in input) check() error {
	if in.file == "" || in.file == "-" {
		return nil
	}
	if in.data() && fileaccess.IsRemote(in.file) {
		return nil // which the statement looks at
	}
	if err := fileaccess.NotRemote(in.file); err != nil {
		return plainly(err)
	}
	if in.data() && strings.ContainsAny(in.file, "*?[") {
		return nil // a pattern, which the statement looks at
	}
	info, err := os.Stat(in.file)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read %s: %v%s", in.file, reason(err), notThere(in.file, err))
	case info.IsDir():
		return fmt.Errorf("%s is a directory; FROM `%s` reads files in it, .restore %s what .backup wrote", in.file, filepath.Join(in.file, "*.parquet"), in.file)
	case in.data():
		return plainly(files.CheckReading(in.file))
	}
	return nil
}

// openInput opens statements that the command line names, which may be compressed; name is what messages call them.
func openInput(in input) (name string, text io.ReadCloser, err error) {
	switch in.file {
	case "":
		return "", io.NopCloser(strings.NewReader(in.text)), nil
	case "-":
		text, err = unpackScript(os.Stdin, "stdin")
		return "stdin", text, err
	}
	text, err = openScript(fileaccess.Full(), in.file)
	return in.file, text, err
}

// openData makes a view of a data file that the command line names.
func (r *runner) openData(file string) {
	text := "CREATE VIEW " + render.QuoteName(viewName(file)) + " AS SELECT * FROM " + render.QuoteName(file)
	r.statementQuietly(text)
	if r.interactive && !r.scripts.failed {
		fmt.Fprintf(r.notesOr(r.streams.out), "%s is %s; DESCRIBE shows its columns.\n", render.QuoteName(viewName(file)), fileaccess.Shown(file))
	}
}

// showData prints the rows of one.
func (r *runner) showData(file string) {
	if !r.scripts.failed || !r.bail {
		text := "SELECT * FROM " + render.QuoteName(viewName(file))
		r.statement("", scriptStatement{text: text, context: text, made: true, line: 1}, r.look())
	}
}

// statementQuietly runs a statement that nobody has written, and prints no more than its error.
func (r *runner) statementQuietly(text string) {
	if _, err := r.conn.Exec(context.Background(), text); err != nil {
		fmt.Fprintln(r.streams.err, describe("", scriptStatement{text: text, context: text, made: true, line: 1}, err))
		r.scripts.failed = true
	}
}

// viewName is what the view of a data file is called: the file's name without what tells its format.
func viewName(file string) string {
	base := textfile.Trim(filepath.Base(fileaccess.PathOf(file)))
	return strings.TrimSuffix(base, filepath.Ext(base))
}
