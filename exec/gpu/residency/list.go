package residency

import (
	"cmp"
	"slices"
	"strings"
	"weak"

	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/gpukernels"
	tables "github.com/radish-sql/radish/storage/table"
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
	columns := map[versionKey]*Listed{} // parts of a column are listed as one
	for key, e := range r.versions {
		v := key.version.Value()
		if v == nil || key.ordinal == deletedBits || e.loaded() && e.size.Load() == 0 {
			continue
		}
		key.part = tables.Slice{}
		x := columns[key]
		if x == nil {
			x = &Listed{v.Schema.Database, v.Schema.Name, v.Schema.Columns[key.ordinal].Name, 0, true, 0}
			columns[key] = x
		}
		x.Bytes += e.size.Load()
		x.Ready = x.Ready && e.loaded()
		x.Uses = max(x.Uses, e.uses)
	}
	var out []Listed
	for _, x := range columns {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Listed) int {
		return cmp.Or(strings.Compare(a.Database, b.Database), strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column))
	})
	return out
}

// Form returns the form of a column, without uploading it.
func (r *Residency) Form(v *tables.Version, ordinal int) form.Column {
	return r.sized(v, ordinal).Column
}

// Bytes says how many of the bytes of a part of a table's columns are on the device, and how many would have to be uploaded.
func (r *Residency) Bytes(v *tables.Version, ordinals []int, part tables.Slice) (here, missing int64) {
	part = part.Of(v)
	for _, o := range ordinals {
		e := r.known(v, o, part)
		f := r.sized(v, o)
		size := f.bytes(v, o, part)
		if e != nil {
			here += size
		} else {
			missing += size
		}
	}
	return here, missing
}

// known returns the entry that has a part of a column; nil: there is none.
func (r *Residency) known(v *tables.Version, ordinal int, part tables.Slice) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.covering(versionKey{weak.Make(v), ordinal, part}, false)
}

// Awaited is how many bytes of a part of a table's columns are not on the device yet, those that are on their way included.
func (r *Residency) Awaited(v *tables.Version, ordinals []int, part tables.Slice) (bytes int64) {
	part = part.Of(v)
	for _, o := range ordinals {
		if e := r.known(v, o, part); e == nil || !e.loaded() {
			f := r.sized(v, o)
			bytes += f.bytes(v, o, part)
		}
	}
	return bytes
}

// ResidentBytes is how much of a table is on the device, or on its way there.
func (r *Residency) ResidentBytes(v *tables.Version) (bytes int64) {
	w := weak.Make(v)
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, e := range r.versions {
		if key.version == w && key.ordinal != deletedBits {
			bytes += e.size.Load()
		}
	}
	return bytes
}

// Uploaded is how long something was being uploaded since the beginning, and the bytes.
func (r *Residency) Uploaded() (gpukernels.Busy, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.uploading.Total(), r.sent
}
