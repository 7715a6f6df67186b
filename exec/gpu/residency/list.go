package residency

import (
	"cmp"
	"slices"
	"strings"
)

// Listed is a table column in the device's memory, or on its way there.
type Listed struct {
	Database, Table, Column string
	Bytes                   int64
	Ready                   bool
	Uses                    uint64 // by queries
}

// List lists the columns of tables that are still there, by name.
func (r *Residency) List() []Listed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Listed
	for key, e := range r.versions {
		v := key.version.Value()
		if v == nil || key.ordinal == deletedBits || e.loaded() && e.size.Load() == 0 {
			continue
		}
		out = append(out, Listed{v.Schema.Database, v.Schema.Name, v.Schema.Columns[key.ordinal].Name, e.size.Load(), e.loaded(), e.uses})
	}
	slices.SortFunc(out, func(a, b Listed) int {
		return cmp.Or(strings.Compare(a.Database, b.Database), strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column))
	})
	return out
}
