package fuzz

import (
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A statement that both sides refuse is counted, and the schema is gone on with, whichever engine judges.
func TestRefusalIsNoCrash(t *testing.T) {
	p := &pair{}
	for _, side := range []**Engine{&p.oracle, &p.engine} {
		var err error
		if *side, err = radish(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer (*side).Close()
		for _, text := range []string{"CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"} {
			if err := (*side).Exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := newRunner(Config{})
	for _, tree := range []*Node{{Format: "INSERT INTO t VALUES (1)"}, lit(Query, "SELECT b FROM t")} {
		f, _ := r.try(t.Context(), p, &Statement{Tree: tree, Check: []string{"SELECT * FROM t"}}, true)
		if f != nil || p.lost {
			t.Errorf("%s: lost is %t, failure %v", tree.SQL(), p.lost, f)
		}
	}
	if len(r.stats.BothFailed) != 2 || len(r.stats.Tolerated) != 0 {
		t.Errorf("refused by both: %v, tolerated: %v", r.stats.BothFailed, r.stats.Tolerated)
	}
}

func TestCrashed(t *testing.T) {
	for _, err := range []error{driver.ErrBadConn, mysql.ErrInvalidConn, errors.New("unexpected EOF")} {
		if !crashed(err) {
			t.Errorf("%v is taken for a refusal", err)
		}
	}
	for _, err := range []error{nil, &mysql.MySQLError{Number: 1062}} {
		if crashed(err) {
			t.Errorf("%v is taken for a crash", err)
		}
	}
}
