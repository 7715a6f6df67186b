package radish

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// FunctionOption is a property of a function that [DB.RegisterFunction] adds.
type FunctionOption func(*expr.Function)

// Volatile says that a function may give another result each time: it is called for each row, also with constant arguments.
func Volatile() FunctionOption { return func(f *expr.Function) { f.Volatile = true } }

var (
	errorType   = reflect.TypeFor[error]()
	contextType = reflect.TypeFor[context.Context]()
)

// signature is a Go function as SQL sees it.
type signature struct {
	call         reflect.Value
	takesContext bool // the first parameter is the statement's context
	params       []goType
	variadic     bool   // the last of params stands for any number
	result       goType // of functions that give one
	fails        bool   // an error is the last result
}

// signatureOf reads a Go function's type. skip parameters come before those of SQL.
func signatureOf(f reflect.Value, skip int) (s signature, err error) {
	if f.Kind() != reflect.Func || f.IsNil() {
		return s, fmt.Errorf("a function is needed")
	}
	t := f.Type()
	s.call = f
	if t.NumIn() > skip && t.In(skip) == contextType {
		s.takesContext = true
		skip++
	}
	for i := skip; i < t.NumIn(); i++ {
		in := t.In(i)
		if t.IsVariadic() && i == t.NumIn()-1 {
			in, s.variadic = in.Elem(), true
		}
		p, err := goTypeOf(in)
		if err != nil {
			return s, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		s.params = append(s.params, p)
	}
	if n := t.NumOut(); n > 0 && t.Out(n-1) == errorType {
		s.fails = true
	}
	return s, nil
}

// withResult reads the type of the one result.
func (s *signature) withResult() (err error) {
	t := s.call.Type()
	results := t.NumOut()
	if s.fails {
		results--
	}
	if results != 1 {
		return fmt.Errorf("the function has to return one value, or one and an error")
	}
	if s.result, err = goTypeOf(t.Out(0)); err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	if s.result.any() {
		return fmt.Errorf("the result has no SQL type of its own")
	}
	return nil
}

// param returns the type of the argument i.
func (s *signature) param(i int) goType { return s.params[min(i, len(s.params)-1)] }

// resolve chooses the SQL types of a call.
func (s *signature) resolve(args []expr.Expr) expr.Signature {
	sig := expr.Signature{Args: make([]types.Type, len(args)), Result: s.result.sql, Nullable: s.result.givesNull()}
	for i, a := range args {
		p := s.param(i)
		have := a.Type()
		switch {
		case p.any(), have.Kind == types.KindNull && p.sql.Kind == types.KindBool:
		case p.base == reflect.TypeFor[Decimal]() && have.Kind == types.KindDecimal:
		default:
			sig.Args[i] = p.sql
		}
	}
	return sig
}

// take runs a Go function; a panic in it is an error of the statement.
func (s *signature) take(name string, in []reflect.Value) (out []reflect.Value, err error) {
	defer panicsFail(name, &err)
	out = s.call.Call(in)
	if s.fails {
		if e, _ := out[len(out)-1].Interface().(error); e != nil {
			return nil, functionError(name, e)
		}
	}
	return out, nil
}

// functionError says that a function of the program failed.
func functionError(name string, err error) error {
	return sqlerr.New(sqlerr.CodeUnknownError, sqlerr.User, "function %s: %v", name, err).WithCause(err)
}

// RegisterFunction makes a Go function a scalar function of the database's SQL:
//
//	err := db.RegisterFunction("initials", func(name string) string { ... })
//
// A function that panics fails its statement. Every name can be used once, and not one that SQL has.
//
//   - Its parameters and its result are of the types that arguments of statements have. SQL converts arguments to them. A Decimal result is a DECIMAL(38,10).
//   - A context.Context may come first, an error last, and the last parameter may be variadic.
//   - If an argument is NULL whose parameter is no pointer (nor any) the function is not called and the result is NULL; a nil pointer as the result is NULL.
//   - It is called by several goroutines at once and must give the same result for the same arguments unless it is [Volatile].
func (db *DB) RegisterFunction(name string, function any, options ...FunctionOption) error {
	if err := db.alive(); err != nil {
		return err
	}
	s, err := signatureOf(reflect.ValueOf(function), 0)
	if err == nil {
		err = s.withResult()
	}
	if err != nil {
		return functionError(name, err)
	}
	fn := &expr.Function{
		Name: strings.ToLower(name), Category: "Functions of the program", Syntax: strings.ToUpper(name) + "(...)",
		MinArgs: len(s.params), MaxArgs: len(s.params), HasEffects: true, Nulls: expr.NullCustom,
		Resolve: func(args []expr.Expr) (expr.Signature, error) {
			sig := s.resolve(args)
			for i, a := range args {
				sig.Nullable = sig.Nullable || a.Nullable() && !s.param(i).takesNull()
			}
			return sig, nil
		},
		Eval: s.kernel(name),
	}
	if s.variadic {
		fn.MinArgs, fn.MaxArgs = len(s.params)-1, -1
	}
	for _, o := range options {
		o(fn)
	}
	return db.shared.AddScalar(fn)
}

// kernel computes the function over vectors.
func (s *signature) kernel(name string) expr.Kernel {
	return func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		in := make([]reflect.Value, 0, len(args)+1)
		rows := n
		if sel != nil {
			rows = len(sel)
		}
	each:
		for k := range rows {
			at := k
			if sel != nil {
				at = int(sel[k])
			}
			in = in[:0]
			if s.takesContext {
				in = append(in, reflect.ValueOf(c.Ctx))
			}
			for i, a := range args {
				p := s.param(i)
				if (a.Type.Kind == types.KindNull || a.IsNull(at)) && !p.takesNull() {
					out.SetNull(at, n)
					continue each
				}
				v, err := p.value(a, at, c.Location)
				if err != nil {
					return functionError(name, err)
				}
				if !v.IsValid() {
					v = reflect.Zero(p.goType)
				}
				in = append(in, v)
			}
			res, err := s.take(name, in)
			if err != nil {
				return err
			}
			if err := s.result.store(out, at, n, res[0], c.Location); err != nil {
				return functionError(name, err)
			}
			if k&255 == 255 && c.Ctx != nil {
				if err := c.Ctx.Err(); err != nil {
					return sqlerr.Interrupted(err)
				}
			}
		}
		return nil
	}
}
