package windows

import (
	"fmt"
	"strings"
)

// Case is one statement of the benchmark of window functions.
type Case struct {
	group string   // of the report
	items []string // what the inner SELECT computes, as x1, x2, ...
	where string   // over x1, x2, ...; empty: all rows
}

// Timed is the statement that is measured: the functions' results are added up, so that one row leaves the engine.
func (c *Case) Timed() string {
	sums := []string{"COUNT(*)"}
	for i := range c.items {
		sums = append(sums, fmt.Sprintf("SUM(x%d)", i+1))
	}
	return c.over(sums, "")
}

// checked is a statement over the same windows whose result also depends on which row has which value.
func (c *Case) checked() string {
	list := []string{"COUNT(*)"}
	for i := range c.items {
		x := fmt.Sprintf("x%d", i+1)
		list = append(list, "COUNT("+x+")", "SUM("+x+")", "MIN("+x+")", "MAX("+x+")")
		for _, part := range []string{"2 = 0", "97 = 5", "1009 = 77"} {
			list = append(list, fmt.Sprintf("SUM(CASE WHEN id %% %s THEN %s END)", part, x))
		}
	}
	return c.over(list, "id, ")
}

func (c *Case) over(list []string, kept string) string {
	inner := make([]string, len(c.items))
	for i, item := range c.items {
		inner[i] = fmt.Sprintf("%s AS x%d", item, i+1)
	}
	sql := fmt.Sprintf("SELECT %s FROM (SELECT %s%s FROM w) s", strings.Join(list, ", "), kept, strings.Join(inner, ", "))
	if c.where != "" {
		sql += " WHERE " + c.where
	}
	return sql
}

func (c *Case) String() string {
	text := strings.Join(c.items, ", ")
	if c.where != "" {
		text += " WHERE " + c.where
	}
	return text
}

// exact says whether both engines give the same type: AVG of integers and decimals is a rounded decimal in MySQL, a double in DuckDB.
func (c *Case) exact() bool { return !strings.Contains(c.String(), "AVG(") }

// Ties: where a function looks at the order of single rows the order is total (k, id), since engines order peers as they like.
var Cases = func() []Case {
	var all []Case
	add := func(group string, items ...string) {
		for _, it := range items {
			all = append(all, Case{group: group, items: []string{it}})
		}
	}
	add("rank",
		"ROW_NUMBER() OVER (ORDER BY k)",
		"ROW_NUMBER() OVER (PARTITION BY g1 ORDER BY k)",
		"ROW_NUMBER() OVER (PARTITION BY g4 ORDER BY k)",
		"ROW_NUMBER() OVER (PARTITION BY g6 ORDER BY k)",
		"ROW_NUMBER() OVER (ORDER BY id)",
		"ROW_NUMBER() OVER (PARTITION BY s ORDER BY id)",
		"RANK() OVER (ORDER BY d)",
		"RANK() OVER (PARTITION BY g4 ORDER BY few)",
		"RANK() OVER (PARTITION BY g1 ORDER BY word)",
		"RANK() OVER (PARTITION BY g4 ORDER BY amt DESC)",
		"DENSE_RANK() OVER (PARTITION BY g4 ORDER BY few)",
		"DENSE_RANK() OVER (PARTITION BY g6 ORDER BY few DESC, d)",
		"PERCENT_RANK() OVER (PARTITION BY g1 ORDER BY few)",
		"CUME_DIST() OVER (PARTITION BY g6 ORDER BY amt)",
		"NTILE(100) OVER (PARTITION BY g1 ORDER BY k)",
		"NTILE(4) OVER (PARTITION BY g6 ORDER BY k)",
	)
	add("another row",
		"LAG(v) OVER (ORDER BY id)",
		"LAG(v) OVER (ORDER BY k)",
		"LAG(amt) OVER (PARTITION BY g4 ORDER BY k)",
		"LEAD(v, 3, 0) OVER (PARTITION BY g6 ORDER BY k)",
		"FIRST_VALUE(v) OVER (PARTITION BY g4 ORDER BY k)",
		"LENGTH(FIRST_VALUE(word) OVER (PARTITION BY g4 ORDER BY k))",
		"LAST_VALUE(v) OVER (PARTITION BY g1 ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
		"NTH_VALUE(v, 5) OVER (PARTITION BY g6 ORDER BY k)",
	)
	add("running",
		"SUM(v) OVER (ORDER BY k)",
		"SUM(v) OVER (PARTITION BY g4 ORDER BY k ROWS UNBOUNDED PRECEDING)",
		"SUM(amt) OVER (PARTITION BY g1 ORDER BY d)",
		"SUM(v) OVER (PARTITION BY s ORDER BY id)",
		"AVG(x) OVER (PARTITION BY g4 ORDER BY k)",
		"AVG(amt) OVER (PARTITION BY g4 ORDER BY k)",
		"COUNT(vn) OVER (PARTITION BY g4 ORDER BY k)",
		"MIN(v) OVER (PARTITION BY g6 ORDER BY k)",
		"MAX(amt) OVER (ORDER BY id)",
	)
	add("sliding",
		"SUM(v) OVER (PARTITION BY g4 ORDER BY k ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING)",
		"SUM(v) OVER (ORDER BY k ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING)",
		"AVG(x) OVER (PARTITION BY g1 ORDER BY k ROWS 10 PRECEDING)",
		"AVG(x) OVER (ORDER BY id ROWS 100000 PRECEDING)",
		"MIN(v) OVER (PARTITION BY g4 ORDER BY k ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING)",
		"MAX(x) OVER (ORDER BY k ROWS 10000 PRECEDING)",
		"MIN(amt) OVER (PARTITION BY g6 ORDER BY k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
		"SUM(amt) OVER (PARTITION BY g4 ORDER BY d RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND CURRENT ROW)",
		"SUM(v) OVER (ORDER BY k RANGE BETWEEN 1000 PRECEDING AND CURRENT ROW)",
		"MAX(v) OVER (PARTITION BY g4 ORDER BY few RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING)",
		"COUNT(*) OVER (PARTITION BY g1 ORDER BY few RANGE BETWEEN 10 PRECEDING AND 10 FOLLOWING)",
	)
	add("whole partition",
		"SUM(v) OVER ()",
		"SUM(v) OVER (PARTITION BY g1)",
		"AVG(x) OVER (PARTITION BY g4)",
		"MAX(amt) OVER (PARTITION BY g6)",
		"STDDEV_SAMP(x) OVER (PARTITION BY g4)",
	)
	return append(all,
		Case{group: "several", items: []string{
			"ROW_NUMBER() OVER (PARTITION BY g4 ORDER BY k)", "LAG(v) OVER (PARTITION BY g4 ORDER BY k)",
			"SUM(amt) OVER (PARTITION BY g4 ORDER BY k ROWS UNBOUNDED PRECEDING)"}},
		Case{group: "several", items: []string{
			"RANK() OVER (PARTITION BY g4 ORDER BY few)", "SUM(v) OVER (PARTITION BY g4)"}},
		Case{group: "several", items: []string{
			"ROW_NUMBER() OVER (PARTITION BY g4 ORDER BY k)", "ROW_NUMBER() OVER (PARTITION BY g1 ORDER BY d, k)"}},
		Case{group: "top n", items: []string{"ROW_NUMBER() OVER (PARTITION BY g1 ORDER BY k)", "v"}, where: "x1 <= 100"},
		Case{group: "top n", items: []string{"ROW_NUMBER() OVER (PARTITION BY g4 ORDER BY k)", "v"}, where: "x1 <= 3"},
		Case{group: "top n", items: []string{"ROW_NUMBER() OVER (PARTITION BY g6 ORDER BY d DESC, k)", "v"}, where: "x1 = 1"},
		Case{group: "top n", items: []string{"RANK() OVER (PARTITION BY g4 ORDER BY amt DESC)", "v"}, where: "x1 <= 3"},
	)
}()
