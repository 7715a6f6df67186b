package logical

import "github.com/radish-sql/radish/sql/expr"

// NewFilter puts conditions over n. It splits conjunctions, drops TRUE, and merges with a Filter that n is.
func NewFilter(n Node, preds ...expr.Expr) Node {
	var all []expr.Expr
	for _, p := range preds {
		all = expr.Conjuncts(all, p)
	}
	kept := all[:0]
	for _, p := range all {
		if c, ok := p.(*expr.Const); ok && !c.Value.Null && c.Value.I != 0 {
			continue
		}
		kept = append(kept, p)
	}
	if len(kept) == 0 {
		return n
	}
	if f, ok := n.(*Filter); ok {
		return &Filter{Input: f.Input, Preds: concat(f.Preds, kept)}
	}
	return &Filter{Input: n, Preds: kept}
}

// NewProject computes items over n, or returns n if it already gives exactly their columns.
func NewProject(n Node, items []Item) Node {
	schema := n.Schema()
	if len(schema) == len(items) {
		same := true
		for i, it := range items {
			c, ok := it.Expr.(*expr.Column)
			same = same && ok && c.ID == it.Col.ID && schema[i].ID == c.ID
		}
		if same {
			return n
		}
	}
	return &Project{Input: n, Items: items}
}

// Keep narrows n to cols, in their order.
func Keep(n Node, cols []*expr.Column) Node { return NewProject(n, PassItems(cols)) }

// PassItems returns the items that pass cols through.
func PassItems(cols []*expr.Column) []Item {
	items := make([]Item, len(cols))
	for i, c := range cols {
		items[i] = Item{c, c}
	}
	return items
}

// NewItem makes a column of e, under a fresh ID.
func NewItem(alloc *expr.Allocator, name string, e expr.Expr) Item {
	return Item{alloc.New("", name, e.Type(), e.Nullable()), e}
}

// OneRow is the relation of one row without columns: SELECT without FROM.
func OneRow() *Values { return &Values{Rows: [][]expr.Expr{{}}} }

// NoRows is the empty relation with the given columns.
func NoRows(cols []*expr.Column) *Values { return &Values{Cols: cols} }

// IsEmpty says whether n is a relation without rows, by its form.
func IsEmpty(n Node) bool {
	v, ok := n.(*Values)
	return ok && len(v.Rows) == 0
}

// FindColumn returns the column of n's schema called id, or nil.
func FindColumn(n Node, id expr.ColumnID) *expr.Column {
	for _, c := range n.Schema() {
		if c.ID == id {
			return c
		}
	}
	return nil
}
