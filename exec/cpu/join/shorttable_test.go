package join

import (
	"context"
	"slices"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/sql/types"
)

// A table of short strings tells strings with zeros at their ends from shorter ones, and finds neither NULL nor strings that are too long.
func TestShortTable(t *testing.T) {
	stored := []string{"", "a", "a\x00", "12345678", "12345678\x00", "123456789012345"}
	keys := make([]shortKey, len(stored))
	shortenAll(keys, stored)
	q := &task.Query{State: &schedule.State{}, Threads: 1, Memory: memory.NewBudget(0), Ctx: context.Background(), Tuning: &task.Default}
	b := &Build{q: q, N: len(keys)}
	if _, err := b.makeTable(nil, keys); err != nil {
		t.Fatal(err)
	}
	probe := append(slices.Clone(stored), "\x00", "a\x00\x00", "1234567", "1234567890123456", "123456789012345\x00", "")
	v := column.New(types.Varchar(20), len(probe))
	copy(v.Str, probe)
	for range 2 {
		pos, rows := b.table.find(&finder{}, []*column.Vector{v}, nil, len(probe)-1)
		if want := []int32{0, 1, 2, 3, 4, 5}; !slices.Equal(pos, want) || !slices.Equal(rows, want) {
			t.Errorf("found are %v, rows %v, want %v", pos, rows, want)
		}
		v.SetNull(len(probe)-1, len(probe)) // the same with a bitmap
	}
}
