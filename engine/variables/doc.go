// Package variables holds the system variables: one list of them, which SET, SHOW VARIABLES, @@name and docs/reference/variables.md follow, and [Settings],
// the values that a session has. What variables tell of their session they ask by [Facts].
//
//	variables.go      the variables that Radish is run by, and reading all of them
//	toolvariables.go  those that tools of MySQL read or set
//	setvariables.go   checking what is set
//	gpus.go           radish_device, and the GPUs of a session's queries
package variables
