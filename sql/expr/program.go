package expr

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Program is a compiled expression. It owns the vectors that it computes in and reuses them, so one Program serves one
// worker at a time: each worker takes a Clone.
type Program struct {
	set *ProgramSet
}

// ProgramSet is several expressions compiled together: what they have in common is computed once per batch.
type ProgramSet struct {
	exprs []Expr
	slots map[ColumnID]int
	roots []node
	none  []*column.Vector // results over an empty selection, once one has been met
	out   []*column.Vector
	frame frame
	root  selection

	nodes   int              // how many it has, until they are counted
	strings []*column.Vector // nodes' own, of strings
	held    int64            // bytes of the strings that it has made of its batch, for holder; see Context.hold
	holder  *Context
}

// Compile compiles e over batches whose columns lie in the slots that slots gives. A column without a slot and a
// Subquery, which the planner should have removed, are errors.
func Compile(e Expr, slots map[ColumnID]int) (*Program, error) {
	set, err := CompileAll([]Expr{e}, slots)
	if err != nil {
		return nil, err
	}
	return &Program{set}, nil
}

// CompileAll compiles expressions that are evaluated together. Equal subexpressions are computed once per batch.
func CompileAll(exprs []Expr, slots map[ColumnID]int) (*ProgramSet, error) {
	c := compiler{slots: slots, interned: map[string]*shared{}}
	return c.compileAll(exprs)
}

func (c *compiler) compileAll(exprs []Expr) (*ProgramSet, error) {
	p := &ProgramSet{exprs: exprs, slots: c.slots}
	for _, e := range exprs {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		p.roots = append(p.roots, n)
	}
	c.finish()
	p.nodes = len(c.all)
	for _, s := range c.all {
		if n, ok := s.node.(interface{ result() *column.Vector }); ok {
			if v := n.result(); v != nil && v.Type.Phys() == types.PhysString {
				p.strings = append(p.strings, v)
			}
		}
	}
	for i, r := range p.roots {
		p.roots[i] = unshare(r)
	}
	p.out = make([]*column.Vector, len(exprs))
	return p, nil
}

// Clone returns a ProgramSet for another worker.
func (p *ProgramSet) Clone() *ProgramSet {
	c, err := CompileAll(p.exprs, p.slots)
	if err != nil {
		panic(sqlerr.Bug("a compiled expression does not compile again: %v", err))
	}
	return c
}

// Type returns the type of the result.
func (p *Program) Type() types.Type { return p.set.exprs[0].Type() }

// Eval computes the expression at the selected positions of b. The result is aligned with b's positions, may be flat,
// constant or dictionary-coded, may be one of b's own vectors, and lives until the next call.
func (p *Program) Eval(ctx *Context, b *column.Batch) (*column.Vector, error) {
	out, err := p.set.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Select appends to out the selected positions of b at which the condition is TRUE, in ascending order. The condition
// is of type BOOL. out must not be b.Sel's memory.
func (p *Program) Select(ctx *Context, b *column.Batch, out []int32) ([]int32, error) {
	s := p.set
	if b.Rows() == 0 {
		return out, nil
	}
	if err := s.start(ctx, b); err != nil {
		return nil, err
	}
	return s.roots[0].choose(&s.frame, &s.root, true, out)
}

// Eval computes all expressions; the slice and the vectors live until the next call. See [Program.Eval].
func (p *ProgramSet) Eval(ctx *Context, b *column.Batch) ([]*column.Vector, error) {
	if b.Rows() == 0 {
		for _, e := range p.exprs[len(p.none):] {
			p.none = append(p.none, column.ConstVector(types.NullOf(e.Type())))
		}
		copy(p.out, p.none)
		return p.out, nil
	}
	if err := p.start(ctx, b); err != nil {
		return nil, err
	}
	for i, r := range p.roots {
		v, err := r.eval(&p.frame, &p.root)
		if err != nil {
			return nil, err
		}
		p.out[i] = v
	}
	return p.out, nil
}

// nodeBytes is about what a node takes before it computes anything.
const nodeBytes = 1 << 10

// letGo forgets the strings that p has made and the batch that it had. It can compute again.
func (p *ProgramSet) letGo() {
	for _, v := range p.strings {
		v.LetGo()
	}
	clear(p.out)
	p.frame.batch = nil
}

func (p *ProgramSet) start(ctx *Context, b *column.Batch) error {
	for _, v := range p.strings {
		v.LetGo()
	}
	ctx.begin(p)
	p.frame.ctx, p.frame.batch = ctx, b
	p.root = selection{pos: b.Sel, n: b.N, id: p.frame.nextID()}
	nodes := p.nodes
	p.nodes = 0
	return ctx.grow(nodes * nodeBytes)
}

// frame is what the nodes of a program share while a batch is evaluated.
type frame struct {
	ctx   *Context
	batch *column.Batch
	ids   uint64
	live  []int32 // positions that a node works on after it has evaluated its operands
}

// reserve is v.ReserveLoose(n), and counts the memory by which v has grown: a program keeps the vectors of its nodes.
func (f *frame) reserve(v *column.Vector, n int) error {
	before := v.Capacity()
	v.ReserveLoose(n)
	if grown := v.Capacity() - before; grown != 0 {
		return f.ctx.grow(grown + n/8) // with a validity bitmap, which most nodes keep
	}
	return nil
}

// keeps counts the memory that a node keeps beside its vector from batch to batch, bytes of it now. *counted of them count already.
func (f *frame) keeps(counted *int, bytes int) error {
	if bytes <= *counted {
		return nil
	}
	more := bytes - *counted
	*counted = bytes
	return f.ctx.grow(more)
}

// positionBytes is what a list of positions takes.
func positionBytes(lists ...[]int32) (bytes int) {
	for _, l := range lists {
		bytes += 4 * cap(l)
	}
	return bytes
}

func (f *frame) nextID() uint64 {
	f.ids++
	return f.ids
}

// selection is a set of positions at which a node is to be evaluated. Selections are derived from one another by
// narrowing; what was computed for one holds for all that derive from it.
type selection struct {
	pos []int32 // ascending; nil: all n
	n   int     // positions in each vector
	id  uint64  // no two selections of a program's life have the same
	up  *selection
}

// narrow returns the part of s at the given positions.
func (s *selection) narrow(f *frame, pos []int32) selection {
	return selection{pos: pos, n: s.n, id: f.nextID(), up: s}
}

func (s *selection) rows() int {
	if s.pos != nil {
		return len(s.pos)
	}
	return s.n
}

// positions returns the positions of s as a list.
func (s *selection) positions() []int32 { return Positions(s.pos, s.n) }

// within says whether s is, or derives from, the selection of that id.
func (s *selection) within(id uint64) bool {
	for ; s != nil; s = s.up {
		if s.id == id {
			return true
		}
	}
	return false
}

// ascending holds 0, 1, 2, ...: the positions of a batch without a selection.
var ascending = countUp(2 * column.VectorSize)

func countUp(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// Positions returns sel, or all of 0..n-1 for nil, so that code where speed does not matter has one loop to write.
func Positions(sel []int32, n int) []int32 {
	if sel != nil {
		return sel
	}
	if n <= len(ascending) {
		return ascending[:n]
	}
	return countUp(n)
}

// node is a compiled expression.
type node interface {
	// eval computes the value at the positions of s, of which there is at least one. The vector lives until the
	// node is evaluated again.
	eval(f *frame, s *selection) (*column.Vector, error)
	// choose appends to out the positions of s at which the value, a BOOL, is want; NULL is neither TRUE nor FALSE.
	choose(f *frame, s *selection, want bool, out []int32) ([]int32, error)
}

// chooseByValue is choose for nodes that have nothing better: it evaluates and looks.
func chooseByValue(n node, f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	v, err := n.eval(f, s)
	if err != nil {
		return nil, err
	}
	return chooseValues(v, s, want, out), nil
}

// chooseValues appends the positions of s at which v, a BOOL, is want.
func chooseValues(v *column.Vector, s *selection, want bool, out []int32) []int32 {
	if v.Const {
		if !v.IsNull(0) && (v.I64[0] != 0) == want {
			out = append(out, s.positions()...)
		}
		return out
	}
	op := EQ
	if want {
		op = NE
	}
	from := len(out)
	out = selectConst(op, v.I64, 0, s.pos, s.n, out)
	return dropNulls(out, from, v)
}

// dropNulls removes from out[from:] the positions at which v is NULL.
func dropNulls(out []int32, from int, v *column.Vector) []int32 {
	if v.Valid == nil || v.Const {
		return out
	}
	k := from
	for _, i := range out[from:] {
		out[k] = i
		k += int(v.Valid[i>>6] >> (uint(i) & 63) & 1)
	}
	return out[:k]
}

// shared is a node that several parents may have. It remembers for which selection its value was computed last.
type shared struct {
	node
	refs   int
	number int // of its compiler's nodes
	id     uint64
	v      *column.Vector
}

func (n *shared) eval(f *frame, s *selection) (*column.Vector, error) {
	if n.v != nil && s.within(n.id) {
		return n.v, nil
	}
	v, err := n.node.eval(f, s)
	if err != nil {
		n.v = nil
		return nil, err
	}
	n.v, n.id = v, s.id
	return v, nil
}

func (n *shared) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	if n.v != nil && s.within(n.id) {
		return chooseValues(n.v, s, want, out), nil
	}
	return n.node.choose(f, s, want, out)
}

// columnNode reads a column of the batch.
type columnNode struct{ slot int }

func (n *columnNode) eval(f *frame, _ *selection) (*column.Vector, error) {
	return f.batch.Cols[n.slot], nil
}

func (n *columnNode) choose(f *frame, s *selection, want bool, out []int32) ([]int32, error) {
	return chooseValues(f.batch.Cols[n.slot], s, want, out), nil
}

// constNode is a literal.
type constNode struct{ v *column.Vector }

func (n *constNode) eval(*frame, *selection) (*column.Vector, error) { return n.v, nil }

func (n *constNode) choose(_ *frame, s *selection, want bool, out []int32) ([]int32, error) {
	return chooseValues(n.v, s, want, out), nil
}
