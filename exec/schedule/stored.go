package schedule

import "github.com/radish-sql/radish/storage/table"

// Stored is a result in the form in which tables store rows: what the only batch of a result holds in [column.Batch.Stored], where Config.Stores asked for it and a device has
// encoded the rows. Otherwise the rows come in batches as ever.
type Stored interface {
	// RowGroups are the rows, for the taker to keep.
	RowGroups() []*table.EncodedGroup
	// Keep makes what the device still has of the rows the columns of a version, which holds the row groups and no other rows.
	Keep(v *table.Version)
	// Release gives back what the device has of the rows, but for what a version keeps.
	Release()
}
