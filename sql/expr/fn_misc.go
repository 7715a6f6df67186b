package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Network addresses and the forms of UUIDs (Reference Manual 14.23); character sets of expressions (14.15).

const miscCategory = "Miscellaneous functions"

func init() {
	fn := func(name, syntax, doc string, resolve func([]Expr) (Signature, error), eval Kernel) *Function {
		return &Function{Name: name, Category: miscCategory, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			ByDictionary: true, Resolve: resolve, Eval: eval}
	}
	test := func(name, syntax, doc string, is func(s string) bool) *Function {
		return fn(name, syntax, doc, resolveTextTo(types.Bool), textToInt(func(s string) int64 { return int64(b2i(is(s))) }))
	}
	const category = "Information functions"
	ofType := func(name, syntax, doc string, f func(t types.Type) string) *Function {
		return &Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1, Nulls: NullCustom,
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Varchar(64)}, nil },
			Eval: func(_ *Context, call *Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
				s := f(call.Args[0].Type())
				for _, i := range positions(sel, n) {
					out.Str[i] = s
				}
				return nil
			}}
	}
	binary16 := types.Type{Kind: types.KindVarbinary, Length: 16}
	swap := func(f *Function) *Function {
		f.MaxArgs = 2
		return f
	}
	register(
		fn("inet_aton", "INET_ATON(s)", "The number of an IPv4 address; 'a.b' and 'a.b.c' leave out bytes before the last. NULL if it is none.",
			partial(resolveTextTo(types.Uint64)), evalInetAton),
		fn("inet_ntoa", "INET_NTOA(n)", "The IPv4 address of a number.", resolveInetNtoa, evalInetNtoa),
		fn("inet6_aton", "INET6_ATON(s)", "The 4 or 16 bytes of an IPv4 or IPv6 address; NULL if it is none.", partial(resolveTextTo(binary16)), partialText(inet6Aton)),
		fn("inet6_ntoa", "INET6_NTOA(b)", "The address of 4 or 16 bytes; NULL for other lengths.", partial(resolveTextTo(types.Varchar(39))), partialText(inet6Ntoa)),
		test("is_ipv4", "IS_IPV4(s)", "Whether s is an IPv4 address.", func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() }),
		test("is_ipv6", "IS_IPV6(s)", "Whether s is an IPv6 address.", func(s string) bool {
			a, err := netip.ParseAddr(s)
			return err == nil && a.Is6() && a.Zone() == ""
		}),
		test("is_uuid", "IS_UUID(s)", "Whether s is a UUID, with dashes or without, in braces or not.", func(s string) bool { _, ok := parseUUID(s); return ok }),
		swap(fn("uuid_to_bin", "UUID_TO_BIN(s [, swap])", "The 16 bytes of a UUID; with swap the parts of its time in the order in which they grow.",
			resolveUUID(binary16), evalUUIDToBin)),
		swap(fn("bin_to_uuid", "BIN_TO_UUID(b [, swap])", "The UUID of 16 bytes.", resolveUUID(types.Varchar(36)), evalBinToUUID)),
		&Function{Name: "last_insert_id", Category: category, Syntax: "LAST_INSERT_ID([n])", MaxArgs: 1, Volatile: true,
			Doc: "The first AUTO_INCREMENT value that the session's last INSERT made; with n: n, which is then also what the next call gives.",
			Resolve: func(args []Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Uint64}[:len(args)], Result: types.Uint64}, nil
			},
			Eval: evalLastInsertID},
		ofType("charset", "CHARSET(x)", "The character set of x: utf8mb4 or binary.", charsetOf),
		ofType("collation", "COLLATION(x)", "The collation of x; binary if x is no text.", func(t types.Type) string {
			if charsetOf(t) == "utf8mb4" {
				return "utf8mb4_bin"
			}
			return "binary"
		}),
	)
}

func evalLastInsertID(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	last := c.LastInsertID
	if last == nil {
		last = new(atomic.Int64)
	}
	for _, i := range positions(sel, n) {
		if len(args) > 0 {
			last.Store(int64(uints(args[0]).at(int(i))))
			if c.GaveInsertID != nil {
				c.GaveInsertID.Store(true)
			}
		}
		out.I64[i] = last.Load()
	}
	return nil
}

// partial marks a function that has no result for some operands.
func partial(resolve func([]Expr) (Signature, error)) func([]Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig, err := resolve(args)
		sig.Nullable = true
		return sig, err
	}
}

// wrongValue is MySQL's error 1411 for a text that a function cannot take.
func wrongValue(kind, value, function string) *sqlerr.Error {
	return sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "Incorrect %s value: '%s' for function %s", kind, value, function)
}

func evalInetAton(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		v, ok := inetAton(s.at(int(i)))
		out.I64[i] = v
		if ok {
			continue
		}
		if e := wrongValue("string", s.at(int(i)), "inet_aton"); c.strict() {
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

func resolveInetNtoa([]Expr) (Signature, error) {
	return Signature{Args: []types.Type{types.Int64}, Result: types.Varchar(15), Nullable: true}, nil
}

func evalInetNtoa(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	v := ints(args[0])
	for _, i := range positions(sel, n) {
		x := v.at(int(i))
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

// parseUUID reads 32 hexadecimal digits, bare or with dashes, then perhaps in braces.
func parseUUID(s string) (b [16]byte, ok bool) {
	if len(s) == 38 && s[0] == '{' && s[37] == '}' {
		s = s[1:37]
	}
	if len(s) == 36 {
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return b, false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(s) != 32 {
		return b, false
	}
	_, err := hex.Decode(b[:], []byte(s))
	return b, err == nil
}

func formatUUID(b [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func resolveUUID(result types.Type) func(args []Expr) (Signature, error) {
	return func(args []Expr) (Signature, error) {
		sig := Signature{Args: []types.Type{castText(args[0])}, Result: result}
		for range args[1:] {
			sig.Args = append(sig.Args, types.Bool)
		}
		return sig, nil
	}
}

// Bytes of a UUID in the order time-high, time-mid, time-low, the rest.
func swapUUID(b [16]byte) (r [16]byte) {
	copy(r[0:], b[6:8])
	copy(r[2:], b[4:6])
	copy(r[4:], b[0:4])
	copy(r[8:], b[8:])
	return r
}

func unswapUUID(b [16]byte) (r [16]byte) {
	copy(r[6:], b[0:2])
	copy(r[4:], b[2:4])
	copy(r[0:], b[4:8])
	copy(r[8:], b[8:])
	return r
}

func evalUUIDToBin(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		b, ok := parseUUID(s.at(int(i)))
		if !ok {
			return wrongValue("string", s.at(int(i)), "uuid_to_bin")
		}
		if optional(args, 1, 0).at(int(i)) != 0 {
			b = swapUUID(b)
		}
		out.Str[i] = string(b[:])
	}
	return nil
}

func evalBinToUUID(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		x := s.at(int(i))
		if len(x) != 16 {
			return wrongValue("string", strings.ToValidUTF8(x, "?"), "bin_to_uuid")
		}
		b := [16]byte([]byte(x))
		if optional(args, 1, 0).at(int(i)) != 0 {
			b = unswapUUID(b)
		}
		out.Str[i] = formatUUID(b)
	}
	return nil
}

// charsetOf: only text has a character set; numbers and dates count as binary.
func charsetOf(t types.Type) string {
	if t.IsString() && !t.IsBinaryString() || t.Kind == types.KindEnum {
		return "utf8mb4"
	}
	return "binary"
}
