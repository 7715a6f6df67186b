package gpu

import (
	"context"
	"errors"
	"sync"
	"time"
)

// links has what is known of pairs of devices: whether the first reaches the memory of the second, and how fast it copies from there.
var links = struct {
	sync.Mutex
	reach map[[2]*Device]error
	rates map[[2]*Device]float64
}{reach: map[[2]*Device]error{}, rates: map[[2]*Device]float64{}}

// reach has kernels of a device read and write the memory of another one; an error says why they cannot.
func (d *Device) reach(peer *Device) error {
	links.Lock()
	defer links.Unlock()
	key := [2]*Device{d, peer}
	err, known := links.reach[key]
	if !known {
		if err = d.runner.Device.Reach(peer.runner.Device); err == nil || d.Lost() == nil && peer.Lost() == nil {
			links.reach[key] = err
		}
	}
	return err
}

// reachEachOther says whether all devices can reach the memory of all others.
func reachEachOther(devices []*Device) bool {
	for _, d := range devices {
		for _, peer := range devices {
			if d != peer && d.reach(peer) != nil {
				return false
			}
		}
	}
	return true
}

// copyRate is how many bytes a second a device copies from another one; it is measured when it is asked for first. 0: it could not be.
func (d *Device) copyRate(ctx context.Context, peer *Device) float64 {
	links.Lock()
	defer links.Unlock()
	key := [2]*Device{d, peer}
	if links.rates[key] == 0 {
		links.rates[key], _ = d.measureCopies(ctx, peer) // the next one tries again
	}
	return links.rates[key]
}

// knownRate is copyRate if it was measured; else 0.
func (d *Device) knownRate(peer *Device) float64 {
	links.Lock()
	defer links.Unlock()
	return links.rates[[2]*Device{d, peer}]
}

// measureCopies copies a quarter of a gigabyte some times; the fastest counts.
func (d *Device) measureCopies(ctx context.Context, peer *Device) (rate float64, err error) {
	bytes := int64(256 << 20)
	if d.Emulated() {
		bytes = 1 << 20
	}
	to, err := d.runner.Device.NewStream()
	if err != nil {
		return 0, err
	}
	defer to.Close()
	from, err := peer.runner.Device.NewStream()
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
		if err := errors.Join(to.CopyFrom(dst, peer.runner.Device, src, bytes), to.Sync(ctx)); err != nil {
			return 0, err
		}
		rate = max(rate, float64(bytes)/time.Since(begin).Seconds())
	}
	return rate, nil
}
