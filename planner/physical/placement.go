package physical

// Device is where a pipeline runs.
type Device uint8

// The devices.
const (
	CPU Device = iota
	GPU
)

func (d Device) String() string { return [...]string{"cpu", "gpu"}[d] }

// Placement says on which device each pipeline of a plan runs, and why. It stands beside the plan, which it does not change: several statements may run one plan
// at once, each with a placement of its own. Its zero value places all pipelines on the CPU.
type Placement struct {
	// Pipelines has the choice for each pipeline that has one of its own.
	Pipelines map[*Pipeline]Choice
	// Reason is why all other pipelines run on the CPU.
	Reason string
	// Builds has what a device has decided of the builds that it makes.
	Builds map[*Build]SinkChoice
	// Groups has the same of the groups that a pipeline's rows are added to.
	Groups map[*Pipeline]SinkChoice
	// Spread says how the rows of each pipeline lie over several places, and Exchanges which sinks' rows move between them. Both are nil at one place.
	Spread    map[*Pipeline]SpreadText
	Exchanges map[Sink]ExchangeText
	// Alone is why one place of several runs the plan; empty: there is only one, or they share it.
	Alone string
	// Shared is why several places share it, if cost has decided that.
	Shared string
}

// SpreadText is what EXPLAIN says of how a pipeline's rows lie over places: see package distribute.
type SpreadText struct {
	Name   string `json:"rows"`
	Reason string `json:"reason"`
}

// ExchangeText is what EXPLAIN says of rows that move between places.
type ExchangeText struct {
	Name   string   `json:"exchange"`
	Keys   []string `json:"keys,omitempty"`
	Reason string   `json:"reason"`
}

// SinkChoice is what a device has decided of a sink: what EXPLAIN calls it, and how it works and why, which may be empty. A build's name is also that of its joins.
type SinkChoice struct{ Name, How string }

// build is what EXPLAIN calls a build on a device, and says of its joins.
func (x Placement) build(b *Build, on Device) (name, how string) {
	if c, ok := x.Builds[b]; ok && on == GPU {
		return c.Name, c.after(b.Reason)
	}
	return b.On(on).String(), b.Reason
}

// groups is what EXPLAIN calls the groups that a pipeline ends in on a device, and says of them. A reason for another algorithm than the one that runs is left out.
func (x Placement) groups(p *Pipeline, a *Aggregate, on Device) (name, how string) {
	c, ok := x.Groups[p]
	switch {
	case !ok || on != GPU:
		return a.Algorithm.String(), a.Reason
	case c.Name != a.Algorithm.String():
		return c.Name, c.How
	}
	return c.Name, c.after(a.Reason)
}

// after puts how a sink works behind the reason for its algorithm.
func (c SinkChoice) after(reason string) string {
	if c.How == "" {
		return reason
	}
	return reason + "; " + c.How
}

// Choice is the device of a pipeline, and why it is that one.
type Choice struct {
	Device Device
	Reason string
}

// OnCPU places all pipelines on the CPU.
func OnCPU(reason string) Placement { return Placement{Reason: reason} }

// Of returns the choice for a pipeline.
func (x Placement) Of(p *Pipeline) Choice {
	if c, ok := x.Pipelines[p]; ok {
		return c
	}
	return Choice{CPU, x.Reason}
}

// Device is where a pipeline runs.
func (x Placement) Device(p *Pipeline) Device { return x.Pipelines[p].Device }

// FirstReason is why the first of a plan's pipelines that run on the CPU does; empty if none does.
func (x Placement) FirstReason(plan *Plan) string {
	for _, p := range plan.Pipelines {
		if c := x.Of(p); c.Device == CPU {
			return c.Reason
		}
	}
	return ""
}
