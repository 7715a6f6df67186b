package session

import (
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// ApplyHints sets the variables that the SET_VAR and MAX_EXECUTION_TIME hints of a SELECT name, and returns the function
// that takes them back.
func (s *Session) ApplyHints(n ast.StmtNode) (restore func(), err error) {
	if x, ok := n.(*ast.ExplainStmt); ok {
		n = x.Stmt
	}
	sel, ok := n.(*ast.SelectStmt)
	if !ok {
		return func() {}, nil
	}
	saved := s.Vars
	copied := false
	restore = func() {
		if copied {
			s.Vars = saved
		}
	}
	for _, h := range sel.TableHints {
		var set ast.HintSetVar
		switch data := h.HintData.(type) {
		case ast.HintSetVar:
			set = data
		case uint64:
			if h.HintName.L != "max_execution_time" {
				continue
			}
			set = ast.HintSetVar{VarName: h.HintName.L, Value: strconv.FormatUint(data, 10)}
		default:
			continue
		}
		if !copied {
			copied = true
			values := make(map[string]string, len(saved.Values))
			for k, v := range saved.Values {
				values[k] = v
			}
			s.Vars.Values = values
		}
		if err := s.Vars.SetSystem(set.VarName, set.Value); err != nil {
			restore()
			return nil, err
		}
	}
	return restore, nil
}
