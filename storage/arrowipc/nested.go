package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// isNested says whether a field's values are made of those of its children, runs excepted.
func (f *field) isNested() bool {
	switch f.layout {
	case layoutList, layoutListView, layoutStruct, layoutSparse, layoutDense:
		return true
	}
	return false
}

// nestedType returns the type of a nested field by its number in Arrow's schema; nil: a child has none.
func (f *field) nestedType(kind byte, t flatTable) (arrow.DataType, error) {
	var inside []arrow.Field
	for _, c := range f.children {
		typ := c.arrowType()
		if typ == nil {
			return nil, nil
		}
		inside = append(inside, arrow.Field{Name: c.name, Type: typ, Nullable: c.nullable})
	}
	switch kind {
	case 12:
		return arrow.ListOfField(inside[0]), nil
	case 21:
		return arrow.LargeListOfField(inside[0]), nil
	case 25:
		return arrow.ListViewOfField(inside[0]), nil
	case 26:
		return arrow.LargeListViewOfField(inside[0]), nil
	case 13:
		return arrow.StructOf(inside...), nil
	case 14:
		return f.unionType(inside, t)
	case 16:
		width := t.int32(0, 0)
		if width < 0 {
			return nil, fmt.Errorf("lists of %d values", width)
		}
		if width == 0 { // for which arrow-go has no type
			return nil, nil
		}
		return arrow.FixedSizeListOfField(int32(width), inside[0]), nil
	}
	pair, ok := inside[0].Type.(*arrow.StructType)
	if !ok || pair.NumFields() != 2 {
		return nil, errors.New("a map whose entries are no pairs")
	}
	return arrow.MapOf(pair.Field(0).Type, pair.Field(1).Type), nil
}

// maxMembers is how many members a union can have.
const maxMembers = 128

// unionType returns the type of a union. Its members have the numbers that the schema gives, or those of their order.
func (f *field) unionType(members []arrow.Field, t flatTable) (arrow.DataType, error) {
	var codes []arrow.UnionTypeCode
	numbers, _ := t.vector(1, 4)
	if len(members) > maxMembers || len(numbers) > 0 && len(numbers) != 4*len(members) {
		return nil, fmt.Errorf("a union of %d members has %d numbers for them", len(members), len(numbers)/4)
	}
	for i := range members {
		code := i
		if len(numbers) > 0 {
			code = int(int32(binary.LittleEndian.Uint32(numbers[4*i:])))
		}
		if code < 0 || code >= maxMembers {
			return nil, fmt.Errorf("a member of a union has the number %d", code)
		}
		codes = append(codes, arrow.UnionTypeCode(code))
	}
	if f.layout == layoutDense {
		return arrow.DenseUnionOf(members, codes), nil
	}
	return arrow.SparseUnionOf(members, codes), nil
}

// nested makes an array of n nested values, whose children follow.
func (b *batch) nested(f *field, n int, nulls int64) (arrow.Array, error) {
	var bits []byte
	var err error
	isUnion := f.layout == layoutSparse || f.layout == layoutDense
	if !isUnion {
		bits, err = b.validity(n, nulls)
	} else if b.version < version5 {
		if bits, err = b.validity(n, nulls); bits != nil {
			return nil, errors.New("a union that has a validity bitmap of its own, as no version from 1.0 on writes it")
		}
	}
	if err != nil {
		return nil, err
	}
	var own [2][]byte // offsets and sizes, or numbers of members and offsets
	count := map[layout]int{layoutList: 1, layoutListView: 2, layoutSparse: 1, layoutDense: 2}[f.layout]
	for i := range count {
		if own[i], err = b.buffer(); err != nil {
			return nil, err
		}
	}
	var children []arrow.Array
	for _, c := range f.children {
		a, err := b.column(c)
		if err != nil {
			return nil, err
		}
		children = append(children, a)
	}
	fixed, _ := f.typ.(*arrow.FixedSizeListType)
	switch {
	case fixed != nil && int64(n)*int64(fixed.Len()) > int64(children[0].Len()):
		err = fmt.Errorf("%d lists of %d values have %d in all", n, fixed.Len(), children[0].Len())
	case fixed != nil:
	case f.layout == layoutList || f.layout == layoutListView:
		own, err = checkLists(f, n, own, children[0].Len())
	default:
		err = checkMembers(f, n, own, children)
	}
	if err == nil && f.typ.ID() == arrow.MAP {
		err = checkMap(children[0])
	}
	if err != nil {
		return nil, err
	}
	return makeNested(f.typ, n, bits, own[:count], children), nil
}

// makeNested makes an array of buffers and children that were checked. bits is nil if there are no NULLs.
func makeNested(t arrow.DataType, n int, bits []byte, own [][]byte, children []arrow.Array) arrow.Array {
	all := []*memory.Buffer{nil}
	nulls := 0
	if bits != nil {
		all[0] = memory.NewBufferBytes(bits)
		nulls = n - bitutil.CountSetBits(bits, 0, n)
	}
	for _, b := range own {
		all = append(all, memory.NewBufferBytes(b))
	}
	var inside []arrow.ArrayData
	for _, c := range children {
		inside = append(inside, c.Data())
	}
	return array.MakeFromData(array.NewData(t, n, all, inside, nulls, 0))
}

// checkLists checks where n lists say that their values stand, of which there are so many.
func checkLists(f *field, n int, own [2][]byte, values int) ([2][]byte, error) {
	size := 4
	switch f.typ.(type) {
	case *arrow.LargeListType, *arrow.LargeListViewType:
		size = 8
	}
	if f.layout == layoutList {
		var err error
		own[0], err = checkOffsets(own[0], n, size, values)
		return own, err
	}
	if len(own[0])/size < n || len(own[1])/size < n {
		return own, fmt.Errorf("%d and %d bytes for %d lists", len(own[0]), len(own[1]), n)
	}
	number := func(b []byte, i int) int64 {
		if size == 4 {
			return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
		return int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	for i := range n {
		from, length := number(own[0], i), number(own[1], i)
		if from < 0 || length < 0 || from > int64(values) || length > int64(values)-from {
			return own, fmt.Errorf("list %d has %d values from %d on, of %d", i, length, from, values)
		}
	}
	return own, nil
}

// checkMembers checks the members of n structs or unions.
func checkMembers(f *field, n int, own [2][]byte, members []arrow.Array) error {
	if f.layout != layoutDense {
		for i, m := range members {
			if m.Len() < n {
				return fmt.Errorf("'%s' has %d values for %d", f.children[i].name, m.Len(), n)
			}
		}
	}
	if f.layout == layoutStruct {
		return nil
	}
	if len(own[0]) < n || f.layout == layoutDense && len(own[1])/4 < n {
		return fmt.Errorf("%d and %d bytes for %d values of a union", len(own[0]), len(own[1]), n)
	}
	ids := f.typ.(arrow.UnionType).ChildIDs()
	for i, code := range own[0][:n] {
		if code >= maxMembers || ids[code] == arrow.InvalidUnionChildID {
			return fmt.Errorf("value %d of a union is of member %d, which it does not have", i, code)
		}
		if f.layout == layoutDense {
			at := int32(binary.LittleEndian.Uint32(own[1][4*i:]))
			if have := members[ids[code]].Len(); at < 0 || int(at) >= have {
				return fmt.Errorf("value %d of a union is value %d of a member that has %d", i, at, have)
			}
		}
	}
	return nil
}

// checkMap checks the entries of maps: neither they nor their keys may be NULL.
func checkMap(entries arrow.Array) error {
	if pairs, ok := entries.(*array.Struct); !ok || pairs.NullN() > 0 || pairs.NumField() != 2 || pairs.Field(0).NullN() > 0 {
		return errors.New("a map has an entry that is NULL, or a key")
	}
	return nil
}
