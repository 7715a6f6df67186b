package encoding_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// tellEstimates tells the test's program to write what it estimates, for another process to compare.
const tellEstimates = "RADISH_TELL_ESTIMATES"

// Distinct strings are estimated within three standard errors, however much alike they are, and by the same numbers in every process: plans follow from these.
func TestSketchOfStrings(t *testing.T) {
	const n = 20_000
	got := ""
	for _, c := range []struct {
		name  string
		value func(i int) string
	}{
		{"short numbers", func(i int) string { return fmt.Sprintf("%x", i) }},
		{"a number behind equal text", func(i int) string { return fmt.Sprintf("an equal text of forty bytes or a few more %d", i) }},
		{"a number before equal text", func(i int) string { return fmt.Sprintf("%d is an equal text of forty bytes or a few more", i) }},
		{"a number in one word of three", func(i int) string { return fmt.Sprintf("equal...%08d...equal", i) }},
		{"zeros of all lengths", func(i int) string { return strings.Repeat("\x00", i%600) }},
		{"two bits of a hundred and sixty", func(i int) string {
			b := make([]byte, 20)
			b[i%160/8] ^= 1 << (i % 8)
			b[i/160/8] ^= 1 << (i / 160 % 8)
			return string(b)
		}},
	} {
		d := encoding.Data{Type: types.Text, Rows: n, Strings: make([]string, n)}
		different := map[string]bool{}
		for i := range d.Strings {
			d.Strings[i] = c.value(i)
			different[d.Strings[i]] = true
		}
		estimate, want := encoding.Encode(d).Sketch().Estimate(), float64(len(different))
		if math.Abs(estimate-want) > 0.07*want {
			t.Errorf("%s: %.0f estimated, %.0f there", c.name, estimate, want)
		}
		got += fmt.Sprintf("%s: %v\n", c.name, estimate)
	}
	if os.Getenv(tellEstimates) != "" {
		fmt.Print(got)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), tellEstimates+"=1")
	if other, err := cmd.Output(); err != nil || !strings.HasPrefix(string(other), got) {
		t.Errorf("another process estimates\n%s(%v), this one\n%s", other, err, got)
	}
}
