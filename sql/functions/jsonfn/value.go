package jsonfn

import (
	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/jsondoc"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// JSON_VALUE (Reference Manual 14.17.3). Beside document and path it has operands that sql/parse makes of RETURNING, ON EMPTY and ON ERROR. The
// first is a NULL of the type. For each of the two others one says whether NULL, an error or the operand behind it comes instead of the value.

// valueFunctions is JSON_VALUE.
func valueFunctions() []*expr.Function {
	return []*expr.Function{{
		Name: "json_value", Category: category, MinArgs: 2, MaxArgs: 7, Nulls: expr.NullCustom,
		Syntax: "JSON_VALUE(doc, path [RETURNING type] [{NULL | ERROR | DEFAULT v} ON EMPTY] [{NULL | ERROR | DEFAULT v} ON ERROR])",
		Doc:    "The scalar that the path finds, as VARCHAR(512) or the type; NULL, an error or v if it finds none, or what is not of the type.",
		Resolve: func(args []expr.Expr) (expr.Signature, error) {
			sig := expr.Signature{Args: make([]types.Type, len(args)), Result: types.Varchar(512), Nullable: true}
			switch len(args) {
			case 2:
			case 7:
				sig.Result = args[2].Type()
				sig.Args[4], sig.Args[6] = sig.Result, sig.Result
			default:
				return sig, sqlerr.WrongParamCount("json_value")
			}
			return sig, nil
		},
		Eval: evalValue,
	}}
}

// MySQL's ER_INVALID_JSON_VALUE_FOR_CAST, ER_MISSING_JSON_VALUE and ER_MULTIPLE_JSON_VALUES.
const (
	codeJSONCast     sqlerr.Code = 3156
	codeJSONMissing  sqlerr.Code = 3966
	codeJSONMultiple sqlerr.Code = 3967
)

func evalValue(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	a := &operands{c: c, name: "json_value", values: make([]types.Value, 2), paths: map[string]jsondoc.Path{}}
	for _, i := range expr.Positions(sel, n) {
		for j := range a.values {
			a.values[j] = args[j].Value(int(i))
			a.values[j].Type, a.values[j].Null = args[j].Type, args[j].IsNull(int(i))
		}
		if a.null(0, 2) {
			out.SetNull(int(i), n)
			continue
		}
		var v types.Value
		var problem *sqlerr.Error
		clause := 3 // of ON EMPTY
		err := c.While(func() error {
			found, err := a.allAt(1)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				problem = sqlerr.New(codeJSONMissing, sqlerr.User, "No value was found by 'json_value' on the specified path.")
				return nil
			}
			clause = 5 // of ON ERROR
			if len(found) > 1 {
				problem = sqlerr.New(codeJSONMultiple, sqlerr.User, "More than one value was found by 'json_value' on the specified path.")
				return nil
			}
			v, problem = scalarOf(c, found[0], out.Type, int(i)+1)
			return nil
		})
		if err != nil {
			return err
		}
		if problem != nil {
			v = types.NullOf(out.Type)
			if len(args) == 7 {
				switch args[clause].Value(int(i)).I {
				case 1:
					return problem
				case 2:
					v = args[clause+1].Value(int(i))
					v.Null = args[clause+1].IsNull(int(i))
				}
			}
		}
		if v.Null {
			out.SetNull(int(i), n)
			continue
		}
		v.Type = out.Type
		out.Set(int(i), n, v)
		if err := c.Made(v.S); err != nil {
			return err
		}
	}
	return nil
}

// allAt returns all that the path in operand i finds in operand 0.
func (a *operands) allAt(i int) (found []*jsondoc.Value, err error) {
	if v, ok, err := a.forward(i); ok || err != nil {
		if v != nil {
			found = append(found, v)
		}
		return found, err
	}
	doc, err := a.doc(0)
	if err != nil {
		return nil, err
	}
	path, err := a.path(i)
	if err != nil {
		return nil, err
	}
	path.Seek(doc, func(v *jsondoc.Value) { found = append(found, v) })
	return found, nil
}

// scalarOf makes a JSON value one of an SQL type; JSON's null is NULL. Arrays and objects are of none but JSON.
func scalarOf(c *expr.Context, j *jsondoc.Value, to types.Type, row int) (types.Value, *sqlerr.Error) {
	if to.Kind == types.KindJSON {
		b := c.Builder()
		j.Write(b)
		s, err := c.Built(b)
		if err != nil {
			return types.NullOf(to), sqlerr.From(err)
		}
		return types.Value{Type: to, S: s}, nil
	}
	v, ok := j.Scalar(to)
	switch {
	case !ok:
		return v, notOfType(to, row)
	case v.Null:
		return v, nil
	}
	if v, status := c.Conversion().Store(v, to); status <= types.ConvertRounded {
		return v, nil
	}
	return v, notOfType(to, row)
}

func notOfType(to types.Type, row int) *sqlerr.Error {
	return sqlerr.New(codeJSONCast, sqlerr.User, "Invalid JSON value for CAST to %s from column json_value at row %d", to, row)
}
