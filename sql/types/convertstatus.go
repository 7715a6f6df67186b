package types

// ConvertStatus says how well a conversion went. The caller decides by sql_mode whether that is a note, a
// warning or an error.
type ConvertStatus uint8

// The outcomes, from best to worst.
const (
	ConvertOK         ConvertStatus = iota
	ConvertRounded                  // fractional digits were rounded away (MySQL: a note at most)
	ConvertTruncated                // something was cut off: text after a number, characters beyond the length (1265, 1292)
	ConvertOutOfRange               // outside the target's range; the result is the nearest end of it (1264)
	ConvertInvalid                  // no such value; the result is 0 for numbers, NULL for temporal values (1292, 1366)
)

var convertStatusNames = [...]string{"ok", "rounded", "truncated", "out of range", "invalid"}

// String names the status.
func (s ConvertStatus) String() string { return convertStatusNames[s] }
