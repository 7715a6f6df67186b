// Package udf holds the functions that a Go program adds to an engine: scalar, aggregate and table functions.
package udf

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/table"
)

// codeFunctionExists is MySQL's ER_SP_ALREADY_EXISTS.
const codeFunctionExists sqlerr.Code = 1304

// TableFunction makes the rows of a table function's call; zone is the session's.
type TableFunction func(ctx context.Context, zone *time.Location, args []types.Value) (*table.Version, error)

// Functions are the functions that a program has added to an engine. It is what the binder sees as expr.UserFunctions.
type Functions struct {
	mu         sync.RWMutex
	scalars    map[string]*expr.Function
	aggregates map[string][2]*expr.Function
	tables     map[string]TableFunction
}

// New returns no functions, to which some can be added.
func New() *Functions {
	return &Functions{scalars: map[string]*expr.Function{}, aggregates: map[string][2]*expr.Function{}, tables: map[string]TableFunction{}}
}

// Scalar implements [expr.UserFunctions].
func (a *Functions) Scalar(name string) *expr.Function {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.scalars[strings.ToLower(name)]
}

// Aggregate implements [expr.UserFunctions].
func (a *Functions) Aggregate(name string) (row, finish *expr.Function) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	halves := a.aggregates[strings.ToLower(name)]
	return halves[0], halves[1]
}

// Names implements [expr.UserFunctions].
func (a *Functions) Names() []string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	names := slices.Collect(maps.Keys(a.scalars))
	return slices.AppendSeq(names, maps.Keys(a.aggregates))
}

// Table returns the table function of a name; nil: there is none.
func (a *Functions) Table(name string) TableFunction {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.tables[strings.ToLower(name)]
}

var functionName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// add puts a function under a name that must be free, which put does.
func (a *Functions) add(name string, put func(name string)) error {
	lower := strings.ToLower(name)
	if !functionName.MatchString(lower) {
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "%q is not a valid name of a function", name).
			WithHint("a letter or _, then letters, digits and _")
	}
	if expr.Lookup(lower) != nil || expr.LookupAggregate(lower) != nil || expr.LookupWindow(lower) != nil {
		return sqlerr.New(codeFunctionExists, sqlerr.User, "%s is a function of SQL", strings.ToUpper(name))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.scalars[lower] != nil || a.aggregates[lower][0] != nil || a.tables[lower] != nil {
		return sqlerr.New(codeFunctionExists, sqlerr.User, "FUNCTION %s already exists", name)
	}
	put(lower)
	return nil
}

// callable returns an error for a name that the parser takes for something else than a function of the program's.
func callable(name string) error {
	if !functionName.MatchString(strings.ToLower(name)) {
		return nil // add refuses it
	}
	if stmt, err := parse.One("DO "+name+"(1)", parse.DefaultMode); err == nil {
		if do, ok := stmt.Node.(*ast.DoStmt); ok && len(do.Exprs) == 1 {
			if call, ok := do.Exprs[0].(*ast.FuncCallExpr); ok && strings.EqualFold(call.FnName.O, name) {
				return nil
			}
		}
	}
	return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "%q is a word of SQL that cannot be called", name).WithHint("give the function another name")
}

// AddScalar makes a function callable. The name must be free.
func (a *Functions) AddScalar(fn *expr.Function) error {
	if err := callable(fn.Name); err != nil {
		return err
	}
	return a.add(fn.Name, func(name string) { a.scalars[name] = fn })
}

// AddAggregate makes an aggregate function callable; see expr.UserFunctions.
func (a *Functions) AddAggregate(name string, row, finish *expr.Function) error {
	if err := callable(name); err != nil {
		return err
	}
	return a.add(name, func(name string) { a.aggregates[name] = [2]*expr.Function{row, finish} })
}

// AddTable makes a table function callable in FROM: `name(1, 'x')`, in backticks.
func (a *Functions) AddTable(name string, f TableFunction) error {
	return a.add(name, func(name string) { a.tables[name] = f })
}
