package miscellaneous

import (
	"math"
	"net/netip"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Network addresses and the forms of UUIDs (Reference Manual 14.23); character sets of expressions (14.15).

// addressFunctions convert network addresses.
func addressFunctions() []*expr.Function {
	binary16 := types.Type{Kind: types.KindVarbinary, Length: 16}
	return []*expr.Function{
		unary("inet_aton", "INET_ATON(s)", "The number of an IPv4 address; 'a.b' and 'a.b.c' leave out bytes before the last. NULL if it is none.",
			expr.Partial(expr.ResolveStringsTo(types.Uint64)), evalInetAton),
		unary("inet_ntoa", "INET_NTOA(n)", "The IPv4 address of a number.", resolveInetNtoa, evalInetNtoa),
		unary("inet6_aton", "INET6_ATON(s)", "The 4 or 16 bytes of an IPv4 or IPv6 address; NULL if it is none.", expr.Partial(expr.ResolveStringsTo(binary16)), expr.ShortStringKernel(inet6Aton)),
		unary("inet6_ntoa", "INET6_NTOA(b)", "The address of 4 or 16 bytes; NULL for other lengths.", expr.Partial(expr.ResolveStringsTo(types.Varchar(39))), expr.ShortStringKernel(inet6Ntoa)),
		test("is_ipv4", "IS_IPV4(s)", "Whether s is an IPv4 address.", func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() }),
		test("is_ipv6", "IS_IPV6(s)", "Whether s is an IPv6 address.", func(s string) bool {
			a, err := netip.ParseAddr(s)
			return err == nil && a.Is6() && a.Zone() == ""
		}),
	}
}

// wrongValue is MySQL's error 1411 for a string that a function cannot take.
func wrongValue(kind, value, function string) *sqlerr.Error {
	return sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "Incorrect %s value: '%s' for function %s", kind, value, function)
}

func evalInetAton(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		v, ok := inetAton(s.At(int(i)))
		out.I64[i] = v
		if ok {
			continue
		}
		if e := wrongValue("string", s.At(int(i)), "inet_aton"); c.Strict() {
			return e
		} else {
			c.Warnings.AddError(e)
		}
		out.SetNull(int(i), n)
	}
	return nil
}

// inetAton reads numbers up to 255 between dots; bytes that are missing are zeros before the last (127.1 is 127.0.0.1). As
// in MySQL a part may be empty, except the last, and there may be too many.
func inetAton(s string) (int64, bool) {
	if s == "" || s[len(s)-1] == '.' {
		return 0, false
	}
	v, part, dots := int64(0), int64(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if part = part*10 + int64(c-'0'); part > 255 {
				return 0, false
			}
		case c == '.':
			v, part = v<<8+part, 0
			dots++
		default:
			return 0, false
		}
	}
	if dots == 1 || dots == 2 {
		v <<= 8 * (3 - dots)
	}
	return v<<8 + part, true
}

func resolveInetNtoa([]expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{types.Int64}, Result: types.Varchar(15), Nullable: true}, nil
}

func evalInetNtoa(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	v := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		x := v.At(int(i))
		if x < 0 || x > math.MaxUint32 {
			out.SetNull(int(i), n)
			continue
		}
		out.Str[i] = netip.AddrFrom4([4]byte{byte(x >> 24), byte(x >> 16), byte(x >> 8), byte(x)}).String()
	}
	return nil
}

func inet6Aton(s string) (string, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return "", false
	}
	return string(a.AsSlice()), true
}

func inet6Ntoa(b string) (string, bool) {
	a, ok := netip.AddrFromSlice([]byte(b))
	return a.String(), ok
}
