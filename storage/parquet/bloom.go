package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Bloom filters of column chunks are split into blocks of 256 bits, of which a value sets one bit in each of eight words (the format's BloomFilter.md, after Putze, Sanders and Singler
// 2007, "Cache-, hash- and space-efficient Bloom filters").

// maxBloomValues is for how many values of a condition the filter is asked.
const maxBloomValues = 64

// bloomMisses says whether a column chunk's Bloom filter has none of the values that a condition asks for.
func (f *File) bloomMisses(l *leaf, c *chunk, p *encoding.Predicate) (bool, error) {
	values := p.Members()
	if c.bloom <= 0 || len(values) == 0 || len(values) > maxBloomValues {
		return false, nil
	}
	var hashes []uint64
	for _, v := range values {
		b, hashed := l.plainBytes(v)
		if !hashed {
			return false, nil
		}
		if b != nil { // else the file's type has no such value
			hashes = append(hashes, xxHash64(b))
		}
	}
	const most = 64 // bytes of a header
	head, err := f.section(c.bloom, min(most, f.state.Size-c.bloom))
	if err != nil {
		return false, fmt.Errorf("the Bloom filter of column '%s': %w", l.name, err)
	}
	r := &compact{b: head}
	size, known := r.bloomHeader()
	if r.err != nil {
		return false, fmt.Errorf("the Bloom filter of column '%s': %w", l.name, r.err)
	}
	if !known {
		return false, nil
	}
	for _, h := range hashes {
		block, err := f.section(c.bloom+int64(r.at)+bloomBlockOf(h, size), bloomBlock)
		if err != nil {
			return false, fmt.Errorf("the Bloom filter of column '%s': %w", l.name, err)
		}
		if bloomHas(block, h) {
			return false, nil
		}
	}
	return true, nil
}

// bloomHeader returns the bytes of a filter, and whether it is of the only kind that the format has so far.
func (r *compact) bloomHeader() (size int64, known bool) {
	first := func(w wire) (is bool) {
		r.structure(w, func(id int, w wire) { is = id == 1; r.skip(w) })
		return is
	}
	known = true
	r.fields(func(id int, w wire) {
		switch id {
		case 1:
			size = int64(r.i32(w))
		case 2, 3, 4: // algorithm, hash function, compression
			known = first(w) && known
		default:
			r.skip(w)
		}
	})
	if r.err == nil && (size <= 0 || size%bloomBlock != 0) {
		r.fail(errors.New("a filter without whole blocks"))
	}
	return size, known
}

const bloomBlock = 32 // bytes

// bloomSalt makes of a hash the bits of a block's words.
var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// bloomBlockOf returns where in a filter of size bytes the block of a hash begins.
func bloomBlockOf(hash uint64, size int64) int64 {
	block, _ := bits.Mul64(hash>>32<<32, uint64(size/bloomBlock))
	return int64(block) * bloomBlock
}

// bloomHas says whether a block of a filter may have a value.
func bloomHas(block []byte, hash uint64) bool {
	for i, salt := range bloomSalt {
		if binary.LittleEndian.Uint32(block[4*i:])>>(uint32(hash)*salt>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// plainBytes returns a value as the file holds it, nil if the file's type has no such value. hashed is false for types of which the file may hold a value in other bytes.
func (l *leaf) plainBytes(v types.Value) (b []byte, hashed bool) {
	if l.typ.Phys() == types.PhysInt128 {
		return nil, false // also INT32 and INT64 that are annotated with more digits than they can have
	}
	switch id := l.arrow.ID(); {
	case l.physical == parquet.Types.ByteArray && (id == arrow.STRING || id == arrow.BINARY) && l.typ.IsString():
		return []byte(v.S), true
	case l.physical == parquet.Types.Int32 && (arrow.IsInteger(id) || id == arrow.DATE32 || id == arrow.DECIMAL128):
		if v.I != int64(int32(v.I)) && v.I != int64(uint32(v.I)) {
			return nil, true
		}
		return binary.LittleEndian.AppendUint32(nil, uint32(v.I)), true
	case l.physical == parquet.Types.Int64 && (arrow.IsInteger(id) || id == arrow.DECIMAL128):
		return binary.LittleEndian.AppendUint64(nil, uint64(v.I)), true
	case l.physical == parquet.Types.Int64 && id == arrow.TIMESTAMP && l.arrow.(*arrow.TimestampType).Unit == arrow.Microsecond:
		return binary.LittleEndian.AppendUint64(nil, uint64(v.I)), true
	}
	return nil, false
}

// The primes of xxHash64 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
const (
	prime1 uint64 = 0x9E3779B185EBCA87
	prime2 uint64 = 0xC2B2AE3D27D4EB4F
	prime3 uint64 = 0x165667B19E3779F9
	prime4 uint64 = 0x85EBCA77C2B2AE63
	prime5 uint64 = 0x27D4EB2F165667C5
)

// xxHash64 returns the xxHash64 of bytes, with seed 0.
func xxHash64(b []byte) uint64 {
	round := func(acc, lane uint64) uint64 { return bits.RotateLeft64(acc+lane*prime2, 31) * prime1 }
	h, n := prime5, uint64(len(b))
	if len(b) >= 32 {
		p1, zero := prime1, uint64(0) // variables, so that sums wrap around
		acc := [4]uint64{p1 + prime2, prime2, 0, zero - prime1}
		for ; len(b) >= 32; b = b[32:] {
			for i := range acc {
				acc[i] = round(acc[i], binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
		h = bits.RotateLeft64(acc[0], 1) + bits.RotateLeft64(acc[1], 7) + bits.RotateLeft64(acc[2], 12) + bits.RotateLeft64(acc[3], 18)
		for _, a := range acc {
			h = (h^round(0, a))*prime1 + prime4
		}
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^round(0, binary.LittleEndian.Uint64(b)), 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*prime1, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, x := range b {
		h = bits.RotateLeft64(h^uint64(x)*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}
