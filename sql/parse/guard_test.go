package parse_test

import (
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
)

func nested(open, inner, closing string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
}

// Each shape of nesting, at a depth that has to be accepted and at one that has to be refused.
func TestNestingIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name   string
		accept int
		text   func(n int) string
	}{
		{"parentheses", 900, func(n int) string { return "SELECT " + nested("(", "1", ")", n) }},
		{"calls", 900, func(n int) string { return "SELECT " + nested("ABS(", "1", ")", n) }},
		{"subqueries", 400, func(n int) string { return nested("SELECT * FROM (", "SELECT 1", ") t", n) }},
		{"EXISTS", 400, func(n int) string { return nested("SELECT EXISTS (", "SELECT 1", ")", n) }},
		{"CASE", 900, func(n int) string { return "SELECT " + nested("CASE WHEN a THEN ", "1", " END", n) + " FROM t" }},
		{"CASE and columns called end", 900, func(n int) string {
			return "SELECT " + nested("CASE WHEN end THEN ", "1", " END", n) + " FROM t"
		}},
		{"left operands", 400, func(n int) string { return "SELECT " + nested("(", "1", " + 1 + 1 + 1)", n) }},
		{"minus", 4000, func(n int) string { return "SELECT " + nested("- ", "1", "", n) }},
		{"NOT", 4000, func(n int) string { return "SELECT " + nested("NOT ", "1", "", n) }},
		{"!", 4000, func(n int) string { return "SELECT " + nested("!", "1", "", n) }},
		{"sum", 4000, func(n int) string { return "SELECT 1" + nested("", "", " + 1", n) }},
		{"AND", 4000, func(n int) string { return "SELECT 1 FROM t WHERE a = 1" + nested("", "", " AND a = 1", n) }},
		{"OR of AND", 4000, func(n int) string {
			return "SELECT 1 FROM t WHERE a = 1" + nested("", "", " OR a = 1 AND b BETWEEN 1 + 1 AND 2", n)
		}},
		{"IS NULL", 4000, func(n int) string { return "SELECT a" + nested("", "", " IS NULL", n) + " FROM t" }},
		{"COLLATE", 4000, func(n int) string { return "SELECT a" + nested("", "", " COLLATE utf8mb4_bin", n) + " FROM t" }},
		{"joins", 4000, func(n int) string { return "SELECT 1 FROM t" + nested("", "", " JOIN t ON a = b", n) }},
		{"comma joins", 4000, func(n int) string { return "SELECT 1 FROM t" + nested("", "", ", t", n) }},
		{"UNION", 4000, func(n int) string { return "SELECT 1" + nested("", "", " UNION ALL SELECT 1", n) }},
		{"UPDATE of many", 4000, func(n int) string { return "UPDATE t" + nested("", "", ", t", n) + " SET a = 1" }},
	} {
		for _, n := range []int{tc.accept, 100_000} {
			start := time.Now()
			_, err := parse.One(tc.text(n), parse.DefaultMode)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s, %d deep: %v", tc.name, n, took)
			}
			if n == tc.accept && err != nil {
				t.Errorf("%s, %d deep: %v", tc.name, n, err)
			}
			if n > tc.accept && !errors.Is(err, sqlerr.CodeTooDeep) {
				t.Errorf("%s, %d deep: %.200v", tc.name, n, err)
			}
		}
	}
}

// What is long without being deep has to pass, and soon.
func TestLongIsNotDeep(t *testing.T) {
	for name, text := range map[string]string{
		"IN list":         "SELECT 1 FROM t WHERE a IN (1" + strings.Repeat(", 12345", 100_000) + ")",
		"VALUES":          "INSERT INTO t VALUES (1, 'x', -2.5)" + strings.Repeat(", (1, 'x', -2.5)", 30_000),
		"select list":     "SELECT a" + strings.Repeat(", a + 1", 20_000) + " FROM t",
		"WHEN":            "SELECT CASE a" + strings.Repeat(" WHEN 1 + 1 THEN -2", 20_000) + " END FROM t",
		"text":            "SELECT '" + strings.Repeat("(", 1<<20) + "'",
		"comments":        strings.Repeat("/**/", 1<<17) + "SELECT 1",
		"comments inside": "SELECT" + strings.Repeat("/**/", 1<<17) + "1",
		"statements":      strings.Repeat("SELECT 1;", 10_000),
	} {
		start := time.Now()
		if _, err := parse.Parse(text, parse.DefaultMode); err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		} else {
			t.Logf("%s: %v for %d bytes", name, took, len(text))
		}
	}
}

// What is wrong with a long text is said in words of its own.
func TestLongTextsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 6000):          "more than 5000 UNION, INTERSECT and EXCEPT in a chain",
		"SELECT * FROM t" + strings.Repeat(" JOIN t USING (a)", 6000):     "more than 5000 joins and commas of a FROM in a chain",
		"SELECT 1" + strings.Repeat(" + 1", 6000):                         "more than 5000 operators in a chain",
		"SELECT * FROM t WHERE a = 1" + strings.Repeat(" OR a = 1", 6000): "write x IN (...)",
		strings.Repeat("\x00", 1<<20):                                     "a NUL byte",
		"SELECT 1 \x00":                                                   "a NUL byte",
	} {
		if _, err := parse.Parse(text, parse.DefaultMode); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %.200v, want %s", text, err, want)
		}
	}
}

// A megabyte of anything ends soon and in an error with a position inside the text.
func TestGarbage(t *testing.T) {
	const seed = 20240229
	rng := rand.New(rand.NewSource(seed))
	words := strings.Fields("SELECT FROM WHERE ( ) , . ; + - * / = < > AND OR NOT CASE WHEN END 'a' `b` \"c\" 1 2.5 x @y ? /* */ /*! -- # ' NULL IN JOIN UNION :")
	// A slice, so that the seed fixes every text.
	texts := []struct {
		name string
		text func(n int) string
	}{
		{"bytes", func(n int) string {
			b := make([]byte, n)
			rng.Read(b)
			return string(b)
		}},
		{"printable", func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(' ' + rng.Intn(95))
			}
			return string(b)
		}},
		{"words", func(n int) string {
			var b strings.Builder
			for b.Len() < n {
				b.WriteString(words[rng.Intn(len(words))])
				b.WriteString(" \n"[rng.Intn(2):][:1])
			}
			return b.String()
		}},
		{"one letter", func(n int) string { return strings.Repeat("a", n) }},
		{"open", func(n int) string { return strings.Repeat("(", n) }},
		{"signs", func(n int) string { return strings.Repeat("-", n) }},
		{"quotes", func(n int) string { return strings.Repeat("'", n|1) }},
		{"comments", func(n int) string { return strings.Repeat("/*", n/2) }},
		{"bangs", func(n int) string { return strings.Repeat("/*!", n/3) }},
		{"zeros", func(n int) string { return strings.Repeat("\x00", n) }},
	}
	for _, tc := range texts {
		for _, n := range []int{100, 1 << 20} {
			sql, name := tc.text(n), tc.name
			start := time.Now()
			_, err := parse.Parse(sql, parse.DefaultMode)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("seed %d, %s of %d bytes: %v", seed, name, n, took)
			}
			checkError(t, sql, err)
			if err == nil {
				t.Errorf("seed %d, %s of %d bytes is accepted", seed, name, n)
			}
		}
	}
}

func checkError(t *testing.T, sql string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var e *sqlerr.Error
	switch {
	case !errors.As(err, &e):
		t.Errorf("%.100q: not an *sqlerr.Error: %v", sql, err)
	case e.Kind == sqlerr.Internal:
		t.Errorf("%.100q: %v", sql, err)
	case !e.Pos.Known() || e.Pos.Offset < 0 || e.Pos.Offset > len(sql) || e.Pos != sqlerr.PositionAt(sql, e.Pos.Offset):
		t.Errorf("%.100q: position %+v of %d bytes: %v", sql, e.Pos, len(sql), err)
	case len(e.Message) > 1000 || e.Message == "":
		t.Errorf("%.100q: a message of %d bytes", sql, len(e.Message))
	}
}

// FuzzParse looks for panics, loops without end, positions outside the text, and pieces that Split loses.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT a, b + 1 FROM t WHERE c = 'x' ORDER BY 1 LIMIT 10",
		"SELECT * FROM t FULL JOIN u", "SELECT $1, :x, a::int", "/*! SELECT 1 */; -- x\nSELECT 2 # y",
		"SELECT /*+ HASH_JOIN(t) NOPE() */ 1", "INSERT INTO t VALUES (1, X'00', b'1', 0x1, 1e5, .5, N'x', _utf8'y')",
		"SELECT CASE WHEN end THEN 1 END", "CREATE TABLE t (a DECIMAL(10,2) NOT NULL, PRIMARY KEY (a))",
		"WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c",
		"SELECT ?, SUM(x) OVER (ORDER BY y ROWS BETWEEN ? PRECEDING AND CURRENT ROW) FROM t", "SELECT @a := @`b`, @@x.y",
		"SELECT 1\r\n\t+ 'ä€\\'' || \"日本\" `", "a\x00b", "SELECT 0b, 0x, 1.e, 1e+, .e1, 1..2, t.1e5",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, sql string, other bool) {
		mode := parse.DefaultMode
		if other {
			m, err := parse.ParseMode("ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE")
			if err != nil {
				t.Fatal(err)
			}
			mode = m
		}
		// The fuzzer itself does not see a loop without an end.
		watchdog := time.AfterFunc(time.Minute, func() { panic("the parser does not end") })
		defer watchdog.Stop()
		list, err := parse.Parse(sql, mode)
		checkError(t, sql, err)
		if err != nil {
			sqlerr.From(err).Render()
		}
		pieces := parse.Split(sql, mode)
		if len(list) > len(pieces) {
			t.Errorf("%d statements, %d pieces", len(list), len(pieces))
		}
		for _, p := range pieces {
			if sql[p.Offset:p.Offset+len(p.Text)] != p.Text || p.Line != sqlerr.PositionAt(sql, p.Offset).Line {
				t.Errorf("piece %+v", p)
			}
		}
		if err == nil && parse.Incomplete(sql+"\n;", mode) {
			t.Error("a parsed text with a semicolon is incomplete")
		}
	})
}
