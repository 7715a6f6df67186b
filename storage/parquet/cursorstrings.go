package parquet

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/storage/encoding"
)

// byteValues is how many values codes of a byte can stand for. Dictionaries have the capacity for as many, so that no such code lies outside.
const byteValues = 1 << 8

// gather fills dst with the values of a dictionary that the next codes stand for.
func gather[T any](c *cursor, dst, dictionary []T) error {
	if c.codes.width <= 8 && cap(dictionary) >= byteValues {
		return gatherBytes(c, dst, (*[byteValues]T)(dictionary[:byteValues]), len(dictionary))
	}
	for len(dst) > 0 {
		codes := c.scratch[:min(len(dst), len(c.scratch))]
		if err := c.codes.decode(codes); err != nil {
			return err
		}
		part := dst[:len(codes)]
		for i, code := range codes {
			if int(code) >= len(dictionary) {
				return errNoSuchCode
			}
			part[i] = dictionary[code]
		}
		dst = dst[len(codes):]
	}
	return nil
}

// gatherBytes is gather for codes of at most 8 bits and a dictionary of some entries.
func gatherBytes[T any](c *cursor, dst []T, dictionary *[byteValues]T, entries int) error {
	for len(dst) > 0 {
		codes := c.byteCodes[:min(len(dst), len(c.byteCodes))]
		if err := c.codes.decodeBytes(codes); err != nil {
			return err
		}
		if entries < 1<<c.codes.width && exceed(codes, uint8(entries)) {
			return errNoSuchCode
		}
		part := dst[:len(codes)]
		for i, code := range codes {
			part[i] = dictionary[code]
		}
		dst = dst[len(codes):]
	}
	return nil
}

// exceed says whether a code is at least most. There is at least one code.
func exceed(codes []uint8, most uint8) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	if most > 128 {
		return slices.Max(codes) >= most
	}
	// Eight codes at once. The number added to a code below 128 makes its highest bit 1 if the code is too large.
	add, found := uint64(128-most)*ones, uint64(0)
	for ; len(codes) >= 8; codes = codes[8:] {
		x := binary.LittleEndian.Uint64(codes)
		found |= (x&^tops + add) | x
	}
	for _, code := range codes {
		if code >= most {
			return true
		}
	}
	return found&tops != 0
}

// strings decodes n strings. They stay codes as long as all pages have codes and the dictionary is worth it.
func (c *cursor) strings(d *encoding.Data, at, n int) (err error) {
	if c.form != coded || d.Strings == nil && !c.keepsCodes(d.Rows) {
		c.decodeStrings(d, at)
	}
	switch {
	case d.Strings != nil && c.form == coded:
		return gather(c, d.Strings[at:at+n], c.dict.words)
	case d.Strings != nil && c.form == strung:
		dst := d.Strings[at : at+n]
		err := c.decoder.decode(dst)
		if c.width > 0 && slices.ContainsFunc(dst, func(s string) bool { return len(s) != c.width }) {
			return errors.Join(errStringLength, err)
		}
		return err
	case d.Strings != nil:
		c.plain, err = c.plainStrings(d.Strings[at:at+n], c.plain)
		return err
	case n == 0:
		return nil // NULLs only: their codes are made with the first value
	case d.Codes == nil:
		d.Codes, d.Words = c.newCodes(d.Rows), c.dict.words
	}
	codes := d.Codes[at : at+n]
	if c.late.shared != nil {
		return gather(c, codes, c.late.coded())
	}
	if err := c.codes.decode(codes); err != nil {
		return err
	}
	return checkCodes(codes, c.dict.entries)
}

// checkCodes returns an error if a code lies outside a dictionary of so many entries.
func checkCodes(codes []uint32, entries int) error {
	top := uint32(0)
	for _, code := range codes {
		top = max(top, code)
	}
	if int(top) >= entries && len(codes) > 0 {
		return errNoSuchCode
	}
	return nil
}

// keepsCodes says whether so many strings of a page of codes stay codes.
func (c *cursor) keepsCodes(rows int) bool {
	if c.late.shared != nil && c.late.coded() == nil {
		return false
	}
	return c.late.own || 2*c.dict.entries <= rows
}

// decodeStrings turns the codes of d into strings, those of earlier rows included.
func (c *cursor) decodeStrings(d *encoding.Data, before int) {
	if d.Strings != nil {
		return
	}
	d.Strings = c.newStrings(d.Rows)
	words := d.Words
	if c.late.shared != nil {
		words = c.late.shared.Values()
	}
	for i, code := range d.Codes[:min(before, len(d.Codes))] {
		if d.Valid == nil || d.Valid.Get(i) {
			d.Strings[i] = words[code]
		}
	}
	d.Codes, d.Words = nil, nil
}

func (c *cursor) newStrings(n int) []string {
	if !c.late.own {
		return make([]string, n)
	}
	c.late.stringBuffer = resize(c.late.stringBuffer, n)
	clear(c.late.stringBuffer)
	return c.late.stringBuffer
}

func (c *cursor) newCodes(n int) []uint32 {
	if !c.late.own && !c.late.encoded {
		return make([]uint32, n)
	}
	c.late.codeBuffer = resize(c.late.codeBuffer, n)
	clear(c.late.codeBuffer)
	return c.late.codeBuffer
}

// spread moves values, which stand at the front of rows at .. at+n-1, to the rows that are not NULL.
func spread(d *encoding.Data, at, n, values int) {
	spreadSlice(d.Ints, d.Valid, at, n, values)
	spreadSlice(d.Floats, d.Valid, at, n, values)
	spreadSlice(d.Wide, d.Valid, at, n, values)
	spreadSlice(d.Strings, d.Valid, at, n, values)
	spreadSlice(d.Codes, d.Valid, at, n, values)
}

func spreadSlice[T any](x []T, valid column.Bitmap, at, n, values int) {
	if x == nil {
		return
	}
	var zero T
	from := at + values
	for i := at + n - 1; i >= at; i-- {
		if valid.Get(i) {
			from--
			x[i] = x[from]
		} else {
			x[i] = zero
		}
	}
}
