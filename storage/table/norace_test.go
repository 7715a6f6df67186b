//go:build !race

package table

// underRace says that the race detector is at work.
const underRace = false
