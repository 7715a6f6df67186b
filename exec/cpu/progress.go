package cpu

import (
	"github.com/radish-sql/radish/planner/physical"
)

// plannedRows returns how many rows of tables the scans of a plan look at, if nothing is skipped.
func plannedRows(plan *physical.Plan) (rows int64) {
	for _, p := range plan.Pipelines {
		rows += scannedRows(p)
	}
	return rows
}

// scannedRows returns the rows of the table that a pipeline scans; 0 if it reads something else.
func scannedRows(p *physical.Pipeline) int64 {
	if s, ok := p.Source.(*physical.TableScan); ok {
		return s.Table.Rows()
	}
	return 0
}

// counted is what each morsel of a pipeline counts as: its part of the source's rows, and of the table's.
func (p *prepared) counted(morsels int) (rows, scanned int64) {
	n := int64(max(1, morsels))
	return int64(p.source.Rows()) / n, scannedRows(p.p) / n
}
