package accumulate

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/planner/logical"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// Output says how an aggregate's value follows from accumulators.
type Output struct {
	Item  *logical.AggItem
	acc   int // the main accumulator
	count int // counts the values that are not NULL; -1: there is one for sure
}

// Values stores the aggregate's value of each group in v.
func (o *Output) Values(accs []Accumulator, groups []uint32, v *column.Vector) error {
	var count *Count
	if o.count >= 0 {
		c := accs[o.count]
		if d, ok := c.(*distinctValues); ok {
			c = d.inner
		}
		count = c.(*Count)
	}
	return accs[o.acc].values(o, groups, count, v)
}

// outOfRange is the error of an aggregate whose value its type does not hold. The column has the name of the aggregate in the statement,
// also where rules compute it in steps.
func (o *Output) outOfRange(typeName string) error {
	return sqlerr.DataOutOfRange(typeName, o.Item.Col.Name)
}
