// Package cost prices the work of plans on each device. What compares plans or devices uses its one [Table]: exec/gpu/placement adds up what plans take (Table.CPU and
// Table.GPU), planner/joinorder compares the orders of joins (Table.Order).
//
//   - cost.go has the table and the classes of work, joins.go the prices of orders, sharing.go those of queries that several GPUs share.
//   - defaults.go has all defaults, and says of each price what a calibration (engine/calibrate) does with it.
//
// How a GPU runs one join is decided elsewhere, by kernel.JoinCosts (exec/gpu/kernel/tuning.go): partitioned or not, by bytes that kernels move. They are a
// chip's, and depend on layouts that only the kernels' writer knows. Of them the table has what a calibration scales them by, GPUJoins.
package cost

import (
	"encoding/json"
	"fmt"

	"github.com/radish-sql/radish/planner/physical"
)

// Class is a kind of work that has a price of its own on each device.
type Class uint8

// The classes of work. Cached means that a hash table fits the CPU's caches, large that it does not.
const (
	Start            Class = iota // a pipeline, whatever its rows
	Scan                          // a value of a table column
	ReadString                    // a string without dictionary that an expression reads
	Compute                       // a row of an expression
	ProbeDense                    // a row that is looked up in an array or a bitmap
	ProbeCached                   // a row that is looked up in a hash table: cached,
	ProbeLarge                    // large,
	ProbeString                   // or with strings as keys
	BuildDense                    // a row that is stored to be looked up, likewise
	BuildCached                   //
	BuildLarge                    //
	BuildString                   //
	GroupScalar                   // a row of an aggregate without groups
	GroupDense                    // a row that is grouped in an array
	GroupCached                   // a row that is grouped in a hash table: cached,
	GroupLarge                    // large,
	GroupString                   // with strings as keys: cached,
	GroupStringLarge              // large
	Sort                          // a row that is sorted, times the logarithm of the rows
	SortString                    // the same by strings
	Window                        // a row of a window function, sorted before
	Loop                          // a pair of rows that a nested loop compares
	Store                         // a value that is stored between pipelines or given to the client
	Download                      // a value that comes from the GPU
	classes
)

func (c Class) String() string { return defaults[c].name }

// IsMeasured says whether a query of a calibration measures the class.
func (c Class) IsMeasured() bool { return defaults[c].calibration == measures }

// Classes lists all classes.
func Classes() []Class {
	out := make([]Class, classes)
	for i := range out {
		out[i] = Class(i)
	}
	return out
}

// Rates are the seconds that a unit of each class takes by itself: on the CPU of one core, on the GPU of the whole.
type Rates [classes]float64

// MarshalJSON writes the rates by name, so that a file stays readable, and is not misread once classes change.
func (r Rates) MarshalJSON() ([]byte, error) {
	byName := map[string]float64{}
	for c, rate := range r {
		byName[Class(c).String()] = rate
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote. A class that is missing, or one that is not known, is an error.
func (r *Rates) UnmarshalJSON(text []byte) error {
	byName := map[string]float64{}
	if err := json.Unmarshal(text, &byName); err != nil {
		return err
	}
	for c := range r {
		rate, ok := byName[Class(c).String()]
		if !ok {
			return fmt.Errorf("no rate for %s", Class(c).String())
		}
		r[c] = rate
	}
	if len(byName) != int(classes) {
		return fmt.Errorf("%d rates instead of %d", len(byName), classes)
	}
	return nil
}

// Table has the prices of work on each device. What a calibration does with a price stands beside its default.
type Table struct {
	// CPU and GPU are what work takes, in seconds. Times of plans are sums of these.
	CPU Rates `json:"cpu"`
	GPU Rates `json:"gpu"`

	// Seconds of a byte of a table column that goes to the GPU, and of a kernel that is compiled. CALL radish_calibrate() shows them; nothing else depends on them.
	Upload  float64 `json:"upload"`
	Compile float64 `json:"compile"`

	GPUJoins GPUJoins `json:"gpu_joins"`

	// Order has the prices by which the orders of joins are compared on each device. No calibration changes them, so no file has them.
	Order [2]Joins `json:"-"`
}

// GPUJoins are what joins take on a GPU, as multiples of what they take on an H200, by which exec/gpu chooses between both sides in partitions and a table of one side.
type GPUJoins struct {
	Partitions float64 `json:"partitions"`
	Tables     float64 `json:"tables"`
}

// mostJoins bounds what is believed of a GPU's joins.
const mostJoins = 64

func (j *GPUJoins) isValid() bool {
	return j.Partitions >= 1.0/mostJoins && j.Partitions <= mostJoins && j.Tables >= 1.0/mostJoins && j.Tables <= mostJoins
}

// Bounded are the multiples that are nearest to what was measured, and can be believed.
func (j GPUJoins) Bounded() GPUJoins {
	bounded := func(x float64) float64 { return min(max(x, 1.0/mostJoins), mostJoins) }
	return GPUJoins{bounded(j.Partitions), bounded(j.Tables)}
}

// IsValid says whether all figures can be prices.
func (t *Table) IsValid() bool {
	for _, rates := range []Rates{t.CPU, t.GPU} {
		for _, rate := range rates {
			if !(rate >= 0 && rate < 100) {
				return false
			}
		}
		if rates[Start] == 0 || rates[Scan] == 0 {
			return false
		}
	}
	return t.GPUJoins.isValid() && t.Upload >= 0 && t.Upload < 100 && t.Compile > 0 && t.Compile < 1000
}

// On returns the rates of a device.
func (t *Table) On(d physical.Device) *Rates {
	if d == physical.GPU {
		return &t.GPU
	}
	return &t.CPU
}

// Settle gives the prices that no query measures what follows for them: those that follow a measured one keep their proportion to it, the others their default.
func (t *Table) Settle() {
	for c := range defaults {
		x := &defaults[c]
		for _, d := range []physical.Device{physical.CPU, physical.GPU} {
			rates := t.On(d)
			switch x.calibration {
			case keeps:
				rates[c] = x.seconds(d)
			case follows:
				rates[c] = x.seconds(d) * (rates[x.leader] / defaults[x.leader].seconds(d))
			}
		}
	}
	t.Order = defaultOrder()
}

// UnmarshalJSON reads a table that was written. It has what is measured of the text, and the defaults of what is not.
func (t *Table) UnmarshalJSON(text []byte) error {
	type plain Table
	var read plain
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*t = Table(read)
	t.Settle()
	return nil
}
