package engine

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// kill runs KILL and KILL QUERY.
func kill(st *session.Statement, n *ast.KillStmt) (*result.Result, error) {
	s := st.Session
	id := n.ConnectionID
	if n.Expr != nil {
		v, err := st.Evaluate(n.Expr)
		if err != nil {
			return nil, err
		}
		number, status := types.Cast(v, types.Uint64)
		if v.Null || status > types.ConvertRounded {
			return nil, sqlerr.WrongArguments("KILL").WithHint("give the number of a session; SHOW PROCESSLIST lists them")
		}
		id = uint64(number.I)
	}
	for _, other := range s.DB.Sessions.List() {
		if other.ID == id {
			other.Kill(!n.Query)
			if !n.Query { // it may be idle, and its client not know of its end for long
				s.DB.TableLocks.Release(id)
				s.DB.Locks.Of(id).ReleaseAll()
			}
			return &result.Result{}, nil
		}
	}
	return nil, sqlerr.New(sqlerr.CodeNoSuchThread, sqlerr.User, "Unknown thread id: %d", id).WithHint("SHOW PROCESSLIST lists the numbers of sessions")
}
