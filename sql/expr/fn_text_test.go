package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

func binaryValue(s string) types.Value {
	return types.Value{Type: types.Type{Kind: types.KindVarbinary, Length: int32(len(s))}, S: s}
}

// Reference Manual 14.8, 14.10, 14.13, 14.15, 14.23.
var _ = addExamples([]example{
	{"bit_length", []any{"text"}, "32"},
	{"ascii", []any{"2"}, "50"},
	{"ascii", []any{2}, "50"},
	{"ascii", []any{""}, "0"},
	{"ord", []any{"2"}, "50"},
	{"ord", []any{"é"}, "50089"},
	{"lpad", []any{"hi", 4, "??"}, "??hi"},
	{"lpad", []any{"hi", 1, "??"}, "h"},
	{"lpad", []any{"é", 4, "xyz"}, "xyzé"},
	{"lpad", []any{"hi", -1, "?"}, nil},
	{"lpad", []any{"hi", 6, ""}, ""},
	{"rpad", []any{"hi", 5, "?"}, "hi???"},
	{"rpad", []any{"hi", 1, "?"}, "h"},
	{"rpad", []any{"hi", 5, "ñü"}, "hiñüñ"},
	{"repeat", []any{"MySQL", 3}, "MySQLMySQLMySQL"},
	{"repeat", []any{"MySQL", 0}, ""},
	{"repeat", []any{"MySQL", 1 << 40}, nil},
	{"space", []any{6}, "      "},
	{"substring_index", []any{"www.mysql.com", ".", 2}, "www.mysql"},
	{"substring_index", []any{"www.mysql.com", ".", -2}, "mysql.com"},
	{"substring_index", []any{"www.mysql.com", ".", 9}, "www.mysql.com"},
	{"substring_index", []any{"aaaa", "aa", 2}, "aa"},
	{"insert", []any{"Quadratic", 3, 4, "What"}, "QuWhattic"},
	{"insert", []any{"Quadratic", -1, 4, "What"}, "Quadratic"},
	{"insert_func", []any{"Quadratic", 3, 100, "What"}, "QuWhat"},
	{"strcmp", []any{"text", "text2"}, "-1"},
	{"strcmp", []any{"text2", "text"}, "1"},
	{"strcmp", []any{"text", "text"}, "0"},
	{"find_in_set", []any{"b", "a,b,c,d"}, "2"},
	{"find_in_set", []any{"", "a,,c"}, "2"},
	{"find_in_set", []any{"", "a,"}, "2"},
	{"find_in_set", []any{"", ""}, "0"},
	{"find_in_set", []any{"a,b", "a,b"}, "0"},
	{"soundex", []any{"Hello"}, "H400"},
	{"soundex", []any{"Quadratically"}, "Q36324"},
	{"quote", []any{"Don't!"}, `'Don\'t!'`},
	{"quote", []any{nil}, "NULL"},
	{"field", []any{"Bb", "Aa", "Bb", "Cc", "Dd", "Ff"}, "2"},
	{"field", []any{"Gg", "Aa", "Bb", "Cc", "Dd", "Ff"}, "0"},
	{"field", []any{3, 1, 3, dec("3.0")}, "2"},
	{"field", []any{nil, "a"}, "0"},
	{"field", []any{"1.0", 1, 2}, "1"},
	{"elt", []any{1, "Aa", "Bb", "Cc", "Dd"}, "Aa"},
	{"elt", []any{4, "Aa", "Bb", "Cc", "Dd"}, "Dd"},
	{"elt", []any{5, "Aa"}, nil},
	{"make_set", []any{1, "a", "b", "c"}, "a"},
	{"make_set", []any{1 | 4, "hello", "nice", "world"}, "hello,world"},
	{"make_set", []any{1 | 4, "hello", "nice", nil, "world"}, "hello"},
	{"make_set", []any{0, "a", "b", "c"}, ""},
	{"export_set", []any{5, "Y", "N", ",", 4}, "Y,N,Y,N"},
	{"export_set", []any{6, "1", "0", ",", 10}, "0,1,1,0,0,0,0,0,0,0"},
	{"hex", []any{255}, "FF"},
	{"hex", []any{"abc"}, "616263"},
	{"hex", []any{-1}, "FFFFFFFFFFFFFFFF"},
	{"hex", []any{dec("255.6")}, "100"},
	{"unhex", []any{"4D7953514C"}, "MySQL"},
	{"unhex", []any{"D7953514C"}, "\ry\x53\x51\x4c"},
	{"unhex", []any{"GG"}, nil},
	{"bin", []any{12}, "1100"},
	{"bin", []any{-1}, strings.Repeat("1", 64)},
	{"oct", []any{12}, "14"},
	{"char", []any{77, 121, 83, "81", 76, nil}, "MySQL"},
	{"convert", []any{"Müller", "utf8mb4"}, "Müller"},
	{"convert", []any{"Müller", "ascii"}, "M?ller"},
	{"to_base64", []any{"abc"}, "YWJj"},
	{"from_base64", []any{"YWJj"}, "abc"},
	{"from_base64", []any{"YW Jj\n"}, "abc"},
	{"from_base64", []any{"YW"}, nil},
	{"md5", []any{"testing"}, "ae2b1fca515949e5d54fb22b8ed95575"},
	{"sha1", []any{"abc"}, "a9993e364706816aba3e25717850c26c9cd0d89d"},
	{"sha", []any{""}, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	{"sha2", []any{"abc", 224}, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
	{"sha2", []any{"abc", 0}, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"sha2", []any{"abc", 1}, nil},
	{"format", []any{dec("12332.123456"), 4}, "12,332.1235"},
	{"format", []any{dec("12332.1"), 4}, "12,332.1000"},
	{"format", []any{dec("12332.2"), 0}, "12,332"},
	{"format", []any{dec("12332.2"), 2, "de_DE"}, "12.332,20"},
	{"format", []any{-1234567, 1}, "-1,234,567.0"},
	{"format", []any{1234.5, 0}, "1,234"},
	{"format", []any{nil, 0}, nil},
	{"inet_aton", []any{"10.0.5.9"}, "167773449"},
	{"inet_aton", []any{"127.1"}, "2130706433"},
	{"inet_aton", []any{"1.2.3.400"}, nil},
	{"inet_ntoa", []any{167773449}, "10.0.5.9"},
	{"inet_ntoa", []any{-1}, nil},
	{"inet6_aton", []any{"10.0.5.9"}, "\x0a\x00\x05\x09"},
	{"inet6_aton", []any{"fdfe::5a55:caff:fefa:9089"}, "\xfd\xfe\x00\x00\x00\x00\x00\x00\x5a\x55\xca\xff\xfe\xfa\x90\x89"},
	{"inet6_ntoa", []any{binaryValue("\x0a\x00\x05\x09")}, "10.0.5.9"},
	{"inet6_ntoa", []any{binaryValue("\x0a")}, nil},
	{"is_ipv4", []any{"10.0.5.9"}, "1"},
	{"is_ipv4", []any{"10.0.5.256"}, "0"},
	{"is_ipv6", []any{"::1"}, "1"},
	{"is_ipv6", []any{"10.0.5.9"}, "0"},
	{"is_uuid", []any{"6ccd780c-baba-1026-9564-5b8c656024db"}, "1"},
	{"is_uuid", []any{"{6ccd780c-baba-1026-9564-5b8c656024db}"}, "1"},
	{"is_uuid", []any{"6ccd780c-baba-1026-9564-5b8c6560"}, "0"},
	{"uuid_to_bin", []any{"6ccd780c-baba-1026-9564-5b8c656024db"}, "\x6c\xcd\x78\x0c\xba\xba\x10\x26\x95\x64\x5b\x8c\x65\x60\x24\xdb"},
	{"uuid_to_bin", []any{"6ccd780c-baba-1026-9564-5b8c656024db", 1}, "\x10\x26\xba\xba\x6c\xcd\x78\x0c\x95\x64\x5b\x8c\x65\x60\x24\xdb"},
	{"bin_to_uuid", []any{binaryValue("\x10\x26\xba\xba\x6c\xcd\x78\x0c\x95\x64\x5b\x8c\x65\x60\x24\xdb"), 1}, "6ccd780c-baba-1026-9564-5b8c656024db"},
	{"charset", []any{"abc"}, "utf8mb4"},
	{"charset", []any{1}, "binary"},
	{"collation", []any{"abc"}, "utf8mb4_bin"},
	{"last_insert_id", nil, "0"},
})

// CONVERT and CHAR with USING have a character set that must be a literal.
func TestCharsets(t *testing.T) {
	for _, e := range []example{
		{"convert", []any{binaryValue("abc"), "utf8"}, "abc"},
		{"convert", []any{binaryValue("\xff"), "utf8mb4"}, nil},
		{"char_func", []any{77, dec("77.3"), "77", nil}, "MMM"},
		{"char_func", []any{256, nil}, "\x01\x00"},
		{"char_func", []any{binaryValue("\x65"), nil}, "e"},
		{"char_func", []any{binaryValue("\xc3\xa9"), "utf8mb4"}, "é"},
		{"char_func", []any{0xc3a9, "utf8mb4"}, "é"},
		{"char_func", []any{0xc3, "utf8mb4"}, nil},
	} {
		got, err := callText(t, testContext(), e.fn, e.args...)
		if err != nil || got != e.wanted() {
			t.Errorf("%s = %q, %v; want %q", e, got, err, e.wanted())
		}
	}
	b, err := NewCall("convert", &Const{value("é")}, &Const{value("binary")})
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
		if got, err := callText(t, testContext(), e.fn, e.args...); !errors.Is(err, e.code) {
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
		{"convert", []any{binaryValue("\xff"), "utf8mb4"}, "Invalid utf8mb4 character string: 'FF'"},
	} {
		c := testContext()
		got, err := callText(t, c, e.fn, e.args...)
		if w := c.Warnings.List(); err != nil || got != "NULL" || len(w) != 1 || w[0].Message != e.want {
			t.Errorf("%s(%v) = %s, %v, warnings %v; want %s", e.fn, e.args, got, err, w, e.want)
		}
	}
}

// Base 64 comes in lines of 76 characters, as RFC 2045 has it, and reads back.
func TestBase64Lines(t *testing.T) {
	s := strings.Repeat("0123456789", 20)
	code, err := callText(t, testContext(), "to_base64", s)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(code, "\n")
	for i, l := range lines {
		if len(l) > 76 || i < len(lines)-1 && len(l) != 76 {
			t.Errorf("line %d has %d characters", i, len(l))
		}
	}
	if back, err := callText(t, testContext(), "from_base64", code); err != nil || back != s {
		t.Errorf("read back %q, %v", back, err)
	}
}
