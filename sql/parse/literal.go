package parse

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// codeInvalidString is MySQL's ER_INVALID_CHARACTER_STRING.
const codeInvalidString sqlerr.Code = 1300

// IsLiteral says whether Literal applies: node is a literal, or a sign before a numeric one.
func IsLiteral(node ast.ExprNode) bool {
	if sign, ok := node.(*ast.UnaryOperationExpr); ok && (sign.Op == opcode.Minus || sign.Op == opcode.Plus) {
		if v, ok := sign.V.(*driver.ValueExpr); ok {
			switch v.Kind() {
			case driver.KindInt64, driver.KindUint64, driver.KindFloat64, driver.KindMysqlDecimal:
				return true
			}
		}
		return false
	}
	_, ok := node.(*driver.ValueExpr)
	return ok
}

// Literal returns the value of a literal in the type that MySQL gives it:
//
//   - an integer is BIGINT, BIGINT UNSIGNED above 2^63-1, DECIMAL above 2^64-1;
//   - a number with a point is DECIMAL of just its digits (0.50 is DECIMAL(3,2)), with an exponent DOUBLE;
//   - TRUE and FALSE are BOOL, NULL is NULL;
//   - 'text' is VARCHAR of its length; X'4D', 0x4D, b'1' and _binary'text' are VARBINARY. The first three are marked as bits, which
//     are a number where one is wanted; an introducer (_binary X'4D') makes a string of them.
//
// A sign before a number is part of it, so that -9223372036854775808 is a BIGINT. DATE '2020-01-01' and its like are
// function calls to the parser (ast.DateLiteral, ...) and not literals here. Errors have no position.
func Literal(node ast.ExprNode) (types.Value, error) {
	if sign, ok := node.(*ast.UnaryOperationExpr); ok && IsLiteral(node) {
		return literal(sign.V.(*driver.ValueExpr), sign.Op == opcode.Minus)
	}
	v, ok := node.(*driver.ValueExpr)
	if !ok {
		return types.Value{}, sqlerr.Bug("%T is not a literal", node)
	}
	return literal(v, false)
}

func literal(v *driver.ValueExpr, negative bool) (types.Value, error) {
	switch v.Kind() {
	case driver.KindNull:
		return types.NullOf(types.Null), nil
	case driver.KindInt64:
		i := v.GetInt64()
		if v.Type.GetFlag()&mysql.IsBooleanFlag != 0 && !negative {
			return types.BoolValue(i != 0), nil
		}
		if negative {
			i = -i
		}
		return types.IntValue(i), nil
	case driver.KindUint64:
		u := v.GetUint64()
		switch {
		case !negative:
			return types.Value{Type: types.Uint64, I: int64(u)}, nil
		case u == 1<<63:
			return types.IntValue(-1 << 63), nil
		}
		return decimal("-" + strconv.FormatUint(u, 10))
	case driver.KindFloat64:
		if negative {
			return types.FloatValue(-v.GetFloat64()), nil
		}
		return types.FloatValue(v.GetFloat64()), nil
	case driver.KindMysqlDecimal:
		text := v.GetMysqlDecimal().String()
		if negative {
			text = "-" + text
		}
		return decimal(text)
	case driver.KindBinaryLiteral:
		s := string(v.GetBinaryLiteral())
		if v.Type.GetFlag()&mysql.UnderScoreCharsetFlag != 0 {
			return text(s, v.Type.GetCharset())
		}
		return bits(s), nil
	case driver.KindString, driver.KindBytes:
		return text(v.GetString(), v.Type.GetCharset())
	}
	return types.Value{}, sqlerr.Bug("a literal of kind %d", v.Kind())
}

// bits is a hexadecimal or bit literal.
func bits(s string) types.Value {
	v := binary(s)
	v.IsBits = true
	return v
}

func binary(s string) types.Value {
	return types.Value{Type: types.Type{Kind: types.KindVarbinary, Length: int32(len(s))}, S: s}
}

func text(s, cs string) (types.Value, error) {
	switch cs {
	case charset.CharsetBin:
		return binary(s), nil
	case "", charset.CharsetUTF8MB4, charset.CharsetUTF8, charset.CharsetASCII:
	default:
		return types.Value{}, sqlerr.NotSupportedf("the character set "+cs, "text is utf8mb4; write the string without _%s", cs)
	}
	if !utf8.ValidString(s) {
		return types.Value{}, sqlerr.New(codeInvalidString, sqlerr.User, "Invalid utf8mb4 character string: '%s'", strings.ToValidUTF8(s, "?")).
			WithHint("write bytes as X'...' or _binary'...'")
	}
	return types.StringValue(s), nil
}

// decimal reads an optional sign, digits, and digits behind a point.
func decimal(s string) (types.Value, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	scale := len(fraction)
	precision := max(len(strings.TrimLeft(strings.TrimPrefix(whole, "-"), "0")), 1) + scale // MySQL counts the zero of 0.5
	if precision > types.MaxDecimalPrecision {
		return types.Value{}, sqlerr.NotSupportedf(fmt.Sprintf("a number of %d digits", precision), "DECIMAL holds %d", types.MaxDecimalPrecision)
	}
	if scale > types.MaxDecimalScale {
		return types.Value{}, sqlerr.TooBigScale(scale, s, types.MaxDecimalScale)
	}
	n, ok := types.ParseInt128(whole + fraction)
	if !ok {
		return types.Value{}, sqlerr.Bug("the decimal literal %q", s)
	}
	v := types.Value{Type: types.Decimal(precision, scale)}
	if v.Type.Phys() == types.PhysInt64 {
		v.I, _ = n.Int64()
	} else {
		v.D = n
	}
	return v, nil
}
