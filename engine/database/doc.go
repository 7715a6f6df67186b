// Package database holds what all sessions of an engine share: the catalog, memory budgets, files in memory, kept plans, locks and GPUs. It runs no statements.
// What the packages above it do with it comes in as functions: Database.Changed and Auto.Measure.
//
//	database.go   options, opening and closing, whose turn it is to write
//	changes.go    making changes of the catalog visible, and paying for them
//	memory.go     what is counted for the programs that hold statements
//	processes.go  which sessions there are, and what they do
//	gpus.go       the process's GPUs, under the engine's memory limit
//	functions.go  adding functions of the program's own
package database
