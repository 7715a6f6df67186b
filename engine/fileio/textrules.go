package fileio

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/delimited"
)

// textRulesOf reads the clauses FIELDS and LINES.
func textRulesOf(f *ast.FieldsClause, l *ast.LinesClause) (delimited.Rules, error) {
	r := delimited.Rules{Terminated: "\t", Ending: "\n", Escaped: '\\'}
	if f != nil {
		if f.DefinedNullBy != nil {
			return r, sqlerr.NotSupportedf("FIELDS DEFINED NULL BY", "NULL is \\N, or the word NULL without quotes where fields are enclosed")
		}
		if f.Terminated != nil {
			r.Terminated = *f.Terminated
		}
		if f.Enclosed != nil && *f.Enclosed != "" {
			r.Enclosed, r.EnclosesStringsOnly = (*f.Enclosed)[0], f.OptEnclosed
		}
		if f.Escaped != nil {
			if r.Escaped = 0; *f.Escaped != "" {
				r.Escaped = (*f.Escaped)[0]
			}
		}
	}
	if l != nil {
		if l.Starting != nil {
			r.Starting = *l.Starting
		}
		if l.Terminated != nil {
			r.Ending = *l.Terminated
		}
	}
	if r.Terminated == "" || r.Ending == "" {
		return r, sqlerr.NotSupportedf("fields of a fixed width", "name what ends a field and a line")
	}
	return r, nil
}

// LoadRulesOf reads the clauses of LOAD DATA.
func LoadRulesOf(n *ast.LoadDataStmt) (*delimited.LoadRules, error) {
	if n.Format != nil || len(n.Options) > 0 {
		return nil, sqlerr.NotSupportedf("LOAD DATA with FORMAT or WITH", "write INSERT INTO t SELECT * FROM `file`, or IMPORT INTO")
	}
	text, err := textRulesOf(n.FieldsInfo, n.LinesInfo)
	r := &delimited.LoadRules{Rules: text}
	if n.IgnoreLines != nil {
		r.Skip = *n.IgnoreLines
	}
	return r, err
}
