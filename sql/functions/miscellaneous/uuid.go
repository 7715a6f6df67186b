package miscellaneous

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/types"
)

// uuidFunctions make and convert unique identifiers.
func uuidFunctions() []*expr.Function {
	binary16 := types.Type{Kind: types.KindVarbinary, Length: 16}
	withOption := func(f *expr.Function) *expr.Function {
		f.MaxArgs = 2
		return f
	}
	return []*expr.Function{
		{Name: "uuid", Category: category, Syntax: "UUID()", Volatile: true, Nulls: expr.NullCustom,
			Doc:     "A new universally unique identifier: random (version 4), where MySQL's is made of time and host.",
			Resolve: func([]expr.Expr) (expr.Signature, error) { return expr.Signature{Result: types.Varchar(36)}, nil },
			Eval:    evalUUID},
		{Name: "uuid_short", Category: category, Syntax: "UUID_SHORT()", Volatile: true, Nulls: expr.NullCustom,
			Doc:     "A number that no other call in this program gives; it grows.",
			Resolve: func([]expr.Expr) (expr.Signature, error) { return expr.Signature{Result: types.Uint64}, nil },
			Eval: func(_ *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
				for _, i := range expr.Positions(sel, n) {
					out.I64[i] = shortID.Add(1)
				}
				return nil
			}},
		test("is_uuid", "IS_UUID(s)", "Whether s is a UUID, with dashes or without, in braces or not.", func(s string) bool { _, ok := parseUUID(s); return ok }),
		withOption(unary("uuid_to_bin", "UUID_TO_BIN(s [, swap])", "The 16 bytes of a UUID; with swap the parts of its time in the order in which they grow.",
			resolveUUID(binary16), evalUUIDToBin)),
		withOption(unary("bin_to_uuid", "BIN_TO_UUID(b [, swap])", "The UUID of 16 bytes.", resolveUUID(types.Varchar(36)), evalBinToUUID)),
	}
}

// shortID is the last number that UUID_SHORT gave: a server's number, 1, in the highest byte, then the time of start, then a count.
var shortID = func() *atomic.Int64 {
	id := new(atomic.Int64)
	id.Store(1<<56 | time.Now().Unix()<<24)
	return id
}()

func evalUUID(_ *expr.Context, _ *expr.Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
	for _, i := range expr.Positions(sel, n) {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails: it crashes the program instead
		b[6] = b[6]&0x0f | 0x40
		b[8] = b[8]&0x3f | 0x80
		out.Str[i] = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return nil
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

func resolveUUID(result types.Type) func(args []expr.Expr) (expr.Signature, error) {
	return func(args []expr.Expr) (expr.Signature, error) {
		sig := expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: result}
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

func evalUUIDToBin(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		b, ok := parseUUID(s.At(int(i)))
		if !ok {
			return wrongValue("string", s.At(int(i)), "uuid_to_bin")
		}
		if expr.Optional(args, 1, 0).At(int(i)) != 0 {
			b = swapUUID(b)
		}
		out.Str[i] = string(b[:])
	}
	return nil
}

func evalBinToUUID(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		x := s.At(int(i))
		if len(x) != 16 {
			return wrongValue("string", strings.ToValidUTF8(x, "?"), "bin_to_uuid")
		}
		b := [16]byte([]byte(x))
		if expr.Optional(args, 1, 0).At(int(i)) != 0 {
			b = unswapUUID(b)
		}
		out.Str[i] = formatUUID(b)
	}
	return nil
}
