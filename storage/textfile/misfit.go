package textfile

import "fmt"

// Misfit is the error of a value that does not fit the type inferred for its column, or of a key that the sample lacks, whose column is -1. The readers' Settle finds
// keys and types for all.
type Misfit struct {
	Column   int
	Position string // file and line
	Text     string // of the value, or the key
}

func (m *Misfit) Error() string {
	if m.Column < 0 {
		return fmt.Sprintf("%s: the key '%s' is new", m.Position, m.Text)
	}
	return fmt.Sprintf("%s: '%s' does not fit the type of column %d", m.Position, m.Text, m.Column+1)
}
