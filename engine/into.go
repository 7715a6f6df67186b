package engine

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/files"
)

// selectInto runs SELECT ... INTO OUTFILE: the format follows from the file's ending, unless FIELDS or LINES ask for MySQL's text, which a
// name without a known ending gets too. A text is compressed if the name ends in .gz or .zst. A file that exists is an error, and a statement that fails
// leaves none behind: the rows go to a temporary name in the same folder until all are written.
func (s *Session) selectInto(st *statement, n *ast.SelectStmt) (*Result, error) {
	into := n.SelectIntoOpt
	if into.Tp != ast.SelectIntoOutfile {
		return nil, sqlerr.NotSupportedf("SELECT ... INTO DUMPFILE", "write INTO OUTFILE")
	}
	format := files.FormatOf(into.FileName)
	asText := format == files.Unknown || into.FieldsInfo != nil || into.LinesInfo != nil
	rules, err := textRulesOf(into.FieldsInfo, into.LinesInfo)
	if err != nil {
		return nil, err
	}
	if err := files.Check(into.FileName); err != nil {
		return nil, err
	}
	if asText && format != files.Unknown && format != files.CSV {
		return nil, sqlerr.NotSupportedf("FIELDS and LINES for '"+into.FileName+"'", "the ending says that it is no text")
	}
	plain := *n
	plain.SelectIntoOpt = nil
	q, err := st.binder().Query(&plain)
	if err != nil {
		return nil, err
	}
	f, err := s.vars.access.Create(into.FileName)
	if err != nil {
		return nil, cannotWrite(into.FileName, err)
	}
	var rows int64
	err = sqlerr.Guard(func() error { // which removes the file, too, if there is a bug
		res, err := s.runQuery(st, q, false)
		if err != nil {
			return err
		}
		defer res.Close()
		if asText {
			rows, err = writeText(st.ctx, res, f, into.FileName, rules, s.vars.location)
		} else {
			rows, err = s.write(st, res, f, into.FileName)
		}
		return err
	})
	if err == nil {
		err = st.ctx.Err() // it may have ended behind the last row
	}
	if err != nil {
		f.Discard()
		return nil, err
	}
	if err := f.Commit(); err != nil {
		return nil, cannotWrite(into.FileName, err)
	}
	return &Result{RowsAffected: rows}, nil
}

// selectIntoVariables runs SELECT ... INTO @a, @b: the query's only row becomes the variables' values. Without a row they stay
// as they are.
func (s *Session) selectIntoVariables(st *statement, n ast.Node) (*Result, error) {
	q, err := st.binder().Query(n)
	if err != nil {
		return nil, err
	}
	if len(q.Cols) != len(st.Into) {
		return nil, sqlerr.New(sqlerr.CodeWrongNumberOfColumns, sqlerr.User, "The used SELECT statements have a different number of columns").
			WithHint("%d variables take %d columns", len(st.Into), len(q.Cols))
	}
	var values []types.Value
	release, err := s.eachBatch(st, q, "SELECT INTO", func(b *column.Batch) (int64, error) {
		if values != nil || b.Rows() > 1 {
			return 0, sqlerr.New(sqlerr.CodeTooManyRows, sqlerr.User, "Result consisted of more than one row").WithHint("add LIMIT 1")
		}
		at := 0
		if b.Sel != nil {
			at = int(b.Sel[0])
		}
		for _, c := range b.Cols {
			v := c.Value(at)
			v.S = strings.Clone(v.S)
			values = append(values, v)
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	release()
	if values == nil {
		s.warnings.Add(sqlerr.LevelWarning, sqlerr.CodeNoData, "No data - zero rows fetched, selected, or processed")
		return &Result{}, nil
	}
	for i, name := range st.Into {
		s.SetUserVariable(name, values[i])
	}
	return &Result{RowsAffected: 1}, nil
}

// write writes all rows of a result to a file in the format that its name tells, and returns their number.
func (s *Session) write(st *statement, res *Result, f io.WriteSeeker, name string) (rows int64, err error) {
	var names []string
	var columns []types.Type
	for _, c := range res.Columns {
		names, columns = append(names, c.Name), append(columns, c.Type)
	}
	w, err := files.NewWriter(f, name, names, columns, s.vars.location)
	if err != nil {
		return 0, err
	}
	for {
		b, err := res.Next(st.ctx)
		if err != nil {
			return 0, err
		}
		if b == nil {
			return rows, w.Close()
		}
		if format := files.FormatOf(name); format == files.CSV || format == files.JSONLines {
			if err := readable(b, res.Columns, name, rows); err != nil {
				return 0, err
			}
		}
		rows += int64(b.Rows())
		if err := w.Write(b); err != nil {
			return 0, err
		}
	}
}

// readable fails if a text file would have bytes that are no text, so that it could not be read again. before is the number of rows that it has already.
func readable(b *column.Batch, columns []ResultColumn, file string, before int64) error {
	for c, v := range b.Cols {
		if !v.Type.IsBinaryString() {
			continue
		}
		for i := range b.Rows() {
			at := i
			if b.Sel != nil {
				at = int(b.Sel[i])
			}
			if !v.IsNull(at) && !utf8.ValidString(v.StringAt(at)) {
				return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "cannot write '%s': column '%s' of row %d has bytes that are no UTF-8 text", file, columns[c].Name, before+int64(i)+1).
					WithHint("write HEX(%s), which UNHEX reads, or a Parquet or Arrow file, or MySQL's format for LOAD DATA (name FIELDS or LINES)", columns[c].Name)
			}
		}
	}
	return nil
}

func cannotWrite(name string, err error) error {
	var known *sqlerr.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrExist):
		return sqlerr.New(sqlerr.CodeFileExists, sqlerr.User, "File '%s' already exists", name)
	}
	return sqlerr.New(sqlerr.CodeErrorOnWrite, sqlerr.User, "cannot write '%s': %v", name, reason(err)).WithCause(err)
}
