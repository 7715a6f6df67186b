//go:build race

package damage

// underRace says that the race detector is at work: it maps far more address space than children may have here.
const underRace = true
