package cpu

import "github.com/radish-sql/radish/storage/column"

// SmallMorsels makes a morsel of every vector and parallel work of every finish, so that small tables exercise what
// large ones do. It returns what undoes it.
func SmallMorsels() func() {
	rows, parallel := morselRows, inParallel
	morselRows, inParallel = column.VectorSize, 1
	return func() { morselRows, inParallel = rows, parallel }
}

// FreezeEarly makes workers put their groups aside after a few thousand.
func FreezeEarly() func() {
	n := frozenGroups
	frozenGroups = 1000
	return func() { frozenGroups = n }
}
