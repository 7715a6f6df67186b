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

// Form returns the form of a column, without uploading it.
func (r *Residency) Form(v *tables.Version, ordinal int) form.Column {
	return r.sized(v, ordinal).Column
}

// Bytes says how many of the bytes of a table's columns are on the device, and how many would have to be uploaded.
func (r *Residency) Bytes(v *tables.Version, ordinals []int) (here, missing int64) {
	for _, o := range ordinals {
		key := versionKey{weak.Make(v), o}
		r.mu.Lock()
		e := r.versions[key]
		r.mu.Unlock()
		f := r.sized(v, o)
		size := f.bytes(v, o)
		if e != nil {
			here += size
		} else {
			missing += size
		}
	}
	return here, missing
}

// Awaited is how many bytes of a table's columns are not on the device yet, those that are on their way included.
func (r *Residency) Awaited(v *tables.Version, ordinals []int) (bytes int64) {
	for _, o := range ordinals {
		r.mu.Lock()
		e := r.versions[versionKey{weak.Make(v), o}]
		r.mu.Unlock()
		if e == nil || !e.loaded() {
			f := r.sized(v, o)
			bytes += f.bytes(v, o)
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
