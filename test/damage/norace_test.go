//go:build !race

package damage

// underRace says that the race detector is at work.
const underRace = false
