package radish

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// RegisterAggregate makes an aggregate function of a Go type with two methods:
//
//	Step(arguments...) [error]     is given the rows of a group, one after the other
//	Done() result, or (result, error)
//
// newState is a func() T of such a type; each group gets a T of its own:
//
//	type product struct{ p float64 }
//	func (p *product) Step(x float64)  { p.p *= x }
//	func (p *product) Done() float64   { return p.p }
//	err := db.RegisterAggregate("product", func() *product { return &product{1} })
//
// Types are those of [DB.RegisterFunction]. Rows with a NULL for a parameter that is no pointer are left out. A group
// without rows gives what Done gives at once. The order of a group's rows is that of GROUP_CONCAT. A group's arguments are
// held, and counted, until its last row has been read. DISTINCT and OVER are for SQL's own aggregates.
func (db *DB) RegisterAggregate(name string, newState any) error {
	if err := db.alive(); err != nil {
		return err
	}
	step, done, err := stateMethods(newState)
	if err != nil {
		return functionError(name, err)
	}
	start := reflect.ValueOf(newState)
	row := &expr.Function{
		Name: strings.ToLower(name), MinArgs: len(step.params), MaxArgs: len(step.params), Nulls: expr.NullCustom, Volatile: true, HasEffects: true,
		Resolve: func(args []expr.Expr) (expr.Signature, error) {
			sig := step.resolve(args)
			sig.Result = types.Blob
			for i, a := range args {
				sig.Nullable = sig.Nullable || a.Nullable() && !step.param(i).takesNull()
			}
			return sig, nil
		},
		Eval: step.packRows,
	}
	finish := &expr.Function{
		Name: strings.ToLower(name), MinArgs: 1, MaxArgs: 1, Nulls: expr.NullCustom,
		Resolve: func(args []expr.Expr) (expr.Signature, error) {
			return expr.Signature{Args: []types.Type{{}}, Result: done.result.sql, Nullable: done.result.givesNull()}, nil
		},
		Eval: func(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
			rows := n
			if sel != nil {
				rows = len(sel)
			}
			for k := range rows {
				at := k
				if sel != nil {
					at = int(sel[k])
				}
				packed := ""
				if !args[0].IsNull(at) && args[0].Type.Kind != types.KindNull {
					packed = args[0].StringAt(at)
				}
				res, err := step.runGroup(c, name, start, packed)
				if err != nil {
					return err
				}
				if err := done.result.store(out, at, n, res, c.Location); err != nil {
					return functionError(name, err)
				}
			}
			return nil
		},
	}
	return db.shared.AddAggregate(name, row, finish)
}

// stateMethods reads the types of Step and Done.
func stateMethods(newState any) (step, done signature, err error) {
	t := reflect.TypeOf(newState)
	if t == nil || t.Kind() != reflect.Func || t.NumIn() != 0 || t.NumOut() != 1 || reflect.ValueOf(newState).IsNil() {
		return step, done, fmt.Errorf("newState has to be a func() T")
	}
	state := reflect.Zero(t.Out(0))
	if t.Out(0).Kind() == reflect.Pointer {
		state = reflect.New(t.Out(0).Elem())
	}
	method := func(m reflect.Value, name string) (s signature, err error) {
		if !m.IsValid() {
			return s, fmt.Errorf("%v has no method %s", t.Out(0), name)
		}
		s, err = signatureOf(m, 0)
		if err == nil && (s.takesContext || s.variadic) {
			err = fmt.Errorf("a context and variadic parameters are not for aggregates")
		}
		return s, err
	}
	if step, err = method(state.MethodByName("Step"), "Step"); err != nil {
		return step, done, fmt.Errorf("method Step: %w", err)
	}
	for _, p := range step.params {
		if p.any() {
			return step, done, fmt.Errorf("method Step: a parameter of type any is not for aggregates")
		}
	}
	if done, err = method(state.MethodByName("Done"), "Done"); err == nil {
		err = done.withResult()
	}
	if err != nil {
		return step, done, fmt.Errorf("method Done: %w", err)
	}
	return step, done, nil
}

// packRows writes the arguments of each row as a text of bytes, which [signature.runGroup] reads; those that Step is not to
// see give NULL, which GROUP_CONCAT skips.
func (s *signature) packRows(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	rows := n
	if sel != nil {
		rows = len(sel)
	}
	var buf []byte
each:
	for k := range rows {
		at := k
		if sel != nil {
			at = int(sel[k])
		}
		buf = append(buf[:0], 'r') // a row of a function without parameters is a text too
		for i, a := range args {
			if a.Type.Kind == types.KindNull || a.IsNull(at) {
				if !s.params[i].isPointer {
					out.SetNull(at, n)
					continue each
				}
				buf = append(buf, 0)
				continue
			}
			buf = packValue(append(buf, 1), a.Value(at))
		}
		out.Str[at] = string(buf)
	}
	return nil
}

// packValue appends a value that is not NULL.
func packValue(dst []byte, v types.Value) []byte {
	switch v.Type.Phys() {
	case types.PhysFloat64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F))
	case types.PhysInt128:
		dst = append(dst, v.Type.Precision, v.Type.Scale)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, v.D.Lo), uint64(v.D.Hi))
	case types.PhysString:
		return append(binary.AppendUvarint(dst, uint64(len(v.S))), v.S...)
	}
	if v.Type.Kind == types.KindDecimal { // in the wide form, so that one reader serves
		v.D, v.Type.Precision = types.Int128FromInt64(v.I), types.MaxDecimalPrecision
		return packValue(dst, v)
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v.I))
}

// unpackValue reads what packValue wrote of a value of type t.
func unpackValue(s string, t types.Type) (v types.Value, rest string) {
	word := func() uint64 {
		u := binary.LittleEndian.Uint64([]byte(s[:8]))
		s = s[8:]
		return u
	}
	v.Type = t
	switch {
	case t.Kind == types.KindDecimal:
		v.Type = types.Decimal(types.MaxDecimalPrecision, int(s[1]))
		s = s[2:]
		v.D.Lo = word()
		v.D.Hi = int64(word())
	case t.Phys() == types.PhysFloat64:
		v.F = math.Float64frombits(word())
	case t.Phys() == types.PhysString:
		n, size := binary.Uvarint([]byte(s[:min(len(s), binary.MaxVarintLen64)]))
		v.S, s = s[size:size+int(n)], s[size+int(n):]
	default:
		v.I = int64(word())
	}
	return v, s
}

// runGroup gives the rows of a group, one behind the other in packed, to a new state, and returns what it makes of them.
func (s *signature) runGroup(c *expr.Context, name string, newState reflect.Value, packed string) (res reflect.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = functionError(name, fmt.Errorf("panic: %v", r))
		}
	}()
	state := newState.Call(nil)[0]
	step := state.MethodByName("Step")
	in := make([]reflect.Value, len(s.params))
	one := column.New(types.Null, 1)
	for n := 0; packed != ""; n++ {
		if n&1023 == 1023 && c.Ctx != nil && c.Ctx.Err() != nil {
			return res, sqlerr.Interrupted(c.Ctx.Err())
		}
		packed = packed[1:]
		for i, p := range s.params {
			present := packed[0] == 1
			if packed = packed[1:]; !present {
				in[i] = reflect.Zero(p.goType)
				continue
			}
			var v types.Value
			v, packed = unpackValue(packed, p.sql)
			one.Type = v.Type
			one.Reserve(1)
			one.Set(0, 1, v)
			if in[i], err = p.value(one, 0, c.Location); err != nil {
				return res, functionError(name, err)
			}
		}
		out := step.Call(in)
		if s.fails {
			if e, _ := out[len(out)-1].Interface().(error); e != nil {
				return res, functionError(name, e)
			}
		}
	}
	out := state.MethodByName("Done").Call(nil)
	if len(out) == 2 {
		if e, _ := out[1].Interface().(error); e != nil {
			return res, functionError(name, e)
		}
	}
	return out[0], nil
}
