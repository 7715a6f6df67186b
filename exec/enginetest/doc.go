// Package enginetest holds the cases that every backend has to pass: plans built by hand over small random tables. Each
// operator gets the inputs that break operators (no rows, one row, a row more than a vector or a morsel, NULLs, only
// NULLs, skew). A reference that runs the same plan row by row says what is right.
//
// A backend's test calls [Run] with itself; a failure prints the seed and the case that replay it.
//
// The files:
//
//   - backend.go: backends and cases. gen.go: random tables. cases.go, aggcases.go, windowcases.go, recursioncases.go, unnestcases.go: the cases.
//   - reference.go: the reference; refagg.go, refanalysts.go, refwindow.go and refrecursion.go have its operators, refeval.go its expressions.
//   - places.go: plans as several devices share them, on one backend.
package enginetest
