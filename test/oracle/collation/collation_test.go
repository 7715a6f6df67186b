// Package collation compares Radish's collations with MariaDB's: which strings are equal, which come first, and what statements
// that compare, group and sort them answer. MariaDB's utf8mb4_general_ci is MySQL's; of the collations utf8mb4_0900_* it has later
// versions, utf8mb4_uca1400_nopad_*, whose characters of Unicode 6.2 compare alike but for what docs/reference/types.md lists.
package collation

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	_ "github.com/radish-sql/radish"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/test/oracle/mariadb"
)

// pairs are Radish's collations with MariaDB's names for them.
var pairs = []struct {
	collation types.Collation
	mariadb   string
}{
	{types.CollationGeneralCI, "utf8mb4_general_ci"},
	{types.CollationAiCI, "utf8mb4_uca1400_nopad_ai_ci"},
	{types.CollationUnicode520CI, "utf8mb4_unicode_520_ci"},
	{types.CollationAsCI, "utf8mb4_uca1400_nopad_as_ci"},
	{types.CollationAsCS, "utf8mb4_uca1400_nopad_as_cs"},
}

// alphabet holds what strings are made of. Punctuation but for the underscore and percent sign is left out: golang.org/x/text has CLDR's
// order of it, the others DUCET's. MariaDB does not take Hangul apart.
const alphabet = "aAbBcCeEsSzZàÁäÄåçéÈñßøŁſŸœÆĳﬁ  19²\tαΑάςσΣωΏийИЙжЖщ漢字日本かカがｶ😀🍣"

// marked is what only collations meet in which accents do not count, and utf8mb4_general_ci: MariaDB sorts strings of marks alone among
// the empty ones, and golang.org/x/text letters as ї and ё behind their base letters.
const marked = "ёЁіїЎ\u0301\u0308\u0327"

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func start(t *testing.T) *mariadb.Server {
	t.Helper()
	server, err := mariadb.Start(t.Context())
	if errors.Is(err, mariadb.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// TestGeneralWeights compares the weight of every character with MariaDB's.
func TestGeneralWeights(t *testing.T) {
	db, err := start(t).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const step = 1000 // MariaDB's cte_max_recursion_depth
	checked := 0
	for from := 0; from < 0x11000; from += step {
		rows, err := db.QueryContext(t.Context(), fmt.Sprintf("WITH RECURSIVE n AS (SELECT %d AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d) "+
			"SELECT i, CONV(HEX(WEIGHT_STRING(CONVERT(CHAR(i USING utf32) USING utf8mb4) COLLATE utf8mb4_general_ci)), 16, 10) FROM n WHERE i NOT BETWEEN 0xD800 AND 0xDFFF",
			from, from+step-1))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var r, want rune
			if err := rows.Scan(&r, &want); err != nil {
				t.Fatal(err)
			}
			checked++
			if got := types.CollationGeneralCI.FoldChar(r); got != want {
				t.Errorf("the weight of %U is %U, want %U", r, got, want)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if checked < 0x10000-0x800 {
		t.Errorf("only %d characters were compared", checked)
	}
}

// session is one engine under one collation.
type session struct {
	conn    *sql.Conn
	replace *strings.Replacer
	names   *strings.Replacer // of collations in results
}

func (s *session) close(db *sql.DB) {
	s.conn.Close()
	db.Close()
}

func (s *session) text(statement string) string { return s.replace.Replace(statement) }

func (s *session) exec(ctx context.Context, statement string) error {
	_, err := s.conn.ExecContext(ctx, s.text(statement))
	return err
}

// query returns the rows, cells as text.
func (s *session) query(ctx context.Context, statement string) ([][]sql.NullString, error) {
	rows, err := s.conn.QueryContext(ctx, s.text(statement))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]sql.NullString
	for rows.Next() {
		row := make([]sql.NullString, len(names))
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i := range row {
			row[i].String = s.names.Replace(row[i].String)
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// flatten makes strings of rows, in which strings that are equal under a collation are the same.
func flatten(rows [][]sql.NullString, c types.Collation, ordered bool) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for _, cell := range row {
			if cell.Valid {
				fmt.Fprintf(&b, "%q,", c.Key(cell.String))
			} else {
				b.WriteString("NULL,")
			}
		}
		out[i] = b.String()
	}
	if !ordered {
		slices.Sort(out)
	}
	return out
}

// TestStatements compares what random statements answer. RADISH_FUZZ_SEED repeats a run, RADISH_FUZZ_SECONDS is how long it takes.
func TestStatements(t *testing.T) {
	server := start(t)
	seed := number(t, "RADISH_FUZZ_SEED", rand.Uint64()>>20)
	seconds := number(t, "RADISH_FUZZ_SECONDS", 10)
	t.Logf("repeat with RADISH_FUZZ_SEED=%d", seed)
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	failures, answered, refused := 0, 0, 0
	for schema := uint64(0); failures < 10 && (schema < uint64(2*len(pairs)) || time.Now().Before(end)); schema++ {
		p := pairs[schema%uint64(len(pairs))]
		g := &generator{Rand: rand.New(rand.NewPCG(seed, schema))}
		g.collation = p.collation
		letters := alphabet
		if p.collation != types.CollationAsCI && p.collation != types.CollationAsCS {
			letters += marked
		}
		if p.collation == types.CollationUnicode520CI {
			// Unicode 5.2 had no emoji, and MariaDB does not put letters and marks together there.
			letters = strings.NewReplacer("😀", "", "🍣", "", "\u0308", "").Replace(letters)
		}
		g.alphabet = []rune(letters)
		g.spaceless = g.IntN(2) == 0
		g.literals = "{C}"
		if g.spaceless && g.IntN(2) == 0 {
			g.literals = "{B}"
		}
		ctx := t.Context()
		theirs, err := server.Open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := sql.Open("radish", "")
		if err != nil {
			t.Fatal(err)
		}
		a := connect(t, ours, "{C}", p.collation.String(), "{B}", "utf8mb4_bin")
		b := connect(t, theirs, "{C}", p.mariadb, "{B}", mariadb.Collation)
		b.names = strings.NewReplacer(p.mariadb, p.collation.String(), mariadb.Collation, "utf8mb4_bin")
		both := func(statement string) {
			if err := a.exec(ctx, statement); err != nil {
				t.Fatalf("Radish: %v\n%s", err, a.text(statement))
			}
			if err := b.exec(ctx, statement); err != nil {
				t.Fatalf("MariaDB: %v\n%s", err, b.text(statement))
			}
		}
		// Its cache takes what is equal under a collation for the same.
		if err := b.exec(ctx, "SET optimizer_switch = 'subquery_cache=off'"); err != nil {
			t.Fatal(err)
		}
		setup := g.setup()
		for _, s := range setup {
			both(s)
		}
		for range 150 {
			if failures >= 10 {
				break
			}
			statement, ordered := g.statement()
			mine, err := a.query(ctx, statement)
			other, otherErr := b.query(ctx, statement)
			if errors.Is(otherErr, driver.ErrBadConn) { // some statements crash MariaDB
				t.Logf("MariaDB is gone: %s", b.text(statement))
				server = start(t)
				break
			}
			switch {
			case (err == nil) != (otherErr == nil):
				failures++
				t.Errorf("schema %d: Radish: %v, MariaDB: %v\n%s", schema, err, otherErr, a.text(statement))
				continue
			case err != nil:
				refused++
				continue
			}
			answered++
			if x, y := flatten(mine, p.collation, ordered), flatten(other, p.collation, ordered); !slices.Equal(x, y) {
				failures++
				t.Errorf("schema %d, %s, literals %s: Radish and MariaDB differ\n%s\n%v\n%v", schema, p.collation, a.text(g.literals), a.text(statement), mine, other)
				if os.Getenv("RADISH_FUZZ_VERBOSE") != "" {
					t.Log(a.text(strings.Join(setup, ";\n")))
				}
			}
		}
		a.close(ours)
		b.close(theirs)
	}
	t.Logf("%d statements answered, %d refused by both", answered, refused)
	if answered < 5*refused {
		t.Error("too many statements are refused")
	}
}

func connect(t *testing.T, db *sql.DB, names ...string) *session {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &session{conn: conn, replace: strings.NewReplacer(names...), names: strings.NewReplacer()}
}

// generator draws statements in which {C} stands for the collation and {B} for the one by bytes.
type generator struct {
	*rand.Rand
	collation types.Collation
	alphabet  []rune
	literals  string
	id        int
	// MariaDB's common collation by bytes of one that pads and one that does not pads: where the two meet there are no spaces.
	spaceless bool
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) word() string {
	out := make([]rune, g.IntN(5))
	// Few letters, so that many strings are equal or begin alike.
	at := g.IntN(len(g.alphabet))
	for i := range out {
		out[i] = g.alphabet[(at+g.IntN(6))%len(g.alphabet)]
		if g.IntN(4) == 0 {
			out[i] = g.alphabet[g.IntN(len(g.alphabet))]
		}
		if i == 0 && unicode.Is(unicode.Mn, out[i]) || g.spaceless && out[i] == ' ' {
			out[i] = 'x'
		}
	}
	return string(out)
}

func quote(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

func (g *generator) literal() string { return quote(g.word()) }

func (g *generator) value() string {
	if g.IntN(8) == 0 {
		return "NULL"
	}
	return g.literal()
}

func (g *generator) setup() []string {
	out := []string{"SET NAMES utf8mb4 COLLATE " + g.literals}
	for _, name := range []string{"t", "v"} {
		out = append(out, "CREATE TABLE "+name+" (id INT PRIMARY KEY, n INT, s VARCHAR(20) COLLATE {C}, u VARCHAR(20) COLLATE {C} NOT NULL, b VARCHAR(20) COLLATE {B})")
		var rows []string
		for range 12 + g.IntN(30) {
			g.id++
			rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s, %s)", g.id, g.IntN(4), g.value(), g.literal(), g.value()))
		}
		out = append(out, "INSERT INTO "+name+" VALUES "+strings.Join(rows, ", "))
	}
	out = append(out, "CREATE TABLE k (u VARCHAR(20) COLLATE {C} NOT NULL, n INT NOT NULL, PRIMARY KEY (u, n))",
		"CREATE TABLE w (u VARCHAR(20) COLLATE {C} PRIMARY KEY, n INT NOT NULL)")
	for range 6 {
		verb, tail := g.pick("INSERT IGNORE", "REPLACE", "INSERT"), ""
		if verb == "INSERT" {
			tail = " ON DUPLICATE KEY UPDATE n = n + 10"
		}
		out = append(out, fmt.Sprintf("%s INTO w VALUES (%s, %d), (%s, %d)%s", verb, g.literal(), g.IntN(4), g.literal(), g.IntN(4), tail))
	}
	out = append(out, "DELETE FROM w WHERE u = "+g.literal(), "UPDATE w SET n = n + 5 WHERE u >= "+g.literal(),
		"UPDATE t SET s = u WHERE s < "+g.literal(), "DELETE FROM v WHERE s IN (SELECT u FROM w)")
	return append(out, "INSERT IGNORE INTO k SELECT u, n FROM t", "INSERT IGNORE INTO k SELECT s, n FROM v WHERE s IS NOT NULL")
}

// column is a column of the tables called of, under the collation or, seldom, by bytes.
func (g *generator) column(of string) string {
	if !g.spaceless {
		return of + "." + g.pick("s", "u")
	}
	return of + "." + g.pick("s", "s", "u", "u", "b")
}

// text is an expression of text over a table.
func (g *generator) text(of string, depth int) string {
	if depth == 0 {
		return g.column(of)
	}
	switch g.IntN(12) {
	case 0:
		return g.literal()
	case 1:
		return "CONCAT(" + g.text(of, depth-1) + ", " + g.literal() + ")"
	case 2:
		return "LEFT(" + g.text(of, depth-1) + ", 2)"
	case 3:
		return "COALESCE(" + g.text(of, depth-1) + ", " + g.text(of, depth-1) + ")"
	case 4:
		return "IF(" + of + ".n > 1, " + g.text(of, depth-1) + ", " + g.text(of, depth-1) + ")"
	case 5:
		if !g.spaceless {
			return "(" + g.text(of, depth-1) + " COLLATE {C})"
		}
		return "(" + g.text(of, depth-1) + " COLLATE " + g.pick("{C}", "{C}", "{B}") + ")"
	case 6:
		return "NULLIF(" + g.text(of, depth-1) + ", " + g.text(of, depth-1) + ")"
	case 7:
		return g.pick("GREATEST", "LEAST") + "(" + g.text(of, depth-1) + ", " + g.text(of, depth-1) + ")"
	case 8:
		return "CASE " + g.text(of, depth-1) + " WHEN " + g.text(of, depth-1) + " THEN " + g.text(of, depth-1) + " ELSE " + g.literal() + " END"
	}
	return g.column(of)
}

func (g *generator) pattern() string {
	var b strings.Builder
	for _, r := range g.word() {
		switch g.IntN(5) {
		case 0:
			b.WriteRune('_')
		case 1:
			b.WriteRune('%')
		default:
			b.WriteRune(r)
		}
	}
	if g.IntN(2) == 0 {
		b.WriteRune('%')
	}
	return quote(b.String())
}

// number is an expression that gives a number or a truth value.
func (g *generator) number(of string) string {
	x, y := g.text(of, 1), g.text(of, 1)
	not := g.pick("", "", "NOT ")
	switch g.IntN(12) {
	case 0:
		return x + " " + not + "IN (" + y + ", " + g.literal() + ", " + g.text(of, 1) + ")"
	case 1:
		return x + " " + not + "BETWEEN " + y + " AND " + g.text(of, 1)
	case 2:
		return x + " " + not + "LIKE " + g.pattern()
	case 3:
		return "STRCMP(" + x + ", " + y + ")"
	case 4:
		return "FIELD(" + x + ", " + y + ", " + g.literal() + ", " + g.text(of, 0) + ")"
	case 5:
		return "FIND_IN_SET(" + x + ", CONCAT_WS(',', " + y + ", " + g.text(of, 1) + "))"
	case 6:
		return g.pick("INSTR("+y+", "+x+")", "LOCATE("+x+", "+y+")", "LOCATE("+quote(string(g.alphabet[g.IntN(len(g.alphabet))]))+", "+y+", 2)")
	case 7:
		return "(" + x + ", " + of + ".n) " + g.pick("=", "<", "<>") + " (" + y + ", 2)"
	case 8:
		if g.collation != types.CollationAsCS { // MariaDB ignores case then too
			return x + " REGEXP " + quote(string(rune('a'+g.IntN(5))))
		}
	}
	return x + " " + g.pick("=", "<>", "<", "<=", ">", ">=", "<=>") + " " + y
}

// derived is a derived table of x and two numbers: MariaDB does not always find an expression among the groups.
func (g *generator) derived(x string) string {
	return "(SELECT t.id, t.n, " + x + " AS x FROM t) d"
}

// statement returns a query, and whether the order of its rows is to be compared.
func (g *generator) statement() (text string, ordered bool) {
	x, y := g.text("t", 2), g.text("v", 1)
	switch g.IntN(20) {
	case 0:
		return "SELECT t.id FROM t WHERE " + g.number("t"), false
	case 1:
		return "SELECT t.id, " + g.number("t") + ", " + g.number("t") + " FROM t", false
	case 2:
		return "SELECT COUNT(*), MIN(id), SUM(n) FROM " + g.derived(x) + " GROUP BY x", false
	case 3:
		return "SELECT x, COUNT(*) FROM " + g.derived(x) + " GROUP BY x HAVING COUNT(*) > 1 OR x > " + g.literal(), false
	case 4:
		return "SELECT MIN(" + x + "), MAX(" + x + "), COUNT(DISTINCT " + x + "), COUNT(DISTINCT " + x + ", t.n) FROM t" + g.pick("", " GROUP BY t.n"), false
	case 5:
		return "SELECT t.id, " + g.pick("RANK() OVER (ORDER BY "+g.column("t")+g.pick("", " DESC")+")", "COUNT(*) OVER (PARTITION BY "+g.column("t")+")") + " FROM t", false
	case 6:
		return "SELECT t.id, v.id FROM t " + g.pick("JOIN", "LEFT JOIN") + " v ON " + x + " = " + y, false
	case 7:
		return "SELECT COUNT(*) FROM (SELECT " + x + " FROM t " + g.pick("UNION", "INTERSECT", "EXCEPT") + " SELECT " + y + " FROM v) d", false
	case 8:
		if g.spaceless { // MariaDB hashes what it looks up by another collation than it compares by
			break
		}
		return "SELECT t.id FROM t WHERE " + x + g.pick("", " NOT") + " IN (SELECT " + y + " FROM v WHERE v.n = 1)", false
	case 9:
		return "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM v WHERE " + y + " = " + x + " AND v.n > 1)", false
	case 10:
		if g.spaceless { // nor does it take MIN and MAX by that
			break
		}
		return "SELECT t.id FROM t WHERE " + x + g.pick(" < ANY", " >= ALL", " = ANY", " <> ALL") + " (SELECT " + y + " FROM v WHERE v.n = 2)", false
	case 11:
		return "SELECT DISTINCT " + x + " FROM t", false
	case 12, 13:
		if g.collation == types.CollationAsCI || g.collation == types.CollationAsCS {
			break // MariaDB's sort keys of expressions hold no accents and case
		}
		if g.IntN(2) == 0 {
			return "SELECT " + x + " FROM t ORDER BY " + x + ", t.id LIMIT " + strconv.Itoa(5+g.IntN(10)), true
		}
		return "SELECT DISTINCT " + x + " AS x FROM t ORDER BY x" + g.pick("", " DESC"), true
	case 14:
		return "SELECT " + g.pick("u, n FROM k", "u, n FROM w", "COUNT(*), SUM(n) FROM w WHERE u > "+g.literal()), false
	case 15:
		x = g.column("t")
		return "SELECT t.n, GROUP_CONCAT(t.id ORDER BY " + x + " IS NULL, " + x + ", t.id) FROM t GROUP BY t.n", false
	case 16:
		return "SELECT x, n, COUNT(*) FROM " + g.derived(x) + " GROUP BY x, n WITH ROLLUP", false
	}
	if g.IntN(2) == 0 {
		return "SELECT COLLATION(" + x + ") FROM t LIMIT 1", false
	}
	return "SELECT c FROM (SELECT x, COUNT(*) AS c FROM " + g.derived(x) + " GROUP BY x) e WHERE x >= " + g.literal(), false
}
