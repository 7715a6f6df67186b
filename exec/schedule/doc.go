// Package schedule runs the pipelines of a physical plan in their order and asks backends to run each one.
//
// Package exec hands Start a plan and, for each device in use, what opens a backend there. Start runs the pipelines one after another, moves
// stored rows where a pipeline reads what another device has filled, and returns a Cursor, from which the client reads batches. A backend
// is a Run: exec/cpu and exec/gpu each have one. This package knows neither of them, so another device is another entry in Config.Backends.
package schedule
