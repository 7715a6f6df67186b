package distribute

import (
	"slices"
	"strconv"

	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// home says that rows which agree in some columns are at one place, and at which.
type home struct {
	// cols has, for each value that the place follows from, the columns of the stream that hold it.
	cols [][]expr.ColumnID
	by   owners
}

// owners is a function from values to places; equal ones are the same function.
type owners struct {
	hash    string   // of values of these forms, in this order; empty: by slices
	slices  *slicing // of a table by a column that ascends in it
	ordinal int
	isFixed bool // what runs the plan knows the function, and no exchange can follow it: other rows cannot be moved to these owners
}

// hashOf is what a value of a type adds to the function that Repartition uses.
func hashOf(t types.Type) string {
	form := strconv.Itoa(int(t.Phys()))
	if t.Kind == types.KindDecimal {
		form += "." + strconv.Itoa(int(t.Scale))
	}
	return form + " "
}

// project returns the homes behind a projection.
func project(homes []home, t *physical.Project) []home {
	return mapHomes(homes, func(id expr.ColumnID) (out []expr.ColumnID) {
		if slices.Contains(t.Keep, id) {
			out = append(out, id)
		}
		for _, it := range t.Items {
			if c, ok := it.Expr.(*expr.Column); ok && c.ID == id && it.Col.ID != id && slices.Contains(t.Keep, it.Col.ID) {
				out = append(out, it.Col.ID)
			}
		}
		return out
	})
}

// keep returns the homes of which columns are left.
func keep(homes []home, ids []expr.ColumnID) []home {
	return mapHomes(homes, func(id expr.ColumnID) []expr.ColumnID {
		if slices.Contains(ids, id) {
			return []expr.ColumnID{id}
		}
		return nil
	})
}

// mapHomes replaces columns by those that hold the same values elsewhere. A home without a column for one of its values is dropped.
func mapHomes(homes []home, to func(expr.ColumnID) []expr.ColumnID) (out []home) {
next:
	for _, h := range homes {
		x := home{by: h.by}
		for _, same := range h.cols {
			var cols []expr.ColumnID
			for _, id := range same {
				cols = append(cols, to(id)...)
			}
			if len(cols) == 0 {
				continue next
			}
			x.cols = append(x.cols, cols)
		}
		out = append(out, x)
	}
	return out
}

// shared returns the homes that rows of all streams have, in the columns that all of them have.
func shared(all []*stream) (out []home) {
	for _, h := range all[0].homes {
		h.cols = slices.Clone(h.cols)
		ok := true
		for _, s := range all[1:] {
			i := slices.IndexFunc(s.homes, func(o home) bool { return o.by == h.by })
			if ok = i >= 0; !ok {
				break
			}
			for at := range h.cols {
				h.cols[at] = slices.DeleteFunc(slices.Clone(h.cols[at]), func(id expr.ColumnID) bool { return !slices.Contains(s.homes[i].cols[at], id) })
				ok = ok && len(h.cols[at]) > 0
			}
		}
		if ok {
			out = append(out, h)
		}
	}
	return out
}
