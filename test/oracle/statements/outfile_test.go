package statements

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestOutfile writes random rows by SELECT ... INTO OUTFILE with random clauses in both engines: the files have to be the same, byte by byte, and
// LOAD DATA of each has to make the same table in both. Where the rows can be told from the file, they are those that were written.
func TestOutfile(t *testing.T) {
	radish, maria := engines(t)
	dir := t.TempDir()
	first := seed(t)
	pieces := []string{"a", "N", "\\", "\t", "\n", "\r", ",", "\"", "'", "\x00", "NULL", "\\N", "0", "n", "t", "é", "日", ";", "|", "||", " ", "x", "+", "-", ".", "e"}
	back := 0
	for round := range uint64(150) {
		r := rand.New(rand.NewPCG(first, round))
		text := func() any {
			if r.IntN(8) == 0 {
				return nil
			}
			s := ""
			for range r.IntN(6) {
				s += pieces[r.IntN(len(pieces))]
			}
			return s
		}
		pick := func(of ...string) string { return of[r.IntN(len(of))] }
		clauses := ""
		terminated := pick("", "','", "';'", "'|'", "'||'", "'\\t'", "'n'", "'·'", "'x'")
		enclosed := pick("", "", "ENCLOSED BY '\"'", "OPTIONALLY ENCLOSED BY '\"'", "ENCLOSED BY '\\''", "ENCLOSED BY 't'", "OPTIONALLY ENCLOSED BY '+'")
		escaped := pick("", "", "", "ESCAPED BY '\\\\'", "ESCAPED BY '!'", "ESCAPED BY ''")
		if terminated+enclosed+escaped != "" {
			clauses += " FIELDS"
			if terminated != "" {
				clauses += " TERMINATED BY " + terminated
			}
			clauses += " " + enclosed + " " + escaped
		}
		switch r.IntN(5) {
		case 0:
			clauses += " LINES TERMINATED BY '\\r\\n'"
		case 1:
			clauses += " LINES STARTING BY '>' TERMINATED BY '#\\n'"
		}
		for _, s := range []string{"DROP TABLE IF EXISTS a, b, c", "CREATE TABLE a (id INT PRIMARY KEY, s VARCHAR(99), b VARBINARY(99), n DECIMAL(8,3), d DATETIME(3), f DOUBLE)", "CREATE TABLE b (id VARCHAR(99), s VARCHAR(999), b VARBINARY(999), n VARCHAR(99), d VARCHAR(99), f VARCHAR(99))", "CREATE TABLE c LIKE b"} {
			both(t, radish, maria, s)
		}
		for id := range 20 {
			row := []any{id - 5, text(), text(), nil, nil, nil}
			if r.IntN(4) > 0 {
				row[3], row[4], row[5] = fmt.Sprintf("%.3f", r.Float64()*2000-1000), fmt.Sprintf("20%02d-01-02 03:04:05.%03d", r.IntN(100), r.IntN(1000)), float64(r.IntN(1000))/8
			}
			const insert = "INSERT INTO a VALUES (?, ?, ?, ?, ?, ?)"
			if _, err := radish.ExecContext(t.Context(), insert, row...); err != nil {
				t.Fatal(err)
			}
			if _, err := maria.ExecContext(t.Context(), insert, row...); err != nil {
				t.Fatal(err)
			}
		}
		one, two := filepath.Join(dir, fmt.Sprint("radish", round)), filepath.Join(dir, fmt.Sprint("maria", round))
		write := "SELECT * FROM a ORDER BY id INTO OUTFILE '%s'" + clauses
		if _, err := radish.ExecContext(t.Context(), fmt.Sprintf(write, one)); err != nil {
			t.Fatal(err)
		}
		if _, err := maria.ExecContext(t.Context(), fmt.Sprintf(write, two)); err != nil {
			t.Fatal(err)
		}
		text1, err := os.ReadFile(one)
		if err != nil {
			t.Fatal(err)
		}
		text2, err := os.ReadFile(two)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text1, text2) {
			t.Fatalf("round %d,%s:\n%q\nMariaDB\n%q", round, clauses, text1, text2)
		}
		for i, table := range []string{"b", "c"} {
			load := fmt.Sprintf("LOAD DATA INFILE '%s' IGNORE INTO TABLE %s CHARACTER SET utf8mb4%s", []string{one, two}[i], table, clauses)
			if _, err := radish.ExecContext(t.Context(), load); err != nil {
				t.Fatal(load, err)
			}
			if _, err := maria.ExecContext(t.Context(), load); err != nil {
				t.Fatal(load, err)
			}
			const query = "SELECT HEX(CAST(id AS CHAR)) AS i, HEX(s) AS s, HEX(b) AS b, HEX(CAST(n AS CHAR)) AS n, HEX(CAST(d AS CHAR)) AS d, HEX(CAST(f AS CHAR)) AS f FROM %s ORDER BY 1, 2, 3, 4, 5, 6"
			got, want := rows(t, radish, fmt.Sprintf(query, table)), rows(t, maria, fmt.Sprintf(query, table))
			if got != want {
				t.Fatalf("round %d: %s of\n%q\n%s\nMariaDB\n%s", round, load, [][]byte{text1, text2}[i], got, want)
			}
			if got == rows(t, radish, fmt.Sprintf(query, "a")) {
				back++
			}
		}
	}
	t.Logf("%d of 300 tables came back as they were", back)
	if back < 150 {
		t.Error("LOAD DATA does not read what OUTFILE wrote")
	}
}
