// Package answers compares the rows of two engines.
package answers

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

// Unchecked is what a table shows of an answer that was held against nothing.
const Unchecked = "not checked"

// CloseEnough is how far sums of doubles or of rounded quotients may lie apart, in proportion to the greater one.
const CloseEnough = 1e-9

// Agree compares rows with those of another run or engine, as text, NULL being the empty one. Where either is a number with a fraction, they may differ by tolerance in
// proportion to the greater.
func Agree(rows [][]types.Value, other [][]string, tolerance float64) error {
	if len(rows) != len(other) {
		return fmt.Errorf("%d rows and %d", len(rows), len(other))
	}
	for i, mine := range TextRows(rows) {
		if len(mine) != len(other[i]) {
			return fmt.Errorf("%d columns and %d", len(mine), len(other[i]))
		}
		for c, a := range mine {
			if b := other[i][c]; a != b && !closeTexts(a, b, tolerance) {
				return fmt.Errorf("column %d of row %d is %q and %q", c+1, i+1, a, b)
			}
		}
	}
	return nil
}

// closeTexts says whether two texts are numbers that are equal, or of which one has a fraction and which are close.
func closeTexts(a, b string, tolerance float64) bool {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	switch {
	case !ok || !also:
		return false
	case x.Cmp(y) == 0:
		return true
	case x.IsInt() && y.IsInt() && !strings.ContainsAny(a+b, ".eE"):
		return false
	}
	f, _ := x.Float64()
	g, _ := y.Float64()
	return math.Abs(f-g) <= tolerance*max(math.Abs(f), math.Abs(g))
}

func TextRows(values [][]types.Value) [][]string {
	rows := make([][]string, len(values))
	for i, row := range values {
		for _, v := range row {
			text := ""
			if !v.Null {
				text = v.Text()
			}
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}

// SameResult compares Radish's rows with DuckDB's, as with a published answer.
func SameResult(q tpch.Query, rows [][]types.Value, duck [][]string) error {
	answer := tpch.Answer{Query: q, Rows: duck}
	if len(duck) > 0 {
		answer.Columns = make([]string, len(duck[0])) // names are only for messages
	}
	_, err := answer.Compare(rows)
	return err
}
