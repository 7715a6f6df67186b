package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/engine/database"
	"github.com/radish-sql/radish/sql/types"
)

// LIKE under collations that fold, compared with matching character by character, two of which are equal if the strings of them alone are.
func TestLikeUnderCollations(t *testing.T) {
	const seed = 20260106
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	alphabet := []string{"a", "A", "á", "Ä", "b", "B", "ß", "s", "S", "0", "-", "日", "Α", "α", "И", "и"}
	word := func(n int, more ...string) string {
		var b strings.Builder
		letters := append(more, alphabet...)
		for range r.IntN(n) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	s := newSession(t, database.Options{Threads: 2})
	mustRun(t, s, "CREATE TABLE t (id INT, s TEXT)")
	var texts []string
	var rows []string
	for i := range 400 {
		texts = append(texts, word(7))
		rows = append(rows, fmt.Sprintf("(%d, '%s')", i, texts[i]))
	}
	mustRun(t, s, "INSERT INTO t VALUES "+strings.Join(rows, ", "))
	for _, name := range []string{"utf8mb4_general_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs", "utf8mb4_unicode_520_ci"} {
		c, ok := types.CollationByName(name)
		if !ok {
			t.Fatal(name)
		}
		equal := func(a, b rune) bool { return c.Key(string(a)) == c.Key(string(b)) }
		var like func(s, p []rune) bool
		like = func(s, p []rune) bool {
			switch {
			case len(p) == 0:
				return len(s) == 0
			case p[0] == '%':
				return like(s, p[1:]) || len(s) > 0 && like(s[1:], p)
			}
			return len(s) > 0 && (p[0] == '_' || equal(s[0], p[0])) && like(s[1:], p[1:])
		}
		for range 60 {
			pattern := word(6, "%", "%", "%", "_")
			got := mustRun(t, s, "SELECT id FROM t WHERE s LIKE '"+pattern+"' COLLATE "+name+" ORDER BY id")
			var want strings.Builder
			for i, text := range texts {
				if like([]rune(text), []rune(pattern)) {
					fmt.Fprintln(&want, i)
				}
			}
			if got != want.String() {
				t.Fatalf("%s, LIKE '%s': rows %q, want %q", name, pattern, got, want.String())
			}
		}
	}
}
