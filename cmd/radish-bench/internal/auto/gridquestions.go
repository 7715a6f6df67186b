package auto

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/workload"
)

// gridQuestions are statements over the tables of gridTables, each of which gives few rows: a grid of what decides between two devices. Their names say
// what they do, from the kind of statement to the sizes.
func gridQuestions() []workload.Question {
	var all []workload.Question
	for _, kind := range []func() []workload.Question{gridScans, gridGroups, gridJoins, gridSorts, gridDistincts, gridLikes, gridCases, gridExists} {
		all = append(all, kind()...)
	}
	return all
}

func gridQuestion(sql string, name ...string) workload.Question {
	return workload.Question{Name: strings.Join(name, " "), What: name[0], SQL: sql}
}

// list joins f of 1 to n.
func list(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i + 1)
	}
	return strings.Join(parts, ", ")
}

// gridScans filter by the first of the columns that they read.
func gridScans() (out []workload.Question) {
	for _, form := range []struct {
		name, column string
		bound        func(perMille int64) string // the value below which so many lie
		total        string                      // of a column
	}{
		{"int", "i", func(m int64) string { return fmt.Sprint(m * scanNumbers / 1000) }, "SUM(%s)"},
		{"decimal", "d", func(m int64) string { return fmt.Sprintf("%d.00", m*scanNumbers/1000/100) }, "SUM(%s)"},
		{"double", "f", func(m int64) string { return fmt.Sprintf("%d.%03de0", m/1000, m%1000) }, "SUM(%s)"},
		{"coded string", "s", func(m int64) string { return fmt.Sprintf("'w%05d'", m*scanWords/1000) }, "SUM(LENGTH(%s)), MAX(%[1]s)"},
		{"string", "r", func(m int64) string { return fmt.Sprintf("'r%06d'", m*scanNumbers/1000) }, "SUM(LENGTH(%s)), MAX(%[1]s)"},
	} {
		for _, share := range []struct {
			name     string
			perMille int64
		}{{"0.001", 1}, {"0.1", 100}, {"1", 999}} { // a condition that holds for all would be left out
			for _, n := range []int{1, 4} {
				totals := list(n, func(i int) string { return fmt.Sprintf(form.total, fmt.Sprintf("%s%d", form.column, i)) })
				out = append(out, gridQuestion(fmt.Sprintf("SELECT COUNT(*), %s FROM scanned WHERE %s1 < %s", totals, form.column, form.bound(share.perMille)),
					"scan", form.name, "of", share.name, columnsText(n)))
			}
		}
	}
	return out
}

func columnsText(n int) string {
	if n == 1 {
		return "1 column"
	}
	return fmt.Sprintf("%d columns", n)
}

// gridGroups make groups, with one aggregate or four, and add the groups up.
func gridGroups() (out []workload.Question) {
	for _, form := range []struct {
		name string
		keys [4]string // by gridSizes
	}{
		{"int32", [4]string{"k1", "k3", "k5", "kq"}},
		{"int64", [4]string{"w1", "w3", "w5", "wq"}},
		{"two ints", [4]string{"p2, p5", "k1, p100", "k3, p100", "pq, p100"}},
		{"coded string", [4]string{"s1", "s3", "s5", ""}},
		{"string", [4]string{"", "", "r5", "rq"}},
		{"computed string", [4]string{"RIGHT(r5, 1)", "RIGHT(r5, 3)", "", ""}},
	} {
		for i, keys := range form.keys {
			if keys == "" {
				continue
			}
			size := [4]string{"10", "1e3", "1e5", "rows/10"}[i]
			if keys == "s5" {
				size = "6e4" // codedMost
			}
			for _, aggregates := range []struct{ name, inner, outer string }{
				{"1 aggregate", "SUM(v1) a", "SUM(a)"},
				{"4 aggregates", "SUM(v1) a, COUNT(*) b, MIN(v2) d, MAX(v3) e", "SUM(a), SUM(b), SUM(d), SUM(e)"},
			} {
				if form.name == "computed string" && aggregates.name != "1 aggregate" {
					continue
				}
				out = append(out, gridQuestion(fmt.Sprintf("SELECT COUNT(*), %s FROM (SELECT %s FROM grouped GROUP BY %s) t", aggregates.outer, aggregates.inner, keys),
					"group", form.name, "of", size, aggregates.name))
			}
		}
	}
	return out
}

// gridForms are the forms of a join's keys, by the first letter of their columns.
var gridForms = []struct{ name, column string }{{"int", "i"}, {"spread int", "w"}, {"string", "s"}}

var gridBuildNames = map[string]string{"3": "1e3", "5": "1e5", "q": "rows/4"}

func gridJoins() (out []workload.Question) {
	for _, build := range gridBuilds {
		for _, share := range gridShares {
			for _, form := range gridForms {
				sql := fmt.Sprintf("SELECT COUNT(*), SUM(v), SUM(b) FROM probing JOIN build%s ON probing.%s%[1]s%[3]s = build%[1]s.%[2]s", build.suffix, form.column, share.suffix)
				out = append(out, gridQuestion(sql, "join", form.name, "of", gridBuildNames[build.suffix], "matching", share.text))
			}
		}
	}
	return out
}

// gridSorts give the first ten keys, or a total of every second row: what is added up is the last key, so that rows of equal keys do not matter.
func gridSorts() (out []workload.Question) {
	for _, s := range []struct{ name, keys, value string }{
		{"int", "i1", "i1"}, {"double", "f1", "f1"}, {"coded string", "s1, i1", "i1"}, {"string", "r1, i1", "i1"},
	} {
		out = append(out,
			gridQuestion(fmt.Sprintf("SELECT %s FROM scanned ORDER BY %[1]s LIMIT 10", s.keys), "sort", s.name, "first 10"),
			gridQuestion(fmt.Sprintf("SELECT COUNT(*), SUM(%s) FROM (SELECT %[1]s, ROW_NUMBER() OVER (ORDER BY %s) n FROM scanned) t WHERE n %% 2 = 0", s.value, s.keys),
				"sort", s.name, "all"))
	}
	return out
}

func gridDistincts() (out []workload.Question) {
	for _, d := range []struct{ name, column string }{{"int of rows/10", "kq"}, {"spread int of rows/10", "wq"}, {"coded string of 6e4", "s5"}, {"string of rows/10", "rq"}} {
		out = append(out, gridQuestion("SELECT COUNT(DISTINCT "+d.column+") FROM grouped", "count distinct", d.name))
	}
	return append(out,
		gridQuestion("SELECT COUNT(*), SUM(k5) FROM (SELECT DISTINCT k5 FROM grouped) t", "distinct", "int of 1e5"),
		gridQuestion("SELECT COUNT(*), MIN(rq), MAX(rq) FROM (SELECT DISTINCT rq FROM grouped) t", "distinct", "string of rows/10"),
		gridQuestion("SELECT COUNT(*), SUM(k3), SUM(p100) FROM (SELECT DISTINCT k3, p100 FROM grouped) t", "distinct", "two ints of 1e5"),
		gridQuestion("SELECT k1, COUNT(DISTINCT k3) FROM grouped GROUP BY k1 ORDER BY k1", "count distinct", "int of 1e3 in each of 10"),
		gridQuestion("SELECT COUNT(*), SUM(n) FROM (SELECT k3, COUNT(DISTINCT p100) n FROM grouped GROUP BY k3) t", "count distinct", "int of 100 in each of 1e3"))
}

func gridLikes() (out []workload.Question) {
	for _, l := range []struct{ form, name, column, pattern string }{
		{"coded string", "prefix", "s1", "w000%"}, {"coded string", "within", "s1", "%12%"},
		{"string", "prefix", "r1", "r00%"}, {"string", "suffix", "r1", "%77"}, {"string", "within", "r1", "%12%"}, {"string", "two parts", "r1", "%1%23%"},
	} {
		out = append(out, gridQuestion(fmt.Sprintf("SELECT COUNT(*), SUM(i1) FROM scanned WHERE %s LIKE '%s'", l.column, l.pattern), "like", l.form, l.name))
	}
	return out
}

func gridCases() []workload.Question {
	return []workload.Question{
		gridQuestion("SELECT SUM(CASE WHEN i1 < 500000 THEN i2 ELSE 0 END) FROM scanned", "case", "int", "1 sum"),
		gridQuestion("SELECT "+list(4, func(i int) string { return fmt.Sprintf("SUM(CASE WHEN i%d < 500000 THEN d%[1]d ELSE -d%[1]d END)", i) })+" FROM scanned",
			"case", "decimal", "4 sums"),
		gridQuestion("SELECT SUM(CASE WHEN f1 < 0.1 THEN f2 WHEN f1 < 0.5 THEN f3 ELSE f4 END) FROM scanned", "case", "double", "3 branches"),
		gridQuestion("SELECT SUM(CASE s1 WHEN 'w00001' THEN i1 WHEN 'w00500' THEN i2 ELSE 1 END) FROM scanned", "case", "coded string", "1 sum"),
		gridQuestion("SELECT k1, SUM(CASE WHEN v1 > v2 THEN v3 ELSE v4 END), SUM(CASE WHEN p2 = 0 THEN 1 ELSE 0 END) FROM grouped GROUP BY k1 ORDER BY k1",
			"case", "in each of 10", "2 sums"),
	}
}

func gridExists() (out []workload.Question) {
	for _, build := range gridBuilds {
		for _, how := range []struct{ name, word string }{{"exists", "EXISTS"}, {"not exists", "NOT EXISTS"}} {
			for _, form := range []struct{ name, column string }{gridForms[0], gridForms[2]} {
				if form.column == "s" && build.suffix != "5" {
					continue
				}
				sql := fmt.Sprintf("SELECT COUNT(*), SUM(v) FROM probing WHERE %s (SELECT 1 FROM build%s WHERE build%[2]s.%s = probing.%[3]s%[2]st)", how.word, build.suffix, form.column)
				out = append(out, gridQuestion(sql, how.name, form.name, "of", gridBuildNames[build.suffix], "matching 0.1"))
			}
		}
	}
	return out
}
