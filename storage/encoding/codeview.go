package encoding

import "github.com/radish-sql/radish/column"

// Codes returns, without copying, the dictionary codes of a dictionary-coded chunk or the offsets from Base of a frame of reference. ok is false for other
// chunks, constant ones among them.
func (c *Chunk) Codes() (v CodeView, ok bool) {
	if c.U8 == nil && c.U16 == nil && c.U32 == nil {
		return CodeView{}, false
	}
	return CodeView{Base: c.Base, U8: c.U8, U16: c.U16, U32: c.U32, Dict: c.Dict, Valid: c.Valid}, true
}

// CodeView is the encoded form of a chunk: exactly one of U8, U16 and U32 is not nil. The value of row i is Base + code, or Dict's
// string of that code.
type CodeView struct {
	Base  int64
	U8    []uint8
	U16   []uint16
	U32   []uint32
	Dict  *column.Dictionary
	Valid column.Bitmap
}

// Width is the number of bytes of a code: 1, 2 or 4.
func (v CodeView) Width() int {
	switch {
	case v.U8 != nil:
		return 1
	case v.U16 != nil:
		return 2
	}
	return 4
}

// Copy stores the codes of rows from .. from+len(dst)-1 in dst.
func (v CodeView) Copy(dst []uint32, from int) {
	switch {
	case v.U8 != nil:
		widenCodes(dst, v.U8[from:from+len(dst)])
	case v.U16 != nil:
		widenCodes(dst, v.U16[from:from+len(dst)])
	default:
		copy(dst, v.U32[from:from+len(dst)])
	}
}
