package parse_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/radish-sql/radish/sql/parse"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

func firstField(t *testing.T, sql string) ast.ExprNode {
	t.Helper()
	return mustOne(t, sql).Node.(*ast.SelectStmt).Fields.Fields[0].Expr
}

// unscaled returns a DECIMAL's integer.
func unscaled(v types.Value) *big.Int {
	if v.Type.Phys() == types.PhysInt64 {
		return big.NewInt(v.I)
	}
	n := new(big.Int).Lsh(big.NewInt(v.D.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(v.D.Lo))
}

func TestLiterals(t *testing.T) {
	varbinary := func(s string) types.Value {
		return types.Value{Type: types.Type{Kind: types.KindVarbinary, Length: int32(len(s))}, S: s}
	}
	bits := func(s string) types.Value {
		v := varbinary(s)
		v.IsBits = true
		return v
	}
	for _, tc := range []struct {
		sql  string
		want types.Value
	}{
		{"0", types.IntValue(0)},
		{"9223372036854775807", types.IntValue(1<<63 - 1)},
		{"-9223372036854775808", types.IntValue(-1 << 63)},
		{"+5", types.IntValue(5)},
		{"9223372036854775808", types.Value{Type: types.Uint64, I: -1 << 63}},
		{"18446744073709551615", types.Value{Type: types.Uint64, I: -1}},
		{"1e3", types.FloatValue(1000)},
		{"-1.5E-3", types.FloatValue(-0.0015)},
		{"TRUE", types.BoolValue(true)},
		{"false", types.BoolValue(false)},
		{"NULL", types.NullOf(types.Null)},
		{`\N`, types.NullOf(types.Null)},
		{"'ä''b\\n'", types.StringValue("ä'b\n")},
		{"'a' 'b'", types.StringValue("ab")},
		{"''", types.StringValue("")},
		{"N'x'", types.StringValue("x")},
		{"_utf8mb4'x'", types.StringValue("x")},
		{"_binary'\\0x'", varbinary("\x00x")},
		{"_binary X'4D7953'", varbinary("MyS")},
		{"_utf8mb4 0x4D7953", types.StringValue("MyS")},
		{"X'4D7953'", bits("MyS")},
		{"0x4D7953", bits("MyS")},
		{"x''", bits("")},
		{"b'1000001'", bits("A")},
		{"0b100000001", bits("\x01\x01")},
	} {
		got, err := parse.Literal(firstField(t, "SELECT "+tc.sql))
		if err != nil || got != tc.want {
			t.Errorf("%s = %+v %v, want %+v", tc.sql, got, err, tc.want)
		}
	}
}

func TestDecimalLiterals(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, tc := range []struct {
		sql              string
		precision, scale uint8
		want             string
	}{
		{"0.5", 2, 1, "5"},
		{".5", 2, 1, "5"},
		{"-.5", 2, 1, "-5"},
		{"5.", 1, 0, "5"},
		{"0.50", 3, 2, "50"},
		{"001.5", 2, 1, "15"},
		{"0.0", 2, 1, "0"},
		{"12345678901234567.8", 18, 1, "123456789012345678"},
		{"123456789012345678.9", 19, 1, "1234567890123456789"},
		{"-123456789012345678.9", 19, 1, "-1234567890123456789"},
		{"18446744073709551616", 20, 0, "18446744073709551616"},
		{"-9223372036854775809", 19, 0, "-9223372036854775809"},
		{nines, 38, 0, nines},
		{"-" + nines, 38, 0, "-" + nines},
		{"0.123456789012345678901234567890", 31, 30, "123456789012345678901234567890"},
		{"0.000000000000000000000000000001", 31, 30, "1"},
	} {
		v, err := parse.Literal(firstField(t, "SELECT "+tc.sql))
		if err != nil {
			t.Errorf("%s: %v", tc.sql, err)
			continue
		}
		if v.Type != types.Decimal(int(tc.precision), int(tc.scale)) || unscaled(v).String() != tc.want {
			t.Errorf("%s = %s %s, want DECIMAL(%d,%d) %s", tc.sql, v.Type, unscaled(v), tc.precision, tc.scale, tc.want)
		}
	}
}

func TestNoLiterals(t *testing.T) {
	for _, sql := range []string{"a", "-a", "-'1'", "1 + 1", "NOT 1", "DATE '2020-01-01'", "- -1"} {
		if parse.IsLiteral(firstField(t, "SELECT "+sql)) {
			t.Errorf("%s is a literal", sql)
		}
	}
	for sql, code := range map[string]sqlerr.Code{
		"'\xff'":        1300,
		"_latin1'\xe4'": 1235,
	} {
		if _, err := parse.Literal(firstField(t, "SELECT "+sql)); !errors.Is(err, code) {
			t.Errorf("%q: %v, want %d", sql, err, code)
		}
	}
	if _, err := parse.Literal(firstField(t, "SELECT a")); !errors.Is(err, sqlerr.Internal) {
		t.Errorf("a column as a literal: %v", err)
	}
}
