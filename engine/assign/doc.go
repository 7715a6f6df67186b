// Package assign runs statements that give variables values: SET (set.go), SELECT ... INTO @name (into.go) and SELECT @name := value (assigning.go). unset.go looks
// for variables that a statement reads and nothing has set.
package assign
