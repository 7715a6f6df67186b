package rowstore

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/exec/schedule"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// An operator that would have to keep more rows than 32 bits can number says which it is, and how large the rows are.
func TestTooManyRows(t *testing.T) {
	full := func(n int) *Store {
		s := &Store{Types: []types.Type{types.Int64, types.Text}, Mem: memory.Account{Operator: "join build"}}
		s.Begin(0)
		s.N = n
		return s
	}
	wrong := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, sqlerr.Resource) || !strings.Contains(err.Error(), "join build has to keep 2147483648 rows") ||
			!strings.Contains(err.Error(), "of 24 bytes each") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	vectors := []*column.Vector{column.New(types.Int64, 1), column.New(types.Text, 1)}
	wrong("append", full(math.MaxInt32+1).Append(vectors, nil, 1))
	_, _, err := Concat(&task.Query{State: &schedule.State{}}, []*Store{full(math.MaxInt32), full(1)}, full(0).Types)
	wrong("concat", err)
	if err := full(64).Append(vectors, nil, 1); err != nil {
		t.Errorf("a row that fits: %v", err)
	}
}
