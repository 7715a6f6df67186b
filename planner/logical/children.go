package logical

import "github.com/radish-sql/radish/sql/expr"

// Inputs, WithInputs, Exprs and WithExprs of each node. Both With methods return a new node, even for equal arguments.

func (*Scan) Inputs() []Node        { return nil }
func (*Values) Inputs() []Node      { return nil }
func (f *Filter) Inputs() []Node    { return []Node{f.Input} }
func (p *Project) Inputs() []Node   { return []Node{p.Input} }
func (j *Join) Inputs() []Node      { return []Node{j.Left, j.Right} }
func (a *Apply) Inputs() []Node     { return []Node{a.Left, a.Right} }
func (a *Aggregate) Inputs() []Node { return []Node{a.Input} }
func (s *Sort) Inputs() []Node      { return []Node{s.Input} }
func (l *Limit) Inputs() []Node     { return []Node{l.Input} }
func (s *SetOp) Inputs() []Node     { return s.All }
func (*Shared) Inputs() []Node      { return nil }

func (s *Scan) WithInputs([]Node) Node      { return s }
func (v *Values) WithInputs([]Node) Node    { return v }
func (f *Filter) WithInputs(in []Node) Node { return &Filter{Input: in[0], Preds: f.Preds} }
func (p *Project) WithInputs(in []Node) Node {
	return &Project{Input: in[0], Items: p.Items}
}
func (j *Join) WithInputs(in []Node) Node {
	return &Join{Kind: j.Kind, Left: in[0], Right: in[1], On: j.On, Corr: j.Corr, Mark: j.Mark, Hint: j.Hint}
}
func (a *Apply) WithInputs(in []Node) Node {
	return &Apply{Kind: a.Kind, Left: in[0], Right: in[1], On: a.On, Corr: a.Corr, Mark: a.Mark}
}
func (a *Aggregate) WithInputs(in []Node) Node {
	return &Aggregate{Input: in[0], Groups: a.Groups, Aggs: a.Aggs, Scalar: a.Scalar, Hint: a.Hint}
}
func (s *Sort) WithInputs(in []Node) Node {
	return &Sort{Input: in[0], Keys: s.Keys, Count: s.Count, Offset: s.Offset}
}
func (l *Limit) WithInputs(in []Node) Node {
	return &Limit{Input: in[0], Count: l.Count, Offset: l.Offset}
}
func (s *SetOp) WithInputs(in []Node) Node {
	return &SetOp{Kind: s.Kind, All: in, InCols: s.InCols, Cols: s.Cols}
}
func (s *Shared) WithInputs([]Node) Node { return s }

func (s *Scan) Exprs() []expr.Expr { return s.Filter }
func (v *Values) Exprs() []expr.Expr {
	if len(v.Cols) == 0 || len(v.Rows) == 0 {
		return nil
	}
	out := make([]expr.Expr, 0, len(v.Cols)*len(v.Rows))
	for _, row := range v.Rows {
		out = append(out, row...)
	}
	return out
}
func (f *Filter) Exprs() []expr.Expr { return f.Preds }
func (p *Project) Exprs() []expr.Expr {
	out := make([]expr.Expr, len(p.Items))
	for i := range p.Items {
		out[i] = p.Items[i].Expr
	}
	return out
}

// Exprs returns On, then Corr.
func (j *Join) Exprs() []expr.Expr { return concat(j.On, j.Corr) }

// Exprs returns On, then Corr.
func (a *Apply) Exprs() []expr.Expr { return concat(a.On, a.Corr) }

// Exprs returns the groups' expressions, then of each aggregate the arguments and the sort keys.
func (a *Aggregate) Exprs() []expr.Expr {
	out := make([]expr.Expr, 0, len(a.Groups)+2*len(a.Aggs))
	for i := range a.Groups {
		out = append(out, a.Groups[i].Expr)
	}
	for i := range a.Aggs {
		out = append(out, a.Aggs[i].Args...)
		for _, k := range a.Aggs[i].OrderBy {
			out = append(out, k.Expr)
		}
	}
	return out
}
func (s *Sort) Exprs() []expr.Expr {
	out := make([]expr.Expr, len(s.Keys))
	for i := range s.Keys {
		out[i] = s.Keys[i].Expr
	}
	return out
}
func (*Limit) Exprs() []expr.Expr  { return nil }
func (*SetOp) Exprs() []expr.Expr  { return nil }
func (*Shared) Exprs() []expr.Expr { return nil }

func (s *Scan) WithExprs(es []expr.Expr) Node {
	return &Scan{Table: s.Table, Alias: s.Alias, Cols: s.Cols, Ordinals: s.Ordinals, Filter: es}
}
func (v *Values) WithExprs(es []expr.Expr) Node {
	w := len(v.Cols)
	rows := make([][]expr.Expr, len(v.Rows))
	for i := range rows {
		rows[i] = es[i*w : (i+1)*w : (i+1)*w]
	}
	return &Values{Cols: v.Cols, Rows: rows, First: v.First}
}
func (f *Filter) WithExprs(es []expr.Expr) Node { return &Filter{Input: f.Input, Preds: es} }
func (p *Project) WithExprs(es []expr.Expr) Node {
	return &Project{Input: p.Input, Items: withItemExprs(p.Items, es)}
}
func (j *Join) WithExprs(es []expr.Expr) Node {
	on, corr := split(es, len(j.On))
	return &Join{Kind: j.Kind, Left: j.Left, Right: j.Right, On: on, Corr: corr, Mark: j.Mark, Hint: j.Hint}
}
func (a *Apply) WithExprs(es []expr.Expr) Node {
	on, corr := split(es, len(a.On))
	return &Apply{Kind: a.Kind, Left: a.Left, Right: a.Right, On: on, Corr: corr, Mark: a.Mark}
}
func (a *Aggregate) WithExprs(es []expr.Expr) Node {
	out := &Aggregate{Input: a.Input, Groups: withItemExprs(a.Groups, es), Scalar: a.Scalar, Hint: a.Hint}
	es = es[len(a.Groups):]
	out.Aggs = make([]AggItem, len(a.Aggs))
	for i, agg := range a.Aggs {
		n := len(agg.Args)
		agg.Args, es = es[:n:n], es[n:]
		agg.OrderBy, es = withKeyExprs(agg.OrderBy, es), es[len(agg.OrderBy):]
		out.Aggs[i] = agg
	}
	return out
}
func (s *Sort) WithExprs(es []expr.Expr) Node {
	return &Sort{Input: s.Input, Keys: withKeyExprs(s.Keys, es), Count: s.Count, Offset: s.Offset}
}
func (l *Limit) WithExprs([]expr.Expr) Node  { return l }
func (s *SetOp) WithExprs([]expr.Expr) Node  { return s }
func (s *Shared) WithExprs([]expr.Expr) Node { return s }

func concat(a, b []expr.Expr) []expr.Expr {
	if len(b) == 0 {
		return a
	}
	return append(a[:len(a):len(a)], b...)
}

// split cuts es after n elements; an empty second part is nil.
func split(es []expr.Expr, n int) (first, second []expr.Expr) {
	if len(es) == n {
		return es, nil
	}
	return es[:n:n], es[n:]
}

func withItemExprs(items []Item, es []expr.Expr) []Item {
	out := make([]Item, len(items))
	for i := range items {
		out[i] = Item{items[i].Col, es[i]}
	}
	return out
}

func withKeyExprs(keys []SortKey, es []expr.Expr) []SortKey {
	if keys == nil {
		return nil
	}
	out := make([]SortKey, len(keys))
	for i := range keys {
		out[i] = SortKey{es[i], keys[i].Desc}
	}
	return out
}
