package sqlerr

import "sync"

// Level is how grave a warning is.
type Level uint8

// The levels of SHOW WARNINGS.
const (
	LevelNote Level = iota
	LevelWarning
	LevelError
)

// String returns the level as SHOW WARNINGS prints it.
func (l Level) String() string { return [...]string{"Note", "Warning", "Error"}[l] }

// Warning is one row of SHOW WARNINGS.
type Warning struct {
	Level   Level
	Code    Code
	Message string
}

// MaxWarnings is how many warnings of a statement are kept (MySQL's max_error_count); the rest are only counted.
const MaxWarnings = 1024

// Warnings collects the warnings of one statement. Its zero value is ready; all of its methods may be called by several
// goroutines at once, and Add on a nil *Warnings drops the warning.
type Warnings struct {
	NoNotes bool // notes are dropped; set before anything is added

	mu    sync.Mutex
	kept  []Warning
	total int64
}

// Add appends a warning.
func (w *Warnings) Add(level Level, code Code, format string, args ...any) {
	if w == nil || w.NoNotes && level == LevelNote {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total++
	if len(w.kept) < MaxWarnings {
		w.kept = append(w.kept, Warning{Level: level, Code: code, Message: message(format, args...)})
	}
}

// AddError appends an error as a warning: what strict mode refuses and other modes only mention.
func (w *Warnings) AddError(e *Error) { w.Add(LevelWarning, e.Code, "%s", e.Message) }

// AddNote appends an error as a note: what IF EXISTS and IF NOT EXISTS make of it.
func (w *Warnings) AddNote(e *Error) { w.Add(LevelNote, e.Code, "%s", e.Message) }

// List returns a copy of the warnings that were kept, in the order of their coming.
func (w *Warnings) List() []Warning {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Warning(nil), w.kept...)
}

// Count returns how many warnings came, including those not kept.
func (w *Warnings) Count() int64 {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

// Reset forgets all warnings, as a new statement does.
func (w *Warnings) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept, w.total = nil, 0
}

// Take moves the warnings of another list, and its count, to the end of this one.
func (w *Warnings) Take(from *Warnings) {
	if w == nil || from == nil {
		return
	}
	from.mu.Lock()
	kept, total := from.kept, from.total
	from.kept, from.total = nil, 0
	from.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total += total
	w.kept = append(w.kept, kept[:min(len(kept), MaxWarnings-len(w.kept))]...)
}
