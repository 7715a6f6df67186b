package stringfn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// CONVERT and CHAR with USING have a character set that must be a literal.
func TestCharsets(t *testing.T) {
	for _, e := range []exprtest.Example{
		{"convert", []any{exprtest.BinaryValue("abc"), "utf8"}, "abc"},
		{"convert", []any{exprtest.BinaryValue("\xff"), "utf8mb4"}, nil},
		{"char_func", []any{77, exprtest.Dec("77.3"), "77", nil}, "MMM"},
		{"char_func", []any{256, nil}, "\x01\x00"},
		{"char_func", []any{exprtest.BinaryValue("\x65"), nil}, "e"},
		{"char_func", []any{exprtest.BinaryValue("\xc3\xa9"), "utf8mb4"}, "é"},
		{"char_func", []any{0xc3a9, "utf8mb4"}, "é"},
		{"char_func", []any{0xc3, "utf8mb4"}, nil},
	} {
		got, err := exprtest.CallText(t, exprtest.NewContext(), e.Fn, e.Args...)
		if err != nil || got != exprtest.Wanted(e) {
			t.Errorf("%s = %q, %v; want %q", e, got, err, exprtest.Wanted(e))
		}
	}
	b, err := expr.NewCall("convert", &expr.Const{Value: exprtest.Value("é")}, &expr.Const{Value: exprtest.Value("binary")})
	if err != nil || !b.Type().IsBinaryString() {
		t.Errorf("CONVERT(s USING binary) is %v, %v", b, err)
	}
}

func TestTextFunctionErrors(t *testing.T) {
	for _, e := range []struct {
		fn   string
		args []any
		code sqlerr.Code
	}{
		{"convert", []any{"a", "latin1"}, sqlerr.CodeNotSupported},
		{"format", []any{1, 2, "xx_XX"}, sqlerr.CodeNotSupported},
		{"uuid_to_bin", []any{"abc"}, sqlerr.CodeWrongValueForType},
		{"bin_to_uuid", []any{"abc"}, sqlerr.CodeWrongValueForType},
		{"lpad", []any{"abc", 1}, sqlerr.CodeWrongParamCount},
	} {
		if got, err := exprtest.CallText(t, exprtest.NewContext(), e.fn, e.args...); !errors.Is(err, e.code) {
			t.Errorf("%s(%v) = %s, %v; want error %d", e.fn, e.args, got, err, e.code)
		}
	}
}

func TestTextFunctionWarnings(t *testing.T) {
	for _, e := range []struct {
		fn   string
		args []any
		want string
	}{
		{"repeat", []any{"x", 100 << 20}, "Result of repeat() was larger than max_allowed_packet (67108864) - truncated"},
		{"lpad", []any{"x", 100 << 20, "y"}, "Result of lpad() was larger than max_allowed_packet (67108864) - truncated"},
		{"inet_aton", []any{"1.2.3.400"}, "Incorrect string value: '1.2.3.400' for function inet_aton"},
		{"convert", []any{exprtest.BinaryValue("\xff"), "utf8mb4"}, "Invalid utf8mb4 character string: 'FF'"},
	} {
		c := exprtest.NewContext()
		got, err := exprtest.CallText(t, c, e.fn, e.args...)
		if w := c.Warnings.List(); err != nil || got != "NULL" || len(w) != 1 || w[0].Message != e.want {
			t.Errorf("%s(%v) = %s, %v, warnings %v; want %s", e.fn, e.args, got, err, w, e.want)
		}
	}
}

// Base 64 comes in lines of 76 characters, as RFC 2045 has it, and reads back.
func TestBase64Lines(t *testing.T) {
	s := strings.Repeat("0123456789", 20)
	code, err := exprtest.CallText(t, exprtest.NewContext(), "to_base64", s)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		if len(l) > 76 || i < len(lines)-1 && len(l) != 76 {
			t.Errorf("line %d has %d characters", i, len(l))
		}
	}
	if back, err := exprtest.CallText(t, exprtest.NewContext(), "from_base64", code); err != nil || back != s {
		t.Errorf("read back %q, %v", back, err)
	}
}
