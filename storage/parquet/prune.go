package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// Condition is one that wanted rows have to meet, on a tested column.
type Condition struct {
	Tested    int // its index among the tested columns
	Predicate *encoding.Predicate
}

// span is rows from .. to-1 of a row group.
type span struct{ from, to int64 }

// prune finds out which rows of the row group can meet the conditions: by the Bloom filters, the dictionaries and the column indexes of the tested columns, whichever the file has.
func (r *GroupReader) prune(conditions []Condition) error {
	r.spans = []span{{0, r.file.footer.groups[r.group].rows}}
	for _, c := range conditions {
		if err := r.ctx.Err(); err != nil {
			return sqlerr.Interrupted(err)
		}
		o := r.ordinals[c.Tested]
		if o < 0 || r.file.leaves[o].foreign || r.file.leaves[o].tree != nil || len(r.spans) == 0 {
			continue
		}
		l := &r.file.leaves[o]
		chunk := &r.file.footer.groups[r.group].chunks[l.index]
		if chunk.encrypted || chunk.isInOtherFile || chunk.physical != l.physical {
			continue // whoever reads it says so
		}
		miss, err := r.file.bloomMisses(l, chunk, c.Predicate)
		if err == nil && !miss {
			miss, err = r.dictionaryMisses(c, chunk)
		}
		if err == nil && !miss {
			var pages []span
			if pages, err = r.file.wantedPages(l, r.group, chunk, c.Predicate, r.memory); pages != nil {
				r.spans = intersect(r.spans, pages)
			}
		}
		if err != nil {
			return r.file.failed(err)
		}
		if miss {
			r.spans = nil
		}
	}
	return nil
}

// intersect returns the rows that lie in spans of both lists, which ascend.
func intersect(a, b []span) (out []span) {
	for len(a) > 0 && len(b) > 0 {
		if s := (span{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}); s.from < s.to {
			out = append(out, s)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// dictionaryMisses says whether all pages of a column have codes of its dictionary, and no entry of that meets a condition.
func (r *GroupReader) dictionaryMisses(c Condition, chunk *chunk) (bool, error) {
	if !chunk.coded || c.Predicate.HoldsNull() {
		return false, nil
	}
	in, err := r.reader(c.Tested)
	if err != nil {
		return false, err
	}
	x, ok := in.(*cursor)
	if !ok {
		return false, nil
	}
	if !x.dict.isRead {
		if err := x.nextPage(); err != nil {
			return false, x.failed(err)
		}
	}
	if !x.dict.isRead || x.dict.entries == 0 {
		return false, nil
	}
	if x.dict.ints != nil && !x.dict.finished || x.dict.wide != nil && !x.dict.finished {
		return false, nil // the value that cannot be may be one that no row has
	}
	if err := r.memory.Add(16 * int64(x.dict.entries)); err != nil {
		return false, err
	}
	defer r.memory.Free(16 * int64(x.dict.entries))
	d := encoding.Data{Type: x.typ, Rows: x.dict.entries, Ints: x.dict.ints, Floats: x.dict.floats, Wide: x.dict.wide, Strings: x.dict.words, KeepsInts: true}
	if d.Type.IsString() {
		return !slices.ContainsFunc(x.dict.words, c.Predicate.HoldsString), nil
	}
	test := encoding.CompileTest(encoding.Encode(d), c.Predicate)
	return len(test.Select(0, x.dict.entries, nil, make([]int32, x.dict.entries))) == 0, nil
}

// maxIndex bounds the bytes of an index: those of a row group take some kilobytes. To look through larger ones, of tens of thousands of pages, would take longer than a cancelled
// statement may.
const maxIndex = 1 << 20

// section reads a part of the file that the footer tells of.
func (f *File) section(at, size int64) ([]byte, error) {
	if at < 0 || size < 0 || at > f.state.Size || size > f.state.Size-at {
		return nil, fmt.Errorf("%d bytes from byte %d on lie outside the file", size, at)
	}
	b := make([]byte, size)
	_, err := f.source.ReadAt(b, at)
	return b, err
}

// wantedPages returns the rows of the pages that can meet a condition, by the column's index; nil: there is none, or it says nothing.
func (f *File) wantedPages(l *leaf, group int, c *chunk, p *encoding.Predicate, memory meter) ([]span, error) {
	if c.columnIndexSize <= 0 || c.offsetIndexSize <= 0 || c.columnIndexSize > maxIndex || c.offsetIndexSize > maxIndex {
		return nil, nil
	}
	held := int64(0)
	defer func() { memory.Free(held) }()
	allow := func(bytes int64) error {
		err := memory.Add(bytes)
		if err == nil {
			held += bytes
		}
		return err
	}
	if err := allow(c.columnIndexSize + c.offsetIndexSize); err != nil {
		return nil, err
	}
	bounds, err := f.section(c.columnIndex, c.columnIndexSize)
	if err == nil {
		var offsets []byte
		if offsets, err = f.section(c.offsetIndex, c.offsetIndexSize); err == nil {
			var pages []span
			if pages, err = f.pagesOf(l, c, p, &compact{b: bounds, allow: allow}, &compact{b: offsets, allow: allow}, f.footer.groups[group].rows); err == nil {
				return pages, nil
			}
		}
	}
	return nil, fmt.Errorf("row group %d, column '%s', the index of its pages: %w", group, l.name, err)
}

// meter counts memory.
type meter interface {
	Add(bytes int64) error
	Free(bytes int64)
}

// columnIndex is what the column index claims of the pages.
type columnIndex struct {
	empty       []bool // pages of NULLs only
	least, most [][]byte
	nulls       []int64 // nil: not known
}

// pagesOf is wantedPages for indexes that were read.
func (f *File) pagesOf(l *leaf, c *chunk, p *encoding.Predicate, bounds, offsets *compact, rows int64) ([]span, error) {
	x, first := bounds.columnIndex(), offsets.offsetIndex()
	if bounds.err != nil {
		return nil, bounds.err
	}
	if offsets.err != nil {
		return nil, offsets.err
	}
	if n := len(first); n != len(x.empty) || n != len(x.least) || n != len(x.most) || x.nulls != nil && n != len(x.nulls) || n > 0 && first[0] != 0 {
		return nil, errors.New("its lists have different lengths")
	}
	trusted := *c
	trusted.stats.old = false // bounds of pages are compared in the order that goes with the type
	wanted := []span{}
	for i, from := range first {
		to := rows
		if i+1 < len(first) {
			to = first[i+1]
		}
		if from < 0 || to < from || to > rows {
			return nil, fmt.Errorf("page %d has rows %d to %d of %d", i, from, to, rows)
		}
		if encoding.CompileTest(f.pageZone(l, &trusted, &x, i, int(min(to-from, math.MaxInt32))), p).Outcome() == encoding.None {
			continue
		}
		if k := len(wanted) - 1; k >= 0 && wanted[k].to == from {
			wanted[k].to = to
		} else {
			wanted = append(wanted, span{from, to})
		}
	}
	return wanted, nil
}

// pageZone returns what the index claims of a page, as a chunk without values.
func (f *File) pageZone(l *leaf, c *chunk, x *columnIndex, page, rows int) *encoding.Chunk {
	if x.empty[page] {
		return &encoding.Chunk{Type: l.typ, Kind: encoding.Constant, Rows: rows, NullCount: rows, Min: types.NullOf(l.typ), Max: types.NullOf(l.typ)}
	}
	z := encoding.Unknown(l.typ, rows)
	switch {
	case !l.optional:
		z.NullCount = 0
	case x.nulls != nil && x.nulls[page] >= 0 && x.nulls[page] < int64(rows):
		z.NullCount, z.Rows = int(x.nulls[page]), rows
	}
	if len(x.least[page]) > maxBound || len(x.most[page]) > maxBound {
		return z
	}
	least, ok := f.bound(l, c, x.least[page])
	most, also := f.bound(l, c, x.most[page])
	if ok && also && types.Compare(least, most) <= 0 {
		z.Min, z.Max = least, most
	}
	return z
}

func (r *compact) columnIndex() (x columnIndex) {
	r.fields(func(id int, w wire) {
		switch id {
		case 1:
			if r.expect(w, wireList) {
				of, n := r.elements()
				if n > 0 && of != wireTrue && of != wireFalse {
					r.fail(errThriftType)
				}
				for ; n > 0 && r.err == nil; n-- {
					x.empty = push(r, x.empty, wire(r.byte()) == wireTrue)
				}
			}
		case 2:
			r.list(w, wireBinary, func(w wire) { x.least = push(r, x.least, r.bytes(w)) })
		case 3:
			r.list(w, wireBinary, func(w wire) { x.most = push(r, x.most, r.bytes(w)) })
		case 5:
			r.list(w, wireI64, func(w wire) { x.nulls = push(r, x.nulls, r.i64(w)) })
		default:
			r.skip(w)
		}
	})
	return x
}

// offsetIndex returns the first row of each page.
func (r *compact) offsetIndex() (first []int64) {
	r.fields(func(id int, w wire) {
		if id != 1 {
			r.skip(w)
			return
		}
		r.list(w, wireStruct, func(wire) {
			row := int64(-1)
			r.fields(func(id int, w wire) {
				if id == 3 {
					row = r.i64(w)
					return
				}
				r.skip(w)
			})
			first = push(r, first, row)
		})
	})
	return first
}

// onlyCodes says whether the encodings of a column chunk are those of codes, and of levels. PLAIN_DICTIONARY is also that of the dictionary; with RLE_DICTIONARY there is PLAIN, and
// nobody knows of which page.
func onlyCodes(encodings []parquet.Encoding) bool {
	return slices.Contains(encodings, parquet.Encodings.PlainDict) && !slices.ContainsFunc(encodings, func(e parquet.Encoding) bool {
		return e != parquet.Encodings.PlainDict && e != parquet.Encodings.RLE && e != parquet.Encodings.BitPacked
	})
}

// onlyValues says whether the encodings of a column chunk are those of values without a dictionary, and of levels.
func onlyValues(encodings []parquet.Encoding) bool {
	return slices.Contains(encodings, parquet.Encodings.Plain) && !slices.ContainsFunc(encodings, func(e parquet.Encoding) bool {
		return e != parquet.Encodings.Plain && e != parquet.Encodings.RLE && e != parquet.Encodings.BitPacked
	})
}

// allCoded says whether the encodings of a column chunk's pages, with their kinds, are those of codes only.
func (r *compact) allCoded(w wire) bool {
	coded, any := true, false
	r.list(w, wireStruct, func(wire) {
		kind, e := int32(-1), parquet.Encoding(-1)
		r.fields(func(id int, w wire) {
			switch id {
			case 1:
				kind = r.i32(w)
			case 2:
				e = parquet.Encoding(r.i32(w))
			default:
				r.skip(w)
			}
		})
		if kind == dataPage || kind == dataPageV2 {
			any = true
			coded = coded && (e == parquet.Encodings.PlainDict || e == parquet.Encodings.RLEDict)
		}
	})
	return coded && any
}
