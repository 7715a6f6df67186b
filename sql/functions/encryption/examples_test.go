package encryption_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/functions/encryption"
	"github.com/radish-sql/radish/sql/functions/exprtest"
)

// Reference Manual 14.13; the AES strings are what a MariaDB server gives.
func TestEncryptionExamples(t *testing.T) {
	exprtest.RunExamples(t, encryption.Functions(), []exprtest.Example{
		{"md5", []any{"testing"}, "ae2b1fca515949e5d54fb22b8ed95575"},
		{"sha1", []any{"abc"}, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"sha", []any{""}, "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
		{"sha2", []any{"abc", 224}, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
		{"sha2", []any{"abc", 0}, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"sha2", []any{"abc", 1}, nil},
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
}
