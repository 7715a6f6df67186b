package expr

import (
	"bytes"
	"compress/zlib"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	le "encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Encryption, compression and sizes (Reference Manual 14.13 and 14.22).

func init() {
	blob := func(name, syntax, doc string, least, most int, eval Kernel) *Function {
		return &Function{Name: name, Category: digestCategory, Syntax: syntax, Doc: doc, MinArgs: least, MaxArgs: most, Resolve: resolveBytes, Eval: eval}
	}
	random := blob("random_bytes", "RANDOM_BYTES(n)", "n random bytes, 1 to 1024.", 1, 1, evalRandomBytes)
	random.Volatile = true
	random.Resolve = func([]Expr) (Signature, error) {
		return Signature{Args: []types.Type{types.Int64}, Result: types.Type{Kind: types.KindVarbinary, Length: 1024}}, nil
	}
	length := blob("uncompressed_length", "UNCOMPRESSED_LENGTH(b)", "The bytes that UNCOMPRESS gives.", 1, 1, evalUncompressedLength)
	length.Resolve = func(args []Expr) (Signature, error) {
		return Signature{Args: []types.Type{castText(args[0])}, Result: types.Int64}, nil
	}
	size := func(name, syntax, doc string, text func(float64) string) *Function {
		return &Function{Name: name, Category: "Miscellaneous functions", Syntax: syntax, Doc: doc, MinArgs: 1, MaxArgs: 1,
			Resolve: func([]Expr) (Signature, error) {
				return Signature{Args: []types.Type{types.Double}, Result: types.Varchar(20)}, nil
			},
			Eval: func(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
				f := floats(args[0])
				for _, i := range positions(sel, n) {
					out.Str[i] = text(f.at(int(i)))
				}
				return nil
			}}
	}
	register(
		random, length,
		blob("compress", "COMPRESS(s)", "The bytes compressed by zlib, behind their number in 4 bytes; '' for ''. Other compressors give other bytes.", 1, 1, evalCompress),
		blob("uncompress", "UNCOMPRESS(b)", "What COMPRESS was given; NULL, with a warning, if it was not that.", 1, 1, evalUncompress),
		blob("aes_encrypt", "AES_ENCRYPT(s, key [, iv])", "The bytes encrypted by AES, in the mode of @@block_encryption_mode (aes-128-ecb); other modes than ecb need an iv of 16 bytes.", 2, 3, evalAES(true)),
		blob("aes_decrypt", "AES_DECRYPT(b, key [, iv])", "What AES_ENCRYPT was given; NULL if it was not that.", 2, 3, evalAES(false)),
		size("format_bytes", "FORMAT_BYTES(n)", "A number of bytes with its unit: bytes, KiB, MiB and so on to EiB.", formatBytes),
		size("format_pico_time", "FORMAT_PICO_TIME(n)", "A time in picoseconds with its unit: ps, ns, us, ms, s, min, h or d.", formatPicoTime),
		&Function{Name: "uuid_short", Category: "Miscellaneous functions", Syntax: "UUID_SHORT()", Volatile: true, Nulls: NullCustom,
			Doc:     "A number that no other call in this program gives; it grows.",
			Resolve: func([]Expr) (Signature, error) { return Signature{Result: types.Uint64}, nil },
			Eval: func(_ *Context, _ *Call, out *column.Vector, _ []*column.Vector, sel []int32, n int) error {
				for _, i := range positions(sel, n) {
					out.I64[i] = shortID.Add(1)
				}
				return nil
			}},
	)
	shortID.Store(1<<56 | time.Now().Unix()<<24)
}

// shortID is the last number that UUID_SHORT gave: a server's number, 1, in the highest byte, then the time of start, then a count.
var shortID atomic.Int64

// resolveBytes takes texts, as bytes, and gives bytes.
func resolveBytes(args []Expr) (Signature, error) {
	sig := Signature{Result: types.Blob, Nullable: true}
	for _, a := range args {
		sig.Args = append(sig.Args, castText(a))
	}
	return sig, nil
}

func evalRandomBytes(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	length := ints(args[0])
	for _, i := range positions(sel, n) {
		k := length.at(int(i))
		if k < 1 || k > 1024 {
			return sqlerr.New(sqlerr.CodeDataOutOfRange, sqlerr.User, "length value is out of range in 'random_bytes'")
		}
		b := make([]byte, k)
		_, _ = rand.Read(b) // never fails: it crashes the program instead
		out.Str[i] = string(b)
	}
	return nil
}

func evalCompress(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		text := s.at(int(i))
		if text == "" {
			out.Str[i] = ""
			continue
		}
		var b bytes.Buffer
		b.Write(le.LittleEndian.AppendUint32(nil, uint32(len(text))))
		w := zlib.NewWriter(&b)
		if err := c.feed(w, text); err != nil {
			return err
		}
		_ = w.Close()
		if b.Bytes()[b.Len()-1] == ' ' {
			b.WriteByte('.') // lest a CHAR column cut it
		}
		out.Str[i] = b.String()
		if err := c.made(out.Str[i]); err != nil {
			return err
		}
	}
	return nil
}

// MySQL's ER_ZLIB_Z_DATA_ERROR and ER_AES_INVALID_IV.
const (
	codeZlibData sqlerr.Code = 1259
	codeAESWrong sqlerr.Code = 1882
)

func evalUncompress(c *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		text := s.at(int(i))
		if text == "" {
			out.Str[i] = ""
			continue
		}
		plain, ok := uncompress(text)
		if !ok {
			out.SetNull(int(i), n)
			c.Warnings.Add(sqlerr.LevelWarning, codeZlibData, "ZLIB: Input data corrupted")
			continue
		}
		out.Str[i] = plain
		if err := c.made(plain); err != nil {
			return err
		}
	}
	return nil
}

func uncompress(text string) (string, bool) {
	if len(text) < 5 {
		return "", false
	}
	length := le.LittleEndian.Uint32([]byte(text[:4])) & 0x3FFFFFFF
	if length > MaxAllowedPacket {
		return "", false
	}
	r, err := zlib.NewReader(strings.NewReader(text[4:]))
	if err != nil {
		return "", false
	}
	var b strings.Builder
	k, err := io.Copy(&b, io.LimitReader(r, int64(length)+1))
	return b.String(), err == nil && k == int64(length)
}

func evalUncompressedLength(_ *Context, _ *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := texts(args[0])
	for _, i := range positions(sel, n) {
		out.I64[i] = 0
		if text := s.at(int(i)); len(text) > 4 {
			out.I64[i] = int64(le.LittleEndian.Uint32([]byte(text[:4])) & 0x3FFFFFFF)
		}
	}
	return nil
}

// aesMode reads @@block_encryption_mode, as aes-128-ecb.
func aesMode(c *Context) (keyBytes int, mode string, err error) {
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
	return 0, "", sqlerr.WrongValueForVar("block_encryption_mode", name).WithHint("there are aes-128, aes-192 and aes-256 with ecb, cbc, ofb and cfb128")
}

func evalAES(encrypt bool) Kernel {
	return func(c *Context, call *Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
		size, mode, err := aesMode(c)
		if err != nil {
			return err
		}
		if mode != "ecb" && len(args) < 3 {
			return sqlerr.WrongParamCount(call.Fn.Name)
		}
		text, keys := texts(args[0]), texts(args[1])
		for _, i := range positions(sel, n) {
			key := make([]byte, size) // longer keys are folded
			for j, b := range []byte(keys.at(int(i))) {
				key[j%size] ^= b
			}
			block, err := aes.NewCipher(key)
			if err != nil {
				return sqlerr.Bug("AES with %d bytes: %v", size, err)
			}
			var iv []byte
			if mode != "ecb" {
				if iv = []byte(texts(args[2]).at(int(i))); len(iv) < aes.BlockSize {
					return sqlerr.New(codeAESWrong, sqlerr.User, "The initialization vector supplied to %s is too short. Must be at least %d bytes long", call.Fn.Name, aes.BlockSize)
				}
				iv = iv[:aes.BlockSize]
			}
			result, ok := crypt(block, mode, iv, []byte(text.at(int(i))), encrypt)
			if !ok {
				out.SetNull(int(i), n)
				continue
			}
			out.Str[i] = string(result)
			if err := c.made(out.Str[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// crypt encrypts or decrypts; blocks are filled up as PKCS #7 says. ok is false for what cannot be decrypted.
func crypt(block cipher.Block, mode string, iv, text []byte, encrypt bool) (result []byte, ok bool) {
	const size = aes.BlockSize
	switch mode {
	case "ofb", "cfb128":
		return stream(block, mode == "ofb", iv, text, encrypt), true
	}
	if encrypt {
		fill := size - len(text)%size
		text = append(text, bytes.Repeat([]byte{byte(fill)}, fill)...)
	} else if len(text) == 0 || len(text)%size != 0 {
		return nil, false
	}
	result = make([]byte, len(text))
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
func stream(block cipher.Block, output bool, iv, text []byte, encrypt bool) []byte {
	result, feed := make([]byte, len(text)), bytes.Clone(iv)
	for at := 0; at < len(text); at += aes.BlockSize {
		block.Encrypt(feed, feed)
		end := min(at+aes.BlockSize, len(text))
		for i := at; i < end; i++ {
			result[i] = text[i] ^ feed[i-at]
		}
		switch {
		case output:
		case encrypt:
			copy(feed, result[at:end])
		default:
			copy(feed, text[at:end])
		}
	}
	return result
}

// unitText writes a number in the largest unit that it reaches, as MySQL does.
func unitText(x float64, units []string, sizes []float64, width int) string {
	at := 0
	for at+1 < len(units) && math.Abs(x) >= sizes[at+1] {
		at++
	}
	if at == 0 {
		digits := strconv.FormatInt(int64(x), 10)
		return strings.Repeat(" ", max(0, width-len(digits))) + digits + " " + units[0]
	}
	x /= sizes[at]
	if math.Abs(x) >= 100000 {
		return strconv.FormatFloat(x, 'e', 2, 64) + " " + units[at]
	}
	return strconv.FormatFloat(x, 'f', 2, 64) + " " + units[at]
}

func formatBytes(x float64) string {
	return unitText(x, []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}, []float64{1, 1 << 10, 1 << 20, 1 << 30, 1 << 40, 1 << 50, 1 << 60}, 4)
}

func formatPicoTime(x float64) string {
	return unitText(x, []string{"ps", "ns", "us", "ms", "s", "min", "h", "d"}, []float64{1, 1e3, 1e6, 1e9, 1e12, 60e12, 3600e12, 86400e12}, 3)
}
