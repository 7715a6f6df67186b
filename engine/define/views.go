package define

import (
	"errors"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
)

// CreateView runs CREATE VIEW and ALTER VIEW.
func CreateView(st *session.Statement, n *ast.CreateViewStmt) (*result.Result, error) {
	s := st.Session
	db, name, err := s.Qualify(n.ViewName)
	if err != nil {
		return nil, err
	}
	isTempTable := n.Algorithm == ast.AlgorithmTemptable
	if st.IsAlter {
		old, err := s.Snapshot().View(db, name)
		if err != nil {
			return nil, err
		}
		isTempTable = isTempTable || n.Algorithm == ast.AlgorithmUndefined && old.IsTempTable
	}
	if err := definesView(n.Select); err != nil {
		return nil, err
	}
	b, cat := st.Binder(), st.CatalogView()
	b.Catalog = cat
	q, err := b.Query(n.Select) // checks the query
	if err != nil {
		return nil, err
	}
	if cat.Temporary != "" {
		return nil, sqlerr.ViewOfTemporary(cat.Temporary)
	}
	view := &catalog.View{
		Database: db, Name: name, Collation: st.Expressions().Collation, Columns: q.Names, IsTempTable: isTempTable,
	}
	switch st.Check {
	case parse.LocalCheck:
		view.Check = "LOCAL"
	case parse.CascadedCheck:
		view.Check = "CASCADED"
	}
	if len(n.Cols) > 0 {
		if len(n.Cols) != len(q.Cols) {
			return nil, sqlerr.ViewColumnList()
		}
		view.Columns = nil
		for _, c := range n.Cols {
			view.Columns = append(view.Columns, c.O)
		}
	}
	seen := map[string]bool{}
	for _, c := range view.Columns {
		if seen[strings.ToLower(c)] {
			return nil, sqlerr.DupFieldName(c)
		}
		seen[strings.ToLower(c)] = true
	}
	if view.SQL, err = settledText(st, n.Select, db); err != nil {
		return nil, err
	}
	if !query.NamesFiles(st) {
		query.CompileAhead(st, q)
	}
	return &result.Result{}, st.Publish("CREATE VIEW", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		next, err := snap.CreateView(view, n.OrReplace || st.IsAlter)
		if err != nil {
			return nil, err
		}
		b := st.Binder()
		b.Catalog = &session.CatalogView{Statement: st, Session: s, Snap: next}
		if n.OrReplace || st.IsAlter {
			if _, err := b.Query(n.Select); errors.Is(err, sqlerr.CodeViewInvalid) { // it reads itself, for which MySQL does not find it
				return nil, sqlerr.NoSuchTable(db+"."+name, "")
			}
		}
		if view.Check == "" {
			return next, nil
		}
		return next, b.CheckView(db, name)
	})
}

// settledText writes the query of a view of a database down with all that it means now.
func settledText(st *session.Statement, query ast.StmtNode, db string) (string, error) {
	const copies = 5 // of the text: written by appending, and what reading it again takes
	if err := st.TakeTree(int64(copies * len(st.Text))); err != nil {
		return "", err
	}
	b := st.Binder()
	b.Catalog = st.CatalogView()
	undo, err := b.Settle(query, db)
	defer undo()
	if err != nil {
		return "", err
	}
	text, err := parse.Restore(query, format.RestoreStringWithoutCharset)
	if err != nil {
		return "", sqlerr.Bug("the view's text cannot be written: %v", err)
	}
	if _, err := parse.One(text, parse.DefaultMode); err != nil {
		return "", sqlerr.Bug("the view's text cannot be read again: %v: %s", err, text)
	}
	return text, nil
}

// definesView refuses queries that a view cannot have: with variables, markers or INTO.
func definesView(query ast.Node) error {
	var f viewRefuser
	query.Accept(&f)
	return f.err
}

type viewRefuser struct{ err error }

// Enter is part of ast.Visitor.
func (f *viewRefuser) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.VariableExpr, ast.ParamMarkerExpr:
		f.err = sqlerr.ViewOfVariable()
	case *ast.SelectStmt:
		if x.SelectIntoOpt != nil {
			f.err = sqlerr.ViewWithInto()
		}
	}
	return n, f.err != nil
}

// Leave is part of ast.Visitor.
func (f *viewRefuser) Leave(n ast.Node) (ast.Node, bool) { return n, f.err == nil }
