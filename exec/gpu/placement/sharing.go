package placement

import (
	"fmt"
	"time"

	"github.com/radish-sql/radish/planner/cost"
	"github.com/radish-sql/radish/planner/distribute"
	"github.com/radish-sql/radish/planner/physical"
)

// SharingEstimate is what a plan is expected to take on one GPU, and shared by several.
type SharingEstimate struct {
	One, Several time.Duration
	// Kernels, Moves and Meets make up Several: the pipelines of each GPU, bytes that come from others, and exchanges as such.
	Kernels, Moves, Meets time.Duration
	Bytes                 float64 // that come to each GPU from others, on average
	Exchanges             int
}

// leastShare is the part of one GPU's time that sharing a plan has to save: estimates are wrong by as much.
const leastShare = 0.15

// Pays says whether sharing saves enough.
func (s *SharingEstimate) Pays() bool { return s.Several.Seconds() <= (1-leastShare)*s.One.Seconds() }

// Scale has the plan take what a run took on one GPU. Its kernels take as many times what they were expected to take on several.
func (s *SharingEstimate) Scale(took time.Duration) {
	if took <= 0 || s.One <= 0 {
		return
	}
	s.Kernels = duration(s.Kernels.Seconds() * took.Seconds() / s.One.Seconds())
	s.One, s.Several = took, s.Kernels+s.Moves+s.Meets
}

// String says what takes how long.
func (s *SharingEstimate) String() string {
	return fmt.Sprintf("expected to take %s on one GPU and %s on all: %s of kernels, %s for %.0f MB that move, %s for exchanges (%d)",
		inWords(s.One.Seconds()), inWords(s.Several.Seconds()), inWords(s.Kernels.Seconds()), inWords(s.Moves.Seconds()), s.Bytes/1e6, inWords(s.Meets.Seconds()), s.Exchanges)
}

// EstimateSharing prices a plan on one GPU, and as several share it.
func (a *Advisor) EstimateSharing(plan *physical.Plan, d *distribute.Distributed, prices cost.SharingPrices) SharingEstimate {
	return a.pricing(a.threads).share(plan, d, prices)
}

func (t *pricing) share(plan *physical.Plan, d *distribute.Distributed, prices cost.SharingPrices) SharingEstimate {
	one, several, bytes := 0.0, 0.0, 0.0
	for _, w := range workOf(plan) {
		one += t.sum(&w, physical.GPU)
	}
	x := sharer{worker: newWorker(), d: d, stored: map[physical.Sink]float64{}}
	x.source = x.rowsOfPlace
	for _, p := range d.Plan.Pipelines {
		w := x.pipeline(p)
		several += t.sum(&w, physical.GPU)
		x.stored[p.Sink] += p.EstRows
	}
	for sink, e := range d.Exchanges {
		bytes += x.received(sink, e)
	}
	s := SharingEstimate{One: duration(one), Kernels: duration(several), Moves: duration(bytes * prices.Byte), Meets: duration(prices.Meet * float64(len(d.Exchanges))), Bytes: bytes, Exchanges: len(d.Exchanges)}
	s.Several = s.Kernels + s.Moves + s.Meets
	return s
}

// sharer prices the pipelines of a divided plan, as each place runs them.
type sharer struct {
	*worker
	d      *distribute.Distributed
	stored map[physical.Sink]float64 // rows that each place that fills a sink has put there
}

// rowsOfPlace is how many rows the place that has most of them reads from a pipeline's source.
func (x *sharer) rowsOfPlace(p *physical.Pipeline) float64 {
	rows := SourceRows(p)
	spread := x.d.Spread[p].Spread
	switch src := p.Source.(type) {
	case *physical.TableScan:
		parts := x.d.Parts[src]
		if parts == nil {
			return rows
		}
		most := int64(0)
		for _, part := range parts {
			first, end := part.Rows(src.Table)
			most = max(most, end-first)
		}
		return float64(most)
	case *physical.SinkScan:
		if _, isAggregate := src.From.(*physical.Aggregate); isAggregate {
			if spread == distribute.Partitioned {
				rows /= float64(x.d.Places)
			}
			return rows
		}
		if e, ok := x.d.Exchanges[src.From]; ok && e.Kind != distribute.Repartition {
			return x.stored[src.From] * float64(x.d.Places)
		}
		return x.stored[src.From]
	}
	return rows
}

// received is how many bytes each place gets of others by an exchange, on average. What a join or an aggregation moves itself are the rows that come to it.
func (x *sharer) received(sink physical.Sink, e distribute.Exchange) float64 {
	rows, places := 0.0, float64(x.d.Places) // of all places
	for _, p := range x.d.Plan.Pipelines {
		if p.Sink == sink && x.d.Spread[p].Spread.Everywhere() {
			rows += p.EstRows * places
		} else if p.Sink == sink {
			rows += p.EstRows
		}
		for _, t := range p.Transforms {
			if t, ok := t.(*physical.Probe); ok && t.Build == sink { // whose rows move with the build's
				rows += p.EstRows * places
			}
		}
	}
	bytes := rows * x.rowBytes(sink) * (places - 1) / places
	if e.Kind == distribute.Repartition {
		bytes /= places
	}
	return bytes
}

// Bytes of an item as it moves.
const (
	storedBytes = 9  // of a column that is stored before, with the byte that says whether it is NULL
	packedBytes = 4  // of one in a row of a join or an aggregation that moves rows itself
	viewBytes   = 16 // of an address and a length, besides
)

// rowBytes is how many bytes a row of a sink takes as it moves.
func (x *sharer) rowBytes(sink physical.Sink) float64 {
	switch s := sink.(type) {
	case *physical.Build:
		return packedBytes * float64(len(s.Keys)+len(s.Payload))
	case *physical.Aggregate:
		return packedBytes * float64(len(s.Groups)+len(s.Aggs))
	}
	bytes := 0.0
	for _, c := range physical.SinkColumns(sink) {
		if bytes += storedBytes; x.strings[c.ID] {
			bytes += viewBytes
		}
	}
	return bytes
}
