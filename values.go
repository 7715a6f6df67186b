package radish

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// bind converts arguments: those made by sql.Named become user variables, the others are returned.
func (c *Conn) bind(args []any) ([]types.Value, error) {
	values := make([]types.Value, 0, len(args))
	for i, a := range args {
		name := ""
		if named, ok := a.(sql.NamedArg); ok {
			name, a = named.Name, named.Value
		}
		v, err := c.argument(a)
		if err != nil {
			return nil, argumentError(i+1, name, err)
		}
		if name != "" {
			if err := c.session.SetUserVariable(name, v); err != nil {
				return nil, err
			}
		} else {
			values = append(values, v)
		}
	}
	return values, nil
}

// argument converts an argument to its SQL value. It asks for the memory of a long copy before it makes it; [Stmt.query] counts it while the statement runs.
func (c *Conn) argument(arg any) (types.Value, error) {
	bytes := 0
	switch x := arg.(type) {
	case []byte:
		bytes = len(x)
	case json.RawMessage:
		bytes = len(x)
	}
	if bytes >= leastHeld {
		release, err := c.session.HoldArguments(int64(bytes))
		if err != nil {
			return types.Value{}, err
		}
		defer release()
	}
	return sqlValue(arg, c.session.Location())
}

// copiedBytes returns the bytes of values that are copies of a program's, if they are many. Strings are the program's own.
func copiedBytes(values []types.Value) int64 {
	n := int64(0)
	for i := range values {
		if values[i].Type.Kind == types.Blob.Kind {
			n += int64(len(values[i].S))
		}
	}
	if n < leastHeld {
		return 0
	}
	return n
}

func argumentError(ordinal int, name string, err error) error {
	if errors.Is(err, sqlerr.Resource) {
		return err
	}
	what := fmt.Sprintf("argument %d", ordinal)
	if name != "" {
		what = "argument @" + name
	}
	return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "%s: %v", what, err).WithCause(err)
}

// sqlValue converts a Go value to SQL.
func sqlValue(arg any, zone *time.Location) (types.Value, error) {
	switch x := arg.(type) {
	case nil:
		return types.NullOf(types.Null), nil
	case types.Value:
		return x, nil
	case int64:
		return types.IntValue(x), nil
	case string:
		return types.StringValue(x), nil
	case float64:
		return types.FloatValue(x), nil
	case []byte:
		if x == nil {
			return types.NullOf(types.Null), nil
		}
		return types.Value{Type: types.Blob, S: string(x)}, nil
	case Decimal:
		return sqlDecimal(x), nil
	case json.RawMessage: // text, whose bytes MySQL's JSON takes
		if x == nil {
			return types.NullOf(types.Null), nil
		}
		return types.StringValue(string(x)), nil
	case time.Time:
		return timeValue(x, zone)
	case time.Duration:
		return durationValue(x)
	case driver.Valuer:
		if v := reflect.ValueOf(arg); v.Kind() == reflect.Pointer && v.IsNil() {
			return types.NullOf(types.Null), nil // as database/sql does for a Valuer with a value receiver
		}
		v, err := x.Value()
		if err != nil {
			return types.Value{}, err
		}
		if _, again := v.(driver.Valuer); again {
			return types.Value{}, fmt.Errorf("the Value method of %T returns another Valuer", arg)
		}
		return sqlValue(v, zone)
	}
	v := reflect.ValueOf(arg)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return types.NullOf(types.Null), nil
		}
		return sqlValue(v.Elem().Interface(), zone)
	case reflect.Bool:
		return types.BoolValue(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return types.IntValue(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		// As a literal: BIGINT where it fits, since arithmetic with UNSIGNED operands cannot go below zero.
		if u := v.Uint(); u > math.MaxInt64 {
			return types.UintValue(u), nil
		}
		return types.IntValue(int64(v.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return types.FloatValue(v.Float()), nil
	case reflect.String:
		return types.StringValue(v.String()), nil
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return sqlValue(v.Bytes(), zone)
		}
		return types.Value{}, fmt.Errorf("a value of type %T has no SQL type; a list takes a ? for each of its values: IN (?, ?, ?)", arg)
	}
	return types.Value{}, fmt.Errorf("a value of type %T has no SQL type", arg)
}

// timeValue returns what a clock in the zone shows at t.
func timeValue(t time.Time, zone *time.Location) (types.Value, error) {
	t = t.In(zone)
	y, m, d := t.Date()
	if y < 0 || y > 9999 {
		return types.Value{}, fmt.Errorf("the time %v is outside the years 0 to 9999", t)
	}
	days := types.DaysFromCivil(y, int(m), d)
	seconds := int64(t.Hour()*3600 + t.Minute()*60 + t.Second())
	micros := types.DatetimeOfDate(days) + seconds*types.MicrosPerSecond + int64(t.Nanosecond()/1000)
	fsp := 6
	if t.Nanosecond() < 1000 {
		fsp = 0
	}
	return types.Value{Type: types.DatetimeFsp(fsp), I: micros}, nil
}

func durationValue(d time.Duration) (types.Value, error) {
	micros := d.Microseconds()
	if micros < types.MinTime || micros > types.MaxTime {
		return types.Value{}, fmt.Errorf("the duration %v is outside TIME's range of 838:59:59", d)
	}
	return types.Value{Type: types.TimeFsp(6), I: micros}, nil
}

// goValue returns the value of a vector at a position as package documentation says. Strings are copied unless they
// belong to a dictionary: a vector's own lie in memory that ends with the query.
func goValue(v *column.Vector, i int, zone *time.Location) any {
	if v.Const {
		i = 0
	}
	if v.IsNull(i) || v.Type.Kind == types.KindNull {
		return nil
	}
	switch v.Type.Kind {
	case types.KindUint64:
		return uint64(v.I64[i])
	case types.KindFloat:
		return types.ShortestFloat(v.F64[i])
	case types.KindDouble:
		return v.F64[i]
	case types.KindDecimal:
		if v.Type.Phys() == types.PhysInt128 {
			return types.FormatDecimal(v.I128[i], int(v.Type.Scale))
		}
		return types.FormatShortDecimal(v.I64[i], int(v.Type.Scale))
	case types.KindDate:
		y, m, d := types.CivilFromDays(v.I64[i])
		return time.Date(y, time.Month(m), d, 0, 0, 0, 0, zone)
	case types.KindDatetime:
		if zone == time.UTC {
			return time.UnixMicro(v.I64[i]).UTC()
		}
		return time.UnixMicro(types.FromZone(v.I64[i], zone)).In(zone)
	case types.KindTimestamp:
		return time.UnixMicro(v.I64[i]).In(zone)
	case types.KindTime:
		return types.FormatTime(v.I64[i], int(v.Type.Scale))
	case types.KindEnum:
		return v.Type.EnumName(v.I64[i])
	}
	if !v.Type.IsString() {
		return v.I64[i]
	}
	s := v.StringAt(i)
	if v.Type.IsBinaryString() || v.Type.Kind == types.KindJSON {
		return []byte(s)
	}
	if v.Dict != nil {
		return s
	}
	return strings.Clone(s)
}
