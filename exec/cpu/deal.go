package cpu

import "sync/atomic"

// dealing is how workers come by a pipeline's morsels. Where results depend on the order of rows, as sums of doubles do, it makes two runs agree to the last bit.
type dealing uint8

const (
	whoever dealing = iota // the next morsel goes to whoever is idle
	inTurn                 // each worker gets every so many-th
	divided                // each worker's morsels follow each other, and come before the next worker's
	shared                 // the next share, morsels that follow each other, goes to whoever is idle
)

// mostShares bounds the shares of a pipeline's morsels. There are enough that the last ones keep no worker of a large machine waiting for long, and so few that
// their results take little memory. It does not depend on the number of workers, so results do not.
const mostShares = 256

// deal gives the morsels of a pipeline to its workers.
type deal struct {
	kind             dealing
	morsels, workers int
	taken            atomic.Int64
}

// next returns which morsels, from .. end-1 in steps, a worker gets when it comes for the turn-th time. There are none left if from is not below end.
func (d *deal) next(worker, turn int) (from, end, step int) {
	switch d.kind {
	case inTurn, divided:
		if turn > 0 {
			return d.morsels, d.morsels, 1
		}
		if d.kind == inTurn {
			return worker, d.morsels, d.workers
		}
		return worker * d.morsels / d.workers, (worker + 1) * d.morsels / d.workers, 1
	}
	shares := d.morsels
	if d.kind == shared {
		shares = min(shares, mostShares)
	}
	share := int(d.taken.Add(1)) - 1
	if share >= shares {
		return d.morsels, d.morsels, 1
	}
	return share * d.morsels / shares, (share + 1) * d.morsels / shares, 1
}
