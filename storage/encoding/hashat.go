package encoding

// HashAt returns a hash of the value of a row, which is not NULL; equal values of a column have equal hashes in all chunks of a process. byCode says that all
// of these have the same dictionary, so that the code does.
func (c *Chunk) HashAt(row int, byCode bool) uint64 {
	switch {
	case c.Kind == FOR32:
		return mix(uint64(c.Base) + uint64(c.U32[row]))
	case c.Kind == Raw64:
		return mix(uint64(c.I64[row]))
	case byCode && c.Kind == Dict32:
		return mix(uint64(c.U32[row]))
	case byCode && c.Kind == Dict16:
		return mix(uint64(c.U16[row]))
	case byCode && c.Kind == Dict8:
		return mix(uint64(c.U8[row]))
	case byCode && c.Kind == Constant:
		return mix(uint64(c.Base))
	}
	return hashValue(c.At(row))
}
