// Package join writes the kernels' parts of joins: how the rows of a build lie, how a pipeline stores them, and how another looks them up. It knows no device and no
// running query.
//
//	Form           form.go         how a build lies: its algorithm, its rows, filters of its keys
//	decisions      outline.go      what a pipeline stores in a build, what a probe gives, and the list of algorithms
//	algorithms     algorithm.go    what an algorithm is; each has a file that says when it applies, which memory it needs, and how a row is stored and found:
//	                               loop.go, ordered.go, hash.go, bitmap.go, direct.go, dense.go, runs.go
//	partitions     choose.go       which joins have both sides in partitions, or sorted, and where pipelines are cut for them; package radix writes their kernels
//	builds         build.go        the sink that stores the rows, and the source that reads those without a match
//	probes         probe.go        the kinds of join, over whatever an algorithm finds; pair.go: a probe's row and one of the build; mark.go: IN and EXISTS that may be NULL
//	filters        filter.go       bits of a key's values, for the scans of probes
//
// Algorithms share chains.go (rows of a slot, one after another) and bitmap.go (a bit for each key of a range). An algorithm is decided once all pipelines that end in the
// build have been looked at, before any text is written (kernel.Outline). The runner takes the memory that Form.Memory lists, and resolves words by the same list.
package join
