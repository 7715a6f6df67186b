package rowstore

import (
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/exec/cpu/vec"
	"github.com/radish-sql/radish/exec/memory"
)

// Arena holds the bytes of strings that an operator keeps: copies of those that functions made for a batch, which would keep all of the
// batch's strings alive. Its blocks never move.
type Arena struct {
	block []byte
	Bytes int64 // of all blocks
}

const (
	leastStringBlock = 512
	mostStringBlock  = 256 << 10
)

// own replaces strings by copies in the arena, whose blocks are charged to mem before they are made. Strings that follow each other and
// are one, as a row's are that a join repeats, have one copy.
func (a *Arena) own(values []string, mem *memory.Account) error {
	var before, copied string
	for i, s := range values {
		if len(s) == 0 {
			values[i] = ""
			continue
		}
		if len(s) != len(before) || unsafe.StringData(s) != unsafe.StringData(before) {
			before = s
			var err error
			if copied, err = a.keep(s, mem); err != nil {
				return err
			}
		}
		values[i] = copied
	}
	return nil
}

// keep returns a copy of s.
func (a *Arena) keep(s string, mem *memory.Account) (string, error) {
	if len(s) > mostStringBlock/8 {
		if err := a.charge(len(s), mem); err != nil {
			return "", err
		}
		return string([]byte(s)), nil
	}
	if len(s) > cap(a.block)-len(a.block) {
		size := max(min(2*cap(a.block), mostStringBlock), leastStringBlock)
		for size < len(s) {
			size *= 2
		}
		if err := a.charge(size, mem); err != nil {
			return "", err
		}
		a.block = make([]byte, 0, size)
	}
	from := len(a.block)
	a.block = append(a.block, s...)
	return vec.BytesToString(a.block[from:]), nil
}

// LooseRows is how many rows operators take at once, before they count what they keep, where functions made strings, which may be long.
const LooseRows = 256

// IsLoose says whether strings of some of cols belong to nobody.
func IsLoose(cols []*column.Vector) bool {
	return slices.ContainsFunc(cols, func(v *column.Vector) bool { return v.Loose })
}

// pageBytes is what the allocator rounds large pieces up to.
const pageBytes = 8 << 10

func (a *Arena) charge(bytes int, mem *memory.Account) error {
	n := int64(bytes)
	if bytes > 32<<10 {
		n = (n + pageBytes - 1) / pageBytes * pageBytes
	}
	a.Bytes += n
	return mem.Add(n)
}

// Loosen empties an arena that may hold strings of cols: who takes rows of these copies the strings, and those of the other rows go.
func Loosen(cols []*column.Vector, a *Arena) {
	for i, v := range cols {
		own := *v
		own.Loose = v.Str != nil && a.Bytes > 0
		cols[i] = &own
	}
	*a = Arena{}
}
