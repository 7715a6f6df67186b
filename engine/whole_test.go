package engine

import (
	"fmt"
	"testing"

	"github.com/radish-sql/radish/engine/database"
)

// DISTINCT aggregates and GROUP_CONCAT say the same whether one worker merges them or several, and the same as queries that get
// along without.
func TestWholeAggregates(t *testing.T) {
	one, many := newSession(t, database.Options{Threads: 1}), newSession(t, database.Options{Threads: 4})
	for _, s := range []*Session{one, many} {
		mustRun(t, s, "CALL tpch_generate(0.01); SET radish_disabled_rules = 'rewrite_distinct'")
	}
	for _, keys := range []string{"", "l_returnflag", "l_suppkey", "l_partkey", "l_comment", "l_shipmode, l_linenumber", "l_orderkey * 1000003"} {
		if testing.Short() && keys != "" && keys != "l_suppkey" {
			continue
		}
		group, by, key := "", "", ""
		if keys != "" {
			group, by, key = " GROUP BY "+keys, " ORDER BY "+keys, keys+", "
		}
		for _, sql := range []string{
			"SELECT " + key + "count(DISTINCT l_partkey), sum(DISTINCT l_extendedprice), count(DISTINCT l_comment, l_suppkey), avg(DISTINCT l_tax), count(*), max(l_comment) FROM lineitem" + group + by,
			"SELECT " + key + "count(DISTINCT CASE WHEN l_tax > 0.04 THEN l_partkey END), sum(DISTINCT CASE WHEN l_tax > 0.09 THEN l_quantity END) FROM lineitem" + group + by,
			"SELECT " + key + "md5(group_concat(l_comment, l_linenumber ORDER BY l_shipdate DESC, l_comment, l_orderkey, l_linenumber SEPARATOR ';')), " +
				"length(group_concat(DISTINCT l_shipmode)), group_concat(CASE WHEN l_tax > 1 THEN l_tax END) FROM lineitem" + group + by,
		} {
			got, want := mustRun(t, many, sql), mustRun(t, one, sql)
			if got != want {
				t.Errorf("%s: %d bytes of answers by four workers differ from %d by one", sql, len(got), len(want))
			}
		}
		if keys == "" || keys == "l_orderkey * 1000003" {
			continue
		}
		got := mustRun(t, many, "SELECT "+key+"count(DISTINCT l_tax), sum(DISTINCT l_quantity) FROM lineitem"+group+by)
		want := mustRun(t, many, fmt.Sprintf("SELECT %[1]sp, q FROM (SELECT %[1]scount(*) p FROM (SELECT %[1]sl_tax FROM lineitem GROUP BY %[1]sl_tax) x%[2]s) a "+
			"JOIN (SELECT %[1]ssum(l_quantity) q FROM (SELECT %[1]sl_quantity FROM lineitem GROUP BY %[1]sl_quantity) x%[2]s) b USING (%[3]s)%[4]s", key, group, keys, by))
		if got != want {
			t.Errorf("%s: distinct values of groups differ from those counted after grouping", keys)
		}
	}
}

// Workers whose sums need 64 bits and others whose need more give one sum.
func TestSumOfMixedMagnitudes(t *testing.T) {
	s := newSession(t, database.Options{Threads: 4})
	mustRun(t, s, "CALL tpch_generate(0.02)")
	mustRun(t, s, "CREATE TABLE big AS SELECT CASE WHEN l_orderkey < 60000 THEN 1 ELSE 9000000000000000000 END x FROM lineitem")
	got := mustRun(t, s, "SELECT sum(x) FROM big")
	want := mustRun(t, s, "SELECT sum(x DIV 1000000000) * 1000000000 + sum(x % 1000000000) FROM big")
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
