package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Backend runs plans.
type Backend interface {
	Name() string
	// Run returns the result's batches, in order.
	Run(ctx context.Context, plan *physical.Plan) ([]*column.Batch, error)
}

// Case is a plan over random tables.
type Case struct {
	Name string
	Plan func(g *Gen) *physical.Plan
	// Ordered says that the result's order has to be the reference's.
	Ordered bool
}

// Sizes are the table sizes of the cases: no row, one, a few, a vector and one more, a morsel and one more.
var Sizes = []int{0, 1, 3, 100, column.VectorSize, column.VectorSize + 1, 16*column.VectorSize + 1}

// Run runs all cases with each of the backends, which share what the reference gives. The largest tables take most of the time, for
// the reference above all, so each run takes other cases with them, as the seed says; short runs leave them out, and take one case in four with two vectors.
func Run(t *testing.T, seed uint64, backends ...Backend) {
	for k, c := range Cases() {
		for _, size := range Sizes {
			switch {
			case testing.Short() && (size == column.VectorSize || size > 4*column.VectorSize || size > column.VectorSize && (uint64(k)+seed)%4 != 0):
				continue
			case size > 4*column.VectorSize && (uint64(k)+seed)%64 != 0:
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", c.Name, size), func(t *testing.T) {
				s := seed + uint64(size)
				g := NewGen(rand.New(rand.NewPCG(s, 7)), size)
				plan := c.Plan(g)
				want, err := Reference(plan)
				for _, b := range backends {
					agree(t, b, c, plan, s, want, err)
				}
			})
		}
	}
}

// Check runs one plan and compares the result with the reference's.
func Check(t *testing.T, b Backend, c Case, plan *physical.Plan, seed uint64) {
	t.Helper()
	want, err := Reference(plan)
	agree(t, b, c, plan, seed, want, err)
}

// agree runs a plan and compares the result with the reference's, which it may put into another order.
func agree(t *testing.T, b Backend, c Case, plan *physical.Plan, seed uint64, want []row, wantErr error) {
	t.Helper()
	batches, err := b.Run(context.Background(), plan)
	if wantErr != nil || err != nil {
		if wantErr == nil || err == nil || code(wantErr) != code(err) {
			t.Fatalf("%s, %s, seed %d: error %v, want %v", b.Name(), c.Name, seed, err, wantErr)
		}
		return
	}
	var got []row
	for _, x := range batches {
		if x.Sel != nil {
			t.Fatalf("%s, %s: a result batch has a selection", b.Name(), c.Name)
		}
		if len(x.Cols) != len(plan.Cols) {
			t.Fatalf("%s, %s: %d columns, want %d", b.Name(), c.Name, len(x.Cols), len(plan.Cols))
		}
		for i := range x.N {
			y := make(row, len(x.Cols))
			for k, v := range x.Cols {
				y[k] = v.Value(i)
			}
			got = append(got, y)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s, %s, seed %d: %d rows, want %d", b.Name(), c.Name, seed, len(got), len(want))
	}
	if !c.Ordered {
		slices.SortFunc(got, compareRows)
		slices.SortFunc(want, compareRows)
	}
	for i := range got {
		for k := range got[i] {
			if !same(got[i][k], want[i][k]) {
				t.Fatalf("%s, %s, seed %d: row %d is %s, want %s", b.Name(), c.Name, seed, i, text(got[i]), text(want[i]))
			}
		}
	}
}

func code(err error) sqlerr.Code {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// compareRows orders rows by all columns, doubles last, so that rounding does not change the order.
func compareRows(a, b row) int {
	for _, float := range []bool{false, true} {
		for i := range a {
			if a[i].Type.IsFloat() == float {
				if c := compareNulls(a[i], b[i]); c != 0 {
					return c
				}
			}
		}
	}
	return 0
}

// same compares two values; doubles to nine digits.
func same(a, b types.Value) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if a.Type.Phys() != b.Type.Phys() {
		return false
	}
	if a.Type.IsFloat() {
		if !finite(a.F) || !finite(b.F) {
			return compare(a, b) == 0
		}
		return a.F == b.F || math.Abs(a.F-b.F) <= 1e-9*math.Max(math.Abs(a.F), math.Abs(b.F)) || math.Abs(a.F-b.F) < 1e-12
	}
	return compare(a, b) == 0
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func text(r row) string {
	var parts []string
	for _, v := range r {
		if v.Null {
			parts = append(parts, "NULL")
		} else {
			parts = append(parts, v.Text())
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
