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
	s := mustOne(t, "SELECT a.t, 't' FROM x.t")
	if e := s.LocateName(sqlerr.NoSuchTable("t", ""), parse.DefaultMode, "t"); e.Pos.Known() {
		t.Errorf("a name that is not there is found at %v", e.Pos)
	}
}
