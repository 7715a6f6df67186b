//go:build race

package table

// underRace says that the race detector is at work: slices.Grow allocates what it grows by once more then.
const underRace = true
