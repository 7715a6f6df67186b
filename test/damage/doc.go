// Package damage tests that no data file, however damaged, does more than be refused. Its test changes files of several writers by seed, has
// child processes with bounded memory read them, and counts what happens. No child may die or hang, and no panic may have to be caught.
//
// sources.py writes the files of the other writers. `make damage` runs all of it; FILES says how many files, SEED repeats a run.
package damage
