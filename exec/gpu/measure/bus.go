package measure

import (
	"context"
	"errors"
	"time"

	"github.com/radish-sql/radish/gpukernels"
)

// busBytes is how much is copied at a time: so much that a copy's beginning does not count.
const busBytes = 128 << 20

// BusRate is how many bytes a second the device copies from pinned memory of the host: it does so some times, and the fastest counts.
func BusRate(ctx context.Context, d *gpukernels.Device) (rate float64, err error) {
	bytes := int64(busBytes)
	if d.Info().Emulated() {
		bytes = 1 << 20
	}
	s, err := d.NewStream()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	dst, err := s.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Free(dst) }()
	src, err := d.NewHostMemory(bytes)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	for range 5 {
		begin := time.Now()
		err := s.UploadPinned(dst, src)
		if err := errors.Join(err, s.Sync(context.Background())); err != nil { // src must stay until it was read
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		rate = max(rate, float64(bytes)/time.Since(begin).Seconds())
	}
	return rate, nil
}
