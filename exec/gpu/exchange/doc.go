// Package exchange moves rows that the places of a query have stored: to one place, to all, or each row to the place that owns its key.
//
//	Places.Gather, Broadcast   copy.go         whole columns, by the copy engines
//	Places.Repartition         repartition.go  each row to its owner, by one kernel, which writes to peers where it can reach them
//	Places.Each                places.go       work at all places at once, by goroutines that look for it (workers.go)
//	Meeting                    meeting.go      places that wait for each other within a pipeline
//	move                       move.go         what all exchanges do, and strings that follow their rows where a place cannot reach the memory of another one
//	Reach, CopyRate            links.go        which devices reach the memory of which, and how fast they copy from there
//	kernels                    kernels.go      their text, the same for all plans
//
// A place is a run.Query with a device of its own. All places run one program, so a sink's rows have the same columns at each of them. An exchange waits, on the host, until all places
// have filled the sink, since the sizes of what comes are not known before; everything else is ordered by events.
package exchange
