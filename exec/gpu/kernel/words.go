package kernel

import "github.com/radish-sql/radish/planner/physical"

// The words of a table scan.
type (
	ColumnData  struct{ C ScanColumn } // address of a resident column's items
	ColumnBytes struct{ C ScanColumn } // address of its strings' bytes
	ColumnValid struct{ C ScanColumn } // address of its validity bitmap
	ColumnBase  struct{ C ScanColumn } // its frame of reference
	DeletedWord struct{ Scan *physical.TableScan }
	SpansWord   struct{ Scan *physical.TableScan } // address of the Spans
	FromWord    struct{}                           // the launch's first tile or row
	ToWord      struct{}                           // and the one behind its last
	EveryWord   struct{}                           // which tiles are numbered: see Tiles in tile.cuh
	SharersWord struct{}                           // log2 of how many threads share the copies of a row
	CancelWord  struct{}                           // address of the word that says that the query was cancelled
	ScanColumn  struct {
		Scan *physical.TableScan
		At   int // of scan.Cols
	}
)
