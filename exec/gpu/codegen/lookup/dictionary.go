package lookup

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// Data is bytes that a kernel reads: a lookup table, the members of an IN list, a string. It never changes; one that is kept is
// the same pointer each time that the query runs, so that a copy on the device may be kept as well.
type Data struct {
	Bytes []byte
	Kept  bool
}

// strings is Answers.Strings.
func (c *Cache) strings(d *column.Dictionary) (data, offsets *Data) {
	values := d.Values()
	type packed struct{ data, offsets *Data }
	p, _ := get(c, entryKey{weak.Make(d), len(values), "strings"}, func() (packed, int, error) {
		if len(values) == 0 {
			values = []string{""} // NULLs have code 0
		}
		text, offsets := PackStrings(values)
		return packed{&Data{Bytes: text, Kept: true}, &Data{Bytes: offsets, Kept: true}}, len(text) + len(offsets), nil
	})
	return p.data, p.offsets
}

// MostStrings is how many strings a dictionary may have for a table over them.
const MostStrings = 4 << 20

// union is Answers.Union of a dictionary that has tables.
func (c *Cache) union(d *column.Dictionary, literals []string) *column.Dictionary {
	missing := d == nil
	if d != nil {
		for _, s := range literals {
			_, ok := d.Lookup(s)
			missing = missing || !ok
		}
	}
	if !missing {
		return d
	}
	var key entryKey
	var values []string
	if d != nil {
		values = d.Values()
		key = entryKey{dict: weak.Make(d), n: len(values)}
	}
	key.what = fmt.Sprintf("union %q", literals)
	u, _ := get(c, key, func() (*column.Dictionary, int, error) {
		u := column.NewDictionary(values...)
		u.AddAll(nil, literals)
		return u, int(u.Bytes()), nil
	})
	return u
}

// enum is a dictionary of an ENUM's names, and the codes of its indexes.
type enum struct {
	dict  *column.Dictionary
	codes *Data
}

// enum is Answers.Enum.
func (c *Cache) enum(members *types.EnumMembers) enum {
	e, _ := get(c, entryKey{what: fmt.Sprintf("enum %q", members.Names)}, func() (enum, int, error) {
		d := column.NewDictionary()
		data := binary.LittleEndian.AppendUint32(nil, d.Add(""))
		for _, name := range members.Names {
			data = binary.LittleEndian.AppendUint32(data, d.Add(name))
		}
		return enum{d, &Data{Bytes: data, Kept: true}}, len(data) + int(d.Bytes()), nil
	})
	return e
}

// PackStrings lays strings end to end, and their offsets, one more than there are strings, as 64-bit words.
func PackStrings(values []string) (data, offsets []byte) {
	var b bytes.Buffer
	for _, s := range values {
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(b.Len()))
		b.WriteString(s)
	}
	return b.Bytes(), binary.LittleEndian.AppendUint64(offsets, uint64(b.Len()))
}
