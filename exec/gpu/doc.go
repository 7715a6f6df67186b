// Package gpu runs pipelines of a physical plan on a GPU. It turns each into one CUDA C++ kernel, compiles it, and launches it over table columns that stay in
// the device's memory. docs/internals explains the kernels, the memory and the faults. This is where they stand in the package.
//
// A query takes this way:
//
//	OpenFleet           fleet.go                the devices that queries run on, alone or together; device.go: one of them, and devicememory.go: what its memory is used for
//	Device.Place        place.go, refusals.go   which pipelines run here, with the joins that a statement wants (joins.go), and why: a *Placed plan (placedplan.go); package placement says whether the GPU is the faster one (costs.go)
//	                    kept.go                 a plan that comes again keeps its kernels; compiled.go: those of its kernels that a query need not wait for; explain.go: what EXPLAIN says of them
//	                    sharing.go, shares.go   whether several devices share it, by cost, and how, where planner/distribute divides it
//	program.New         package program         the forms of what is stored between pipelines, and the kernels of each pipeline
//	  joins             package join            how builds lie, and one file for each algorithm
//	  groups            package groupby         how groups lie, and one file for each way to make them
//	  sorts             package sort            kernels that order stored rows
//	  kernels           package kernel          what every writer of kernels needs
//	  expressions       package codegen         C++ that computes them; lookup tables over dictionaries
//	Placed.Start        run.go, sharedrun.go    a Run, which exec/schedule calls for each pipeline that is here (schedule.Run), on one device or several; store.go: results that become tables
//	                    runshortage.go          what follows where memory runs out; firstrun.go: what first runs wait for
//	  exchanges         package exchange        rows that move between devices which share a plan
//	Runner.Start        package run             memory of the sinks, launches, waits, reruns, sorts; rows that come back to the host
//
// What outlives a query belongs to the Device: table columns (package residency; package form says how they lie there), lookup tables, compiled kernels (in
// gpukernels), what placement has learned, and how many rows came to sinks (package sizes). What only tests ask of a device is in fortests.go.
//
// Words that mean one thing here: a tile is the rows that a block of threads takes at once. A form is how values lie in device memory. A word is one 64-bit
// parameter of a kernel, which the launch resolves by its key. A range is an interval that values are proven to lie in (codegen.Ranges), whereas estimates
// choose between ways that are all right. A perfect hash gives each key a slot of its own without a search.
package gpu
