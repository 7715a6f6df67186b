package parse_test

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser"

	"github.com/radish-sql/radish/sql/parse"
)

var benchmarkTexts = []struct{ name, sql string }{
	{"short", "SELECT a, b+c*2 FROM t1 WHERE d > 10 AND e BETWEEN 1 AND 5 ORDER BY 1,2"},
	{"long", "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, " +
		"SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, " +
		"AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order " +
		"FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"},
	{"in100000", "SELECT 1 FROM t WHERE a IN (1" + strings.Repeat(", 12345", 99_999) + ")"},
}

// BenchmarkParse is to be read beside BenchmarkParserAlone: the difference is the price of this package's own scan.
func BenchmarkParse(b *testing.B) {
	for _, tc := range benchmarkTexts {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.sql)))
			b.ReportAllocs()
			for b.Loop() {
				if list, err := parse.Parse(tc.sql, parse.DefaultMode); err != nil || len(list) != 1 {
					b.Fatal(list, err)
				}
			}
		})
	}
}

// BenchmarkParserAlone is the wrapped parser without anything around it.
func BenchmarkParserAlone(b *testing.B) {
	for _, tc := range benchmarkTexts {
		b.Run(tc.name, func(b *testing.B) {
			b.SetBytes(int64(len(tc.sql)))
			b.ReportAllocs()
			p := parser.New()
			p.SetSQLMode(parse.DefaultMode)
			for b.Loop() {
				if _, _, err := p.ParseSQL(tc.sql); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
