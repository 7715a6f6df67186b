package assign

import (
	"maps"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// CheckUnset looks for user variables that a statement reads and nothing has set, where radish_unset_variables asks for it: a report over
// the rows of a day that nobody named would be empty, and look well. A statement that asks whether one IS NULL, or names another value by IFNULL or COALESCE,
// knows what it does.
func CheckUnset(st *session.Statement) error {
	s := st.Session
	what := s.Vars.Text(variables.UnsetVariables)
	if what == variables.UnsetNull {
		return nil
	}
	r := &variableReads{known: map[string]bool{}}
	for _, name := range st.Into {
		r.know(name)
	}
	switch n := st.Node.(type) {
	case *ast.SetStmt:
		for _, a := range n.Variables {
			if a.Value != nil {
				a.Value.Accept(r)
			}
		}
	case *ast.ExecuteStmt:
		for _, e := range n.UsingVars {
			e.Accept(r)
		}
	case *ast.PrepareStmt:
		if n.SQLVar != nil {
			n.SQLVar.Accept(r)
		}
	case *ast.LoadDataStmt:
		r.fields(n.ColumnsAndUserVars)
		n.Accept(r)
	case *ast.ImportIntoStmt:
		r.fields(n.ColumnsAndUserVars)
		n.Accept(r)
	default:
		n.Accept(r)
	}
	for _, name := range r.read {
		lower := strings.ToLower(name)
		if _, set := s.Values.Variables[lower]; set || r.known[lower] {
			continue
		}
		message := "the user variable '@" + name + "' is not set"
		if what == variables.UnsetWarn {
			s.Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeUnknownVariable, "%s: it is NULL", message)
			continue
		}
		e := sqlerr.New(sqlerr.CodeUnknownVariable, sqlerr.User, "%s", message)
		if near := sqlerr.Suggest(lower, slices.Collect(maps.Keys(s.Values.Variables))); near != "" {
			e = e.WithHint("did you mean @%s?", near)
		} else {
			e = e.WithHint("set it by radish --var %s=VALUE or SET @%s = ...; write COALESCE(@%s, ...) for a default, or SET %s = 'null' to read NULL", name, name, name, variables.UnsetVariables)
		}
		return st.LocateText(e, s.Vars.ParseMode, "@"+name)
	}
	return nil
}

// variableReads finds the user variables that a statement reads.
type variableReads struct {
	read  []string
	known map[string]bool // it sets them itself, or asks whether they are NULL
}

func (r *variableReads) know(name string) { r.known[strings.ToLower(name)] = true }

// fields are where LOAD DATA puts those of a file.
func (r *variableReads) fields(list []*ast.ColumnNameOrUserVar) {
	for _, f := range list {
		if f.UserVar != nil {
			r.know(f.UserVar.Name)
		}
	}
}

// test notes that expressions may be NULL as far as the statement is concerned.
func (r *variableReads) test(list ...ast.ExprNode) {
	for _, e := range list {
		if v, is := parse.WithoutParentheses(e).(*ast.VariableExpr); is {
			r.know(v.Name)
		}
	}
}

func (r *variableReads) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.VariableExpr:
		switch {
		case x.IsSystem:
		case x.Value != nil:
			r.know(x.Name)
		default:
			r.read = append(r.read, x.Name)
		}
	case *ast.IsNullExpr:
		r.test(x.Expr)
	case *ast.FuncCallExpr:
		switch x.FnName.L {
		case "ifnull", "coalesce", "isnull":
			r.test(x.Args...)
		}
	}
	return n, false
}

func (r *variableReads) Leave(n ast.Node) (ast.Node, bool) { return n, true }
