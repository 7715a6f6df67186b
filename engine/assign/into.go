package assign

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// SelectIntoVariables runs SELECT ... INTO @a, @b: the query's only row becomes the variables' values. Without a row they stay
// as they are.
func SelectIntoVariables(st *session.Statement, n ast.Node) (*result.Result, error) {
	s := st.Session
	q, err := st.Binder().LongQuery(n)
	if err != nil {
		return nil, err
	}
	if len(q.Cols) != len(st.Into) {
		return nil, sqlerr.WrongNumberOfColumns().
			WithHint("%d variables take %d columns", len(st.Into), len(q.Cols))
	}
	var values []types.Value
	scales := q.ZeroScales()
	release, err := st.EachBatch(q, "SELECT INTO", func(b *column.Batch) (int64, error) {
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
		s.Warnings.Add(sqlerr.LevelWarning, sqlerr.CodeNoData, "No data - zero rows fetched, selected, or processed")
		return &result.Result{}, nil
	}
	for i, name := range st.Into {
		if err := s.Assign(name, values[i]); err != nil {
			return nil, err
		}
	}
	return &result.Result{RowsAffected: 1}, nil
}
