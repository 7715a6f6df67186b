package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/column"
	"github.com/radish-sql/radish/storage/table"
)

// loadedFile is the name under which the texts of a LOAD DATA's file stand in the INSERT that it becomes. No file has it.
const loadedFile = "\x00loaded"

// loadData runs LOAD DATA [LOCAL] INFILE: the file's fields become a table of texts, and INSERT ... SELECT from that converts and
// stores them, so that defaults, keys, checks and sql_mode mean what they mean in INSERT.
func (s *Session) loadData(st *statement, n *ast.LoadDataStmt) (*Result, error) {
	rules, err := loadRulesOf(n)
	if err != nil {
		return nil, err
	}
	db, name, err := s.find(n.Table)
	if err != nil {
		return nil, err
	}
	v, err := s.snapshot().Table(db, name)
	if err != nil {
		return nil, err
	}
	fields := n.ColumnsAndUserVars
	if len(fields) == 0 {
		for _, c := range v.Schema.Columns {
			fields = append(fields, &ast.ColumnNameOrUserVar{ColumnName: &ast.ColumnName{Name: ast.NewCIStr(c.Name)}})
		}
	}
	f, err := os.Open(n.Path)
	if err != nil {
		return nil, sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "cannot read '%s': %v", n.Path, reason(err)).WithCause(err)
	}
	defer f.Close()
	rules.lenient = n.OnDuplicate == ast.OnDuplicateKeyHandlingIgnore || n.FileLocRef == ast.FileLocClient || st.exprContext().SQLMode&expr.ModeStrict == 0
	rules.warnings = s.warnings
	loaded, err := rules.read(st, f, len(fields))
	if err != nil {
		return nil, err
	}
	text, err := loadInsert(n, fields)
	if err != nil {
		return nil, err
	}
	stmt, err := parse.One(text, parse.DefaultMode)
	if err != nil {
		return nil, sqlerr.Bug("the INSERT of LOAD DATA: %v", err)
	}
	insert, ok := stmt.Node.(*ast.InsertStmt)
	if !ok {
		return nil, sqlerr.Bug("the INSERT of LOAD DATA is %T", stmt.Node)
	}
	st.Statement, st.context, st.loaded = stmt, nil, loaded
	return s.insert(st, insert)
}

// loadInsert writes the INSERT that a LOAD DATA means.
func loadInsert(n *ast.LoadDataStmt, fields []*ast.ColumnNameOrUserVar) (string, error) {
	verb := "INSERT INTO "
	switch {
	case n.OnDuplicate == ast.OnDuplicateKeyHandlingReplace:
		verb = "REPLACE INTO "
	case n.OnDuplicate == ast.OnDuplicateKeyHandlingIgnore || n.FileLocRef == ast.FileLocClient:
		verb = "INSERT IGNORE INTO "
	}
	target := quoteName(n.Table.Name.O)
	if n.Table.Schema.O != "" {
		target = quoteName(n.Table.Schema.O) + "." + target
	}
	var columns, values []string
	variables := map[string]string{} // by "@name", and columns by "name": what SET may read
	for i, f := range fields {
		field := quoteName(fmt.Sprintf("f%d", i+1))
		if f.UserVar != nil {
			variables["@"+strings.ToLower(f.UserVar.Name)] = field
			continue
		}
		variables[f.ColumnName.Name.L] = field
		columns, values = append(columns, quoteName(f.ColumnName.Name.O)), append(values, field)
	}
	for _, a := range n.ColumnAssignments {
		e, _ := a.Expr.Accept(&fieldReplacer{variables})
		text, err := parse.Restore(e, format.DefaultRestoreFlags)
		if err != nil {
			return "", sqlerr.Bug("the text of an assignment cannot be written: %v", err)
		}
		columns, values = append(columns, quoteName(a.Column.Name.O)), append(values, text)
	}
	return verb + target + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM " + quoteName(loadedFile), nil
}

// fieldReplacer puts a file's fields in the place of the user variables and columns that LOAD DATA reads them into.
type fieldReplacer struct{ fields map[string]string }

func (r *fieldReplacer) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (r *fieldReplacer) Leave(n ast.Node) (ast.Node, bool) {
	name := ""
	switch x := n.(type) {
	case *ast.VariableExpr:
		if !x.IsSystem {
			name = "@" + strings.ToLower(x.Name)
		}
	case *ast.ColumnNameExpr:
		name = x.Name.Name.L
	}
	if field, ok := r.fields[name]; ok {
		return &ast.ColumnNameExpr{Name: &ast.ColumnName{Name: ast.NewCIStr(strings.Trim(field, "`"))}}, true
	}
	return n, true
}

// loadRules say how a file is cut into records and fields.
type loadRules struct {
	terminated, starting, ending string
	enclosed, escaped            byte // 0: none
	skip                         uint64
	lenient                      bool
	warnings                     *sqlerr.Warnings
}

func loadRulesOf(n *ast.LoadDataStmt) (*loadRules, error) {
	if n.Format != nil || len(n.Options) > 0 {
		return nil, sqlerr.NotSupportedf("LOAD DATA with FORMAT or WITH", "write INSERT INTO t SELECT * FROM `file`")
	}
	r := &loadRules{terminated: "\t", ending: "\n", escaped: '\\'}
	if f := n.FieldsInfo; f != nil {
		if f.Terminated != nil {
			r.terminated = *f.Terminated
		}
		if f.Enclosed != nil && *f.Enclosed != "" {
			r.enclosed = (*f.Enclosed)[0]
		}
		if f.Escaped != nil {
			if r.escaped = 0; *f.Escaped != "" {
				r.escaped = (*f.Escaped)[0]
			}
		}
	}
	if l := n.LinesInfo; l != nil {
		if l.Starting != nil {
			r.starting = *l.Starting
		}
		if l.Terminated != nil {
			r.ending = *l.Terminated
		}
	}
	if n.IgnoreLines != nil {
		r.skip = *n.IgnoreLines
	}
	if r.terminated == "" || r.ending == "" {
		return nil, sqlerr.NotSupportedf("fields of a fixed width", "name what ends a field and a line")
	}
	return r, nil
}

// read makes a table of the fields of a file, all of them texts: f1, f2 and so on.
func (r *loadRules) read(st *statement, in io.Reader, fields int) (*table.Version, error) {
	schema := &table.Schema{Name: loadedFile}
	for i := range fields {
		schema.Columns = append(schema.Columns, table.ColumnDef{Name: fmt.Sprintf("f%d", i+1), Type: types.Text, Nullable: true})
	}
	b := table.NewBuilder(table.New(schema)).Meter(table.WithMeter(st.ctx, st.making("LOAD DATA").Set))
	var batch *column.Batch
	flush := func() error {
		if batch == nil {
			return nil
		}
		if st.ctx.Err() != nil {
			return st.ctx.Err()
		}
		err := b.Append(batch)
		batch = nil
		return err
	}
	records := &recordReader{loadRules: r, in: bufio.NewReaderSize(in, 1<<20)}
	row := int64(0)
	for {
		record, err := records.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if records.count <= r.skip {
			continue
		}
		row++
		if len(record) != fields {
			problem := sqlerr.New(sqlerr.CodeRowTooFewFields, sqlerr.User, "Row %d doesn't contain data for all columns", row)
			if len(record) > fields {
				problem = sqlerr.New(sqlerr.CodeRowTooManyFields, sqlerr.User, "Row %d was truncated; it contained more data than there were input columns", row)
			}
			if !r.lenient {
				return nil, problem
			}
			r.warnings.AddError(problem)
		}
		if batch == nil {
			batch = &column.Batch{}
			for range fields {
				batch.Cols = append(batch.Cols, column.New(types.Text, column.VectorSize))
			}
		}
		for i, c := range batch.Cols {
			if i < len(record) && record[i] != nil {
				c.Str[batch.N] = *record[i]
			} else {
				c.SetNull(batch.N, column.VectorSize)
			}
		}
		if batch.N++; batch.N == column.VectorSize {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return b.Finish()
}

// recordReader cuts a text into records by MySQL's rules (manual, LOAD DATA, "Field and Line Handling").
type recordReader struct {
	*loadRules
	in    *bufio.Reader
	count uint64 // records that were read
}

// at says whether the text goes on with s, which is not empty.
func (r *recordReader) at(s string) bool {
	have, _ := r.in.Peek(len(s))
	return string(have) == s
}

// take reads s if the text goes on with it.
func (r *recordReader) take(s string) bool {
	if s == "" || !r.at(s) {
		return false
	}
	_, _ = r.in.Discard(len(s)) // what was peeked is there
	return true
}

// next returns the fields of the next record; nil stands for NULL. io.EOF is its end.
func (r *recordReader) next() ([]*string, error) {
	if r.starting != "" { // what stands before the mark, and lines without it, is passed over
		for !r.take(r.starting) {
			if _, err := r.in.ReadByte(); err != nil {
				return nil, err
			}
		}
	}
	if _, err := r.in.Peek(1); err != nil {
		return nil, err
	}
	r.count++
	var record []*string
	for {
		field, last, err := r.field()
		if err != nil {
			return nil, err
		}
		record = append(record, field)
		if last {
			return record, nil
		}
	}
}

// field reads a field and what ends it; last says that that was the record's end.
func (r *recordReader) field() (value *string, last bool, err error) {
	var b strings.Builder
	quoted := r.enclosed != 0 && r.at(string(rune(r.enclosed)))
	null := false
	if quoted {
		_, _ = r.in.ReadByte()
	}
	inside := quoted
	for {
		if !inside {
			switch {
			case r.take(r.terminated):
				return r.finish(b.String(), quoted, null), false, nil
			case r.take(r.ending):
				return r.finish(b.String(), quoted, null), true, nil
			}
		}
		c, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return r.finish(b.String(), quoted, null), true, nil
		}
		if err != nil {
			return nil, false, err
		}
		switch {
		case r.escaped != 0 && c == r.escaped:
			e, err := r.in.ReadByte()
			switch {
			case err != nil:
				b.WriteByte(c)
			case e == 'N' && b.Len() == 0 && !quoted:
				null = true
			default:
				b.WriteByte(unescape(e))
			}
		case inside && c == r.enclosed:
			if r.take(string(rune(r.enclosed))) { // doubled, it stands for itself
				b.WriteByte(c)
				continue
			}
			if next, _ := r.in.Peek(1); len(next) == 0 || r.at(r.terminated) || r.at(r.ending) {
				inside = false
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
}

func (r *recordReader) finish(s string, quoted, null bool) *string {
	if null && s == "" || r.enclosed != 0 && !quoted && s == "NULL" {
		return nil
	}
	return &s
}

// unescape returns what a character stands for behind the escape character.
func unescape(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}
