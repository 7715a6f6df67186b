package encryption

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Encryption, compression and sizes (Reference Manual 14.13 and 14.22).

// aesFunctions encrypt and decrypt; RANDOM_BYTES makes keys for them.
func aesFunctions() []*expr.Function {
	random := blobFunction("random_bytes", "RANDOM_BYTES(n)", "n random bytes, 1 to 1024.", 1, 1, evalRandomBytes)
	random.Volatile = true
	random.Resolve = func([]expr.Expr) (expr.Signature, error) {
		return expr.Signature{Args: []types.Type{types.Int64}, Result: types.Type{Kind: types.KindVarbinary, Length: 1024}}, nil
	}
	return []*expr.Function{
		random,
		blobFunction("aes_encrypt", "AES_ENCRYPT(s, key [, iv])", "The bytes encrypted by AES, in the mode of @@block_encryption_mode (aes-128-ecb); other modes than ecb need an iv of 16 bytes.", 2, 3, evalAES(true)),
		blobFunction("aes_decrypt", "AES_DECRYPT(b, key [, iv])", "What AES_ENCRYPT was given; NULL if it was not that.", 2, 3, evalAES(false)),
	}
}

// blobFunction makes a function of bytes.
func blobFunction(name, syntax, doc string, least, most int, eval expr.Kernel) *expr.Function {
	return &expr.Function{Name: name, Category: category, Syntax: syntax, Doc: doc, MinArgs: least, MaxArgs: most, Resolve: resolveBytes, Eval: eval}
}

// resolveBytes takes strings, as bytes, and gives bytes.
func resolveBytes(args []expr.Expr) (expr.Signature, error) {
	sig := expr.Signature{Result: types.Blob, Nullable: true}
	for _, a := range args {
		sig.Args = append(sig.Args, expr.CastToString(a))
	}
	return sig, nil
}

func evalRandomBytes(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	length := expr.Ints(args[0])
	for _, i := range expr.Positions(sel, n) {
		k := length.At(int(i))
		if k < 1 || k > 1024 {
			return sqlerr.New(sqlerr.CodeDataOutOfRange, sqlerr.User, "length value is out of range in 'random_bytes'")
		}
		b := make([]byte, k)
		_, _ = rand.Read(b) // never fails: it crashes the program instead
		out.Str[i] = string(b)
	}
	return nil
}

// aesMode reads @@block_encryption_mode, as aes-128-ecb.
func aesMode(c *expr.Context) (keyBytes int, mode string, err error) {
	name := "aes-128-ecb"
	if c.Variables != nil {
		if v, ok := c.Variables.SystemVariable("block_encryption_mode"); ok {
			name = strings.ToLower(v.Text())
		}
	}
	parts := strings.Split(name, "-")
	if len(parts) == 3 && parts[0] == "aes" {
		bits, _ := strconv.Atoi(parts[1])
		switch parts[2] {
		case "ecb", "cbc", "ofb", "cfb128":
			if bits == 128 || bits == 192 || bits == 256 {
				return bits / 8, parts[2], nil
			}
		}
	}
	return 0, "", sqlerr.WrongValueForVar("block_encryption_mode", name).WithHint("the modes are aes-128, aes-192 and aes-256 with ecb, cbc, ofb or cfb128")
}

func evalAES(encrypt bool) expr.Kernel {
	return func(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		size, mode, err := aesMode(c)
		if err != nil {
			return err
		}
		if mode != "ecb" && len(args) < 3 {
			return sqlerr.WrongParamCount(call.Fn.Name)
		}
		text, keys := expr.Strings(args[0]), expr.Strings(args[1])
		for _, i := range expr.Positions(sel, n) {
			key := make([]byte, size) // longer keys are folded
			for j, k := 0, keys.At(int(i)); j < len(k); j++ {
				key[j%size] ^= k[j]
			}
			block, err := aes.NewCipher(key)
			if err != nil {
				return sqlerr.Bug("AES with %d bytes: %v", size, err)
			}
			var iv []byte
			if mode != "ecb" {
				given := args[2].StringAt(int(i))
				if len(given) < aes.BlockSize {
					return sqlerr.New(codeAESWrong, sqlerr.User, "The initialization vector supplied to %s is too short. Must be at least %d bytes long", call.Fn.Name, aes.BlockSize)
				}
				iv = []byte(given[:aes.BlockSize])
			}
			result, err := c.Reserve(len(text.At(int(i))) + aes.BlockSize)
			if err != nil {
				return err
			}
			result, ok := crypt(block, mode, iv, append(result, text.At(int(i))...), encrypt)
			if !ok {
				out.SetNull(int(i), n)
				continue
			}
			if out.Str[i], err = c.Commit(result); err != nil {
				return err
			}
		}
		return nil
	}
}

// crypt encrypts or decrypts a string in its memory; blocks are filled up as PKCS #7 says. ok is false for what cannot be decrypted.
func crypt(block cipher.Block, mode string, iv, text []byte, encrypt bool) (result []byte, ok bool) {
	const size = aes.BlockSize
	switch mode {
	case "ofb", "cfb128":
		stream(block, mode == "ofb", iv, text, encrypt)
		return text, true
	}
	if encrypt {
		fill := size - len(text)%size
		text = append(text, bytes.Repeat([]byte{byte(fill)}, fill)...)
	} else if len(text) == 0 || len(text)%size != 0 {
		return nil, false
	}
	result = text
	switch {
	case mode == "cbc" && encrypt:
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(result, text)
	case mode == "cbc":
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(result, text)
	default:
		for at := 0; at < len(text); at += size {
			if encrypt {
				block.Encrypt(result[at:], text[at:])
			} else {
				block.Decrypt(result[at:], text[at:])
			}
		}
	}
	if encrypt {
		return result, true
	}
	fill := int(result[len(result)-1])
	if fill == 0 || fill > size || !bytes.Equal(result[len(result)-fill:], bytes.Repeat([]byte{byte(fill)}, fill)) {
		return nil, false
	}
	return result[:len(result)-fill], true
}

// stream is output or cipher feedback over whole blocks (NIST SP 800-38A, 6.3 and 6.4).
func stream(block cipher.Block, output bool, iv, text []byte, encrypt bool) {
	feed, next := bytes.Clone(iv), make([]byte, aes.BlockSize)
	for at := 0; at < len(text); at += aes.BlockSize {
		block.Encrypt(feed, feed)
		end := min(at+aes.BlockSize, len(text))
		copy(next, text[at:end])
		for i := at; i < end; i++ {
			text[i] ^= feed[i-at]
		}
		switch {
		case output:
		case encrypt:
			copy(feed, text[at:end])
		default:
			copy(feed, next)
		}
	}
}
