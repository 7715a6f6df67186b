// Package placement decides on which device a query runs.
//
// It needs neither a device nor a running query: what goes in are physical plans, fingerprints of statements and the times that runs
// took; what comes out is a [Choice]. So all of it is tested with invented costs and an invented clock.
//
//   - The table of planner/cost prices the work of a plan on each device (work.go). It has defaults, or what a calibration has measured.
//   - An [Advisor] (advisor.go) corrects it by what runs took (correct.go), and remembers for each statement how long it took on which device
//     (history.go). What it has learned it keeps in a file (file.go).
//   - [Advisor.Known] answers from the history alone, before a query is planned; [Advisor.Unknown] answers from the costs. A query whose faster device is not
//     known runs on both at once, and the first to finish wins (choose.go): that is how the history begins.
//   - [SharingEstimate] is what a plan is expected to take on one GPU, and shared by several (sharing.go).
package placement
