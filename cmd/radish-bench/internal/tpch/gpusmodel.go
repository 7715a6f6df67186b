package tpch

import (
	"encoding/json"
	"fmt"
)

// The links of an H200 host, in bytes a second: measured between two GPUs, from the host to one of them, and from the host to all of them together.
const (
	peerRate    = 387e9
	hostRate    = 55e9
	hostRateAll = 205e9
)

// sharedRun is what a query cost on several GPUs, from which a model says what it would cost on others.
type sharedRun struct {
	gpus  int
	wall  float64 // seconds, of the whole query
	host  float64 // bytes that came from the host
	steps []sharedStep
}

// sharedStep is a pipeline, and the exchange behind it.
type sharedStep struct {
	spread   string  // how its rows lay: see planner/distribute
	kernel   float64 // seconds on the slowest GPU
	exchange string  // its kind; empty: there is none
	bytes    float64 // that came to a GPU from another
}

// at is how long the query takes on n GPUs by a model: kernels over rows of a GPU's own take an n-th, rows that move take the link, and what is left of the measured time stays.
// Groups and first rows that are gathered are taken to be as many from each GPU as were measured.
func (r *sharedRun) at(n int) float64 {
	return max(r.wall-r.work(r.gpus), 0) + r.work(n)
}

// work is the part of the time that depends on the number of GPUs.
func (r *sharedRun) work(n int) float64 {
	t := r.host / min(float64(n)*hostRate, hostRateAll)
	for i := range r.steps {
		t += r.steps[i].at(n, r.gpus)
	}
	return t
}

func (s *sharedStep) at(n, measured int) float64 {
	t := s.kernel
	if s.spread == "sliced" || s.spread == "partitioned" {
		t *= float64(measured) / float64(n)
	}
	share := s.bytes / float64(measured-1) // that came from each other GPU, of all who got any
	others, all := float64(n-1), float64(n)
	switch s.exchange {
	case "gather":
		t += share * others / peerRate
	case "broadcast":
		t += share * others / all / peerRate
	case "repartition":
		t += share * float64(measured) * others / all / all / peerRate
	}
	return t
}

// parseSharedRun reads what EXPLAIN ANALYZE FORMAT = 'json' tells of a run on several GPUs. It returns nil for a query that ran on one.
func parseSharedRun(text string) (*sharedRun, error) {
	var plan struct {
		Pipelines []struct {
			Places *struct {
				Rows string `json:"rows"`
			} `json:"places"`
			Actual *struct {
				Kernel   float64 `json:"kernel_ms"`
				Fill     float64 `json:"fill_ms"`
				Uploaded float64 `json:"uploaded"`
				Devices  []struct {
					In float64 `json:"bytes_in"`
				} `json:"devices"`
				Exchange *struct {
					Kind string `json:"exchange"`
				} `json:"exchange"`
			} `json:"actual"`
		} `json:"pipelines"`
	}
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		return nil, fmt.Errorf("EXPLAIN ANALYZE FORMAT = 'json': %w", err)
	}
	r := &sharedRun{}
	for _, p := range plan.Pipelines {
		if p.Places == nil || p.Actual == nil {
			continue
		}
		s := sharedStep{spread: p.Places.Rows, kernel: (p.Actual.Kernel + p.Actual.Fill) / 1e3}
		r.gpus = max(r.gpus, len(p.Actual.Devices))
		r.host += p.Actual.Uploaded
		if p.Actual.Exchange != nil {
			s.exchange = p.Actual.Exchange.Kind
			for _, d := range p.Actual.Devices {
				s.bytes += d.In
			}
		}
		r.steps = append(r.steps, s)
	}
	if r.gpus < 2 {
		return nil, nil
	}
	return r, nil
}
