package expr

import (
	"crypto/aes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/types"
)

// Reference Manual 14.13 and 14.22; the AES texts are what a MariaDB server gives.
var _ = addExamples([]example{
	{"format_bytes", []any{512}, " 512 bytes"},
	{"format_bytes", []any{uint64(18446744073709551615)}, "16.00 EiB"},
	{"format_bytes", []any{1536}, "1.50 KiB"},
	{"format_bytes", []any{nil}, nil},
	{"format_pico_time", []any{3501}, "3.50 ns"},
	{"format_pico_time", []any{188732396662000}, "3.15 min"},
	{"format_pico_time", []any{7}, "  7 ps"},
	{"uncompressed_length", []any{"\x10\x00\x00\x00xyz"}, "16"},
	{"uncompressed_length", []any{""}, "0"},
	{"uncompress", []any{""}, ""},
	{"uncompress", []any{"any old string"}, nil},
	{"uncompress", []any{nil}, nil},
	// zlib's own compression of 'aaaaaaaaaaaaaaaa'
	{"uncompress", []any{"\x10\x00\x00\x00\x78\x9c\x4b\x4c\x44\x05\x00\x33\x98\x06\x11"}, "aaaaaaaaaaaaaaaa"},
	{"compress", []any{""}, ""},
	{"compress", []any{nil}, nil},
	{"aes_decrypt", []any{"short", "key"}, nil},
	{"aes_decrypt", []any{nil, "key"}, nil},
	{"aes_encrypt", []any{"text", nil}, nil},
	{"random_bytes", []any{nil}, nil},
})

func TestAES(t *testing.T) {
	// NIST SP 800-38A, appendix F: ECB (F.1.1), CBC (F.2.1), CFB128 (F.3.13) and OFB (F.4.1) with AES-128, two blocks of each.
	b := func(s string) []byte {
		out, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	block, err := aes.NewCipher(b("2b7e151628aed2a6abf7158809cf4f3c"))
	if err != nil {
		t.Fatal(err)
	}
	plain := "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
	for mode, want := range map[string]string{
		"ecb":    "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf",
		"cbc":    "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
		"cfb128": "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b",
		"ofb":    "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825",
	} {
		iv := b("000102030405060708090a0b0c0d0e0f")
		got, ok := crypt(block, mode, iv, b(plain), true)
		if !ok || !strings.HasPrefix(hex.EncodeToString(got), want) {
			t.Errorf("%s: %x, want %s", mode, got, want)
		}
		for n := range 40 {
			text := strings.Repeat("x", n)
			secret, _ := crypt(block, mode, iv, []byte(text), true)
			if back, ok := crypt(block, mode, iv, secret, false); !ok || string(back) != text {
				t.Errorf("%s: %d bytes come back as %q", mode, n, back)
			}
		}
	}
}

func TestCompression(t *testing.T) {
	for n := range 300 {
		text := strings.Repeat("compress ", n)
		v, err := Eval1(mustCall(t, "uncompress", mustCall(t, "compress", &Const{types.StringValue(text)})), testContext())
		if err != nil || v.Null || v.S != text {
			t.Fatalf("%d: %v %v", n, v, err)
		}
	}
}

func TestShortIDs(t *testing.T) {
	before := int64(0)
	for range 3 {
		v, err := Eval1(mustCall(t, "uuid_short"), testContext())
		if err != nil || v.I <= before {
			t.Fatalf("%d follows %d (%v)", v.I, before, err)
		}
		before = v.I
	}
}

func mustCall(t *testing.T, name string, args ...Expr) Expr {
	t.Helper()
	e, err := NewCall(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
