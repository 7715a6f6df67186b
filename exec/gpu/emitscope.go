package gpu

import "github.com/radish-sql/radish/sql/expr"

// scope is what is known at a place of a kernel's text: the columns' values, and the expressions that were computed. It is the
// scope of a C++ block: what was computed inside a block is not known behind it, so a block gets a scope of its own (nested).
type scope struct {
	up   *scope
	cols map[expr.ColumnID]*binding // nil: none yet
	done []computed
}

// binding is how a column's value is had.
type binding struct {
	value value
	load  loader // nil: value is ready
	like  value  // of a loader: class, type and dictionary of what it gives; text is empty, null not if it can be NULL
}

// loader writes what reads a column's value and returns it. It is called where the column is used first, perhaps once in each of
// several blocks.
type loader func() (value, error)

type computed struct {
	e expr.Expr
	v value
}

func newScope() *scope { return &scope{} }

// nested returns the scope of a block inside.
func (s *scope) nested() *scope { return &scope{up: s} }

// bind says that a column's value is at hand.
func (s *scope) bind(id expr.ColumnID, v value) { s.set(id, &binding{value: v}) }

func (s *scope) set(id expr.ColumnID, b *binding) {
	if s.cols == nil {
		s.cols = map[expr.ColumnID]*binding{}
	}
	s.cols[id] = b
}

// bindLazy says how to get a column's value where it is needed. like tells the class, type and dictionary of what load will give, and
// whether it can be NULL (null is not empty).
func (s *scope) bindLazy(id expr.ColumnID, like value, load loader) {
	s.set(id, &binding{load: load, like: like})
}

// find returns a column's binding.
func (s *scope) find(id expr.ColumnID) (*binding, bool) {
	for ; s != nil; s = s.up {
		if b, ok := s.cols[id]; ok {
			return b, true
		}
	}
	return nil, false
}

// column returns a column's value, loading it if need be; from then on it is known in s.
func (s *scope) column(c *expr.Column) (value, error) {
	b, ok := s.find(c.ID)
	if !ok {
		return value{}, refuse("column %s is not at hand on the device", c)
	}
	if b.load == nil {
		return b.value, nil
	}
	v, err := b.load()
	if err != nil {
		return value{}, err
	}
	s.bind(c.ID, v)
	return v, nil
}

// known returns the value of an expression that was computed before.
func (s *scope) known(e expr.Expr) (value, bool) {
	for ; s != nil; s = s.up {
		for _, d := range s.done {
			if d.e == e || d.e.Type() == e.Type() && expr.Equal(d.e, e) {
				return d.v, true
			}
		}
	}
	return value{}, false
}

// remember says that an expression has been computed.
func (s *scope) remember(e expr.Expr, v value) { s.done = append(s.done, computed{e, v}) }
