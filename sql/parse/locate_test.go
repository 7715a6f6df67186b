package parse_test

import (
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func TestLocateName(t *testing.T) {
	for _, tc := range []struct{ sql, name string }{
		{"SELECT t.a, 't' FROM ‸t", "t"},
		{"SELECT a FROM x.t JOIN ‸`T` u ON u.t = 1", "t"},
		{"SELECT a FROM t, ‸x . t", "x.t"},
		{"SELECT 1; INSERT INTO u SELECT * FROM\n ‸`a``b`", "a`b"},
		{"INSERT INTO t (a, ‸b) VALUES (1, 2)", "b"},
		{"DROP TABLE IF EXISTS ‸t", "t"},
		{"CREATE TABLE t (a INT, KEY (‸zz))", "zz"},
	} {
		sql := strings.Replace(tc.sql, "‸", "", 1)
		list, err := parse.Parse(sql, parse.DefaultMode)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		e := list[len(list)-1].LocateName(sqlerr.NoSuchTable(tc.name, ""), parse.DefaultMode, strings.Split(tc.name, ".")...)
		if e.Pos.Offset != strings.Index(tc.sql, "‸") || !e.Pos.Known() {
			t.Errorf("%s: %s", tc.sql, e.Render())
		}
	}
	for _, tc := range []struct {
		sql, name string
		locate    func(*parse.Statement, *sqlerr.Error, parse.Mode, ...string) *sqlerr.Error
	}{
		{"INSERT INTO a (b, ‸a) VALUES (1, NULL)", "a", (*parse.Statement).LocateColumn},
		{"INSERT INTO b (‸b) SELECT a FROM a", "b", (*parse.Statement).LocateColumn},
		{"UPDATE ‸a SET b = 1", "a", (*parse.Statement).LocateColumn},
		{"SELECT c.a, ‸d.a FROM c, d", "d.a", (*parse.Statement).LocateColumn},
		{"CREATE TABLE c (c INT, d INT, ‸C INT)", "c", (*parse.Statement).LocateLast},
		{"SELECT 1 FROM a, b, ‸a", "a", (*parse.Statement).LocateLast},
	} {
		s := mustOne(t, strings.Replace(tc.sql, "‸", "", 1))
		if e := tc.locate(&s, sqlerr.NoSuchTable(tc.name, ""), parse.DefaultMode, strings.Split(tc.name, ".")...); e.Pos.Offset != strings.Index(tc.sql, "‸") || !e.Pos.Known() {
			t.Errorf("%s: %s", tc.sql, e.Render())
		}
	}
	s := mustOne(t, "SELECT a.t, 't' FROM x.t")
	if e := s.LocateName(sqlerr.NoSuchTable("t", ""), parse.DefaultMode, "t"); e.Pos.Known() {
		t.Errorf("a name that is not there is found at %v", e.Pos)
	}
}
