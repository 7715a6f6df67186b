package encoding

import (
	"sync/atomic"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/types"
)

// maxDictionary is the number of distinct strings beyond which a column's row groups are kept raw.
const maxDictionary = 1 << 16

// settledRows is the number of rows from which on a row group with too many distinct strings is taken as typical of its
// column, so that later groups need not be tried.
const settledRows = 4096

// Encoder encodes the row groups of one column and keeps the dictionary that they share. A string column begins with codes of the dictionary. Once it has
// more than 65,536 distinct values, or more than half of the rows of a large enough group, its later groups are raw.
//
// Each group takes three steps, so that groups are encoded in parallel and codes still follow the order of the rows. Prepare and Chunk may run for
// several groups at once. Assign runs for one group at a time, in order.
type Encoder struct {
	typ    types.Type
	dict   atomic.Pointer[column.Dictionary] // nil: none yet; stored by Assign only
	gaveUp atomic.Bool                       // new strings get no codes any more
}

// NewEncoder returns an encoder for a column of type t. dict is the dictionary of the column's earlier groups, or one
// that the rows to come are coded by already; it may be nil.
func NewEncoder(t types.Type, dict *column.Dictionary) *Encoder {
	e := &Encoder{typ: t}
	e.dict.Store(dict)
	return e
}

// Dictionary returns the column's dictionary, nil if it has none (so far).
func (e *Encoder) Dictionary() *column.Dictionary { return e.dict.Load() }

// Encode encodes one group: all three steps.
func (e *Encoder) Encode(d Data) *Chunk {
	p := e.Prepare(d)
	e.Assign(p)
	return p.Chunk()
}

// Pending is a row group on its way into a chunk.
type Pending struct {
	data   Data
	local  []string // distinct strings in order of appearance; nil: not to be dictionary-coded
	codes  []uint32 // by row, into local
	global []uint32 // by local code
	dict   *column.Dictionary
}

// Prepare starts to encode a group: it finds the distinct strings.
func (e *Encoder) Prepare(d Data) *Pending {
	d.Type = e.typ
	p := &Pending{data: d}
	if e.typ.Phys() != types.PhysString || d.Dict != nil && d.Dict == e.dict.Load() {
		return p
	}
	if e.gaveUp.Load() {
		p.decode()
		return p
	}
	limit := min(maxDictionary, max(d.Rows/2, 16))
	if d.Codes != nil {
		p.collectCodes(limit)
	} else if !d.isMostlyDistinct() {
		p.collectStrings(limit)
	}
	return p
}

// collectCodes fills local, and codes instead of the data's, from codes of a foreign dictionary; if there are too many
// distinct ones it turns the codes into strings.
func (p *Pending) collectCodes(limit int) {
	d := &p.data
	values, codes := d.words(), d.Codes[:d.Rows]
	renamed := make([]uint32, len(values)) // 1 if the code occurs, then the local code
	distinct := 0
	for i, code := range codes {
		if d.Valid != nil && !d.Valid.Get(i) {
			continue
		}
		if renamed[code] == 0 {
			renamed[code] = 1
			distinct++
		}
	}
	if distinct > limit {
		p.decode()
		return
	}
	local := make([]string, 0, distinct)
	clear(renamed)
	for i, code := range codes {
		if d.Valid != nil && !d.Valid.Get(i) {
			codes[i] = 0
			continue
		}
		if renamed[code] == 0 {
			local = append(local, values[code])
			renamed[code] = uint32(len(local))
		}
		codes[i] = renamed[code] - 1
	}
	p.local, p.codes = local, codes
	d.Dict, d.Codes, d.Words = nil, nil, nil
}

// decode gives up the local dictionary and turns codes into strings.
func (p *Pending) decode() {
	switch d := &p.data; {
	case p.local != nil && d.Strings == nil && d.Offsets == nil:
		d.Codes, d.Words = p.codes, p.local
		d.decode()
	case d.Codes != nil:
		d.decode()
	}
	p.local, p.codes = nil, nil
}

// Assign gives the group's new strings their table-wide codes. It must be called in the order of the groups.
func (e *Encoder) Assign(p *Pending) {
	if e.typ.Phys() != types.PhysString || p.data.Dict != nil && p.data.Dict == e.dict.Load() {
		return
	}
	switch {
	case p.local == nil:
		if p.data.Rows >= settledRows {
			e.gaveUp.Store(true)
		}
		return
	case e.gaveUp.Load():
		p.decode()
		return
	case len(p.local) == 0: // all NULL
		p.decode()
		return
	}
	dict := e.dict.Load()
	if dict == nil {
		dict = column.NewDictionary()
		e.dict.Store(dict)
	}
	if dict.Len()+len(p.local) > maxDictionary && newStrings(dict, p.local) > maxDictionary-dict.Len() {
		e.gaveUp.Store(true)
		p.decode()
		return
	}
	p.dict, p.global = dict, dict.AddAll(make([]uint32, 0, len(p.local)), p.local)
}

// Chunk finishes the group.
func (p *Pending) Chunk() *Chunk {
	if p.global != nil {
		for i, code := range p.codes {
			p.codes[i] = p.global[code]
		}
		p.data.Dict, p.data.Codes = p.dict, p.codes
		p.data.Strings, p.data.Offsets, p.data.Bytes = nil, nil, nil
	}
	return Encode(p.data)
}

// newStrings returns how many of the strings a dictionary does not have.
func newStrings(dict *column.Dictionary, local []string) int {
	n := 0
	for _, s := range local {
		if _, ok := dict.Lookup(s); !ok {
			n++
		}
	}
	return n
}
