package statements

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFunctions compares functions of bytes and JSON documents over random operands.
func TestFunctions(t *testing.T) {
	radish, maria := engines(t)
	r := rand.New(rand.NewPCG(seed(t), 7))
	text := func() string {
		if r.IntN(10) == 0 {
			return "NULL"
		}
		return "'" + strings.Repeat(string("abcxyz é"[r.IntN(6)]), r.IntN(40)) + strings.Repeat("q", r.IntN(3)) + "'"
	}
	var document func(depth int) string
	document = func(depth int) string {
		switch n := r.IntN(8); {
		case n < 2 && depth > 0:
			var parts []string
			for range r.IntN(4) {
				parts = append(parts, document(depth-1))
			}
			return "[" + strings.Join(parts, ", ") + "]"
		case n < 4 && depth > 0:
			var parts []string
			for i := range r.IntN(3) {
				parts = append(parts, fmt.Sprintf(`"%c": %s`, 'a'+i, document(depth-1)))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		case n < 6:
			return fmt.Sprint(r.IntN(4))
		}
		return fmt.Sprintf(`"%c%c"`, 'a'+r.IntN(2), 'a'+r.IntN(2))
	}
	path := func() string {
		out := "$"
		for range r.IntN(3) {
			out += []string{".a", ".b", "[0]", "[1]"}[r.IntN(4)]
		}
		return out
	}
	for range 1500 { // MariaDB's JSON_SEARCH finds numbers too: patterns have letters
		var query string
		switch r.IntN(8) {
		case 0:
			query = fmt.Sprintf("SELECT HEX(AES_ENCRYPT(%s, %s)) AS x", text(), text())
		case 1:
			query = fmt.Sprintf("SELECT AES_DECRYPT(AES_ENCRYPT(%s, 'k'), 'k') AS x", text())
		case 2:
			query = fmt.Sprintf("SELECT UNCOMPRESS(COMPRESS(%s)) AS x, UNCOMPRESSED_LENGTH(COMPRESS(%s)) AS y", text(), text())
		case 3:
			query = fmt.Sprintf("SELECT JSON_SEARCH('%s', '%s', '%s') AS x", document(3), []string{"one", "all"}[r.IntN(2)], []string{"a%", "_b", "ab", "%b%"}[r.IntN(4)])
		case 4:
			query = fmt.Sprintf("SELECT JSON_SEARCH('%s', 'all', '%%b%%', NULL, '%s') AS x", document(3), path())
		case 5:
			query = fmt.Sprintf("SELECT JSON_VALUE('%s', '%s') AS x", document(3), path())
		case 6:
			query = fmt.Sprintf("SELECT JSON_OVERLAPS('%s', '%s') AS x", document(2), document(2))
		case 7:
			query = fmt.Sprintf("SELECT JSON_ARRAY_INSERT('%s', '%s[%d]', 7) AS x", document(3), path(), r.IntN(3))
		}
		if got, want := rows(t, radish, query), rows(t, maria, query); got != want {
			t.Errorf("%s: %s, MariaDB %s", query, got, want)
		}
	}
}
