package codec

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"slices"
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

// Strings of all lengths and of all degrees of compression come back, into memory of the caller's and into new memory.
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

// Frames in every form that the format has, with checksums that other libraries write: made block by block, as the format says.
func TestFrames(t *testing.T) {
	if got := xxh32([]byte("Nobody inspects the spammish repetition")); got != 0xe2293b2f { // the value of xxHash's own tests
		t.Errorf("%x", got)
	}
	for _, n := range []int{0, 100, 65536, 300000} {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(i / 7 % 50)
		}
		for flags := range byte(16) { // independent blocks, checksums of blocks, the content's size, its checksum
			frame := binary.LittleEndian.AppendUint32(nil, 0x184D2204)
			frame = append(frame, 1<<6|flags<<2, 4<<4)
			if flags&2 != 0 {
				frame = binary.LittleEndian.AppendUint64(frame, uint64(n))
			}
			frame = append(frame, byte(xxh32(frame[4:])>>8))
			for at := 0; at < n; at += 65536 {
				part := text[at:min(n, at+65536)]
				block, stored := pack(t, LZ4Block, part), uint32(0)
				if at > 0 && at < 2*65536 {
					block, stored = part, 1<<31
				}
				frame = append(binary.LittleEndian.AppendUint32(frame, uint32(len(block))|stored), block...)
				if flags&4 != 0 {
					frame = binary.LittleEndian.AppendUint32(frame, xxh32(block))
				}
			}
			frame = binary.LittleEndian.AppendUint32(frame, 0)
			if flags&1 != 0 {
				frame = binary.LittleEndian.AppendUint32(frame, xxh32(text))
			}
			got, err := LZ4Frame.Unpack(nil, append(frame, frame...), 2*n)
			if err != nil || !bytes.Equal(got, append(text[:n:n], text...)) {
				t.Fatalf("%d bytes, flags %b: %d bytes, %v", n, flags, len(got), err)
			}
			if flags&5 == 0 || n == 0 {
				continue
			}
			for at := range len(frame) { // a checksum covers everything but the sizes of blocks and the end
				bad := bytes.Clone(frame)
				bad[at] ^= 0x10
				if got, err := LZ4Frame.Unpack(nil, bad, n); err == nil && !bytes.Equal(got, text) {
					t.Fatalf("%d bytes, flags %b: byte %d is not missed", n, flags, at)
				}
				if at > 300 {
					break
				}
			}
		}
	}
}

// Damaged input is an error or other bytes of the right number, and it takes no more memory than there are bytes. What is unpacked next is none the worse for it.
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
			if got, err = c.Unpack(nil, good, len(text)); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%s: behind damaged data whole data gives %d bytes, %v", c, len(got), err)
			}
		}
		if refused == 0 {
			t.Errorf("%s: no damage was seen", c)
		}
	}
}

// TestNothingWanted: where nothing is to come out, data that gives something is an error, and what gives nothing is taken.
func TestNothingWanted(t *testing.T) {
	for _, c := range all[1:] {
		for _, dst := range [][]byte{nil, {}, make([]byte, 0, 8)} {
			if got, err := c.Unpack(dst, pack(t, c, bytes.Repeat([]byte("some text "), 50)), 0); err == nil {
				t.Errorf("%s: %d bytes where none are wanted", c, len(got))
			}
			if got, err := c.Unpack(dst, pack(t, c, nil), 0); err != nil || len(got) > 0 {
				t.Errorf("%s: %q, %v", c, got, err)
			}
		}
	}
}

// TestSnappyAsOthers: another library's decoder finds the same in blocks of all kinds of elements, and the same damage.
func TestSnappyAsOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	good := 0
	for round := range 4000 {
		// Elements at random, mostly such as a writer makes, of which few are wrong.
		var body []byte
		size, most, rare := 0, r.IntN(3000), r.IntN(4) == 0
		records := round%4 == 3 // small integers of 8 bytes, with something else among them, or from somewhere on
		for size < most || len(body) == 0 {
			if records && size >= 8 && r.IntN(100) > 2 && (round%8 == 3 || size < most*2/3) {
				literal, distance := 1+r.IntN(4), 8*(1+r.IntN(size/8))
				body = append(append(body, byte((literal-1)<<2)), "abcd"[:literal]...)
				if length := 8 - literal; r.IntN(2) == 0 && distance < 2048 {
					body = append(body, byte(distance>>8<<5|(length-4)<<2|1), byte(distance))
				} else {
					body = append(body, byte((length-1)<<2|2), byte(distance), byte(distance>>8))
				}
				size += 8
				continue
			}
			distance := 1 + r.IntN(max(1, min(size, 1<<uint(r.IntN(12)))))
			if rare && r.IntN(40) == 0 {
				distance = r.IntN(2 * (size + 1))
			}
			length := 1 + r.IntN(1<<uint(1+r.IntN(6)))
			switch kind := min(r.IntN(4), size); {
			case kind == 1 && distance < 2048 && length >= 4 && length < 12:
				body = append(body, byte(distance>>8<<5|(length-4)<<2|1), byte(distance))
			case kind == 2:
				body = append(body, byte((length-1)<<2|2), byte(distance), byte(distance>>8))
			case kind == 3:
				body = binary.LittleEndian.AppendUint32(append(body, byte((length-1)<<2|3)), uint32(distance))
			default:
				if r.IntN(10) == 0 {
					length = 1 + r.IntN(700)
				}
				switch width := r.IntN(5); {
				case width == 0 && length <= 60:
					body = append(body, byte((length-1)<<2))
				case width <= 1 && length <= 256:
					body = append(body, 60<<2, byte(length-1))
				case width <= 2:
					body = append(body, 61<<2, byte(length-1), byte((length-1)>>8))
				case width == 3:
					body = append(body, 62<<2, byte(length-1), byte((length-1)>>8), 0)
				default:
					body = append(body, 63<<2, byte(length-1), byte((length-1)>>8), 0, 0)
				}
				for range length {
					body = append(body, byte(r.Uint32()))
				}
			}
			size += length
		}
		if rare && r.IntN(4) == 0 {
			body = body[:r.IntN(len(body)+1)]
		}
		if rare && r.IntN(4) == 0 {
			size += r.IntN(3) - 1
		}
		block := append(binary.AppendUvarint(nil, uint64(size)), body...)
		want, failed := snappy.Decode(nil, block)
		// Memory of exactly the size, and behind it some that has to stay as it is.
		memory := bytes.Repeat([]byte{0xa5}, size+100)
		got, err := Snappy.Unpack(memory[:0:size], slices.Clip(block), size)
		if (err != nil) != (failed != nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d bytes, %v; the library gives %d, %v, for %x", round, len(got), err, len(want), failed, block)
		}
		if !bytes.Equal(memory[size:], bytes.Repeat([]byte{0xa5}, 100)) {
			t.Fatalf("round %d: bytes behind the result were written", round)
		}
		if err == nil {
			good++
		}
	}
	if good < 2800 || good > 3900 {
		t.Errorf("%d of 4000 blocks are whole", good)
	}
}
