package radish

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// goType is a Go type of a function's parameter, result or a row's field, and its SQL type.
type goType struct {
	goType    reflect.Type
	base      reflect.Type // what goType points to; goType if it is no pointer
	isPointer bool         // nil is NULL
	sql       types.Type   // NULL: any
}

// decimalResult is the type of Decimals that Go functions return: as many digits on both sides as fit.
var decimalResult = types.Decimal(types.MaxDecimalPrecision, 10)

// goTypeOf returns the SQL type of a Go type.
func goTypeOf(t reflect.Type) (goType, error) {
	g := goType{goType: t, base: t}
	if t.Kind() == reflect.Pointer {
		g.base, g.isPointer = t.Elem(), true
	}
	switch g.base {
	case reflect.TypeFor[time.Time]():
		g.sql = types.DatetimeFsp(6)
		return g, nil
	case reflect.TypeFor[time.Duration]():
		g.sql = types.TimeFsp(6)
		return g, nil
	case reflect.TypeFor[Decimal]():
		g.sql = decimalResult
		return g, nil
	}
	switch g.base.Kind() {
	case reflect.Bool:
		g.sql = types.Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		g.sql = types.Int64
	case reflect.Uint, reflect.Uint64:
		g.sql = types.Uint64
	case reflect.Float32, reflect.Float64:
		g.sql = types.Double
	case reflect.String:
		g.sql = types.Text
	case reflect.Slice:
		if g.base.Elem().Kind() == reflect.Uint8 {
			g.sql = types.Blob
			return g, nil
		}
		return g, fmt.Errorf("the Go type %v has no SQL type", t)
	case reflect.Interface:
		if !g.isPointer && t.NumMethod() == 0 {
			return g, nil // any: NULL's type, and nil is NULL
		}
		return g, fmt.Errorf("the Go type %v has no SQL type", t)
	default:
		return g, fmt.Errorf("the Go type %v has no SQL type", t)
	}
	return g, nil
}

// any says whether values of all types go into g.
func (g goType) any() bool { return g.sql.Kind == types.KindNull }

// takesNull says whether g has a value for NULL.
func (g goType) takesNull() bool { return g.isPointer || g.any() }

// givesNull says whether a g can be NULL where it is a result: a nil []byte is, too.
func (g goType) givesNull() bool { return g.isPointer || g.sql.Kind == types.KindBlob }

// value returns a vector's value at a position as a g.
func (g goType) value(v *column.Vector, at int, zone *time.Location) (reflect.Value, error) {
	if v.Const {
		at = 0
	}
	if v.Type.Kind == types.KindNull || v.IsNull(at) {
		return reflect.Zero(g.goType), nil
	}
	if g.any() {
		return reflect.ValueOf(goValue(v, at, zone)), nil
	}
	out := reflect.New(g.base).Elem()
	switch {
	case g.base == reflect.TypeFor[Decimal]():
		d := Decimal{scale: v.Type.Scale}
		if v.Type.Phys() == types.PhysInt128 {
			d.unscaled = v.I128[at]
		} else {
			d.unscaled = types.Int128FromInt64(v.I64[at])
		}
		out.Set(reflect.ValueOf(d))
	case g.base == reflect.TypeFor[time.Duration]():
		out.SetInt(v.I64[at] * int64(time.Microsecond))
	case g.base == reflect.TypeFor[time.Time]():
		out.Set(reflect.ValueOf(goValue(v, at, zone)))
	case g.base.Kind() == reflect.Bool:
		out.SetBool(v.I64[at] != 0)
	case out.CanInt():
		if out.OverflowInt(v.I64[at]) {
			return out, fmt.Errorf("%d does not fit %v", v.I64[at], g.base)
		}
		out.SetInt(v.I64[at])
	case out.CanUint():
		u := uint64(v.I64[at])
		if g.sql.Kind != types.KindUint64 && v.I64[at] < 0 || out.OverflowUint(u) {
			return out, fmt.Errorf("%d does not fit %v", v.I64[at], g.base)
		}
		out.SetUint(u)
	case out.CanFloat():
		out.SetFloat(v.F64[at])
	case g.base.Kind() == reflect.String:
		out.SetString(strings.Clone(v.StringAt(at)))
	default:
		out.SetBytes([]byte(v.StringAt(at)))
	}
	if g.isPointer {
		p := reflect.New(g.base)
		p.Elem().Set(out)
		return p, nil
	}
	return out, nil
}

// store puts a result of a Go function into a vector of g's SQL type.
func (g goType) store(out *column.Vector, at, n int, x reflect.Value, zone *time.Location) error {
	v, err := sqlValue(x.Interface(), zone)
	if err != nil {
		return err
	}
	if !v.Null && v.Type != out.Type {
		var status types.ConvertStatus
		if v, status = types.Cast(v, out.Type); status > types.ConvertRounded {
			return fmt.Errorf("the result %v is %v for %s", x.Interface(), status, out.Type)
		}
	}
	out.Set(at, n, v)
	return nil
}
