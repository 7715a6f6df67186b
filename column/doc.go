// Package column holds values in flight: vectors of some 2,048 rows and the batches made of them.
//
// Everything above the store speaks in these vectors: scans fill them from encoded columns (storage/encoding),
// expressions (sql/expr) read and write them, operators (exec/cpu) pass them on. The package is a leaf and imports
// only sql/types.
//
// # Position-aligned selection
//
// A [Batch] has N positions and an optional selection: the positions that are still alive. Expressions compute
// results at the same positions as their inputs and only for the selected ones. So a filter costs no copying, and no
// error (overflow, say) is raised for a row that a filter removed (Boncz, Zukowski, Nes 2005, "MonetDB/X100").
package column
