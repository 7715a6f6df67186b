package groupby

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/types"
)

// What groups hold of the query's memory. While a table grows, it counts in its owner's account. Once no rows come to it any more it is
// settled: what it holds then, to the byte, is reserved, until its groups have become groups of another table, or rows.

func (a *Sink) account() memory.Account {
	return memory.Account{Budget: a.q.Memory, Operator: "aggregation"}
}

// bytes returns the memory of the groups.
func (x *aggLocal) bytes() int64 {
	n := x.accBytes()
	if x.table != nil {
		n += x.table.Bytes()
	}
	if b := x.ungrouped.block; b != nil {
		n += b.bytes()
	}
	return n
}

func (x *aggLocal) accBytes() (n int64) {
	for _, acc := range x.accs {
		n += acc.Bytes()
	}
	return n
}

// charge counts the memory of groups that grow.
func (x *aggLocal) charge() error {
	if n := x.bytes(); n > x.mem.Used() {
		return x.mem.Add(n - x.mem.Used())
	}
	return nil
}

// seal settles x, whose groups are read from now on and not looked up.
func (x *aggLocal) seal() error {
	if x.table != nil {
		x.table.Seal()
	}
	return x.settle()
}

// settle makes what is reserved for x what it holds.
func (x *aggLocal) settle() error {
	n := x.bytes()
	if n <= x.held {
		x.mem.Close()
		x.release(n)
		return nil
	}
	if err := x.mem.Leave(n - x.held); err != nil {
		return err
	}
	x.held = n
	return nil
}

// release gives back all but kept bytes of what is reserved for x.
func (x *aggLocal) release(kept int64) {
	if x.held > kept {
		x.a.q.Memory.Release(x.held - kept)
		x.held = kept
	}
}

// keyStrings returns the bytes of strings that keys read from x share with it.
func (x *aggLocal) keyStrings() int64 {
	if x.table == nil {
		return 0
	}
	return x.table.Held
}

// outputTable is a table whose groups become rows, in several parts.
type outputTable struct {
	*aggLocal
	left atomic.Int32 // parts that are not rows yet
}

// partDone notes that a part of the table has become rows, which may share strings with it. With the last one the table goes.
func (t *outputTable) partDone() {
	if t.left.Add(-1) > 0 {
		return
	}
	kept := t.keyStrings()
	for _, out := range t.a.needs.Items {
		if out.Item.Col.Typ.Phys() == types.PhysString {
			kept += t.accBytes()
			break
		}
	}
	t.release(kept)
	t.table, t.accs = nil, nil
}

// vectorBytes returns the bytes of a column of n rows, without strings that it shares.
func vectorBytes(v *column.Vector, n int) int64 { return v.Width()*int64(n) + 8*int64(cap(v.Valid)) }
