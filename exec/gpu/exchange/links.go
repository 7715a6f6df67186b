package exchange

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// links has what is known of pairs of devices: whether the first reaches the memory of the second, and how fast it copies from there.
var links = struct {
	sync.Mutex
	reach map[[2]*gpukernels.Device]error
	rates map[[2]*gpukernels.Device]float64
}{reach: map[[2]*gpukernels.Device]error{}, rates: map[[2]*gpukernels.Device]float64{}}

// Reach has kernels of a device read and write the memory of another one; an error says why they cannot.
func Reach(d, peer *gpukernels.Device) error {
	links.Lock()
	defer links.Unlock()
	key := [2]*gpukernels.Device{d, peer}
	err, known := links.reach[key]
	if !known {
		if err = d.Reach(peer); err == nil || d.Lost() == nil && peer.Lost() == nil {
			links.reach[key] = err
		}
	}
	return err
}

// ReachEachOther says whether all devices can reach the memory of all others.
func ReachEachOther(devices []*gpukernels.Device) bool {
	for _, d := range devices {
		for _, peer := range devices {
			if d != peer && Reach(d, peer) != nil {
				return false
			}
		}
	}
	return true
}

// CopyRate is how many bytes a second a device copies from another one; it is measured when it is asked for first. 0: it could not be.
func CopyRate(ctx context.Context, d, peer *gpukernels.Device) float64 {
	links.Lock()
	defer links.Unlock()
	key := [2]*gpukernels.Device{d, peer}
	if links.rates[key] == 0 {
		links.rates[key], _ = measureCopies(ctx, d, peer) // the next one tries again
	}
	return links.rates[key]
}

// KnownRate is CopyRate if it was measured; else 0.
func KnownRate(d, peer *gpukernels.Device) float64 {
	links.Lock()
	defer links.Unlock()
	return links.rates[[2]*gpukernels.Device{d, peer}]
}

// measureCopies copies a quarter of a gigabyte some times; the fastest counts.
func measureCopies(ctx context.Context, d, peer *gpukernels.Device) (rate float64, err error) {
	bytes := int64(256 << 20)
	if d.Info().Emulated() {
		bytes = 1 << 20
	}
	to, err := d.NewStream()
	if err != nil {
		return 0, err
	}
	defer to.Close()
	from, err := peer.NewStream()
	if err != nil {
		return 0, err
	}
	defer from.Close()
	src, err := from.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Free(src) }()
	dst, err := to.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = to.Free(dst) }()
	if err := errors.Join(from.Fill(src, 0, 8, bytes/8), from.Sync(ctx)); err != nil {
		return 0, err
	}
	for range 4 {
		begin := time.Now()
		if err := errors.Join(to.CopyFrom(dst, peer, src, bytes), to.Sync(ctx)); err != nil {
			return 0, err
		}
		rate = max(rate, float64(bytes)/time.Since(begin).Seconds())
	}
	return rate, nil
}
