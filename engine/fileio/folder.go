package fileio

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/files"
)

// FolderFormat returns the ending of the files of partitions, without the point.
func FolderFormat(o parse.Outfile) string {
	if o.Format == "" {
		return files.Parquet.Endings()[0][1:]
	}
	return strings.ToLower(o.Format)
}

// checkFolder returns an error for a folder of partitions that cannot be written. It does not look whether there is one.
func checkFolder(s *session.Session, into *ast.SelectIntoOption, o parse.Outfile) error {
	switch {
	case len(o.PartitionBy) == 0:
		return sqlerr.NotSupportedf("FORMAT without PARTITION BY", "the ending of a file's name tells its format, as in INTO OUTFILE 'x.parquet'")
	case into.FieldsInfo != nil || into.LinesInfo != nil:
		return sqlerr.NotSupportedf("FIELDS and LINES with PARTITION BY", "FORMAT csv and FORMAT tsv write text with a header")
	case files.CheckWriting("data_0."+FolderFormat(o)) != nil:
		return sqlerr.NotSupportedf("FORMAT "+o.Format, "name an ending without its point: %s; 'csv.gz' and the like in quotes", files.FormatNames())
	case files.FormatOf(into.FileName) != files.Unknown:
		return sqlerr.NotSupportedf("PARTITION BY into '"+into.FileName+"'", "name a folder, which has no ending, and the format behind it: INTO OUTFILE 'sales' FORMAT parquet PARTITION BY (year)")
	}
	return s.Vars.Access.CheckWriting(into.FileName)
}

// KeyColumnsOf returns the indices of the columns that PARTITION BY names in a result.
func KeyColumnsOf(columns []result.ResultColumn, names []string) (keys []int, err *sqlerr.Error) {
	for _, name := range names {
		is := func(c result.ResultColumn) bool { return strings.EqualFold(c.Name, name) }
		at := slices.IndexFunc(columns, is)
		switch {
		case at < 0:
			return nil, sqlerr.New(sqlerr.CodeUnknownColumn, sqlerr.User, "Unknown column '%s' in 'PARTITION BY'", name).WithHint("it names columns of the result, by the names that they have there")
		case slices.IndexFunc(columns[at+1:], is) >= 0:
			return nil, sqlerr.New(sqlerr.CodeAmbiguousColumn, sqlerr.User, "Column '%s' in 'PARTITION BY' is ambiguous", name).WithHint("give the columns of the result other names with AS")
		case slices.Contains(keys, at):
			return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "PARTITION BY names '%s' twice", name)
		}
		keys = append(keys, at)
	}
	if len(keys) == len(columns) {
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "PARTITION BY names all columns of the result: none is left for the files").WithHint("select a further column, or name fewer")
	}
	return keys, nil
}

// selectIntoFolder runs SELECT ... INTO OUTFILE 'folder' PARTITION BY (column, ...): rows go to files in folders that the columns' values name. All or nothing, as for a file.
func selectIntoFolder(st *session.Statement, plain ast.Node, name string) (*result.Result, error) {
	s := st.Session
	q, err := st.Binder().Query(plain)
	if err != nil {
		return nil, err
	}
	keys, wrong := KeyColumnsOf(query.ResultColumns(q.Cols, q.Names), st.Outfile.PartitionBy)
	if wrong != nil {
		return nil, wrong
	}
	folder, err := s.Vars.Access.CreateFolder(name, st.Outfile.Overwrites, files.Replaceable)
	if err != nil {
		return nil, files.CannotWrite(name, err)
	}
	var rows int64
	err = sqlerr.Guard(func() error { // which removes the folder, too, if there is a bug
		res, err := query.RunBound(st, q)
		if err != nil {
			return err
		}
		defer res.Close()
		held := memory.Account{Budget: st.Budget(), Operator: "writing '" + name + "'"}
		defer held.Close()
		var names []string
		var columns []types.Type
		for _, c := range res.Columns {
			names, columns = append(names, c.Name), append(columns, c.Type)
		}
		w := files.NewPartitionWriter(folder, FolderFormat(st.Outfile), names, columns, keys,
			files.Options{Zone: s.Vars.Location, Threads: s.Vars.Threads(), Meter: held.Set, Limit: st.Budget().Least()})
		for {
			b, err := res.Next(st.Context)
			if err != nil {
				return err
			}
			if b == nil {
				return w.Close(st.Context)
			}
			rows += int64(b.Rows())
			if err := w.Write(st.Context, b); err != nil {
				return err
			}
		}
	})
	return written(st, folder, name, rows, err)
}
