package catalog

import (
	"unsafe"

	"github.com/radish-sql/radish/storage/table"
)

// Change is what has become of one table between two snapshots: Before is nil if it is new, After if it is gone.
type Change struct{ Before, After *table.Version }

// Changes lists the tables that differ between two snapshots of one catalog. A table that was renamed is one change.
func Changes(before, after *Snapshot) []Change {
	var changes []Change
	var gone []*table.Version
	for name, d := range before.databases {
		next := after.databases[name]
		if next == d {
			continue
		}
		for name, v := range d.tables {
			var now *table.Version
			if next != nil {
				now = next.tables[name]
			}
			switch {
			case now == nil:
				gone = append(gone, v)
			case now != v:
				changes = append(changes, Change{v, now})
			}
		}
	}
	for name, d := range after.databases {
		was := before.databases[name]
		if was == d {
			continue
		}
		for name, v := range d.tables {
			if was != nil && was.tables[name] != nil {
				continue
			}
			c := Change{After: v}
			for i, old := range gone {
				if table.Related(old, v) {
					c.Before = old
					gone = append(gone[:i], gone[i+1:]...)
					break
				}
			}
			changes = append(changes, c)
		}
	}
	for _, v := range gone {
		changes = append(changes, Change{Before: v})
	}
	return changes
}

// ViewBytes returns the memory of the views that only the later of two snapshots has, and of those that only the former has.
func ViewBytes(before, after *Snapshot) (added, dropped int64) {
	only := func(a, b *Snapshot) (bytes int64) {
		for name, d := range a.databases {
			other := b.databases[name]
			if other == d {
				continue
			}
			for name, v := range d.views {
				if other == nil || other.views[name] != v {
					bytes += v.bytes()
				}
			}
		}
		return bytes
	}
	return only(after, before), only(before, after)
}

func (v *View) bytes() int64 {
	total := int64(unsafe.Sizeof(*v)) + int64(len(v.Database)+2*len(v.Name)+len(v.SQL))
	for _, name := range v.Columns {
		total += int64(unsafe.Sizeof(name)) + int64(len(name))
	}
	return total
}
