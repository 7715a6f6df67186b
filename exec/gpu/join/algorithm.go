package join

import (
	"github.com/radish-sql/radish/exec/gpu/codegen"
	"github.com/radish-sql/radish/exec/gpu/form"
	"github.com/radish-sql/radish/exec/gpu/join/radix"
	"github.com/radish-sql/radish/exec/gpu/kernel"
	"github.com/radish-sql/radish/planner/physical"
)

// Algorithm is a way to find the rows of a build.
type Algorithm struct {
	Name string
	// explained is what EXPLAIN calls the build and its joins, and how what it adds to the planner's reason.
	explained, how string
	applies        func(d *demand) bool // the first of the list that applies is taken
	// byKey: a row's slot follows from its key, so rows are not counted, and a probe finds one at most. Otherwise rows are appended, keys included.
	byKey bool
	// hasBits: a bit for each key of a range says whether the build has it (bitmap.go).
	hasBits bool
	// comparesAll: a probe compares its row with all rows of the build. comparesKeys: what find gives may have other keys.
	comparesAll, comparesKeys bool
	// walksRows: a search goes over any number of rows, even if it looks for one.
	walksRows bool
	// hasChains: rows of a slot are chained (chains.go). They can be noted in filters of their keys.
	hasChains bool
	// memory asks for what it needs besides the rows.
	memory func(m *Memory, f *Form)
	// link writes what makes the current row one that find finds.
	link func(b *buildText)
	// find writes what begins a search, and returns what it goes over. nil of those by key.
	find func(p *probeText) candidates
	// bounds computes what else of a probe's row find compares; nil: nothing.
	bounds func(p *probeText, s *codegen.Scope)
	// order says which stored column orders the rows, and which has a tree over it, -1 if none has; nil: rows lie as they come.
	order func(f *Form) (key, other int)
	// defers says whether a pipeline's probe, which finds rows that lie together, puts long runs of them off; nil: no.
	defers func(f *Form, g *kernel.Pipelines, p *physical.Pipeline) bool
}

// demand is what the plan asks of a build.
type demand struct {
	build       *physical.Build
	on          physical.JoinAlgorithm // the planner's choice, for a GPU
	hasMarks    bool                   // some probe asks whether it may be NULL that a row matches
	wantsOne    bool                   // probes ask at most whether there is a row, or there is at most one
	hasResidual bool                   // some probe has a residual condition
	radix       *radix.Join            // how both sides may be partitioned; nil: they are not
	hasRuns     bool                   // rows of a key are so many that they should lie together
	arrays      *kernel.ArraysByKey
}

// domain is the number of values that the key of a build can have, and width the bytes of a row's payload.
func (d *demand) domain() float64 { return float64(d.build.DenseMax) - float64(d.build.DenseMin) + 1 }

func (d *demand) width() float64 {
	width := 0.0
	for _, c := range d.build.Payload {
		width += float64(form.ClassOf(c.Typ).Width()) + 1
	}
	return width
}

// Memory is what a build needs on the device for some rows, besides their columns.
type Memory struct {
	kernel.Memory
	Rows int64 // that the columns have capacity for
}

// Word is the key of a parameter that is about a build: an array's address, or a number.
type Word interface{ Of() *physical.Build }

// of makes what it is embedded in a Word.
type of struct{ build *physical.Build }

// Of is the build.
func (w of) Of() *physical.Build { return w.build }

// buildText is the sink that fills a build.
type buildText struct {
	k *kernel.Kernel
	*kernel.Append
	f    *Form
	keys []codegen.Value
	null string // some key that is not NULL-safe is NULL; "": never
}

// probeText writes one probe.
type probeText struct {
	k    *kernel.Kernel
	t    *physical.Probe
	f    *Form
	keys []codegen.Value
	null string // some key that may not be NULL is; "": never
	row  string // the variable that holds the build row

	bounds []codegen.Value // of ordered rows, of each bound of the build
}

// candidates are the rows that a search goes over: the C++ of the first one, of the condition that a variable holds one, and of its step to the next.
type candidates struct {
	first      string
	more, step func(row string) string
}

// increment is the step to the row behind.
func increment(row string) string { return row + "++" }

// below is the condition that a row comes before another.
func below(end string) func(row string) string {
	return func(row string) string { return row + " < " + end }
}

// keyFilter is the filter of a build's key.
type keyFilter struct {
	slots   int64 // bits; of hashed values a power of two
	exact   bool  // bit value - lo; else values are hashed
	lo      int64
	isLocal bool // blocks copy it to shared memory
}

// bytes is what a filter takes.
func (x *keyFilter) bytes() int64 { return kernel.RoundUp((x.slots+7)/8, 16) }
