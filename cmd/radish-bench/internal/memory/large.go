package memory

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/radish-sql/radish/sql/types"
)

// fewLong makes a table of three rows with strings of 10 MB.
const fewLong = "CREATE TABLE l AS SELECT id, REPEAT(MD5(id), 312500) AS t FROM n LIMIT 3"

// largeCases are operators on few rows with strings of megabytes, and functions of them.
var largeCases = withTable([]memoryCase{
	{name: "sort of strings of 10 MB", sql: "SELECT id, CONCAT(a.t, x.i) AS s FROM l a JOIN (SELECT 1 AS i UNION SELECT 2 UNION SELECT 3) x ORDER BY s"},
	{name: "GROUP BY strings of 10 MB", sql: "SELECT CONCAT(t, x.i) AS s, COUNT(*) FROM l JOIN (SELECT 1 AS i UNION SELECT 2 UNION SELECT 3) x GROUP BY s"},
	{name: "MAX of strings of 10 MB", sql: "SELECT MAX(CONCAT(t, id)), MIN(CONCAT(t, id)) FROM l"},
	{name: "COUNT(DISTINCT) of strings of 10 MB", sql: "SELECT COUNT(DISTINCT CONCAT(t, x.i)) FROM l JOIN (SELECT 1 AS i UNION SELECT 2 UNION SELECT 3) x"},
	{name: "GROUP_CONCAT of strings of 10 MB", sql: "SET group_concat_max_len = 4000000000; SELECT LENGTH(GROUP_CONCAT(t)), LENGTH(GROUP_CONCAT(t ORDER BY id DESC)) FROM l", quick: true},
	{name: "JSON_ARRAYAGG of strings of 10 MB", sql: "SET group_concat_max_len = 4000000000; SELECT LENGTH(JSON_ARRAYAGG(t)), LENGTH(JSON_OBJECTAGG(id, t)) FROM l", quick: true},
	{name: "join by strings of 10 MB", sql: "SELECT COUNT(*) FROM l a JOIN l b ON CONCAT(a.t, 'x') = CONCAT(b.t, 'x')"},
	{name: "LAG of strings of 10 MB", sql: "SELECT LAG(CONCAT(t, 'x')) OVER (ORDER BY id), MAX(CONCAT(t, 'y')) OVER (ORDER BY id) FROM l"},
	{name: "UNION of strings of 10 MB", sql: "SELECT CONCAT(t, 'x') FROM l UNION SELECT CONCAT(t, 'y') FROM l"},
	{name: "recursion that doubles a string", sql: "WITH RECURSIVE r AS (SELECT 1 AS i, CAST('0123456789' AS CHAR(100000000)) AS t UNION ALL SELECT i + 1, CONCAT(t, t) FROM r WHERE i < 23) SELECT MAX(LENGTH(t)) FROM r"},
	{name: "CREATE TABLE AS of strings of 60 MB", sql: "CREATE TABLE c AS SELECT REPEAT(MD5(id), 1875000) AS t FROM n LIMIT 5"},
	{name: "UPDATE to strings of 30 MB", sql: "UPDATE l SET t = CONCAT(t, t, t)"},
	{name: "INSERT of strings of 30 MB", sql: "INSERT INTO l SELECT id, CONCAT(t, t, t) FROM l"},
	{name: "user variables of 30 MB by INTO", sql: "SELECT CONCAT(t, t, t), CONCAT(t, 'x') FROM l LIMIT 1 INTO @a, @b"},
	{name: "collations of strings of 10 MB", quick: true, sql: collated("SELECT COUNT(*) FROM l a JOIN l b ON a.t COLLATE %[1]s <= b.t")},
	{name: "sort by collations of strings of 10 MB", sql: collated("SELECT id FROM l ORDER BY t COLLATE %s")},
	{name: "LIKE of patterns of 10 MB", sql: "SELECT COUNT(*) FROM l WHERE t LIKE CONCAT(t, '%') OR t COLLATE utf8mb4_0900_ai_ci LIKE CONCAT('%', t)"},
	{name: "IN of strings of 10 MB", sql: "SELECT COUNT(*) FROM l WHERE CONCAT(t, 'x') IN (CONCAT(t, 'y'), CONCAT(t, 'z'), REPEAT('a', 10000000), REPEAT('b', 10000000))"},
	{name: "CASE of strings of 10 MB", sql: "SELECT LENGTH(CASE WHEN id % 2 THEN CONCAT(t, 'x') ELSE CONCAT(t, 'y') END), LENGTH(COALESCE(NULLIF(t, CONCAT(t, 'x')), t)) FROM l"},
	{name: "JSON of a million values", quick: true, sql: "SELECT JSON_LENGTH(CONCAT('[', REPEAT('1,', 1000000), '1]')), LENGTH(JSON_PRETTY(CONCAT('[', REPEAT('1,', 1000000), '1]')))"},
	{name: "JSON_EXTRACT of 30 MB", sql: "SELECT LENGTH(JSON_EXTRACT(CONCAT('{\"a\": \"', t, t, t, '\"}'), '$.*')) FROM l LIMIT 1"},
	{name: "REGEXP_REPLACE that grows", quick: true, sql: "SELECT LENGTH(REGEXP_REPLACE(t, '[0-9]', 'a much longer text that takes the place of a digit')) FROM l LIMIT 1"},
	{name: "REGEXP of six patterns of 300 KB", patience: gridPatience, sql: "SELECT COUNT(*) FROM n WHERE " + anyOf("ab*", "ac*", "ad*", "ae*", "af*", "ag*")},
	{name: "UNCOMPRESS of 60 MB", sql: "SELECT LENGTH(UNCOMPRESS(COMPRESS(REPEAT('a', 60000000))))"},
	{name: "QUOTE of 30 MB of quotes", sql: "SELECT LENGTH(QUOTE(REPEAT('''', 30000000)))"},
	{name: "INTO OUTFILE of strings of 10 MB", client: exported("csv")},
	{name: "INTO OUTFILE of strings of 10 MB, Parquet", client: exported("parquet")},
	{name: "INSERT of 60,000 rows of 1,000 bytes", setup: "CREATE TABLE c (a INT, b TEXT)", sql: "INSERT INTO c VALUES (0, 'x')", pieces: 60_000,
		literal: func(b []byte, i int) []byte {
			return fmt.Appendf(b, ",(%d,'%s')", i, strings.Repeat("0123456789", 100))
		}},
	{name: "hexadecimal literal of 120 MB", sql: "SELECT LENGTH(x'", pieces: 1_200_000, literal: ending(1_200_000, "')", hundred)},
	{name: "literal of 60 MB", sql: "SELECT LENGTH('", pieces: 600_000, literal: ending(600_000, "')", hundred)},
	{name: "every function, a string of 10 MB as each operand", client: func(ctx context.Context, c *memoryClient) error {
		c.conn.Close()
		c.db.Close() // the functions have a budget of their own
		return walkFunctions(ctx, c, 10_000_000)
	}},
})

// collated repeats a statement for each collation.
func collated(statement string) string {
	var list []string
	for _, c := range types.Collations() {
		list = append(list, fmt.Sprintf(statement, c))
	}
	return strings.Join(list, "; ")
}

// anyOf is a condition of several regular expressions, each of which repeats a unit. Every worker keeps each of them.
func anyOf(units ...string) string {
	var list []string
	for _, unit := range units {
		list = append(list, fmt.Sprintf("CONCAT(s, 'x') REGEXP REPEAT('%s', 100000)", unit))
	}
	return strings.Join(list, " OR ")
}

// exported writes the strings to a file of a format.
func exported(ending string) func(ctx context.Context, c *memoryClient) error {
	return func(ctx context.Context, c *memoryClient) error {
		folder, err := os.MkdirTemp("", "radish")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		_, err = c.conn.Exec(ctx, fmt.Sprintf("SELECT id, CONCAT(t, 'x') FROM l INTO OUTFILE '%s/l.%s'", folder, ending))
		return err
	}
}

// withTable gives cases that have no table of their own that of fewLong.
func withTable(cases []memoryCase) []memoryCase {
	for i := range cases {
		if cases[i].setup == "" {
			cases[i].setup = fewLong
		}
	}
	return cases
}
