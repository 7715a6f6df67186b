package expr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// compressFunctions compress and decompress.
func compressFunctions() []*Function {
	length := blobFunction("uncompressed_length", "UNCOMPRESSED_LENGTH(b)", "The bytes that UNCOMPRESS gives.", 1, 1, evalUncompressedLength)
	length.Resolve = func(args []Expr) (Signature, error) {
		return Signature{Args: []types.Type{castText(args[0])}, Result: types.Int64}, nil
	}
	return []*Function{
		length,
		blobFunction("compress", "COMPRESS(s)", "The bytes compressed by zlib, behind their number in 4 bytes; '' for ''. Other compressors give other bytes.", 1, 1, evalCompress),
		blobFunction("uncompress", "UNCOMPRESS(b)", "What COMPRESS was given; NULL, with a warning, if it was not that.", 1, 1, evalUncompress),
	}
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
		b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
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
	length := binary.LittleEndian.Uint32([]byte(text[:4])) & 0x3FFFFFFF
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
			out.I64[i] = int64(binary.LittleEndian.Uint32([]byte(text[:4])) & 0x3FFFFFFF)
		}
	}
	return nil
}
