// Package codec takes buffers of data files out of their compression: the pages of Parquet files (storage/parquet) and the
// buffers of Arrow files (storage/arrowipc).
//
// The size that a file claims for a buffer is never trusted. Each format of compression has a most that a byte can expand to;
// where that is too much to help, memory grows with what really comes out. Damaged input is an error, never a panic.
package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Codec is a format of compression.
type Codec uint8

// The codecs. LZ4Block is one block of LZ4, LZ4Frame is LZ4's frame format with any number of blocks.
const (
	None Codec = iota
	Snappy
	Gzip
	Brotli
	Zstd
	LZ4Block
	LZ4Frame
)

// names are what messages call the codecs.
var names = [...]string{None: "uncompressed", Snappy: "snappy", Gzip: "gzip", Brotli: "brotli", Zstd: "zstd", LZ4Block: "lz4", LZ4Frame: "lz4"}

func (c Codec) String() string { return names[c] }

// expansion is how many bytes one byte of input can become at most, 0 where there is no useful bound:
//   - Snappy: a copy element of 3 bytes gives 64.
//   - LZ4: a byte of a match's length gives 255.
//   - DEFLATE: 1032 to 1 (zlib's technical notes).
//   - Zstandard: a block gives at most 128 KiB and takes at least 3 bytes (RFC 8878, section 3.1.1.2).
var expansion = [...]int64{Snappy: 22, LZ4Block: 255, LZ4Frame: 255, Gzip: 1032, Zstd: (128 << 10) / 3, Brotli: 0}

// slack is what a buffer may have beyond its expansion, for literals and rounding.
const slack = 128 << 10

// Check returns an error if size bytes cannot come out of packed bytes.
func (c Codec) Check(packed, size int64) error {
	switch {
	case size < 0:
		return fmt.Errorf("a buffer of %d bytes", size)
	case c == None && packed != size:
		return fmt.Errorf("an uncompressed buffer of %d bytes, which takes %d", size, packed)
	case expansion[c] > 0 && size > packed*expansion[c]+slack:
		return fmt.Errorf("%d bytes of %s cannot become %d", packed, c, size)
	}
	return nil
}

// Unpack decompresses src, which gives exactly size bytes, into dst if that is large enough, else into new memory. The caller has
// reserved size bytes (see [Codec.Check]). What it returns for [None] is src.
func (c Codec) Unpack(dst, src []byte, size int) ([]byte, error) {
	if err := c.Check(int64(len(src)), int64(size)); err != nil {
		return nil, err
	}
	if c == None {
		return src, nil
	}
	if size == 0 && len(src) == 0 {
		return nil, nil // some writers store nothing for nothing
	}
	out, err := c.unpack(dst, src, size)
	if err != nil {
		return nil, fmt.Errorf("damaged %s data: %w", c, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("damaged %s data: it gives %d bytes instead of %d", c, len(out), size)
	}
	return out, nil
}

func (c Codec) unpack(dst, src []byte, size int) ([]byte, error) {
	switch c {
	case Snappy:
		n, width := binary.Uvarint(src)
		if width <= 0 || n != uint64(size) {
			return nil, fmt.Errorf("its header says %d bytes instead of %d", n, size)
		}
		out := sized(dst, size)
		return out, unpackSnappy(out, src[width:])
	case LZ4Block:
		out := sized(dst, size)
		n, err := lz4Block(out, src, nil)
		return out[:max(n, 0)], err
	case Zstd:
		return zstdDecoder().DecodeAll(src, sized(dst, size)[:0:size])
	case Gzip:
		r, _ := gzips.Get().(*gzip.Reader)
		if r == nil {
			r = new(gzip.Reader)
		}
		defer gzips.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		return drain(r, dst, src, size)
	case Brotli:
		r, _ := brotlis.Get().(*brotli.Reader)
		if r == nil {
			r = new(brotli.Reader)
		}
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		out, err := drain(r, dst, src, size)
		if err == nil {
			brotlis.Put(r) // after an error Reset would leave input of src to be read before the next one's
		}
		return out, err
	}
	return unpackFrames(dst, src, size)
}

// Readers keep windows and tables, so that they are used again.
var gzips, brotlis sync.Pool

// zstdDecoder returns the decoder that all share: DecodeAll keeps no state. It fills no more than its destination's capacity.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(1<<32), zstd.WithDecoderMaxWindow(1<<31))
	if err != nil {
		panic(err) // the options are constant
	}
	return d
})

// sized returns size bytes, in dst if it has them.
func sized(dst []byte, size int) []byte {
	if size <= cap(dst) {
		return dst[:size]
	}
	return make([]byte, size)
}

// drain reads size bytes and the end. Memory for much more than src grows with what comes.
func drain(r io.Reader, dst, src []byte, size int) ([]byte, error) {
	out := dst[:0]
	if likely := max(64*len(src), 1<<20); size <= likely {
		out = sized(dst, size)[:0]
	}
	for len(out) < size {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(size, max(2*len(out), 1<<20)))
			copy(grown, out)
			out = grown
		}
		n, err := r.Read(out[len(out):min(cap(out), size)])
		out = out[:len(out)+n]
		if err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, err
		}
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 {
		return nil, fmt.Errorf("it gives more than %d bytes", size)
	} else if err != io.EOF {
		return nil, err
	}
	return out, nil
}
