package engine

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// selectInto runs SELECT ... INTO OUTFILE.
func (s *Session) selectInto(_ *statement, _ *ast.SelectStmt) (*Result, error) {
	return nil, sqlerr.NotSupportedf("INTO OUTFILE", "x")
}
