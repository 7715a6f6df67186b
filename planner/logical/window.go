package logical

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/expr"
)

// Window computes window functions: it gives the rows of its input, each with the functions' values beside it. Rows that
// agree in Partition, NULLs being equal, are a partition; Order orders the rows of one, and those that it does not tell
// apart are peers. Its schema is the input's columns, then the functions'.
//
// Which of several peers comes first is not fixed, but it is the same for all functions of one node.
type Window struct {
	Input     Node
	Partition []expr.Expr
	Order     []SortKey
	Items     []WindowItem

	memo memo
}

// WindowItem is one function of a Window.
type WindowItem struct {
	Col   *expr.Column
	Fn    *expr.WindowFunction
	Args  []expr.Expr
	Frame Frame // of functions that are Framed
}

// FrameUnit is what a frame counts.
type FrameUnit uint8

// The units of frames.
const (
	FrameRows   FrameUnit = iota // rows
	FrameRange                   // differences of the order's only key
	FrameGroups                  // groups of peers
)

// BoundKind is a kind of frame bound.
type BoundKind uint8

// The kinds of bounds, in the order in which they may follow each other.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is where a frame begins or ends.
type FrameBound struct {
	Kind   BoundKind
	Offset int64 // of Preceding and Following, in rows or groups
	// Value, of Preceding and Following with FrameRange, is the frame's extreme value of [Frame.Key] for a row: its own key less
	// or more the offset, of Key's type. NULL stands for no limit.
	Value expr.Expr
	// Text is how the offset was written, for EXPLAIN.
	Text string
}

// Frame is the part of a partition that a function looks at, for each row: from Start to End, both included. CurrentRow means
// the row itself in FrameRows, else all of its peers. A row whose key is NULL has its peers within any offset.
type Frame struct {
	Unit       FrameUnit
	Start, End FrameBound
	Key        expr.Expr // what Values are compared with: the order's key; nil if there are none
	Desc       bool      // Key descends
	// Compared narrows a frame of all rows up to the current one: only those rows are in it whose value of Compared stands to the
	// current row's own as Op says, which is LT, LE, GT or GE. NULL stands so to nothing. Rules make such frames; SQL has none.
	Compared expr.Expr
	Op       expr.Op
}

// WholePartition is the frame that holds all of a partition.
var WholePartition = Frame{Unit: FrameRows, Start: FrameBound{Kind: UnboundedPreceding}, End: FrameBound{Kind: UnboundedFollowing}}

// exprs appends the frame's expressions to dst.
func (f *Frame) exprs(dst []expr.Expr) []expr.Expr {
	for _, e := range []expr.Expr{f.Key, f.Start.Value, f.End.Value, f.Compared} {
		if e != nil {
			dst = append(dst, e)
		}
	}
	return dst
}

// Exprs returns the frame's expressions: of Key, Start, End and Compared, those that there are.
func (f *Frame) Exprs() []expr.Expr { return f.exprs(nil) }

// WithExprs returns the frame with other expressions, in the order of Exprs.
func (f Frame) WithExprs(es []expr.Expr) Frame {
	for _, e := range []*expr.Expr{&f.Key, &f.Start.Value, &f.End.Value, &f.Compared} {
		if *e != nil {
			*e, es = es[0], es[1:]
		}
	}
	return f
}

// Equal says whether two frames are the same.
func (f *Frame) Equal(o *Frame) bool {
	same := func(a, b expr.Expr) bool { return a == nil && b == nil || a != nil && b != nil && expr.Equal(a, b) }
	return f.Unit == o.Unit && f.Start.Kind == o.Start.Kind && f.End.Kind == o.End.Kind &&
		f.Start.Offset == o.Start.Offset && f.End.Offset == o.End.Offset && f.Desc == o.Desc && f.Op == o.Op &&
		same(f.Key, o.Key) && same(f.Start.Value, o.Start.Value) && same(f.End.Value, o.End.Value) && same(f.Compared, o.Compared)
}

// String prints the frame as it is written in SQL, but nothing for that which holds the partition up to the row's peers, the default
// behind ORDER BY.
func (f *Frame) String() string {
	if f.Unit == FrameRange && f.Start.Kind == UnboundedPreceding && f.End.Kind == CurrentRow {
		return ""
	}
	if f.Start.Kind == UnboundedPreceding && f.End.Kind == UnboundedFollowing {
		return "over the partition"
	}
	unit := [...]string{"rows", "range", "groups"}[f.Unit]
	return unit + " between " + f.Start.String() + " and " + f.End.String()
}

func (b FrameBound) String() string {
	offset := b.Text
	if offset == "" {
		offset = strconv.FormatInt(b.Offset, 10)
	}
	switch b.Kind {
	case UnboundedPreceding:
		return "unbounded preceding"
	case Preceding:
		return offset + " preceding"
	case CurrentRow:
		return "current row"
	case Following:
		return offset + " following"
	}
	return "unbounded following"
}

// Inputs, WithInputs, Exprs, WithExprs, Schema, FreeColumns and Brief make Window a Node.

func (w *Window) Inputs() []Node { return []Node{w.Input} }
func (w *Window) WithInputs(in []Node) Node {
	return &Window{Input: in[0], Partition: w.Partition, Order: w.Order, Items: w.Items}
}

// Exprs returns the partition's expressions, the order's, then of each item the arguments and what its frame computes.
func (w *Window) Exprs() []expr.Expr {
	out := append([]expr.Expr(nil), w.Partition...)
	for _, k := range w.Order {
		out = append(out, k.Expr)
	}
	for i := range w.Items {
		out = append(out, w.Items[i].Args...)
		out = w.Items[i].Frame.exprs(out)
	}
	return out
}

func (w *Window) WithExprs(es []expr.Expr) Node {
	out := &Window{Input: w.Input, Items: make([]WindowItem, len(w.Items))}
	take := func(n int) []expr.Expr {
		part := es[:n:n]
		es = es[n:]
		return part
	}
	out.Partition = take(len(w.Partition))
	out.Order = withKeyExprs(w.Order, take(len(w.Order)))
	for i, it := range w.Items {
		it.Args = take(len(it.Args))
		it.Frame = it.Frame.WithExprs(take(len(it.Frame.exprs(nil))))
		out.Items[i] = it
	}
	return out
}

// Schema returns the input's columns, then the functions'.
func (w *Window) Schema() []*expr.Column {
	return w.memo.schemaOf(func() []*expr.Column {
		in := w.Input.Schema()
		out := append(make([]*expr.Column, 0, len(in)+len(w.Items)), in...)
		for i := range w.Items {
			out = append(out, w.Items[i].Col)
		}
		return out
	})
}

func (w *Window) FreeColumns() []expr.ColumnID { return freeOf(w, &w.memo) }
func (w *Window) Brief() string                { return describe(w, plain) }

func describeWindow(w *Window, m *namer) string {
	s := "Window"
	if len(w.Partition) > 0 {
		s += " PARTITION BY " + m.exprs(w.Partition, ", ")
	}
	if len(w.Order) > 0 {
		s += " ORDER BY " + m.keys(w.Order)
	}
	parts := make([]string, len(w.Items))
	for i := range w.Items {
		it := &w.Items[i]
		parts[i] = m.col(it.Col) + " := " + m.windowCall(it)
	}
	return s + ": " + strings.Join(parts, ", ")
}

// windowCall prints a function with its frame, without the window, which is the node's.
func (m *namer) windowCall(it *WindowItem) string {
	s := it.Fn.Name + "(" + m.exprs(it.Args, ", ") + ")"
	if it.Fn.Kind == expr.WinAggregate && it.Fn.Agg.Kind == expr.AggCountStar {
		s = "count(*)"
	}
	if it.Fn.Framed {
		if f := it.Frame.String(); f != "" {
			s += " " + f
		}
		if it.Frame.Compared != nil {
			own := m.expr(it.Frame.Compared)
			s += " where " + own + " " + it.Frame.Op.String() + " the row's " + own
		}
	}
	return s
}

// Call prints a function with its frame, without the window.
func (it *WindowItem) Call() string { return plain.windowCall(it) }

// window registers the columns that w makes and checks that its frames compare like with like.
func (c *checker) window(w *Window) error {
	for i := range w.Items {
		it := &w.Items[i]
		if err := c.make(it.Col); err != nil {
			return err
		}
		if f := &it.Frame; f.Compared != nil && (f.Unit != FrameRows || f.Start.Kind != UnboundedPreceding || f.End.Kind != CurrentRow) {
			return fmt.Errorf("a frame that compares values does not hold all rows up to the current one: %s", it.Call())
		}
		for _, v := range []expr.Expr{it.Frame.Start.Value, it.Frame.End.Value} {
			if v == nil {
				continue
			}
			if err := comparable(it.Frame.Key.Type(), v.Type()); err != nil {
				return err
			}
		}
	}
	return nil
}
