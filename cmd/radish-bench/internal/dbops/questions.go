package dbops

import (
	"math/big"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/drawn"
)

// Question is a statement that reads much and gives few rows.
type Question struct {
	Name string
	What string // it is about, in words
	SQL  string
	// totals are what its one row has to be; nil: not known.
	totals func(t *dbopsTotals) []total
	// rounded says that MySQL's averages of integers, which have four digits behind the point, are in it. Other engines do not round them.
	rounded bool
}

// Questions are the questions over the tables of Tables. The benchmark's median (in its sixth question) and its squared correlation (its ninth) are left out.
func Questions() []Question {
	joined := func(table int) func(*dbopsTotals) []total {
		return func(t *dbopsTotals) []total {
			j := t.joined[table]
			return []total{exactly(j.rows), millionths(j.v1), millionths(j.v2)}
		}
	}
	join := func(name, what, how, with, on string, table int) Question {
		return Question{Name: name, What: what, totals: joined(table),
			SQL: "SELECT COUNT(*) c, SUM(x.v1) s, SUM(v2) m FROM x " + how + " " + with + " ON x." + on + " = " + with + "." + on}
	}
	left := join("j3", "medium left", "LEFT JOIN", "medium", "id2", 1)
	left.totals = func(t *dbopsTotals) []total {
		return []total{exactly(t.data.rows), millionths(t.xv1), millionths(t.joined[1].v2)}
	}
	return []Question{
		{Name: "g1", What: "1 string key, 100 groups",
			SQL:    "SELECT COUNT(*) c, SUM(s) s FROM (SELECT id1, SUM(v1) s FROM g GROUP BY id1) t",
			totals: func(t *dbopsTotals) []total { return []total{exactly(t.id1Groups()), exactly(t.v1)} }},
		{Name: "g2", What: "2 string keys, 10^4 groups",
			SQL:    "SELECT COUNT(*) c, SUM(s) s FROM (SELECT id1, id2, SUM(v1) s FROM g GROUP BY id1, id2) t",
			totals: func(t *dbopsTotals) []total { return []total{exactly(t.id12Groups()), exactly(t.v1)} }},
		{Name: "g3", What: "string key, N/100 groups",
			SQL:    "SELECT COUNT(*) c, SUM(s) s, SUM(m) m FROM (SELECT id3, SUM(v1) s, AVG(v3) m FROM g GROUP BY id3) t",
			totals: (*dbopsTotals).averagesByID3},
		{Name: "g4", What: "int key, 100 groups", rounded: true,
			SQL:    "SELECT COUNT(*) c, SUM(a) s, SUM(b) m, SUM(x) n FROM (SELECT id4, AVG(v1) a, AVG(v2) b, AVG(v3) x FROM g GROUP BY id4) t",
			totals: (*dbopsTotals).averagesByID4},
		{Name: "g5", What: "int key, N/100 groups",
			SQL:    "SELECT COUNT(*) c, SUM(a) s, SUM(b) m, SUM(x) n FROM (SELECT id6, SUM(v1) a, SUM(v2) b, SUM(v3) x FROM g GROUP BY id6) t",
			totals: (*dbopsTotals).sumsByID6},
		{Name: "g6", What: "stddev, 10^4 groups",
			SQL:    "SELECT COUNT(*) c, SUM(a) s FROM (SELECT id4, id5, STDDEV_SAMP(v3) a FROM g GROUP BY id4, id5) t",
			totals: (*dbopsTotals).deviations},
		{Name: "g7", What: "max - min, string key",
			SQL:    "SELECT COUNT(*) c, SUM(a) s FROM (SELECT id3, MAX(v1)-MIN(v2) a FROM g GROUP BY id3) t",
			totals: (*dbopsTotals).spreads},
		{Name: "g8", What: "top 2 of a group",
			SQL: "SELECT COUNT(*) c, SUM(v3) s FROM (SELECT id6, v3 FROM (SELECT id6, v3, ROW_NUMBER() OVER (PARTITION BY id6 ORDER BY v3 DESC) r FROM g) u " +
				"WHERE r <= 2) t",
			totals: (*dbopsTotals).topTwo},
		{Name: "g10", What: "6 keys, N groups",
			SQL: "SELECT COUNT(*) c, SUM(a) s FROM (SELECT id1,id2,id3,id4,id5,id6, SUM(v3) a, COUNT(*) n FROM g GROUP BY id1,id2,id3,id4,id5,id6) t",
			// Two of N rows agree in keys of N^2 * 10^4 values: that is to be expected in one table of 20,000.
			totals: func(t *dbopsTotals) []total { return []total{exactly(t.data.rows), millionths(t.v3)} }},
		{Name: "distinct", What: "distinct strings",
			SQL:    "SELECT COUNT(DISTINCT id6) c FROM x",
			totals: func(t *dbopsTotals) []total { return []total{exactly(countBits(t.id6))} }},
		join("j1", "small int", "JOIN", "small", "id1", 0),
		join("j2", "medium int", "JOIN", "medium", "id2", 1),
		left,
		join("j4", "medium string", "JOIN", "medium", "id5", 1),
		join("j5", "big int", "JOIN", "big", "id3", 2),
		join("j6", "big string", "JOIN", "big", "id6", 2),
		{Name: "j7", What: "self, 100 rows a key",
			SQL:    "SELECT COUNT(*) c, SUM(a.v1) s FROM g a JOIN (SELECT id6, v2 FROM g WHERE id4 <= 10) b ON a.id6 = b.id6",
			totals: (*dbopsTotals).selfJoin},
		{Name: "o1", What: "order by double, all",
			SQL: "SELECT COUNT(*) c, SUM(v1) s FROM (SELECT v1, ROW_NUMBER() OVER (ORDER BY v1) r FROM x) t WHERE r % 2 = 0",
			totals: func(t *dbopsTotals) []total {
				return []total{exactly(t.data.rows / 2), millionths(t.secondsByValue())}
			}},
		{Name: "o2", What: "order by string, all",
			SQL: "SELECT COUNT(*) c, SUM(v1) s FROM (SELECT v1, ROW_NUMBER() OVER (ORDER BY id6, v1) r FROM x) t WHERE r % 2 = 0",
			totals: func(t *dbopsTotals) []total {
				out := []total{exactly(t.data.rows / 2), {}}
				if sum, ok := t.secondsByText(); ok {
					out[1] = millionths(sum)
				}
				return out
			}},
	}
}

func (t *dbopsTotals) id12Groups() int64 {
	groups := int64(0)
	for _, n := range t.pairs {
		groups += min(n, 1)
	}
	return groups
}

func (t *dbopsTotals) id1Groups() int64 {
	groups := int64(0)
	for id1 := range dbopsFew {
		rows := int64(0)
		for _, n := range t.pairs[id1*dbopsFew:][:dbopsFew] {
			rows += n
		}
		groups += min(rows, 1)
	}
	return groups
}

func (t *dbopsTotals) averagesByID3() []total {
	groups, averages := int64(0), 0.0
	for i := range t.byID3 {
		if g := &t.byID3[i]; g.rows > 0 {
			groups++
			averages += float64(g.v3) / drawn.Micro / float64(g.rows)
		}
	}
	return []total{exactly(groups), exactly(t.v1), about(averages)}
}

func (t *dbopsTotals) averagesByID4() []total {
	const tick = 10_000 // averages of integers have four digits behind the point
	groups, v1, v2, v3 := int64(0), int64(0), int64(0), 0.0
	for _, g := range t.byID4 {
		if g.rows > 0 {
			groups++
			v1 += (2*tick*g.v1 + g.rows) / (2 * g.rows)
			v2 += (2*tick*g.v2 + g.rows) / (2 * g.rows)
			v3 += float64(g.v3) / drawn.Micro / float64(g.rows)
		}
	}
	return []total{exactly(groups), {big.NewRat(v1, tick), true}, {big.NewRat(v2, tick), true}, about(v3)}
}

func (t *dbopsTotals) sumsByID6() []total {
	groups, v2 := int64(0), int64(0)
	for i := range t.byID6 {
		groups += min(t.byID6[i].rows, 1)
	}
	for _, g := range t.byID4 {
		v2 += g.v2
	}
	return []total{exactly(groups), exactly(t.v1), exactly(v2), millionths(t.v3)}
}

func (t *dbopsTotals) deviations() []total {
	groups, sum := int64(0), 0.0
	for i := range t.byID45 {
		groups += min(t.byID45[i].rows, 1)
		if d, ok := t.byID45[i].deviation(); ok {
			sum += d
		}
	}
	return []total{exactly(groups), about(sum)}
}

func (t *dbopsTotals) spreads() []total {
	groups, sum := int64(0), int64(0)
	for i := range t.byID3 {
		if g := &t.byID3[i]; g.rows > 0 {
			groups, sum = groups+1, sum+g.spread()
		}
	}
	return []total{exactly(groups), exactly(sum)}
}

func (t *dbopsTotals) topTwo() []total {
	rows, sum := int64(0), int64(0)
	for i := range t.byID6 {
		n, s := t.byID6[i].topTwo()
		rows, sum = rows+n, sum+s
	}
	return []total{exactly(rows), millionths(sum)}
}

func (t *dbopsTotals) selfJoin() []total {
	rows, sum := int64(0), int64(0)
	for i := range t.byID6 {
		g := &t.byID6[i]
		rows, sum = rows+g.rows*g.tenth, sum+g.v1*g.tenth
	}
	return []total{exactly(rows), exactly(sum)}
}
