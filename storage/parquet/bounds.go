package parquet

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// statistics are what a writer claims of a column chunk, in its own words.
type statistics struct {
	least, most []byte // nil: not known
	old         bool   // they were compared as signed bytes, or nobody knows how
	nulls       int64  // -1: not known
	distinct    int64  // values; 0: not known
}

// maxBound is the size of a bound that is kept: longer ones are of strings that no condition is likely to be about.
const maxBound = 64

func (r *compact) statistics(w wire) statistics {
	s := statistics{nulls: -1}
	var least, most []byte
	r.structure(w, func(id int, w wire) {
		switch id {
		case 1:
			most = r.bytes(w)
		case 2:
			least = r.bytes(w)
		case 3:
			s.nulls = r.i64(w)
		case 4:
			s.distinct = r.i64(w)
		case 5:
			s.most = r.bytes(w)
		case 6:
			s.least = r.bytes(w)
		default:
			r.skip(w)
		}
	})
	if s.least == nil || s.most == nil {
		s.least, s.most, s.old = least, most, true
	}
	if s.least == nil || s.most == nil || len(s.least) > maxBound || len(s.most) > maxBound {
		s.least, s.most = nil, nil
	}
	r.hold(int64(len(s.least) + len(s.most)))
	s.least, s.most = append([]byte(nil), s.least...), append([]byte(nil), s.most...) // the footer's memory goes
	return s
}

// Groups returns how many row groups there are.
func (f *File) Groups() int { return len(f.footer.groups) }

// GroupRows returns the rows of a row group.
func (f *File) GroupRows(group int) int { return int(f.footer.groups[group].rows) }

// jsonGrowth is how many times as large as its values a nested column is assumed to be as JSON.
const jsonGrowth = 2

// headerBytes is about what the header of a dictionary page takes.
const headerBytes = 16

// Distinct returns about how many values a column of a row group has, as the writer says or by the size of its dictionary; 0: that is not known. Where others have dictionaries, a column without one is taken to
// have no value twice. Nothing is proved by it.
func (f *File) Distinct(group, ordinal int) int64 {
	if ordinal < 0 || f.leaves[ordinal].foreign || f.leaves[ordinal].tree != nil {
		return 0
	}
	g, l := &f.footer.groups[group], &f.leaves[ordinal]
	c := &g.chunks[l.index]
	switch {
	case c.encrypted || c.physical != l.physical:
		return 0
	case c.stats.distinct > 0:
		return min(c.stats.distinct, g.rows)
	case l.physical == parquet.Types.Boolean:
		return min(2, g.rows)
	case c.spelled && g.coded: // the writer found a dictionary not worth while
		return max(0, g.rows-max(0, c.stats.nulls))
	case !c.coded || c.dictionary <= 0 || c.dictionary >= c.data || c.size <= 0:
		return 0
	}
	width := float64(l.size())
	if width == 0 { // strings, each behind its length
		width = 4 + max(1, float64(len(c.stats.least)+len(c.stats.most))/2)
	}
	packing := max(1, float64(c.unpacked)/float64(c.size))
	return int64(max(1, min(float64(g.rows), float64(c.data-c.dictionary-headerBytes)*packing/width)))
}

// GroupBytes returns about how much memory a column of a row group takes when it is decompressed, and how many bytes of the file.
func (f *File) GroupBytes(group, ordinal int) (unpacked, packed int64) {
	if ordinal < 0 || f.leaves[ordinal].foreign {
		return 0, 0
	}
	g, l := &f.footer.groups[group], &f.leaves[ordinal]
	if l.tree != nil {
		l.tree.leaves(func(b *branch) {
			c := &g.chunks[b.leaf.index]
			unpacked, packed = unpacked+jsonGrowth*c.unpacked, packed+c.size
		})
		return max(unpacked, 16*g.rows), packed
	}
	width := int64(8)
	if l.typ.Phys() == types.PhysInt128 || l.typ.Phys() == types.PhysString {
		width = 16
	}
	c := &g.chunks[l.index]
	return max(c.unpacked, width*g.rows), c.size
}

// Zone returns what the footer says of a column of a row group, as a chunk with a zone map and no values. told says whether the footer bounds the values
// in a way that can be relied on. If not, the zone map allows NULLs and any values.
func (f *File) Zone(group, ordinal int) (z *encoding.Chunk, told bool) {
	rows := int(min(f.footer.groups[group].rows, math.MaxInt32))
	if ordinal < 0 {
		return encoding.Unknown(types.Int64, rows), false
	}
	l := &f.leaves[ordinal]
	z = encoding.Unknown(l.typ, rows)
	if l.foreign || l.tree != nil || l.arrow.ID() == arrow.NULL {
		return z, false
	}
	c := &f.footer.groups[group].chunks[l.index]
	switch s := &c.stats; {
	case !l.optional:
		z.NullCount = 0
	case s.nulls >= 0 && s.nulls <= int64(rows):
		z.NullCount = int(s.nulls)
		z.Rows = rows
	}
	least, ok := f.bound(l, c, c.stats.least)
	most, also := f.bound(l, c, c.stats.most)
	if ok && also && types.Compare(least, most) <= 0 {
		z.Min, z.Max, told = least, most, true
	}
	return z, told
}

// bound decodes a bound. It is not known of kinds of values that writers have compared in several ways: DOUBLEs, among which are NaN and -0, Booleans, times of 96
// bits, and in old statistics all but signed integers.
func (f *File) bound(l *leaf, c *chunk, b []byte) (v types.Value, ok bool) {
	isInteger := l.physical == parquet.Types.Int32 || l.physical == parquet.Types.Int64
	switch {
	case b == nil || c.encrypted || c.physical != l.physical,
		c.stats.old && (!isInteger || l.typ.Phys() == types.PhysUint64 || l.typ.Kind == types.KindJSON),
		l.typ.Phys() == types.PhysFloat64, l.typ.Kind == types.KindJSON,
		l.physical == parquet.Types.Boolean, l.physical == parquet.Types.Int96:
		return v, false
	}
	src := b
	if l.physical == parquet.Types.ByteArray {
		src = append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	x := &cursor{leaf: l, plain: src}
	d := encoding.Data{Type: l.typ, Rows: 1}
	switch l.typ.Phys() {
	case types.PhysInt128:
		d.Wide = make([]types.Int128, 1)
	case types.PhysString:
		d.Strings = make([]string, 1)
	default:
		d.Ints = make([]int64, 1)
	}
	if l.physical == parquet.Types.FixedLenByteArray && len(b) != l.width || isInteger && len(b) != l.size() {
		return v, false
	}
	if x.values(&d, 0, 1) != nil {
		return v, false
	}
	v.Type = l.typ
	switch {
	case d.Wide != nil:
		v.D = d.Wide[0]
	case d.Strings != nil:
		v.S = d.Strings[0]
	default:
		v.I = d.Ints[0]
	}
	return v, true
}
