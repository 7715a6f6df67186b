package jsonlines_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/internal/batchtest"
)

// Whatever the order of keys, spaces, escapes and line ends, rows have the values that encoding/json reads.
func TestStyles(t *testing.T) {
	const seed = 20
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(texts ...string) string { return texts[rng.IntN(len(texts))] }
	space := func() string { return pick("", "", "", " ", " ", "  ", "\t") }
	lines := []string{`{"k1":"text","key number 2":-1.25,"k3":"2024-01-31","k4":12}`} // the keys' order, and their types
	for range 3000 {
		fields := []string{
			pick(`"k1"`, `"k1"`, `"k\u0031"`) + space() + ":" + space() + pick(`"text"`, `""`, `"a \"word\""`, `"ü \u00fc"`, `"a,b}"`, `null`),
			`"key number 2"` + space() + ":" + space() + pick("0", "-1.5", "123.25", "-0.75", "null"),
			`"k3":` + space() + pick(`"2024-02-29"`, `"1969-12-31"`, `null`),
			`"k4"` + space() + ":" + pick("0", "-7", "1234567890123456789", "null"),
		}
		if rng.IntN(3) == 0 {
			rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		}
		fields = fields[:len(fields)-rng.IntN(2)*rng.IntN(4)]
		if rng.IntN(20) == 0 && len(fields) > 0 {
			fields = append(fields, fields[0]) // the last one of a key counts
		}
		lines = append(lines, "{"+space()+strings.Join(fields, space()+","+space())+space()+"}")
	}
	for _, end := range []string{"\n", "\r\n", " \n\n"} {
		v, err := read(strings.Join(lines, end))
		if err != nil {
			t.Fatal(err)
		}
		rows := batchtest.TableTexts(v)
		if len(rows) != len(lines) {
			t.Fatalf("%d rows of %d lines", len(rows), len(lines))
		}
		for i, line := range lines {
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			var o map[string]any
			if err := d.Decode(&o); err != nil {
				t.Fatal(err)
			}
			for c, name := range []string{"k1", "key number 2", "k3", "k4"} {
				got, want := rows[i][c], "NULL"
				if o[name] != nil {
					want = fmt.Sprint(o[name])
				}
				if whole, fraction, _ := strings.Cut(want, "."); c == 1 && want != "NULL" {
					want = whole + "." + fraction + strings.Repeat("0", 2-len(fraction)) // the column is a DECIMAL(15,2)
				}
				if got != want {
					t.Fatalf("line %d, %s: %s is '%s', want '%s'", i, line, name, got, want)
				}
			}
		}
	}
}
