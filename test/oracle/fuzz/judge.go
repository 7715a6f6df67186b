package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/test/sqllogic"
)

// pair is both engines with one schema in them.
type pair struct {
	oracle, engine *Engine
	lost           bool // the two have parted, or the oracle did not come back from a statement: no more of this schema
}

func (p *pair) close() {
	p.oracle.Close()
	p.engine.Close()
}

// try puts a statement, or a script of them, to both sides. changed says that tables hold other rows now. The counts are
// kept for a first try only, not for reductions.
func (r *runner) try(ctx context.Context, p *pair, stmt *Statement, counted bool) (f *Failure, changed bool) {
	if r.trace != nil && counted {
		r.trace.WriteAt([]byte(stmt.Tree.SQL()+";\n--\n"), 0)
	}
	t := &trial{runner: r, ctx: ctx, pair: p, stmt: stmt, counted: counted}
	t.count(func(s *Stats) {
		if len(stmt.Check) == 0 {
			s.Queries++
		} else {
			s.Changes++
		}
		for _, l := range stmt.Labels {
			s.Labels[l]++
		}
	})
	steps := []*Node{stmt.Tree}
	if stmt.Tree.Role == Script {
		steps = stmt.Tree.Kids
	}
	for _, n := range steps {
		if n.Kind == Query {
			f = t.query(n)
		} else {
			f = t.change(n)
		}
		if f != nil || p.lost {
			return f, true
		}
	}
	if stmt.Tree.Role == Script && t.Dialect == nil { // portable ones leave nothing open
		if f = t.end(); f != nil || p.lost {
			return f, true
		}
	}
	for _, check := range stmt.Check {
		if f = t.query(lit(Query, check)); f != nil || p.lost {
			return f, true
		}
	}
	return nil, len(stmt.Check) > 0
}

// trial is one statement or script at work.
type trial struct {
	*runner
	ctx     context.Context
	pair    *pair
	stmt    *Statement
	counted bool
}

func (t *trial) count(f func(*Stats)) {
	if t.counted {
		t.runner.count(f)
	}
}

func (t *trial) fail(kind, what, want, got string) *Failure {
	return &Failure{Kind: kind, What: what, Statement: t.stmt, Want: want, Got: got}
}

// patience bounds a statement of the oracle, which has a limit of its own, max_statement_time, that it does not always keep.
const patience = 6 * time.Second

// errCrash is what a statement or a round is counted as that lost its server; the next round begins on a new one.
var errCrash = errors.New("the oracle crashes")

// crashed says whether an error of the oracle, MariaDB or Radish on another device, is its connection's end and no refusal.
func crashed(err error) bool {
	var mariadb *mysql.MySQLError
	var radish *sqlerr.Error
	return err != nil && !errors.As(err, &mariadb) && !errors.As(err, &radish)
}

// gone says whether the oracle's error is that it hangs or has crashed, which ends the work on this schema.
func (t *trial) gone(limited context.Context, err error, text string) bool {
	why := ""
	switch {
	case limited.Err() != nil:
		why = "the oracle hangs"
	case t.Dialect == nil && crashed(err):
		why = errCrash.Error()
	default:
		return false
	}
	t.pair.lost = true
	t.count(func(s *Stats) {
		s.Tolerated[why]++
		s.Example[why] = text
	})
	return true
}

func (t *trial) timed(start time.Time, text string) {
	took := time.Since(start)
	t.count(func(s *Stats) {
		if took > s.Longest {
			s.Longest, s.LongestSQL = took, text
		}
	})
}

// query compares the answers to one query.
func (t *trial) query(n *Node) *Failure {
	text, order := n.SQL(), orderOf(n)
	judged := t.pair.oracle.text(n)
	limited, cancel := context.WithTimeout(t.ctx, 20*time.Second)
	defer cancel()
	waiting, stop := context.WithTimeout(t.ctx, patience)
	defer stop()
	want, wantErr := t.pair.oracle.query(waiting, n.Session, judged)
	if t.gone(waiting, wantErr, text) {
		return nil
	}
	start := time.Now()
	got, gotErr := t.pair.engine.query(limited, n.Session, t.pair.engine.text(n))
	t.timed(start, text)
	contradicts := func() bool {
		if !t.contradicts(waiting, n.Session, judged, got, order) {
			return false
		}
		t.count(func(s *Stats) { s.note(s.Tolerated, errContradiction, text) })
		return true
	}
	if wantErr != nil || gotErr != nil {
		f := t.errors(text, wantErr, gotErr)
		if f != nil && gotErr == nil && contradicts() {
			return nil
		}
		return f
	}
	t.count(func(s *Stats) { s.Rows += len(want.rows) })
	d := differ(want, got, order)
	if d == "" || contradicts() {
		return nil
	}
	kind := "wrong result"
	if strings.Contains(d, "column") {
		kind = "wrong type: " + d[strings.Index(d, " is ")+1:]
	}
	shown, given := want.String(), got.String()
	if len(want.rows)+len(got.rows) > 20 && len(want.types) == len(got.types) {
		shown += "missing: " + want.only(got).String()
		given += "too many: " + got.only(want).String()
	}
	f := t.fail(kind, d, shown, given)
	if len(t.stmt.Check) > 0 {
		f.What += ": " + text
	}
	f.types = want.letters()
	return f
}

// errors judges a statement that one side refuses or both do.
func (t *trial) errors(text string, want, got error) *Failure {
	switch {
	case want != nil && got != nil:
		t.count(func(s *Stats) {
			if t.stmt.Tree.Role == Script {
				s.note(s.StepsFailed, want, text)
			} else {
				s.note(s.BothFailed, want, text)
			}
		})
		return nil
	case want != nil:
		if t.Dialect != nil {
			t.count(func(s *Stats) { s.note(s.Tolerated, want, text) })
			return nil
		}
		for _, known := range tolerated {
			if known.message.MatchString(want.Error()) {
				t.count(func(s *Stats) {
					s.Tolerated[known.why]++
					s.Example[known.why] = text
				})
				return nil
			}
		}
		kind := "accepted: " + sqllogic.Reason(want)
		var number *mysql.MySQLError
		if errors.As(want, &number) {
			kind = fmt.Sprintf("accepted: error %d", number.Number)
		}
		return t.fail(kind, "the engine answers what the oracle refuses: "+text, "error "+want.Error(), "no error")
	}
	if refusals.MatchString(got.Error()) {
		t.count(func(s *Stats) { s.note(s.Refused, got, text) })
		return nil
	}
	return t.fail("error: "+sqllogic.Reason(got), "the engine refuses what the oracle answers: "+text, "an answer", "error "+got.Error())
}

// change runs a statement that gives no rows. Where one side refuses it for a reason that says nothing about the engine,
// the two have parted.
func (t *trial) change(n *Node) *Failure {
	text := n.SQL()
	limited, cancel := context.WithTimeout(t.ctx, 20*time.Second)
	defer cancel()
	waiting, stop := context.WithTimeout(t.ctx, patience)
	defer stop()
	want, wantErr := t.pair.oracle.exec(waiting, n.Session, t.pair.oracle.text(n))
	if t.gone(waiting, wantErr, text) {
		return nil
	}
	start := time.Now()
	got, gotErr := t.pair.engine.exec(limited, n.Session, t.pair.engine.text(n))
	t.timed(start, text)
	if wantErr != nil || gotErr != nil {
		if f := t.errors(text, wantErr, gotErr); f != nil {
			return f
		}
		t.pair.lost = wantErr == nil || gotErr == nil
		return nil
	}
	if want != got && t.Dialect == nil { // others count the rows that an UPDATE leaves as they were
		return t.fail("rows affected", "another number of rows affected: "+text, fmt.Sprint(want), fmt.Sprint(got))
	}
	return nil
}

// end takes back what a script has left open.
func (t *trial) end() *Failure {
	sessions := []int{0}
	if slices.ContainsFunc(t.stmt.Tree.Kids, func(n *Node) bool { return n.Session == 1 }) {
		sessions = append(sessions, 1)
	}
	for _, s := range sessions {
		for _, text := range []string{"ROLLBACK", "SET autocommit = 1"} {
			if f := t.change(&Node{Format: text, Session: s}); f != nil || t.pair.lost {
				return f
			}
		}
	}
	return nil
}

// contradicts says whether the oracle gives the engine's answer in another mood.
func (t *trial) contradicts(ctx context.Context, session int, query string, got *Result, order []int) bool {
	found := false
	for _, mood := range t.Moods {
		if _, err := t.pair.oracle.exec(ctx, session, mood); err != nil {
			return false
		}
		again, err := t.pair.oracle.query(ctx, session, query)
		found = found || err == nil && differ(again, got, order) == ""
	}
	return found
}

// errContradiction is why a difference says nothing about the engine.
var errContradiction = errors.New("MariaDB contradicts itself under another setting of its optimizer")
