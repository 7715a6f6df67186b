package engine

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/delimited"
	"github.com/radish-sql/radish/storage/files"
	"github.com/radish-sql/radish/storage/textfile"
)

// selectInto runs SELECT ... INTO OUTFILE: the format follows from the file's ending, unless FIELDS or LINES ask for MySQL's text, which a
// name without any ending gets too. A text is compressed if the name ends in .gz or .zst. A file that exists is an error without OVERWRITE, and a statement
// that fails leaves what there was: the rows go to a temporary name in the same folder until all are written.
func (s *Session) selectInto(st *statement, plain ast.Node, into *ast.SelectIntoOption) (*Result, error) {
	rules, asText, err := s.outfileFormat(into, st.Outfile)
	if err != nil {
		return nil, err
	}
	if len(st.Outfile.PartitionBy) > 0 {
		return s.selectIntoFolder(st, plain, into.FileName)
	}
	q, err := st.binder().Query(plain)
	if err != nil {
		return nil, err
	}
	create := s.vars.access.Create
	if st.Outfile.Overwrites {
		create = s.vars.access.Replace
	}
	f, err := create(into.FileName)
	if err != nil {
		return nil, files.CannotWrite(into.FileName, err)
	}
	var rows int64
	err = sqlerr.Guard(func() error { // which removes the file, too, if there is a bug
		res, err := s.runQuery(st, q, false)
		if err != nil {
			return err
		}
		defer res.Close()
		if asText {
			rows, err = delimited.Write(func() (*column.Batch, error) { return res.Next(st.ctx) }, columnTypes(res), f, into.FileName, rules, s.vars.location)
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
		return nil, files.CannotWrite(into.FileName, err)
	}
	return &Result{RowsAffected: rows}, nil
}

// outfileFormat says how a file is to be written: as MySQL's text by rules, or as its name tells. It does not look whether there is one.
func (s *Session) outfileFormat(into *ast.SelectIntoOption, o parse.Outfile) (rules delimited.Rules, asText bool, err error) {
	if into.Tp != ast.SelectIntoOutfile {
		return rules, false, sqlerr.NotSupportedf("SELECT ... INTO DUMPFILE", "write INTO OUTFILE")
	}
	if len(o.PartitionBy) > 0 || o.Format != "" {
		return rules, false, s.checkFolder(into, o)
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
	return rules, asText, s.vars.access.CheckWriting(into.FileName)
}

// outfileOf takes the INTO off a query: it stands in the last SELECT of a union, and holds for all of it. One that stands elsewhere is left,
// for the binder to refuse. nil: there is none.
func outfileOf(n ast.Node) (plain ast.Node, into *ast.SelectIntoOption) {
	switch x := n.(type) {
	case *ast.SelectStmt:
		if x.SelectIntoOpt != nil {
			query := *x
			query.SelectIntoOpt = nil
			return &query, x.SelectIntoOpt
		}
	case *ast.SetOprStmt:
		list := *x.SelectList
		last, is := list.Selects[len(list.Selects)-1].(*ast.SelectStmt)
		if is && !last.IsInBraces && last.SelectIntoOpt != nil {
			query := *last
			query.SelectIntoOpt = nil
			list.Selects = slices.Clone(list.Selects)
			list.Selects[len(list.Selects)-1] = &query
			union := *x
			union.SelectList = &list
			return &union, last.SelectIntoOpt
		}
	}
	return n, nil
}

// selectIntoVariables runs SELECT ... INTO @a, @b: the query's only row becomes the variables' values. Without a row they stay
// as they are.
func (s *Session) selectIntoVariables(st *statement, n ast.Node) (*Result, error) {
	q, err := st.binder().LongQuery(n)
	if err != nil {
		return nil, err
	}
	if len(q.Cols) != len(st.Into) {
		return nil, sqlerr.New(sqlerr.CodeWrongNumberOfColumns, sqlerr.User, "The used SELECT statements have a different number of columns").
			WithHint("%d variables take %d columns", len(st.Into), len(q.Cols))
	}
	var values []types.Value
	scales := q.ZeroScales()
	release, err := s.eachBatch(st, q, "SELECT INTO", func(b *column.Batch) (int64, error) {
		if values != nil || b.Rows() > 1 {
			return 0, sqlerr.New(sqlerr.CodeTooManyRows, sqlerr.User, "Result consisted of more than one row").WithHint("add LIMIT 1")
		}
		at := 0
		if b.Sel != nil {
			at = int(b.Sel[0])
		}
		for i, c := range b.Cols {
			v := expr.AtZeroScale(c.Value(at), scales[i])
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
		if err := s.setUserVariable(name, values[i]); err != nil {
			return nil, err
		}
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
	held := memory.Account{Budget: st.memory(), Operator: "writing '" + name + "'"}
	defer held.Close()
	w, err := files.NewWriter(f, name, names, columns, files.Options{Zone: s.vars.location, Threads: s.vars.threads(s.engine), Meter: held.Set, Limit: st.memory().Least()})
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
		rows += int64(b.Rows())
		if err := w.Write(b); err != nil {
			return 0, err
		}
	}
}

// columnTypes returns the types of a result's columns.
func columnTypes(res *Result) (list []types.Type) {
	for _, c := range res.Columns {
		list = append(list, c.Type)
	}
	return list
}
