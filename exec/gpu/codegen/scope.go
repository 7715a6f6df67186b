package codegen

import "github.com/radish-sql/radish/sql/expr"

// Scope is what is known at a position of a kernel's text: values of columns, and of expressions that were computed. It is the scope of a C++ block: what
// is computed inside a block is not known behind it, so each block has a scope of its own (Nested).
type Scope struct {
	up   *Scope
	cols map[expr.ColumnID]*binding // nil: none yet
	done []computed
}

// binding is how a column's value is had.
type binding struct {
	value Value
	load  loader // nil: value is ready
	like  Value  // of a loader: class, type and dictionary of what it gives; Text is empty, Null is not if it can be NULL
}

// loader writes what reads a column's value and returns it. It is called where the column is used first, perhaps once in each of
// several blocks.
type loader func() Value

type computed struct {
	e     expr.Expr
	v     Value
	until int // the condition behind which it is gone; 0: it stays
}

// NewScope returns a scope in which nothing is known.
func NewScope() *Scope { return &Scope{} }

// Nested returns the scope of a block inside.
func (s *Scope) Nested() *Scope { return &Scope{up: s} }

// Bind gives a column's value.
func (s *Scope) Bind(id expr.ColumnID, v Value) { s.set(id, &binding{value: v}) }

func (s *Scope) set(id expr.ColumnID, b *binding) {
	if s.cols == nil {
		s.cols = map[expr.ColumnID]*binding{}
	}
	s.cols[id] = b
}

// BindLazy says how to load a column's value where it is needed. like has the class, type and dictionary of what load will return; its Null is not
// empty if the value can be NULL.
func (s *Scope) BindLazy(id expr.ColumnID, like Value, load loader) {
	s.set(id, &binding{load: load, like: like})
}

// Alias makes a column's value known under another ID too. It returns false if there is no such column.
func (s *Scope) Alias(id, of expr.ColumnID) bool {
	b, ok := s.find(of)
	if !ok {
		return false
	}
	switch {
	case id == of:
	case b.load == nil:
		s.Bind(id, b.value)
	default:
		s.BindLazy(id, b.like, b.load)
	}
	return true
}

// find returns a column's binding.
func (s *Scope) find(id expr.ColumnID) (*binding, bool) {
	for ; s != nil; s = s.up {
		if b, ok := s.cols[id]; ok {
			return b, true
		}
	}
	return nil, false
}

// column returns a column's value, loading it if need be; from then on it is known in s.
func (t *Text) column(c *expr.Column, s *Scope) (Value, error) {
	b, ok := s.find(c.ID)
	if !ok {
		return Value{}, Refuse("column %s is not on the GPU", c)
	}
	if b.load == nil {
		return b.value, nil
	}
	t.values++
	v := b.load()
	s.Bind(c.ID, v)
	return v, nil
}

// known returns the value of an expression that was computed before, if it is still there in a condition.
func (s *Scope) known(e expr.Expr, condition int) (Value, bool) {
	for ; s != nil; s = s.up {
		for _, d := range s.done {
			if (d.until == 0 || d.until == condition) && (d.e == e || d.e.Type() == e.Type() && expr.Equal(d.e, e)) {
				return d.v, true
			}
		}
	}
	return Value{}, false
}

// remember says that an expression has been computed. Its value is gone behind a condition, or stays: until is 0.
func (s *Scope) remember(e expr.Expr, v Value, until int) {
	s.done = append(s.done, computed{e, v, until})
}

// strictEmitter writes a function that is NULL if an operand is. It gets the operands' values, of which none is always NULL, and where
// one is (a name, or empty). It returns the result, with a null of its own where there are further reasons for NULL.
type strictEmitter func(t *Text, c *expr.Call, args []Value, null string) (Value, error)
