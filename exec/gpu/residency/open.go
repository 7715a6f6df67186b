package residency

import (
	"context"
	"time"
	"weak"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/gpukernels"
	"github.com/radish-sql/radish/storage/encoding"
	tables "github.com/radish-sql/radish/storage/table"
)

// uploadStreams is how many uploads run at once: enough to keep the copy engine busy while others fill staging buffers.
const uploadStreams = 4

// New returns the residency of a device, of which there should be one. It opens streams of its own.
func New(device *gpukernels.Device) (*Residency, error) {
	r := &Residency{
		device: device, uploads: make(chan *gpukernels.Stream, uploadStreams), index: index{
			versions: map[versionKey]*entry{}, forms: map[versionKey]sizedForm{}, watched: map[weak.Pointer[tables.Version]]*watched{},
			first: map[*encoding.Chunk][]*entry{}, dicts: map[*column.Dictionary]*entry{},
		},
		ledger: newLedger(), shortage: shortage{now: time.Now}, investor: newInvestor(),
	}
	var err error
	if r.freeing, err = device.NewStream(); err != nil {
		return nil, err
	}
	for range uploadStreams {
		s, err := device.NewStream()
		if err != nil {
			r.Close()
			return nil, err
		}
		r.uploads <- s
	}
	return r, nil
}

// Close frees everything. It ends uploads that still run though nobody waits for them any more.
func (r *Residency) Close() {
	r.investor.close()
	r.closing.Store(true)
	r.loads.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for _, e := range r.all() {
		r.drop(e)
	}
	r.closed = true
	_ = r.freeing.Sync(context.Background())
	r.freeing.Close()
	for len(r.uploads) > 0 {
		(<-r.uploads).Close()
	}
}
