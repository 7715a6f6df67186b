package textfile

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// What is read as usual is written as it was read; and whatever is written of a value is read as usual.
func TestUsualForms(t *testing.T) {
	const seed = 20
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	written := func(v int64, scale int) string {
		text := strconv.FormatInt(v, 10)
		if scale > 0 {
			text = fmt.Sprintf("%0*d", scale+1, v)
			text = text[:len(text)-scale] + "." + text[len(text)-scale:]
		}
		return text
	}
	for range 100_000 {
		precision := 1 + rng.IntN(types.MaxShortDecimal)
		scale := rng.IntN(precision)
		v := rng.Int64N(types.Pow10(1 + rng.IntN(precision)))
		text := written(v, scale)
		if scale == 0 {
			if got, ok := usualInt([]byte(text)); !ok || got != v {
				t.Fatalf("'%s' as an integer: %d, %v", text, got, ok)
			}
		} else if got, ok := usualDecimal([]byte(text), precision, scale); !ok || got != v {
			t.Fatalf("'%s' as DECIMAL(%d, %d): %d, %v", text, precision, scale, got, ok)
		}
		odd := []byte(text)
		odd[rng.IntN(len(odd))] = "0123456789.-+eE /:"[rng.IntN(18)]
		if rng.IntN(2) == 0 {
			odd = append(odd, strings.Repeat("7", rng.IntN(20))...)
		}
		if got, ok := usualInt(odd); ok && written(got, 0) != string(odd) {
			t.Fatalf("'%s' as an integer: %d", odd, got)
		}
		if scale == 0 {
			continue
		}
		if got, ok := usualDecimal(odd, precision, scale); ok && (written(got, scale) != string(odd) || got >= types.Pow10(precision)) {
			t.Fatalf("'%s' as DECIMAL(%d, %d): %d", odd, precision, scale, got)
		}
	}
}

// A column that takes texts of the usual form faster takes the same texts as another one, with the same values.
func TestUsualColumns(t *testing.T) {
	fields := []string{"", "0", "00", "7", "-7", "+7", "12", "012", "-0", "1.", "1.5", "1.50", "01.50", ".5", "-1.25", "1.255", "1e3", "123456789012345678", "1234567890123456789", "99999999999999999999",
		"2024-02-29", "2023-02-29", "2024-2-9", "2024/02/09", "2024-02-29 ", "0000-01-01", "2024-13-01", "nan", "true", "text", "20a4-01-01", "2024-01-0x", "9999999999999.99", "99999999999999.99"}
	for _, sample := range []string{"12", "1.25", "2024-01-31", "word", "true", "1e5", "10:30:00", "2024-01-31 10:30:00", "nan"} {
		shape := Classify([]byte(sample))
		for _, field := range fields {
			fast, slow := NewColumn(shape, 4), NewColumn(shape, 4)
			slow.usual = rare
			a, b := fast.Append([]byte(field)), slow.Append([]byte(field))
			if x, y := fast.Data(), slow.Data(); a != b || fmt.Sprint(x) != fmt.Sprint(y) {
				t.Errorf("'%s' in a column of '%s': %v, %+v; without the fast ways %v, %+v", field, sample, a, x, b, y)
			}
		}
	}
}
