package rules

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/planner/plantest"
)

// TestGoldens shows each rule at work: testdata/rules.txt holds blocks of a rule's name, a statement, and what the rule made of
// the plan, or that it left it alone. Every rule has a block of each sort. RADISH_UPDATE=1 writes the file anew.
func TestGoldens(t *testing.T) {
	const file = "../testdata/rules.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fires, rests := map[string]bool{}, map[string]bool{}
	var out []string
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		head, _, _ := strings.Cut(block, "\n----")
		comment, sql := "", head
		for strings.HasPrefix(sql, "#") {
			line, rest, _ := strings.Cut(sql, "\n")
			comment, sql = comment+line+"\n", rest
		}
		rule, sql, _ := strings.Cut(sql, "\n")
		rule, eager := strings.CutSuffix(rule, " (whatever it costs)")
		result, fired := goldenOf(t, rule, sql, eager)
		if fired {
			fires[rule] = true
		} else {
			rests[rule] = true
		}
		out = append(out, head+"\n----\n"+result)
	}
	for i := range list {
		if name := list[i].Name; !fires[name] || !rests[name] {
			t.Errorf("rule %s: a case that fires: %v, one that must not: %v", name, fires[name], rests[name])
		}
	}
	got := strings.Join(out, "\n\n") + "\n"
	if os.Getenv("RADISH_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(raw); got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d:\ngot  %s\nwant %s", i+1, g[i], w[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(g), len(w))
	}
}

// goldenOf returns the plan before and after the last run of the rule that changed something.
func goldenOf(t *testing.T, rule, sql string, eager bool) (text string, fired bool) {
	q, err := smallTables(1).Bind(sql, plantest.Context())
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	before := logical.Format(q.Root)
	_, steps, err := Optimize(q, Options{Traces: true, Checks: true, Context: plantest.Context(), eager: eager})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	i := slices.IndexFunc(steps, func(s Step) bool { return s.Rule == rule })
	if i < 0 {
		return "unchanged", false
	}
	if i > 0 {
		before = steps[i-1].Plan
	}
	return before + "=> " + rule + "\n" + strings.TrimSuffix(steps[i].Plan, "\n"), true
}
