package cpu

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/pipeline"
	"github.com/radish-sql/radish/exec/cpu/task"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/planner/physical"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/jsontable"
	"github.com/radish-sql/radish/sql/types"
)

// unnestOp gives each row with the rows that its document has. A document is in memory as a tree; its rows are made one by one and go on a batch at a time,
// however many they are.
type unnestOp struct {
	w      *task.Worker
	t      *physical.Unnest
	doc    *expr.Program
	carry  []int
	slots  []int                                    // of the columns that it makes
	late   func(b *column.Batch, sel []int32) error // see stage; nil: nothing is loaded here
	reader *jsontable.Reader
	memory documentMemory

	in   *column.Batch // that is read
	from []int32       // the row of in that each row of out comes from
	out  column.Batch
	vecs []column.Vector // of out, by slot
	next pipeline.Op
}

func newUnnest(w *task.Worker, t *physical.Unnest, at pipeline.Stage) (pipeline.Op, error) {
	l := at.Layout
	p, err := expr.Compile(t.Doc, l.Slots)
	if err != nil {
		return nil, err
	}
	o := &unnestOp{w: w, t: t, doc: p, carry: at.Carried(t.Cols...), late: at.Late, next: at.Next}
	if o.slots, err = l.SlotsOf(t.Cols); err != nil {
		return nil, err
	}
	o.memory = documentMemory{w: w, account: memory.Account{Budget: w.Query.Memory, Operator: "JSON_TABLE"}}
	o.reader = jsontable.NewReader(t.Table, &o.memory, w.Expr.Conversion(), t.Ordinals)
	o.out.Cols = make([]*column.Vector, len(l.Slots))
	o.vecs = make([]column.Vector, len(l.Slots))
	for i, s := range o.slots {
		o.vecs[s].Type = t.Cols[i].Typ
		o.out.Cols[s] = &o.vecs[s]
	}
	o.begin()
	return o, nil
}

func (o *unnestOp) Push(b *column.Batch) (err error) {
	docs, err := o.doc.Eval(o.w.Expr, b)
	if err != nil {
		return err
	}
	if o.late != nil {
		if err := o.late(b, b.Sel); err != nil {
			return err
		}
	}
	sel := b.Sel
	if sel == nil {
		sel = vec.Ascending(b.N)
	}
	o.in = b
	defer func() { // on an error, too, nothing of it is needed any more
		o.in, o.from = nil, o.from[:0]
		if e := o.memory.keep(0); err == nil {
			err = e
		}
	}()
	for _, p := range sel {
		if err := o.row(docs, p); err != nil {
			return err
		}
	}
	return o.flush(0)
}

// row gives a row of the input with those of its document.
func (o *unnestOp) row(docs *column.Vector, p int32) error {
	some := false
	if !docs.IsNull(int(p)) {
		before := o.memory.held
		doc, err := o.parse(docs.StringAt(int(p)))
		if err != nil {
			return err
		}
		tree := o.memory.held - before
		if some, err = o.reader.Each(doc, func() error { return o.emit(p, tree) }); err != nil {
			return err
		}
		if !some { // nothing of the document is in the batch
			if err := o.memory.keep(before); err != nil {
				return err
			}
		}
	}
	if !some && o.t.Outer {
		return o.emit(p, 0)
	}
	return nil
}

func (o *unnestOp) parse(text string) (*jsondoc.Value, error) {
	if o.t.Doc.Type().Kind == types.KindJSON {
		return jsondoc.Reread(&o.memory, text, "json_table", 1)
	}
	return jsondoc.Parse(&o.memory, text, "json_table", 1)
}

// batchBytes is about how much memory of finished documents and made strings the rows of a batch may need.
const batchBytes = 1 << 20

// emit adds the reader's row, which belongs to a row of the input, to the batch. tree is what its document holds.
func (o *unnestOp) emit(p int32, tree int64) error {
	at := len(o.from)
	for i, s := range o.slots {
		o.vecs[s].Set(at, column.VectorSize, o.reader.Row[o.t.Ordinals[i]])
	}
	o.from = append(o.from, p)
	if len(o.from) == column.VectorSize || o.memory.held-tree > batchBytes {
		return o.flush(tree)
	}
	return nil
}

// begin allocates memory for a batch.
func (o *unnestOp) begin() {
	for _, s := range o.slots {
		o.vecs[s].ReserveLoose(column.VectorSize)
	}
}

// flush hands the batch on. Of what is held only a tree, and the row that is being made, are needed then.
func (o *unnestOp) flush(tree int64) error {
	n := len(o.from)
	if n == 0 {
		return nil
	}
	if err := o.w.Check(); err != nil {
		return err
	}
	for _, s := range o.carry {
		if o.in.Cols[s] == nil {
			continue
		}
		vec.GatherVector(&o.vecs[s], o.in.Cols[s], o.from)
		o.out.Cols[s] = &o.vecs[s]
	}
	for _, s := range o.slots {
		if v := &o.vecs[s]; v.Valid != nil {
			v.Valid = v.Valid[:column.BitmapWords(n)]
		}
	}
	o.out.N, o.out.Sel = n, nil
	o.from = o.from[:0]
	if err := o.next.Push(&o.out); err != nil {
		return err
	}
	for _, s := range o.slots {
		o.vecs[s].LetGo()
	}
	o.begin()
	return o.memory.keep(tree + int64(o.reader.Made()))
}

// documentMemory counts what documents and the strings made of them hold. It is the statement for which they are read.
type documentMemory struct {
	w       *task.Worker
	account memory.Account
	held    int64
}

// countedBytes is how many bytes are counted together.
const countedBytes = 64 << 10

// Hold is part of jsondoc.Statement.
func (m *documentMemory) Hold(bytes int) error {
	m.held += int64(bytes)
	if d := m.held - m.account.Used(); d < countedBytes && d > -countedBytes {
		return nil
	}
	if err := m.account.Set(m.held); err != nil {
		return err
	}
	return m.w.Check()
}

// Interrupted is part of jsondoc.Statement.
func (m *documentMemory) Interrupted() error { return m.w.Check() }

// keep says how many bytes are still held.
func (m *documentMemory) keep(bytes int64) error {
	m.held = bytes
	if m.held == 0 {
		m.account.Close()
		return nil
	}
	return m.Hold(0)
}
