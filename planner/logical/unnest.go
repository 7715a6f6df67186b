package logical

import (
	"fmt"
	"strings"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsontable"
)

// Unnest gives the rows of its input, each as often as the document Doc of the row has rows by Table, and these rows' columns beside it: JSON_TABLE. A
// document that is NULL has no rows. With Outer an input row whose document has none comes once, with NULLs beside it.
type Unnest struct {
	Input    Node
	Doc      expr.Expr // over Input's columns
	Table    *jsontable.Table
	Cols     []*expr.Column // what it adds; all may be NULL
	Ordinals []int          // the column of Table that each is
	Outer    bool

	memo memo
}

func (u *Unnest) Inputs() []Node { return []Node{u.Input} }
func (u *Unnest) WithInputs(in []Node) Node {
	return &Unnest{Input: in[0], Doc: u.Doc, Table: u.Table, Cols: u.Cols, Ordinals: u.Ordinals, Outer: u.Outer}
}

// Exprs returns the document.
func (u *Unnest) Exprs() []expr.Expr { return []expr.Expr{u.Doc} }
func (u *Unnest) WithExprs(es []expr.Expr) Node {
	return &Unnest{Input: u.Input, Doc: es[0], Table: u.Table, Cols: u.Cols, Ordinals: u.Ordinals, Outer: u.Outer}
}

// Schema returns the input's columns, then those of the documents' rows.
func (u *Unnest) Schema() []*expr.Column {
	return u.memo.schemaOf(func() []*expr.Column {
		in := u.Input.Schema()
		return append(in[:len(in):len(in)], u.Cols...)
	})
}

func (u *Unnest) FreeColumns() []expr.ColumnID { return freeOf(u, &u.memo) }
func (u *Unnest) Brief() string                { return describe(u, plain) }

func describeUnnest(u *Unnest, m *namer) string {
	var b strings.Builder
	b.WriteString("Unnest ")
	if u.Outer {
		b.WriteString("outer ")
	}
	function := "JSON_TABLE"
	if u.Table.IsSeries {
		function = "GENERATE_SERIES"
	}
	fmt.Fprintf(&b, "%s [%s] := %s(%s, %s)", u.Table.Name, m.cols(u.Cols), function, m.expr(u.Doc), u.Table)
	return b.String()
}

func (c *checker) unnest(u *Unnest) error {
	if len(u.Cols) != len(u.Ordinals) {
		return fmt.Errorf("%d columns, %d ordinals", len(u.Cols), len(u.Ordinals))
	}
	for i, col := range u.Cols {
		if err := compatible(col, u.Table.Columns[u.Ordinals[i]].Type); err != nil {
			return err
		}
		if !col.Null {
			return fmt.Errorf("%s is NOT NULL", col)
		}
	}
	if t := u.Doc.Type(); !t.IsString() {
		return fmt.Errorf("a document of type %s", t)
	}
	return c.makeAll(u.Cols)
}
