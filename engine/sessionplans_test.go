package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/engine/plans"
	"github.com/radish-sql/radish/sql/parse"
)

// A session holds on to few trees of statements, however large they are that have run.
func TestKeptTreesAreSmall(t *testing.T) {
	s := newSession(t, database.Options{Threads: 1})
	mustRun(t, s, "CREATE TABLE t (id INT PRIMARY KEY, n INT)")
	for i := range 3 * plans.MostPlans {
		for _, values := range []int{1, 60, 2000} {
			mustRun(t, s, fmt.Sprintf("SELECT id FROM t WHERE id IN (%d%s)", i, strings.Repeat(", 1", values)))
		}
		held := int64(0)
		for n, k := range s.Plans.Plans {
			if held += k.Tree; k.Tree <= 0 || k.Tree > plans.MostPlanTrees/4 {
				t.Fatalf("the tree of %T takes %d bytes", n, k.Tree)
			}
		}
		if held != s.Plans.Trees || held > plans.MostPlanTrees || len(s.Plans.Order) != len(s.Plans.Plans) || len(s.Plans.Plans) > plans.MostPlans {
			t.Fatalf("%d plans have trees of %d bytes, %d are counted", len(s.Plans.Plans), held, s.Plans.Trees)
		}
	}
	stmt, err := s.Parse("SELECT n FROM t WHERE id = 1 OR id IN (2, 3)")
	for range 3 {
		if err == nil {
			_, err = s.Execute(context.Background(), stmt[0], nil)
		}
	}
	if k := s.Plans.Plans[stmt[0].Node]; err != nil || k == nil || len(k.List) != 1 {
		t.Errorf("the plan of a small statement is not kept: %+v, %v", k, err)
	}
}

// A session keeps the trees of long queries that come again, as many as the memory limit allows, and what it keeps is counted until it is gone.
func TestTextsThatComeAgainAreKept(t *testing.T) {
	queries := func(n int) (texts []string) {
		for i := range n {
			texts = append(texts, fmt.Sprintf("SELECT a FROM t WHERE a = %d OR a IN (%s)", i, strings.Repeat("1, ", 100)+"2"))
		}
		return texts
	}
	for _, c := range []struct {
		limit int64
		texts int
		keeps bool
	}{
		{0, 3, true}, {0, 40, true}, {0, plans.MostTexts + 1, false}, {4 << 30, 40, true}, {64 << 20, 3, true}, {64 << 20, 40, false},
	} {
		s := newSession(t, database.Options{Threads: 1, MemoryLimit: c.limit})
		mustRun(t, s, "CREATE TABLE t (a INT)")
		texts := queries(c.texts)
		for range 2 {
			for _, text := range texts {
				mustRun(t, s, text)
			}
		}
		if _, keeps := s.Plans.Texts[texts[0]]; keeps != c.keeps {
			t.Errorf("limit %d, %d texts: the first is kept: %v", c.limit, c.texts, keeps)
		}
		held := int64(0)
		for _, k := range s.Plans.Texts {
			held += parse.Kept(k.List)
		}
		if most := plans.MostTreesWithin(s.engine.Opts.MemoryLimit); held != s.Plans.Held || held > most || s.engine.KeptBudget.Used() < held-plans.LeastTrees || len(s.Plans.Texts) > plans.MostTexts {
			t.Errorf("limit %d: %d texts take %d bytes of %d; %d are noted, %d are counted", c.limit, len(s.Plans.Texts), held, most, s.Plans.Held, s.engine.KeptBudget.Used())
		}
		if s.Values.Close(); s.engine.KeptBudget.Used() != 0 {
			t.Errorf("limit %d: %d bytes are counted when the session has ended", c.limit, s.engine.KeptBudget.Used())
		}
	}
	s := newSession(t, database.Options{Threads: 1})
	text := "SELECT 1 /*" + strings.Repeat("x", plans.LongestText) + "*/"
	for range 3 {
		mustRun(t, s, text)
	}
	if len(s.Plans.Texts) != 0 {
		t.Error("a text of more than longestText bytes is kept")
	}
}
