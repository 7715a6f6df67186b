// Package heap fits the garbage collector to programs that hold large tables.
package heap

import (
	"log/slog"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// machineShare is the part of the machine's or container's memory that the program aims to stay in.
const machineShare = 0.8

// Limit lets the collector work harder as the program comes near the memory that it may use. Without it the heap grows
// to twice what is live, and tables are live. GOMEMLIMIT, where it is set, wins. Where the machine's memory cannot be found out
// nothing changes.
func Limit() {
	_, err := memlimit.Set(
		memlimit.WithRatio(machineShare),
		memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)),
		memlimit.WithLogger(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		slog.Debug("no memory limit for the garbage collector", "cause", err)
	}
}
