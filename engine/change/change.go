package change

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/engine/ddl"
	"github.com/radish-sql/radish/engine/query"
	"github.com/radish-sql/radish/engine/result"
	"github.com/radish-sql/radish/engine/session"
	"github.com/radish-sql/radish/engine/targets"
	"github.com/radish-sql/radish/engine/write"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/planner/bind"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/storage/catalog"
	"github.com/radish-sql/radish/storage/table"
)

// Statements that write take the engine's writing lock for their whole length: they read the newest version of every
// table, compute a new one and replace it. Those that drop or rename tables take it too, lest a writer replace
// another table by its version. Readers are never blocked, nor are statements in a transaction, whose COMMIT takes the lock.

// Insert runs INSERT and REPLACE.
func Insert(st *session.Statement, n *ast.InsertStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ins, err := query.BoundInsert(st, n)
	if err != nil {
		return nil, err
	}
	rules, err := write.NewRules(st, ins.Table, ins.Computed, ins.Checks, ins.Query.Cols)
	if err != nil {
		return nil, err
	}
	MoreRows(st, n, ins)
	keeps := write.NewIntegrity(st)
	var rows int64
	if ins.OnDuplicate != bind.DuplicateError {
		rows, err = write.Upsert(st, ins, rules, keeps)
	} else {
		var next *table.Version
		if next, rows, err = Fill(st, ins.Table, ins.Query, "INSERT", rules); err == nil {
			keeps.Inserted(next, ins.Table.Span())
		}
	}
	if err == nil {
		err = keeps.Finish("INSERT")
	}
	if err != nil {
		return nil, inFile(st, err, ins.Table.Schema)
	}
	rules.Settle()
	if n.Select == nil {
		rules.Reserve()
	}
	return inserted(s, rows, rules), nil
}

// Fill appends the rows of a query, which has the table's columns, to a table; rules is what happens to them. operation is what
// errors call it.
func Fill(st *session.Statement, v *table.Version, q *logical.Query, operation string, rules *write.Rules) (next *table.Version, rows int64, err error) {
	if rules == nil {
		if next, rows, ok, err := adopt(st, v, q); ok || err != nil {
			return next, rows, err
		}
	}
	var few []*column.Batch
	bytes := int64(0) // of few
	var builder *table.Builder
	// What a query gives is the builder's to keep; rules compute values in memory of their own.
	give := func(b *column.Batch) error {
		if rules == nil {
			return builder.Take(b)
		}
		return builder.Append(b)
	}
	var stored schedule.Stored
	defer func() {
		if stored != nil {
			stored.Release()
		}
	}()
	if rules == nil {
		st.Target = v
		defer func() { st.Target = nil }()
	}
	release, err := st.EachBatch(q, operation, func(b *column.Batch) (int64, error) {
		rows += int64(b.Rows())
		if b.Stored != nil {
			stored = b.Stored.(schedule.Stored)
			builder = write.Builder(st, v, operation)
			return 0, appendStored(builder, stored)
		}
		b, err := rules.Batch(b)
		if err != nil {
			return 0, err
		}
		if bytes += b.Bytes(); builder == nil && (rows > write.BulkRows || bytes > write.BulkBytes) {
			builder = write.Builder(st, v, operation)
			for _, have := range few {
				if err := give(have); err != nil {
					return 0, err
				}
			}
			few = nil
		}
		if builder != nil {
			return 0, give(b) // which counts what it holds
		}
		few = append(few, b)
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, 0, err
	}
	defer release()
	if builder != nil {
		if next, err = builder.Finish(); err == nil && stored != nil {
			stored.Keep(next)
		}
	} else if err = v.EnsureIndexes(st.Context); err == nil {
		next, err = v.Append(few...)
	}
	return next, rows, err
}

// appendStored adds rows that a device has encoded.
func appendStored(b *table.Builder, rows schedule.Stored) error {
	for _, g := range rows.RowGroups() {
		if err := b.AppendEncoded(g); err != nil {
			return err
		}
	}
	return nil
}

// affected returns a result that counts rows.
func affected(rows int64, err error) (*result.Result, error) {
	if err != nil {
		return nil, err
	}
	return &result.Result{RowsAffected: rows}, nil
}

// inserted returns the result of an INSERT, and remembers the value that LAST_INSERT_ID() gives.
func inserted(s *session.Session, rows int64, rules *write.Rules) *result.Result {
	id, isGiven := rules.InsertID()
	if isGiven {
		s.LastInsertID.Store(id)
	}
	return &result.Result{RowsAffected: rows, LastInsertID: id}
}

// Update runs UPDATE.
func Update(st *session.Statement, n *ast.UpdateStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := safeUpdate(s, n.TableRefs, n.Where, n.Limit, targets.Updated(n)); err != nil {
		return nil, err
	}
	if bind.IsMulti(n) {
		m, err := st.Binder().UpdateMulti(n)
		if err != nil {
			return nil, err
		}
		if m.Ignores {
			return affected(write.UpdateIgnore(st, m))
		}
		return affected(write.Multi(st, "UPDATE", m))
	}
	up, err := query.BoundUpdate(st, n)
	if err != nil {
		return nil, err
	}
	if up.Ignores {
		return affected(write.UpdateIgnore(st, &bind.Multi{Query: up.Query, Targets: []bind.Target{up.Target}, Ignores: true}))
	}
	var ids []int64
	cols := make([]*column.Vector, len(up.Ordinals))
	for i, o := range up.Ordinals {
		cols[i] = column.New(up.Table.Schema.Columns[o].Type, 0)
	}
	rules, err := write.NewRules(st, up.Table, up.Computed, up.Checks, up.Query.Cols)
	if err != nil {
		return nil, err
	}
	release, err := st.EachBatch(up.Query, "update", func(b *column.Batch) (int64, error) {
		b, err := rules.Complete(b)
		if err != nil {
			return 0, err
		}
		before := len(ids)
		ids = write.AppendRowIDs(ids, b)
		for i := range cols {
			column.AppendSelected(cols[i], before, b.Cols[up.Values[i]], b.Sel, b.N)
		}
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, err
	}
	defer release()
	keeps := write.NewIntegrity(st)
	changed, err := keeps.Update(up.Table, ids, up.Ordinals, cols, "UPDATE", nil)
	if err != nil {
		return nil, err
	}
	return &result.Result{RowsAffected: changed}, keeps.Finish("UPDATE")
}

// Delete runs DELETE.
func Delete(st *session.Statement, n *ast.DeleteStmt) (*result.Result, error) {
	s := st.Session
	unlock, err := s.LockWrites(st)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := safeUpdate(s, n.TableRefs, n.Where, n.Limit, targets.Deleted(n)); err != nil {
		return nil, err
	}
	if n.IsMultiTable {
		m, err := st.Binder().DeleteMulti(n)
		if err != nil {
			return nil, err
		}
		return affected(write.Multi(st, "DELETE", m))
	}
	del, err := query.BoundDelete(st, n)
	if err != nil {
		return nil, err
	}
	var ids []int64
	release, err := st.EachBatch(del.Query, "delete", func(b *column.Batch) (int64, error) {
		ids = write.AppendRowIDs(ids, b)
		return b.Bytes(), nil
	})
	if err != nil {
		return nil, err
	}
	defer release()
	keeps := write.NewIntegrity(st)
	if n.IgnoreErr {
		if ids, err = keeps.Deletable(del.Table, ids); err != nil {
			return nil, err
		}
	}
	rows, err := keeps.Delete(del.Table, ids)
	if err != nil {
		return nil, err
	}
	return &result.Result{RowsAffected: rows}, keeps.Finish("DELETE")
}

// Truncate runs TRUNCATE.
func Truncate(st *session.Statement, n *ast.TruncateTableStmt) (*result.Result, error) {
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
	return &result.Result{}, st.Publish("TRUNCATE", func(snap *catalog.Snapshot) (*catalog.Snapshot, error) {
		v, err := snap.Table(db, name)
		if err != nil {
			return nil, err
		}
		if err := ddl.MayTruncate(st, snap, v.Schema); err != nil {
			return nil, err
		}
		return snap.ReplaceTable(v.Truncate())
	})
}

// safeUpdate refuses, under sql_safe_updates, an UPDATE or DELETE without LIMIT that nothing keeps from changing all rows of a table.
func safeUpdate(s *session.Session, from *ast.TableRefsClause, where ast.ExprNode, limit *ast.Limit, changed func(*targets.Table) bool) error {
	if s.Vars.Integer("sql_safe_updates") == 0 || limit != nil {
		return nil
	}
	return targets.CheckSafe(from, where, changed, s.SchemaNamed)
}
