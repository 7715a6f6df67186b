package catalog

import (
	"slices"
	"unsafe"

	"github.com/radish-sql/radish/storage/table"
)

// Change is what has become of one table between two snapshots: Before is nil if it is new, After if it is gone.
type Change struct{ Before, After *table.Version }

// Changes lists the tables that differ between two snapshots of one catalog. A table that was renamed is one change.
func Changes(before, after *Snapshot) []Change {
	var changes []Change
	var gone, fresh []*table.Version
	eachChanged(before, after, func(was, is *database) {
		trieChanges(was.tables, is.tables, func(_ string, b, a *table.Version) {
			switch {
			case a == nil:
				gone = append(gone, b)
			case b == nil:
				fresh = append(fresh, a)
			default:
				changes = append(changes, Change{b, a})
			}
		})
	})
	for _, v := range fresh {
		c := Change{After: v}
		if i := slices.IndexFunc(gone, func(old *table.Version) bool { return table.Related(old, v) }); i >= 0 {
			c.Before = gone[i]
			gone = slices.Delete(gone, i, i+1)
		}
		changes = append(changes, c)
	}
	for _, v := range gone {
		changes = append(changes, Change{Before: v})
	}
	return changes
}

// ViewsGone lists the views that only the former of two snapshots has as they are: those that were dropped or defined anew.
func ViewsGone(before, after *Snapshot) (gone []*View) {
	eachChanged(before, after, func(was, is *database) {
		trieChanges(was.views, is.views, func(_ string, b, _ *View) {
			if b != nil {
				gone = append(gone, b)
			}
		})
	})
	return gone
}

// ViewBytes returns the memory of the views that only the later of two snapshots has, and of those that only the former has.
func ViewBytes(before, after *Snapshot) (added, dropped int64) {
	eachChanged(before, after, func(was, is *database) {
		trieChanges(was.views, is.views, func(_ string, b, a *View) {
			if a != nil {
				added += a.bytes()
			}
			if b != nil {
				dropped += b.bytes()
			}
		})
	})
	return added, dropped
}

// eachChanged calls f with the databases that differ between two snapshots. One that a snapshot does not have is empty there.
func eachChanged(before, after *Snapshot, f func(before, after *database)) {
	trieChanges(before.databases, after.databases, func(_ string, b, a *database) {
		if b == nil {
			b = &database{}
		}
		if a == nil {
			a = &database{}
		}
		f(b, a)
	})
}

func (v *View) bytes() int64 {
	total := int64(unsafe.Sizeof(*v)) + int64(len(v.Database)+2*len(v.Name)+len(v.SQL))
	for _, name := range v.Columns {
		total += int64(unsafe.Sizeof(name)) + int64(len(name))
	}
	return total
}
