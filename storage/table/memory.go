package table

import (
	"unsafe"

	"github.com/radish-sql/radish/column"
)

// Bytes returns how much memory the version takes: encoded columns, dictionaries, deletions, and the indexes of keys as
// far as they are built. Versions of one table share most of it.
func (v *Version) Bytes() int64 {
	total := int64(unsafe.Sizeof(*v))
	dictionaries := map[*column.Dictionary]struct{}{}
	for _, g := range v.groups {
		total += int64(unsafe.Sizeof(*g)) + 8*int64(len(g.Deleted))
		if g.pending != nil {
			g.pending.pieces(g, func(_ unsafe.Pointer, bytes int64) { total += bytes })
		}
		for _, c := range g.Columns {
			total += c.MemoryBytes()
			if c.Dict != nil {
				dictionaries[c.Dict] = struct{}{}
			}
		}
	}
	for d := range dictionaries {
		total += d.Bytes()
	}
	v.index.mu.Lock()
	defer v.index.mu.Unlock()
	for _, x := range v.index.keys {
		if x != nil {
			total += x.bytes()
		}
	}
	return total
}

// ColumnBytes returns how many bytes a scan of the column's encoded values reads.
func (v *Version) ColumnBytes(ordinal int) int64 {
	total := 0.0
	for _, g := range v.groups {
		total += g.Columns[ordinal].Width() * float64(g.Rows)
	}
	return int64(total)
}
