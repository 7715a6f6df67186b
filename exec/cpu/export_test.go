package cpu

import "github.com/radish-sql/radish/storage/column"

// SmallMorsels makes a morsel of every vector and parallel work of every finish, so that small tables exercise what
// large ones do. It returns what undoes it.
func SmallMorsels() func() {
	rows, parallel, task := morselRows, inParallel, windowTaskRows
	morselRows, inParallel, windowTaskRows = column.VectorSize, 1, 100
	return func() { morselRows, inParallel, windowTaskRows = rows, parallel, task }
}

// FreezeEarly makes workers put their groups aside after a few thousand.
func FreezeEarly() func() {
	n := frozenGroups
	frozenGroups = 1000
	return func() { frozenGroups = n }
}
