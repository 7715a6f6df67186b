package column

import "strings"

// LookupAll appends the codes of values to dst, -1 for those that are not in the dictionary. Many goroutines may look up at once.
func (d *Dictionary) LookupAll(dst []int32, values []string) []int32 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, s := range values {
		if code, ok := d.codes[s]; ok {
			dst = append(dst, int32(code))
		} else {
			dst = append(dst, -1)
		}
	}
	return dst
}

// AddAll appends the codes of values to dst, giving the next codes to those that are new, in order. A new string is
// copied, so that the dictionary does not keep alive the text from which values were cut.
func (d *Dictionary) AddAll(dst []uint32, values []string) []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := *d.values.Load() // appending shares the array while its capacity allows; readers see only their own length
	for _, s := range values {
		code, ok := d.codes[s]
		if !ok {
			s = strings.Clone(s)
			code = uint32(len(next))
			next = append(next, s)
			d.codes[s] = code
			d.bytes.Add(entryBytes(s))
		}
		dst = append(dst, code)
	}
	d.values.Store(&next)
	return dst
}

// Bytes returns about how much memory the dictionary takes: the strings, and their entries in the list and the map.
func (d *Dictionary) Bytes() int64 { return d.bytes.Load() }

func entryBytes(s string) int64 {
	const perString = 2*16 + 4 + 8 // two string headers, a code, and the map's slack
	return int64(len(s)) + perString
}
