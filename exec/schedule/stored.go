package schedule

import "github.com/radish-sql/radish/storage/table"

// Stored is a result in the form in which tables store rows: what the only batch of a result holds in [column.Batch.Stored], where Config.Into asked for it and a device has
// encoded the rows. Otherwise the rows come in batches as ever.
type Stored interface {
	// RowGroups are the rows, for the taker to keep.
	RowGroups() []*table.EncodedGroup
	// Keep makes what the device still has of the rows the last rows of a version's columns. The version is that of Config.Into with the row groups behind its own.
	Keep(v *table.Version)
	// Release gives back what the device has of the rows, but for what a version keeps.
	Release()
}
