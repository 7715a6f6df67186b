package fileio

import (
	"io"
	"path/filepath"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// SelectInto runs SELECT ... INTO OUTFILE: the format follows from the file's ending, unless FIELDS or LINES ask for MySQL's text, which a
// name without any ending gets too. A text is compressed if the name ends in .gz or .zst. A file that exists is an error without OVERWRITE, and a statement
// that fails leaves what there was: the rows go to a temporary name in the same folder until all are written.
func SelectInto(st *session.Statement, plain ast.Node, into *ast.SelectIntoOption) (*result.Result, error) {
	s := st.Session
	rules, asText, err := OutfileFormat(s, into, st.Outfile)
	if err != nil {
		return nil, err
	}
	if len(st.Outfile.PartitionBy) > 0 {
		return selectIntoFolder(st, plain, into.FileName)
	}
	q, err := st.Binder().Query(plain)
	if err != nil {
		return nil, err
	}
	create := s.Vars.Access.Create
	if st.Outfile.Overwrites {
		create = s.Vars.Access.Replace
	}
	f, err := create(into.FileName)
	if err != nil {
		return nil, files.CannotWrite(into.FileName, err)
	}
	var rows int64
	err = sqlerr.Guard(func() error { // which removes the file, too, if there is a bug
		res, err := query.RunBound(st, q)
		if err != nil {
			return err
		}
		defer res.Close()
		if asText {
			rows, err = delimited.Write(func() (*column.Batch, error) { return res.Next(st.Context) }, columnTypes(res), f, into.FileName, rules, s.Vars.Location)
		} else {
			rows, err = write(st, res, f, into.FileName)
		}
		return err
	})
	return written(st, f, into.FileName, rows, err)
}

// written gives what a SELECT has written its name. If that went wrong, or the statement was cancelled, what stood there before stays.
func written(st *session.Statement, target interface {
	Commit() error
	Discard()
}, name string, rows int64, err error) (*result.Result, error) {
	if err == nil {
		err = st.Context.Err() // it may have ended behind the last row
	}
	if err != nil {
		target.Discard()
		return nil, err
	}
	if err := target.Commit(); err != nil {
		return nil, files.CannotWrite(name, err)
	}
	return &result.Result{RowsAffected: rows}, nil
}

// OutfileFormat says how a file is to be written: as MySQL's text by rules, or as its name tells. It does not look whether there is one.
func OutfileFormat(s *session.Session, into *ast.SelectIntoOption, o parse.Outfile) (rules delimited.Rules, asText bool, err error) {
	if into.Tp != ast.SelectIntoOutfile {
		return rules, false, sqlerr.NotSupportedf("SELECT ... INTO DUMPFILE", "write INTO OUTFILE")
	}
	if len(o.PartitionBy) > 0 || o.Format != "" {
		return rules, false, checkFolder(s, into, o)
	}
	format := files.FormatOf(into.FileName)
	asText = into.FieldsInfo != nil || into.LinesInfo != nil || filepath.Ext(textfile.Trim(into.FileName)) == ""
	rules, err = textRulesOf(into.FieldsInfo, into.LinesInfo)
	if err != nil {
		return rules, false, err
	}
	if err := files.Check(into.FileName); err != nil {
		return rules, false, err
	}
	if err := files.CheckWriting(into.FileName); err != nil && !asText {
		return rules, false, sqlerr.From(err).WithHint(`FIELDS TERMINATED BY '\t' writes MySQL's text under any name`)
	}
	if asText && format != files.Unknown && format != files.CSV {
		return rules, false, sqlerr.NotSupportedf("FIELDS and LINES for '"+into.FileName+"'", "the ending says that it is no text")
	}
	return rules, asText, s.Vars.Access.CheckWriting(into.FileName)
}

// write writes all rows of a result to a file in the format that its name tells, and returns their number.
func write(st *session.Statement, res *result.Result, f io.WriteSeeker, name string) (rows int64, err error) {
	s := st.Session
	var names []string
	var columns []types.Type
	for _, c := range res.Columns {
		names, columns = append(names, c.Name), append(columns, c.Type)
	}
	held := memory.Account{Budget: st.Budget(), Operator: "writing '" + name + "'"}
	defer held.Close()
	w, err := files.NewWriter(f, name, names, columns, files.Options{Zone: s.Vars.Location, Threads: s.Vars.Threads(), Meter: held.Set, Limit: st.Budget().Least()})
	if err != nil {
		return 0, err
	}
	defer w.Abandon() // before what it holds is given back
	for {
		b, err := res.Next(st.Context)
		if err != nil {
			return 0, err
		}
		if b == nil {
			return rows, w.Close()
		}
		rows += int64(b.Rows())
		if err := w.Write(b); err != nil {
			return 0, err
		}
	}
}

// columnTypes returns the types of a result's columns.
func columnTypes(res *result.Result) (list []types.Type) {
	for _, c := range res.Columns {
		list = append(list, c.Type)
	}
	return list
}
