package define

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/engine/change"
	"github.com/radish-sql/radish/engine/ddl"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// AlterTable runs ALTER TABLE. Changes of the definition alone keep the rows where they are; others make the rows anew, by a
// query.
func AlterTable(st *session.Statement, n *ast.AlterTableStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, name, err := s.Find(n.Table)
	if err != nil {
		return nil, err
	}
	v, err := s.Snapshot().Table(db, name)
	if err != nil {
		return nil, err
	}
	a := ddl.NewAlteration(st, v.Schema)
	for _, spec := range n.Specs {
		if err := a.Apply(spec); err != nil {
			return nil, err
		}
	}
	schema, err := a.Finish()
	if err != nil {
		return nil, err
	}
	snap, children, err := a.RenameReferenced(s.Snapshot(), schema)
	if err != nil {
		return nil, err
	}
	if err := ddl.CheckForeignKeys(st, snap, schema, v.Schema); err != nil {
		return nil, err
	}
	next, err := rebuild(st, v, schema, a)
	if errors.Is(err, sqlerr.CodeBadNull) {
		err = sqlerr.New(sqlerr.CodeInvalidUseOfNull, sqlerr.User, "Invalid use of NULL value").WithHint("%s", sqlerr.From(err).Message)
	}
	if err != nil {
		return nil, err
	}
	if err := write.CheckRows(st, next, a.NewForeign()); err != nil {
		return nil, err
	}
	return &result.Result{}, st.Publish("ALTER TABLE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		snap, err := snap.ReplaceTable(next)
		for _, child := range children {
			if err == nil {
				snap, err = snap.ReplaceTable(child)
			}
		}
		if err != nil || a.Rename == nil {
			return snap, err
		}
		toDB, to, err := s.Qualify(a.Rename)
		if err != nil {
			return nil, err
		}
		if catalog.IsHidden(db) {
			if s.HiddenDatabase(toDB) != db {
				return nil, sqlerr.NotSupportedf("moving a temporary table to another database", "make it there")
			}
			s.ForgetTemporary(toDB, name)
			s.Temporary[catalog.NewTableID(toDB, to)] = true
			toDB = db
		}
		return snap.RenameTable(db, name, toDB, to)
	})
}

// rebuild returns the table with the new definition, which follows from an alteration.
func rebuild(st *session.Statement, v *table.Version, schema *table.Schema, a *ddl.Alteration) (*table.Version, error) {
	columns, same := a.Rebuild(schema)
	next, err := v, error(nil)
	if same {
		next, err = v.WithKeys(st.Context, schema)
	} else {
		b := st.Binder()
		q, err := b.Rebuild(v, columns)
		if err != nil {
			return nil, err
		}
		computed, checks, err := b.TableRules(schema, q.Cols)
		if err != nil {
			return nil, err
		}
		empty := table.New(schema)
		rules, err := write.NewRules(st, empty, computed, checks, q.Cols)
		if err != nil {
			return nil, err
		}
		if next, _, err = change.Fill(st, empty, q, "ALTER TABLE", rules); err != nil {
			return nil, err
		}
		rules.Settle()
		if schema.AutoIncrement() >= 0 && v.Schema.AutoIncrement() >= 0 {
			next.SkipAuto(v.Auto() - 1)
		}
	}
	if err == nil && a.Auto > 0 && schema.AutoIncrement() >= 0 {
		return next.RestartAuto(st.Context, int64(min(a.Auto, 1<<63-1)))
	}
	return next, err
}
