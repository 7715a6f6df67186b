package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/storage/tpch"
)

// TestTPCHOnGPUs runs the 22 queries on several devices and compares them with the CPU's results.
func TestTPCHOnGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles some 300 kernels")
	}
	eachGPU(t, func(t *testing.T, e *Engine) {
		s := e.NewSession()
		mustRun(t, s, "CALL tpch_generate(0.01); SET radish_gpu_devices = '0,0,0'; SET radish_gpu_share = 'always'")
		shared := 0
		for _, q := range tpch.Queries(0.01) {
			mustRun(t, s, "SET radish_device = 'cpu'")
			want := rowTexts(values(t, s, q.SQL))
			mustRun(t, s, "SET radish_device = 'gpu_strict'")
			rows := values(t, s, q.SQL)
			if w := s.Warnings(); len(w) > 0 {
				t.Errorf("Q%d: %s", q.Number, w[0].Message)
			}
			got := rowTexts(rows)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("Q%d on the GPUs gives\n%s\non the CPU\n%s", q.Number, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			text := fmt.Sprint(values(t, s, "EXPLAIN "+q.SQL))
			if strings.Contains(text, "gather") {
				shared++
			} else {
				t.Logf("Q%d: %s", q.Number, text)
			}
		}
		t.Logf("%d queries were shared", shared)
	})
}
