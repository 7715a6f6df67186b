package engine

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/infoschema"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// set runs SET: system variables (SESSION, GLOBAL and @@ forms alike act on the session), user variables, SET NAMES.
func (s *Session) set(st *statement, n *ast.SetStmt) (*Result, error) {
	if len(n.Variables) > 1 { // system variables are set before the values of those behind them are computed
		if err := st.effects(); err != nil {
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
		if values[i], err = s.evaluate(st, a.Value); err != nil {
			return nil, err
		}
	}
	for i, a := range n.Variables {
		switch {
		case a.Name == ast.SetNames:
			if v, ok := a.Value.(ast.ValueExpr); ok {
				if err := s.vars.setSystem("character_set_client", v.GetString()); err != nil {
					return nil, err
				}
			}
			if err := s.vars.setSystem("collation_connection", collationOfNames(a)); err != nil {
				return nil, err
			}
		case a.Name == ast.SetCharset:
		case a.IsSystem:
			value, err := s.settingText(st, a)
			if err != nil {
				return nil, err
			}
			if err := s.setSystem(st, a, value); err != nil {
				return nil, err
			}
			if a.IsGlobal && !strings.HasPrefix(strings.ToLower(a.Name), "radish_") {
				s.warnings.Add(sqlerr.LevelNote, sqlerr.CodeUnknownError, "SET GLOBAL %s takes effect in this session only", a.Name)
			}
		default:
			if err := s.setUserVariable(a.Name, values[i]); err != nil {
				return nil, err
			}
		}
	}
	return &Result{}, nil
}

// setSystem gives a system variable a value, and lets those about transactions take effect.
func (s *Session) setSystem(st *statement, a *ast.VariableAssignment, value string) error {
	name := strings.ToLower(a.Name)
	switch name {
	case "tx_isolation_one_shot":
		return s.setTransaction("transaction_isolation", value)
	case "tx_isolation":
		name = "transaction_isolation"
	case "tx_read_only":
		if words := strings.Fields(strings.ToUpper(st.Text)); len(words) > 1 && words[1] == "TRANSACTION" {
			return s.setTransaction("transaction_read_only", value)
		}
		name = "transaction_read_only"
	}
	if err := s.vars.setSystem(name, value); err != nil {
		return err
	}
	if name == "autocommit" && s.vars.integer(name) == 1 {
		return s.commit(st.ctx)
	}
	return nil
}

// settingText returns the text of a system variable's new value: a bare word stands for itself, DEFAULT for the initial value.
func (s *Session) settingText(st *statement, a *ast.VariableAssignment) (string, error) {
	e := a.Value
	switch x := e.(type) {
	case *ast.ColumnNameExpr:
		return x.Name.Name.O, nil
	case *ast.DefaultExpr:
		if def := variableByName[canonicalName(a.Name)]; def != nil {
			return def.initial(s.engine), nil
		}
		return "", sqlerr.UnknownVariable(a.Name, s.vars.Suggest(a.Name))
	}
	v, err := s.evaluate(st, e)
	if err != nil {
		return "", err
	}
	if v.Null {
		if name := canonicalName(a.Name); name == "character_set_results" { // NULL: as they are stored
			return "utf8mb4", nil
		}
		return "", sqlerr.WrongValueForVar(a.Name, "NULL")
	}
	return v.Text(), nil
}

// evaluate computes an expression without columns; it may hold subqueries.
func (s *Session) evaluate(st *statement, e ast.ExprNode) (types.Value, error) {
	x, err := st.binder().Scalar(e)
	if err != nil {
		return types.Value{}, err
	}
	x = expr.WithHiddenDigits(x)
	st.began = st.began || !expr.HasSubquery(x)
	if c, ok := x.(*expr.Const); ok {
		return c.Value, nil
	}
	if !expr.HasSubquery(x) {
		v, err := expr.Eval1(x, st.exprContext())
		return expr.AtZeroScale(v, expr.ZeroScale(x, scaleOf)), err
	}
	q, err := st.binder().LongQuery(selectOf(e))
	if err != nil {
		return types.Value{}, err
	}
	scales := q.ZeroScales()
	res, err := s.runQuery(st, q, false)
	if err != nil {
		return types.Value{}, err
	}
	defer res.Close()
	b, err := res.Next(st.ctx)
	if err != nil || b == nil {
		return types.NullOf(q.Cols[0].Typ), err
	}
	i := 0
	if b.Sel != nil {
		i = int(b.Sel[0])
	}
	return expr.AtZeroScale(b.Cols[0].Value(i), scales[0]), nil
}

// scaleOf is the scale of what stands for its value.
func scaleOf(e expr.Expr) int { return expr.ScaleOf(e.Type()) }

// selectOf makes SELECT e.
func selectOf(e ast.ExprNode) *ast.SelectStmt {
	return &ast.SelectStmt{
		SelectStmtOpts: &ast.SelectStmtOpts{},
		Fields:         &ast.FieldList{Fields: []*ast.SelectField{{Expr: e}}},
	}
}

// do runs DO: expressions whose values nobody wants.
func (s *Session) do(st *statement, n *ast.DoStmt) (*Result, error) {
	for _, e := range n.Exprs {
		if _, err := s.evaluate(st, e); err != nil {
			return nil, err
		}
	}
	return &Result{}, nil
}

func (s *Session) use(db string) (*Result, error) {
	snap := s.snapshot()
	if !snap.HasDatabase(db) && !strings.EqualFold(db, infoschema.Name) {
		return nil, sqlerr.UnknownDatabase(db, sqlerr.Suggest(db, snap.Databases()))
	}
	s.database = db
	return &Result{}, nil
}
