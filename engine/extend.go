package engine

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/exec/memory"
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

// added are the functions that a program has added to an engine. It is what the binder sees as expr.UserFunctions.
type added struct {
	mu         sync.RWMutex
	scalars    map[string]*expr.Function
	aggregates map[string][2]*expr.Function
	tables     map[string]TableFunction
}

func (a *added) Scalar(name string) *expr.Function {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.scalars[strings.ToLower(name)]
}

func (a *added) Aggregate(name string) (row, finish *expr.Function) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	halves := a.aggregates[strings.ToLower(name)]
	return halves[0], halves[1]
}

func (a *added) Names() []string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	names := slices.Collect(maps.Keys(a.scalars))
	return slices.AppendSeq(names, maps.Keys(a.aggregates))
}

func (a *added) table(name string) TableFunction {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.tables[strings.ToLower(name)]
}

var functionName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// add puts a function under a name that must be free, which put does.
func (a *added) add(name string, put func(name string)) error {
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

// AddScalar makes a function callable in the engine's SQL. The name must be free.
func (e *Engine) AddScalar(fn *expr.Function) error {
	if err := callable(fn.Name); err != nil {
		return err
	}
	return e.added.add(fn.Name, func(name string) { e.added.scalars[name] = fn })
}

// AddAggregate makes an aggregate function callable in the engine's SQL; see expr.UserFunctions.
func (e *Engine) AddAggregate(name string, row, finish *expr.Function) error {
	if err := callable(name); err != nil {
		return err
	}
	return e.added.add(name, func(name string) { e.added.aggregates[name] = [2]*expr.Function{row, finish} })
}

// AddTable makes a table function callable in FROM: `name(1, 'x')`, in backticks.
func (e *Engine) AddTable(name string, f TableFunction) error {
	return e.added.add(name, func(name string) { e.added.tables[name] = f })
}

// givenKey is the context's key of the tables that a statement is given.
type givenKey struct{}

// WithTable returns a context whose statements find a table under a name in backticks.
func WithTable(parent context.Context, name string, v *table.Version) context.Context {
	return context.WithValue(parent, givenKey{}, givenTable{name, v})
}

type givenTable struct {
	name string
	v    *table.Version
}

// made returns the table of a name in FROM that is one given to the statement or the call of a table function; ok is false if it is
// neither.
func (c *catalogView) made(name string) (v *table.Version, ok bool, err error) {
	if given, _ := c.statement.ctx.Value(givenKey{}).(givenTable); given.v != nil && given.name == name {
		return given.v, true, nil
	}
	function, rest, found := strings.Cut(name, "(")
	f := c.session.engine.added.table(strings.TrimSpace(function))
	if !found || f == nil {
		return nil, false, nil
	}
	list, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !closed {
		return nil, true, sqlerr.New(sqlerr.CodeParseError, sqlerr.User, "the call %s has no closing parenthesis", name)
	}
	if err := c.statement.effects(); err != nil {
		return nil, true, err
	}
	args, err := c.session.evaluateList(c.statement, list)
	if err != nil {
		return nil, true, err
	}
	held := &memory.Account{Budget: c.statement.memory(), Operator: "table function " + strings.TrimSpace(function)}
	if v, err = f(table.WithMeter(c.statement.ctx, held.Set), c.session.vars.location, args); err == nil {
		err = held.Set(v.Bytes())
	}
	if err != nil {
		held.Close()
		return nil, true, sqlerr.From(err)
	}
	c.statement.files.held = append(c.statement.files.held, held.Close)
	return v, true, nil
}

// evaluateList returns the values of a list of expressions without columns.
func (s *Session) evaluateList(st *statement, list string) (values []types.Value, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	stmt, err := parse.One("DO "+list, s.vars.parseMode)
	if err != nil {
		return nil, err
	}
	do, ok := stmt.Node.(*ast.DoStmt)
	if !ok {
		return nil, sqlerr.New(sqlerr.CodeParseError, sqlerr.User, "(%s) are no arguments of a function", list)
	}
	for _, e := range do.Exprs {
		v, err := s.evaluate(st, e)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}
