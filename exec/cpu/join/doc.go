// Package join has both sides of joins: the sink of a Build, and the operator that looks rows up in it.
//
// Build (build.go) stores the rows of the build side. Finish makes one of these of the keys:
//
//   - a table, whose contract is in keytable.go: densetable.go, inttable.go, shorttable.go (short strings) or generictable.go;
//     slottable.go has the slots of those that hash
//   - a sorted run (nestedloop.go), or a band of inequalities (band.go, bandranks.go)
//
// It also brings rows of equal keys together (arrange.go), and makes runtime filters for the probe side's scans (filter.go).
//
// NewProbe (probe.go) returns a worker's operator that finds matches and gathers the payload; probepairs.go has the candidates of a batch, with the residual condition.
// Where a build's rows do not fit the memory they go to a temporary file (spillbuild.go), and so do the rows that look them up (spillprobe.go).
// mark.go and unknown.go answer IN and NOT IN where there are NULLs. NewUnmatched (unmatched.go) reads the rows that found no partner.
package join
