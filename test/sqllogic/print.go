package sqllogic

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Print writes one line a script, the refusals counted by reason with an example each, at most `most` wrong
// answers, and the sums. It reports whether nothing was wrong and every script could be run.
func Print(w io.Writer, reports []*Report, most int) bool {
	var passed, skipped, refused, wrong int
	var took time.Duration
	ok := true
	reasons := map[string][]Failure{}
	for _, r := range reports {
		fmt.Fprintln(w, r)
		if r.Err != nil {
			fmt.Fprintln(w, "  ", r.Err)
			ok = false
		}
		passed, skipped, refused, wrong = passed+r.Passed, skipped+r.Skipped, refused+len(r.Refused), wrong+len(r.Wrong)
		took += r.Took
		for _, f := range r.Refused {
			reasons[Reason(f.Err)] = append(reasons[Reason(f.Err)], f)
		}
	}
	byCount := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(len(reasons[b])-len(reasons[a]), cmp.Compare(a, b))
	})
	for _, reason := range byCount {
		f := reasons[reason][0]
		fmt.Fprintf(w, "refused %d times: %s\n  first %s:%d: %.300s\n", len(reasons[reason]), reason, f.File, f.Line, f.SQL)
	}
	left := most
	for _, r := range reports {
		for _, f := range r.Wrong {
			if left == 0 {
				break
			}
			left--
			fmt.Fprintln(w, "wrong", f)
		}
	}
	if wrong > most {
		fmt.Fprintf(w, "and %d more wrong answers\n", wrong-most)
	}
	fmt.Fprintf(w, "%d scripts: %d passed, %d refused, %d wrong, %d skipped, %.1f s of work\n", len(reports), passed, refused, wrong, skipped, took.Seconds())
	return ok && wrong == 0
}
