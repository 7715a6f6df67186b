package encryption_test

import (
	"crypto/aes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/functions/encryption"
	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/types"
)

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
		got, ok := encryption.AesText(block, mode, iv, b(plain), true)
		if !ok || !strings.HasPrefix(hex.EncodeToString(got), want) {
			t.Errorf("%s: %x, want %s", mode, got, want)
		}
		for n := range 40 {
			text := strings.Repeat("x", n)
			secret, _ := encryption.AesText(block, mode, iv, []byte(text), true)
			if back, ok := encryption.AesText(block, mode, iv, secret, false); !ok || string(back) != text {
				t.Errorf("%s: %d bytes come back as %q", mode, n, back)
			}
		}
	}
}

func TestCompression(t *testing.T) {
	for n := range 300 {
		text := strings.Repeat("compress ", n)
		v, err := expr.Eval1(exprtest.MustCall(t, "uncompress", exprtest.MustCall(t, "compress", &expr.Const{Value: types.StringValue(text)})), exprtest.NewContext())
		if err != nil || v.Null || v.S != text {
			t.Fatalf("%d: %v %v", n, v, err)
		}
	}
}
