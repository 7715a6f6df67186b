// Package join has both sides of joins: the sink of a Build, and the operator that looks rows up in it.
//
// Build stores the rows of the build side. Finish makes a table of the keys (densetable.go, inttable.go, shorttable.go, generictable.go), a sorted run
// (nestedloop.go), or a band of inequalities (band.go, bandranks.go), brings rows of equal keys together (arrange.go), and makes runtime filters for the probe
// side's scans (filter.go). NewProbe returns a worker's operator that finds matches and gathers the payload. mark.go and unknown.go
// answer IN and NOT IN where there are NULLs; NewUnmatched reads the rows that found no partner.
package join
