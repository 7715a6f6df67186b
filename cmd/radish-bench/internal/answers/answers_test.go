package answers

import (
	"testing"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/tpch"
)

func TestSameResult(t *testing.T) {
	q := tpch.Queries(1)[5]
	value := func(unscaled int64) [][]types.Value {
		return [][]types.Value{{{Type: types.Decimal(15, 2), I: unscaled}}}
	}
	if err := SameResult(q, value(12345), [][]string{{"123.45"}}); err != nil {
		t.Error(err)
	}
	if err := SameResult(q, value(12346), [][]string{{"123.45"}}); err == nil {
		t.Error("123.46 passed for 123.45")
	}
	if err := SameResult(q, value(12345), nil); err == nil {
		t.Error("a row passed for none")
	}
}

func TestAgree(t *testing.T) {
	row := [][]types.Value{{types.IntValue(1_000_000_000_000), types.FloatValue(0.1), types.StringValue("1e5"), types.NullOf(types.Double)}}
	for _, c := range []struct {
		other []string
		same  bool
	}{
		{[]string{"1000000000000", "0.1", "1e5", ""}, true},
		{[]string{"1000000000000.0", "0.10000000001", "1e5", ""}, true},
		{[]string{"1000000000001", "0.1", "1e5", ""}, false},
		{[]string{"1000000000000", "0.1001", "1e5", ""}, false},
		{[]string{"1000000000000", "0.1", "id1", ""}, false},
		{[]string{"1000000000000", "0.1", "1e5", "0"}, false},
		{[]string{"1000000000000", "", "1e5", ""}, false},
		{[]string{"1000000000000", "0.1", "1e5"}, false},
	} {
		if err := Agree(row, [][]string{c.other}, CloseEnough); (err == nil) != c.same {
			t.Errorf("%q: %v", c.other, err)
		}
	}
	if Agree(row, nil, CloseEnough) == nil {
		t.Error("no row passed for one")
	}
}
