package encryption

import (
	"compress/zlib"
	"encoding/binary"
	"io"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// compressFunctions compress and decompress.
func compressFunctions() []*expr.Function {
	length := blobFunction("uncompressed_length", "UNCOMPRESSED_LENGTH(b)", "The bytes that UNCOMPRESS gives.", 1, 1, evalUncompressedLength)
	length.Resolve = func(args []expr.Expr) (expr.Signature, error) {
		return expr.Signature{Args: []types.Type{expr.CastToString(args[0])}, Result: types.Int64}, nil
	}
	return []*expr.Function{
		length,
		blobFunction("compress", "COMPRESS(s)", "The bytes compressed by zlib, behind their number in 4 bytes; '' for ''. Other compressors give other bytes.", 1, 1, evalCompress),
		blobFunction("uncompress", "UNCOMPRESS(b)", "What COMPRESS was given; NULL, with a warning, if it was not that.", 1, 1, evalUncompress),
	}
}

func evalCompress(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		text := s.At(int(i))
		if text == "" {
			out.Str[i] = ""
			continue
		}
		b := c.Builder()
		b.Extend(4, func(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, uint32(len(text))) })
		w := zlib.NewWriter(b)
		if err := interrupt.Feed(c, w, text); err != nil {
			return err
		}
		_ = w.Close() // Built tells of b's error, and there is no other
		if made, _, err := b.Bytes(); err == nil && made[len(made)-1] == ' ' {
			b.WriteChar('.') // lest a CHAR column cut it
		}
		var err error
		if out.Str[i], err = c.Built(b); err != nil {
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

func evalUncompress(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		text := s.At(int(i))
		if text == "" {
			out.Str[i] = ""
			continue
		}
		plain, ok, err := uncompress(c, text)
		if err != nil {
			return err
		}
		if !ok {
			out.SetNull(int(i), n)
			c.Warnings.Add(sqlerr.LevelWarning, codeZlibData, "ZLIB: Input data corrupted")
			continue
		}
		out.Str[i] = plain
	}
	return nil
}

func uncompress(c *expr.Context, text string) (plain string, ok bool, err error) {
	if len(text) < 5 {
		return "", false, nil
	}
	length := binary.LittleEndian.Uint32([]byte(text[:4])) & 0x3FFFFFFF
	if length > expr.MaxAllowedPacket {
		return "", false, nil
	}
	r, err := zlib.NewReader(strings.NewReader(text[4:]))
	if err != nil {
		return "", false, nil
	}
	b := c.Builder() // what is damaged may be much shorter than it says
	k, err := io.Copy(b, io.LimitReader(r, int64(length)+1))
	if b.Err() == nil && (err != nil || k != int64(length)) {
		return "", false, nil
	}
	plain, err = c.Built(b)
	return plain, err == nil, err
}

func evalUncompressedLength(_ *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s := expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		out.I64[i] = 0
		if text := s.At(int(i)); len(text) > 4 {
			out.I64[i] = int64(binary.LittleEndian.Uint32([]byte(text[:4])) & 0x3FFFFFFF)
		}
	}
	return nil
}
