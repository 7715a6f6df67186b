package codec

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// pack compresses with the libraries' writers.
func pack(t *testing.T, c Codec, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w interface {
		Write([]byte) (int, error)
		Close() error
	}
	switch c {
	case None:
		return text
	case Snappy:
		return snappy.Encode(nil, text)
	case LZ4Block:
		out := make([]byte, lz4.CompressBlockBound(len(text)))
		var z lz4.Compressor
		n, err := z.CompressBlock(text, out)
		if err != nil || n == 0 && len(text) > 0 {
			t.Fatal(n, err)
		}
		return out[:n]
	case Gzip:
		w = gzip.NewWriter(&b)
	case Brotli:
		w = brotli.NewWriter(&b)
	case Zstd:
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	case LZ4Frame:
		w = lz4.NewWriter(&b)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var all = []Codec{None, Snappy, Gzip, Brotli, Zstd, LZ4Block, LZ4Frame}

// Texts of all lengths and of all degrees of compression come back, into memory of the caller's and into new memory.
func TestUnpack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range all {
		for _, n := range []int{0, 1, 100, 5000, 1 << 20, 30 << 20} {
			if n == 0 && c == LZ4Block {
				continue // a block of nothing is no block
			}
			text := make([]byte, n) // zeros: the most that comes out of a byte
			if n == 5000 {
				for i := range text {
					text[i] = byte(r.IntN(7))
				}
			}
			if n < 100 && c == LZ4Block {
				continue // the compressor gives up
			}
			packed := pack(t, c, text)
			for _, dst := range [][]byte{nil, make([]byte, 0, 64), make([]byte, n+5)} {
				got, err := c.Unpack(dst, packed, n)
				if err != nil || !bytes.Equal(got, text) {
					t.Fatalf("%s, %d bytes: %d bytes, %v", c, n, len(got), err)
				}
			}
			for _, wrong := range []int{n + 1, n - 1, 2*n + 7, -1, 1 << 40} {
				if got, err := c.Unpack(nil, packed, wrong); err == nil && wrong != n {
					t.Errorf("%s, %d bytes taken for %d: %d bytes", c, n, wrong, len(got))
				}
			}
		}
	}
}

// Damaged input is an error or other bytes of the right number, and it takes no more memory than there are bytes.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 20000)
	for i := range text {
		text[i] = byte(r.IntN(40))
	}
	for _, c := range all[1:] {
		good := pack(t, c, text)
		refused := 0
		for range 3000 {
			bad := bytes.Clone(good)
			for range 1 + r.IntN(3) {
				bad[r.IntN(min(len(bad), 1<<uint(r.IntN(15))))] = byte(r.Uint32())
			}
			if r.IntN(4) == 0 {
				bad = bad[:r.IntN(len(bad))]
			}
			got, err := c.Unpack(nil, bad, len(text))
			if err != nil {
				refused++
			} else if len(got) != len(text) {
				t.Fatalf("%s: %d bytes", c, len(got))
			}
		}
		if refused == 0 {
			t.Errorf("%s: no damage was seen", c)
		}
	}
}
