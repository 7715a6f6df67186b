package shapes

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/beside"
)

// shapeCases are the statements of the command shapes. Each gives its rows in one order.
func shapeCases() []beside.Case {
	var all []beside.Case
	for _, cases := range [][]beside.Case{
		shapeExpressions(), shapeStrings(), shapeGroups(), shapeDistinct(), shapeSorts(), shapeWindows(),
		shapeJoins(), shapeBands(), shapeSubqueries(), shapeSets(), shapeChanges(),
	} {
		all = append(all, cases...)
	}
	return all
}

// inList is an IN list of so many strings.
func inList(n int, text func(b []byte, n int64) []byte, step int64) string {
	var list strings.Builder
	for i := range n {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "'%s'", text(nil, int64(i)*step))
	}
	return list.String()
}

// counted wraps a query of groups with a string s and a number n, so that one row leaves the engine.
func counted(query string) string {
	return "SELECT COUNT(*), SUM(n), SUM(LENGTH(s)), SUM(n * LENGTH(s)), MIN(s), MAX(s) FROM (" + query + ") q"
}
