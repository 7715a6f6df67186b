package memory

import (
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/memory"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// functionWalk calls every function of the registry with a long string as each of its operands in turn. A function that is added later is
// covered without being named here.
type functionWalk struct {
	ctx     *expr.Context
	budget  *memory.Budget
	batch   column.Batch
	columns []expr.Expr // of batch: the long operands
	slots   map[expr.ColumnID]int
}

// otherOperands stand beside the long one: a number, a length that results grow to, a string that is a number, and a path.
var otherOperands = []types.Value{types.IntValue(1), types.IntValue(60_000_000), types.StringValue("1"), types.StringValue("$[last]")}

// units stand beside the long operand of functions that take nothing else.
var units = []types.Value{types.StringValue("DAY")}

// longOperands returns strings of about n bytes that functions take in different ways.
func longOperands(n int) []types.Value {
	of := func(unit string) string { return strings.Repeat(unit, n/len(unit)) }
	var packed strings.Builder
	long := of("\x00\x01\x00\x02")
	packed.Write(binary.LittleEndian.AppendUint32(nil, uint32(2*len(long))))
	w := zlib.NewWriter(&packed)
	for range 2 {
		_, _ = w.Write([]byte(long)) // a strings.Builder takes everything
	}
	_ = w.Close()
	blob := types.StringValue(long)
	blob.Type = types.Blob
	deflated := types.StringValue(packed.String())
	deflated.Type = types.Blob
	return []types.Value{
		types.StringValue(of("Ä wörd, ")), types.StringValue(of("12345678")), types.StringValue(`["` + of(`a","`) + `"]`),
		types.StringValue(`{"key": "` + of(`a\n`) + `"}`), types.StringValue(base64.StdEncoding.EncodeToString([]byte(of("bytes "))[:n*3/4])),
		types.StringValue(of("%M %r ")), blob, deflated,
	}
}

// walkFunctions runs the walk under the client's limit. It fails if there are functions that it cannot call.
func walkFunctions(ctx context.Context, c *memoryClient, bytes int) error {
	w := &functionWalk{budget: memory.NewBudget(c.limit), slots: map[expr.ColumnID]int{}}
	defer w.budget.LimitCollector()()
	w.batch = column.Batch{N: 1, FirstRow: 1}
	for i, v := range longOperands(bytes) {
		*c.own += int64(len(v.S))
		w.batch.Cols = append(w.batch.Cols, &column.Vector{Type: v.Type, Str: []string{v.S}})
		w.columns = append(w.columns, &expr.Column{ID: expr.ColumnID(i + 1), Name: fmt.Sprintf("long%d", i), Typ: v.Type})
		w.slots[expr.ColumnID(i+1)] = i
	}
	debug.FreeOSMemory() // what making the operands has left
	database.ResetPeakRSS()
	w.ctx = &expr.Context{Now: time.Unix(1_700_000_000, 0), Location: time.UTC, RandSeed: func() int64 { return 1 }}
	var never []string
	for _, fn := range expr.Functions() {
		if w.walk(ctx, fn, otherOperands) == 0 && w.walk(ctx, fn, units) == 0 && fn.MinArgs > 0 {
			never = append(never, fn.Name)
		}
	}
	if len(never) > 0 {
		return fmt.Errorf("functions that were not called: %s", strings.Join(never, ", "))
	}
	return nil
}

// walk returns how many calls of a function, with others beside the long operand, it has tried.
func (w *functionWalk) walk(ctx context.Context, fn *expr.Function, others []types.Value) (tried int) {
	most := fn.MaxArgs
	if most < 0 || most > fn.MinArgs+1 {
		most = fn.MinArgs + 1
	}
	for n := max(fn.MinArgs, 1); n <= most; n++ {
		beside := others
		if n == 1 {
			beside = beside[:1]
		}
		for at := range n {
			for i, long := range w.columns {
				for _, other := range beside {
					args := make([]expr.Expr, n)
					for i := range args {
						args[i] = &expr.Const{Value: other}
					}
					args[at] = long
					e, err := expr.NewCall(fn.Name, args...)
					if err != nil || tried > 0 && i > 0 && !slices.Contains(e.Children(), long) {
						continue // where it becomes a number or a time, one string is as good as another
					}
					if w.run(ctx, e) {
						tried++
					}
				}
			}
		}
	}
	return tried
}

// run evaluates an expression under the limit. Whatever error it gives, it has been called.
func (w *functionWalk) run(ctx context.Context, e expr.Expr) bool {
	p, err := expr.Compile(e, w.slots)
	if err != nil {
		return false
	}
	account := memory.Account{Budget: w.budget, Operator: "the values of expressions"}
	defer account.Close()
	own := *w.ctx
	var cancel context.CancelFunc
	own.Ctx, cancel = context.WithTimeout(ctx, time.Second) // of SLEEP
	defer cancel()
	own.Warnings = &sqlerr.Warnings{}
	_, _ = p.Eval(own.ForWorker(account.Set), &w.batch) // an error is as good as a value: what counts is the memory
	return true
}
