package beside

import (
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/answers"
	"github.com/radish-sql/radish/sql/types"
)

func TestCompareRows(t *testing.T) {
	row := func(values ...types.Value) [][]types.Value { return [][]types.Value{values} }
	for _, c := range []struct {
		ours   [][]types.Value
		theirs []string
		same   bool
	}{
		{row(types.Value{Type: types.Int64, I: 7}), []string{"7"}, true},
		{row(types.Value{Type: types.Int64, I: 7}), []string{"8"}, false},
		{row(types.Value{Type: types.Int64, I: 1_000_000_000_000}), []string{"1000000000001"}, false},
		{row(types.Value{Type: types.Double, F: 0.1}), []string{"0.10000000000001"}, true},
		{row(types.Value{Type: types.Double, F: 0.1}), []string{"0.1001"}, false},
		{row(types.Value{Type: types.Varchar(5), S: "a"}), []string{"a"}, true},
		{row(types.Value{Type: types.Varchar(5), S: "a"}), []string{"b"}, false},
		{row(types.Value{Type: types.Int64, Null: true}), []string{""}, true},
		{row(types.Value{Type: types.Int64, Null: true}), []string{"0"}, false},
	} {
		if err := answers.Agree(c.ours, [][]string{c.theirs}, answers.CloseEnough); (err == nil) != c.same {
			t.Errorf("%v and %v: %v", c.ours, c.theirs, err)
		}
	}
}
