package codegen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/sql/types"
)

// view returns a text as an address and a length, looking codes up in their dictionary.
func (t *Text) view(v Value) Value {
	if v.Class != form.Code {
		return v
	}
	if v.Null == "true" || v.Dict == nil {
		return NullOf(form.View, v.Typ)
	}
	data, offsets := t.Lookups.strings(v.Dict)
	out := v
	out.Class, out.Dict = form.View, nil
	out.Text = fmt.Sprintf("dictionary_string(%s, %s, %s)", t.address(data, "u8"), t.address(offsets, "i64"), v.Text)
	return t.Define(out, "s")
}

// strings returns a dictionary's strings for the device: their bytes, and their offsets, one more than there are strings.
func (c *LookupCache) strings(d *column.Dictionary) (data, offsets *Table) {
	values := d.Values()
	type packed struct{ data, offsets *Table }
	p, _ := get(c, lookupKey{weak.Make(d), len(values), "strings"}, func() (packed, int, error) {
		if len(values) == 0 {
			values = []string{""} // NULLs have code 0
		}
		text, offsets := packStrings(values)
		return packed{&Table{Data: text, Kept: true}, &Table{Data: offsets, Kept: true}}, len(text) + len(offsets), nil
	})
	return p.data, p.offsets
}

// union returns a dictionary that begins with d's strings (nil: none) and has the literals too.
func (c *LookupCache) union(d *column.Dictionary, literals []string) *column.Dictionary {
	missing := d == nil
	if d != nil {
		if d.Len() > maxLookup {
			return nil
		}
		for _, s := range literals {
			_, ok := d.Lookup(s)
			missing = missing || !ok
		}
	}
	if !missing {
		return d
	}
	var key lookupKey
	var values []string
	if d != nil {
		values = d.Values()
		key = lookupKey{dict: weak.Make(d), n: len(values)}
	}
	key.what = fmt.Sprintf("union %q", literals)
	u, _ := get(c, key, func() (*column.Dictionary, int, error) {
		u := column.NewDictionary(values...)
		u.AddAll(nil, literals)
		return u, int(u.Bytes()), nil
	})
	return u
}

// enum returns a dictionary of an ENUM's names and the codes of its indexes; 0 is the empty text.
func (c *LookupCache) enum(members *types.EnumMembers) (*column.Dictionary, *Table) {
	type named struct {
		dict  *column.Dictionary
		codes *Table
	}
	e, _ := get(c, lookupKey{what: fmt.Sprintf("enum %q", members.Names)}, func() (named, int, error) {
		d := column.NewDictionary()
		data := binary.LittleEndian.AppendUint32(nil, d.Add(""))
		for _, name := range members.Names {
			data = binary.LittleEndian.AppendUint32(data, d.Add(name))
		}
		return named{d, &Table{Data: data, Kept: true}}, len(data) + int(d.Bytes()), nil
	})
	return e.dict, e.codes
}

// packStrings lays strings end to end, and their offsets, one more than there are strings, as 64-bit words.
func packStrings(texts []string) (data, offsets []byte) {
	var b bytes.Buffer
	for _, s := range texts {
		offsets = binary.LittleEndian.AppendUint64(offsets, uint64(b.Len()))
		b.WriteString(s)
	}
	return b.Bytes(), binary.LittleEndian.AppendUint64(offsets, uint64(b.Len()))
}
