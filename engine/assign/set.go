package assign

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/variables"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// collationOfNames returns the collation of SET NAMES: the default if it has none.
func collationOfNames(a *ast.VariableAssignment) string {
	if a.ExtendValue != nil {
		return a.ExtendValue.GetString()
	}
	return types.CollationBin.String()
}

// Set runs SET: system variables (SESSION, GLOBAL and @@ forms alike act on the session), user variables, SET NAMES.
func Set(st *session.Statement, n *ast.SetStmt) (*result.Result, error) {
	s := st.Session
	if len(n.Variables) > 1 { // system variables are set before the values of those behind them are computed
		if err := st.Effects(); err != nil {
			return nil, err
		}
	}
	// As in MySQL all values of user variables are computed before any variable is set.
	values := make([]types.Value, len(n.Variables))
	for i, a := range n.Variables {
		if a.IsSystem || a.Name == ast.SetNames || a.Name == ast.SetCharset {
			continue
		}
		var err error
		if values[i], err = st.Evaluate(a.Value); err != nil {
			return nil, err
		}
	}
	for i, a := range n.Variables {
		switch {
		case a.Name == ast.SetNames:
			if v, ok := a.Value.(ast.ValueExpr); ok {
				if err := s.Vars.SetSystem("character_set_client", v.GetString()); err != nil {
					return nil, err
				}
			}
			if err := s.Vars.SetSystem("collation_connection", collationOfNames(a)); err != nil {
				return nil, err
			}
		case a.Name == ast.SetCharset:
		case a.IsSystem:
			value, err := settingText(st, a)
			if err != nil {
				return nil, err
			}
			if err := setSystem(st, a, value); err != nil {
				return nil, err
			}
			if a.IsGlobal && !strings.HasPrefix(strings.ToLower(a.Name), "radish_") {
				s.Warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "SET GLOBAL %s takes effect in this session only", a.Name)
			}
		default:
			if err := s.Assign(a.Name, values[i]); err != nil {
				return nil, err
			}
		}
	}
	return &result.Result{}, nil
}

// setSystem gives a system variable a value, and lets those about transactions take effect.
func setSystem(st *session.Statement, a *ast.VariableAssignment, value string) error {
	s := st.Session
	name := strings.ToLower(a.Name)
	switch name {
	case "tx_isolation_one_shot":
		return s.SetTransaction("transaction_isolation", value)
	case "tx_isolation":
		name = "transaction_isolation"
	case "tx_read_only":
		if words := strings.Fields(strings.ToUpper(st.Text)); len(words) > 1 && words[1] == "TRANSACTION" {
			return s.SetTransaction("transaction_read_only", value)
		}
		name = "transaction_read_only"
	}
	if err := s.Vars.SetSystem(name, value); err != nil {
		return err
	}
	if name == "autocommit" && s.Vars.Integer(name) == 1 {
		return s.Commit(st.Context)
	}
	return nil
}

// settingText returns the text of a system variable's new value: a bare word stands for itself, DEFAULT for the initial value.
func settingText(st *session.Statement, a *ast.VariableAssignment) (string, error) {
	s := st.Session
	e := a.Value
	switch x := e.(type) {
	case *ast.ColumnNameExpr:
		return x.Name.Name.O, nil
	case *ast.DefaultExpr:
		if def := variables.Lookup(a.Name); def != nil {
			return def.Initial(s.DB), nil
		}
		return "", sqlerr.UnknownVariable(a.Name, s.Vars.Suggest(a.Name))
	}
	v, err := st.Evaluate(e)
	if err != nil {
		return "", err
	}
	if v.Null {
		if name := variables.CanonicalName(a.Name); name == "character_set_results" { // NULL: as they are stored
			return "utf8mb4", nil
		}
		return "", sqlerr.WrongValueForVar(a.Name, "NULL")
	}
	return v.Text(), nil
}
