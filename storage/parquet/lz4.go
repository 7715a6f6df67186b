package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/pierrec/lz4/v4"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// codecLZ4Raw is LZ4_RAW of the format's CompressionCodec, which arrow-go does not know: blocks of LZ4 without frames.
const codecLZ4Raw compress.Compression = 7

func init() { compress.RegisterCodec(codecLZ4Raw, lz4Raw{}) }

// lz4Raw takes pages out of their compression; nothing else of a codec is ever called, as no file is written with it.
type lz4Raw struct{ compress.Codec }

// Decode decompresses a page into dst, which is as long as its header says. It panics where a page is damaged, as the
// codecs of arrow-go do.
func (lz4Raw) Decode(dst, src []byte) []byte {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		panic(err)
	}
	if n != len(dst) {
		panic(fmt.Sprintf("a page has %d bytes instead of %d", n, len(dst)))
	}
	return dst
}

// checkCodec refuses what a column chunk is compressed with if nothing here can read it.
func checkCodec(codec compress.Compression, column string) error {
	if _, err := compress.GetCodec(codec); err != nil {
		return sqlerr.NotSupportedf(fmt.Sprintf("Parquet's codec %s", codec), "column '%s': write it with snappy, gzip, brotli, zstd, lz4_raw or without compression", column)
	}
	return nil
}
