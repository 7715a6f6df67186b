package datetime

import (
	"strconv"
	"strings"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// Moments and time zones (Reference Manual 7.1.15, 14.7).

// momentFunctions convert between times and moments.
func momentFunctions() []*expr.Function {
	return []*expr.Function{
		{Name: "unix_timestamp", Category: category, Syntax: "UNIX_TIMESTAMP([t])", MaxArgs: 1,
			Doc:     "The seconds from 1970-01-01 00:00:00 UTC to t in the session's time zone, or to now; 0 before 1970 and after 3001-01-18.",
			Resolve: resolveUnixTimestamp, Eval: evalUnixTimestamp},
		{Name: "from_unixtime", Category: category, Syntax: "FROM_UNIXTIME(n [, format])", MinArgs: 1, MaxArgs: 2,
			Doc:     "The DATETIME, or a string by a format, n seconds after 1970-01-01 00:00:00 UTC, in the session's time zone; NULL if n is negative or after 3001-01-18.",
			Resolve: resolveFromUnixtime, Eval: evalFromUnixtime},
		{Name: "convert_tz", Category: category, Syntax: "CONVERT_TZ(t, from, to)", MinArgs: 3, MaxArgs: 3,
			Doc: "A DATETIME moved from one time zone to another: 'SYSTEM', an offset '+05:30' or a name 'Europe/Berlin' that the " +
				"operating system knows; NULL for others.",
			Resolve: resolveConvertTZ, Eval: evalConvertTZ},
	}
}

// maxUnixMicros is the last moment that MySQL's time functions convert since 8.0.28, 3001-01-18 23:59:59.999999 UTC.
const maxUnixMicros = 32536771199_999999

func zoneOf(c *expr.Context) *time.Location {
	if c.Location == nil {
		return time.UTC
	}
	return c.Location
}

func resolveUnixTimestamp(args []expr.Expr) (expr.Signature, error) {
	if len(args) == 0 {
		return expr.Signature{Result: types.Int64}, nil
	}
	sig := expr.Signature{Args: []types.Type{datetimeArg(args[0])}, Result: types.Int64}
	if args[0].Type().Kind == types.KindTimestamp {
		sig.Args[0] = types.Null // it is a moment already
	}
	if fsp := fspOf(args[0]); fsp > 0 {
		sig.Result = types.Decimal(11+fsp, fsp)
	}
	return sig, nil
}

func evalUnixTimestamp(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	if len(args) == 0 {
		out.I64[0] = c.Now.Unix()
		return nil
	}
	unit := types.Pow10(types.MaxFsp - expr.ScaleOf(out.Type))
	t, zone := expr.Ints(args[0]), zoneOf(c)
	for _, i := range expr.Positions(sel, n) {
		utc := t.At(int(i))
		if args[0].Type.Kind != types.KindTimestamp {
			utc = types.FromZone(utc, zone)
		}
		if utc < 0 || utc > maxUnixMicros {
			utc = 0
		}
		out.I64[i] = utc / unit
	}
	return nil
}

func resolveFromUnixtime(args []expr.Expr) (expr.Signature, error) {
	fsp := fspOf(args[0])
	if c, ok := args[0].(*expr.Const); ok && c.Value.Type.IsString() {
		fsp = types.MaxFsp
	}
	sig := expr.Signature{Args: []types.Type{secondsType}, Result: types.DatetimeFsp(fsp), Nullable: true}
	if len(args) == 2 {
		sig.Args = append(sig.Args, expr.CastToString(args[1]))
		sig.Result = formattedType(args[1])
	}
	return sig, nil
}

func evalFromUnixtime(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, zone := expr.Int128s(args[0]), zoneOf(c)
	for _, i := range expr.Positions(sel, n) {
		utc := secondsOf(s.At(int(i)))
		if utc < 0 || utc > maxUnixMicros {
			out.SetNull(int(i), n)
			continue
		}
		t := types.InZone(utc, zone)
		if len(args) == 1 {
			out.I64[i] = t
			continue
		}
		var err error
		format := args[1].StringAt(int(i))
		out.Str[i], err = c.MakeString(timesFormatted*len(format), func(b []byte) []byte { return types.AppendDateFormat(b, t, format) })
		if err != nil {
			return err
		}
	}
	return nil
}

func resolveConvertTZ(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{
		Args:   []types.Type{datetimeArg(args[0]), expr.CastToString(args[1]), expr.CastToString(args[2])},
		Result: types.DatetimeFsp(fspOf(args[0])), Nullable: true,
	}, nil
}

func evalConvertTZ(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	t, from, to := expr.Ints(args[0]), expr.Strings(args[1]), expr.Strings(args[2])
	zones := map[string]*time.Location{}
	zone := func(name string) *time.Location {
		z, ok := zones[name]
		if !ok {
			z = parseZone(name)
			zones[name] = z
		}
		return z
	}
	for _, i := range expr.Positions(sel, n) {
		a, b := zone(from.At(int(i))), zone(to.At(int(i)))
		if a == nil || b == nil {
			out.SetNull(int(i), n)
			continue
		}
		x := t.At(int(i))
		out.I64[i] = x
		if utc := types.FromZone(x, a); utc >= 0 && utc <= maxUnixMicros { // what TIMESTAMP cannot hold is not converted
			out.I64[i] = types.InZone(utc, b)
		}
	}
	return nil
}

// parseZone returns the time zone of a name or an offset between -13:59 and +14:00, or nil.
func parseZone(name string) *time.Location {
	if strings.EqualFold(name, "SYSTEM") {
		return time.Local
	}
	if name == "" || strings.EqualFold(name, "local") {
		return nil
	}
	if name[0] != '+' && name[0] != '-' {
		if z, err := time.LoadLocation(name); err == nil {
			return z
		}
		return nil
	}
	hour, minute, ok := strings.Cut(name[1:], ":")
	h, err1 := strconv.ParseUint(hour, 10, 8)
	m, err2 := strconv.ParseUint(minute, 10, 8)
	offset := int(h*60 + m)
	if !ok || err1 != nil || err2 != nil || len(hour) > 2 || len(minute) != 2 || m > 59 {
		return nil
	}
	if name[0] == '-' {
		offset = -offset
	}
	if offset < -(13*60+59) || offset > 14*60 {
		return nil
	}
	return time.FixedZone(name, offset*60)
}
