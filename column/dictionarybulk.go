package column

import "strings"

// AddAll appends the codes of values to dst, giving the next codes to those that are new, in order. A new string is
// copied, so that the dictionary does not keep alive the text from which values were cut.
func (d *Dictionary) AddAll(dst []uint32, values []string) []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	codes := d.codes.Load()
	next := *d.values.Load() // appending shares the array while its capacity allows; readers see only their own length
	for _, s := range values {
		hash := codeHash(s)
		code, ok := codes.find(next, s, hash)
		if !ok {
			s = strings.Clone(s)
			code = uint32(len(next))
			next = append(next, s)
			codes = codes.with(code, hash)
			d.bytes.Add(entryBytes(s))
		}
		dst = append(dst, code)
	}
	d.values.Store(&next)
	d.codes.Store(codes)
	return dst
}

// Bytes returns about how much memory the dictionary takes: the strings, and their entries in the list and the table of codes.
func (d *Dictionary) Bytes() int64 { return d.bytes.Load() }

func entryBytes(s string) int64 {
	const perString = 16 + 28 // a string header and its share of what is free behind the list, and two to four slots of the table
	return int64(len(s)) + perString
}
