package accumulate

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// argExtreme is ARG_MIN and ARG_MAX: the value of the first argument where the second is extreme.
type argExtreme struct {
	isMax       bool
	shown, best keptValue
}

func newArgExtreme(isMax bool, shown, by types.Type) *argExtreme {
	return &argExtreme{isMax: isMax, shown: keptValue{typ: shown}, best: keptValue{typ: by}}
}

func (a *argExtreme) Grow(n int) {
	a.shown.Grow(n)
	a.best.Grow(n)
}

func (a *argExtreme) Bytes() int64 { return a.shown.Bytes() + a.best.Bytes() }

func (a *argExtreme) Update(groups []uint32, args []*column.Vector, sel []int32) error {
	g := uint32(0)
	for i, p := range sel {
		if groups != nil {
			g = groups[i]
		}
		if !args[0].IsNull(int(p)) && !args[1].IsNull(int(p)) {
			a.add(g, args[0], args[1], int(p))
		}
	}
	return nil
}

// add takes in a row that has both values.
func (a *argExtreme) add(g uint32, shown, by *column.Vector, p int) {
	if a.best.seen[g] {
		c := a.best.compare(g, by, p)
		if c == 0 || c < 0 != a.isMax {
			return
		}
	}
	a.best.put(g, by, p)
	a.shown.put(g, shown, p)
}

func (a *argExtreme) beginMerge(src Accumulator) {
	s := src.(*argExtreme)
	a.shown.beginMerge(&s.shown)
	a.best.beginMerge(&s.best)
}

func (a *argExtreme) Merge(dst []uint32, src Accumulator, from []uint32) error {
	s := src.(*argExtreme)
	shown, by := s.shown.vector(), s.best.vector()
	for i, g := range dst {
		if f := from[i]; s.best.seen[f] {
			a.add(g, shown, by, int(f))
		}
	}
	return nil
}

func (a *argExtreme) values(o *Output, groups []uint32, count *Count, v *column.Vector) error {
	return a.shown.values(o, groups, count, v)
}
