package types

import "strings"

// Collation says how strings compare: which are equal, and which come first. Its zero value is utf8mb4_bin, the default: by bytes,
// which is by code point, trailing spaces counted.
//
// The engine itself compares bytes only. Where another collation decides, planner/bind replaces the strings by their keys
// (see [Collation.AppendKey]), whose bytes compare as the strings do.
type Collation uint8

// The collations. All are of character set utf8mb4 but CollationBinary, which is that of bytes; no type has it, as a binary
// string's kind tells. CollationNone is none that has a name: it marks strings made of strings whose collations differ, which can be
// sorted, by their bytes, but not compared with others.
const (
	CollationBin Collation = iota
	CollationGeneralCI
	CollationAiCI
	CollationAsCI
	CollationAsCS
	CollationUnicode520CI
	CollationBin0900
	CollationBinary
	CollationNone
)

// collations describes each collation as MySQL's SHOW COLLATION does.
var collations = [...]struct {
	name    string
	id      int64
	sortLen int64
	pads    bool
}{
	CollationBin:          {"utf8mb4_bin", 46, 1, false},
	CollationGeneralCI:    {"utf8mb4_general_ci", 45, 1, true},
	CollationAiCI:         {"utf8mb4_0900_ai_ci", 255, 0, false},
	CollationAsCI:         {"utf8mb4_0900_as_ci", 305, 0, false},
	CollationAsCS:         {"utf8mb4_0900_as_cs", 278, 0, false},
	CollationUnicode520CI: {"utf8mb4_unicode_520_ci", 246, 8, true},
	CollationBin0900:      {"utf8mb4_0900_bin", 309, 1, false},
	CollationBinary:       {"binary", 63, 1, false},
	CollationNone:         {"utf8mb4_bin", 46, 1, false},
}

// Collations returns all collations that have names.
func Collations() []Collation {
	out := make([]Collation, CollationNone)
	for i := range out {
		out[i] = Collation(i)
	}
	return out
}

// CollationByName returns the collation of that name; case does not matter.
func CollationByName(name string) (c Collation, ok bool) {
	for i := range collations {
		if strings.EqualFold(collations[i].name, name) {
			return Collation(i), true
		}
	}
	return 0, false
}

func (c Collation) String() string { return collations[c].name }

// ID is MySQL's number of the collation.
func (c Collation) ID() int64 { return collations[c].id }

// SortLen is what MySQL's SHOW COLLATION says of the memory that sorting takes.
func (c Collation) SortLen() int64 { return collations[c].sortLen }

// Pads says whether trailing spaces count for nothing (PAD SPACE).
func (c Collation) Pads() bool { return collations[c].pads }

// Charset is the name of the character set that the collation belongs to.
func (c Collation) Charset() string {
	if c == CollationBinary {
		return "binary"
	}
	return "utf8mb4"
}

// Bytewise says whether strings compare by their bytes, so that they are their own keys.
func (c Collation) Bytewise() bool {
	return c == CollationBin || c >= CollationBin0900
}

// IgnoresCase says whether upper and lower case are equal.
func (c Collation) IgnoresCase() bool {
	return c == CollationGeneralCI || c == CollationAiCI || c == CollationAsCI || c == CollationUnicode520CI
}

// HasCollation says whether t's values are characters, which compare by a collation; those of an ENUM are by their names. JSON
// always compares by bytes.
func (t Type) HasCollation() bool {
	return t.Kind >= KindChar && t.Kind <= KindText || t.Kind == KindEnum
}

// Collate returns t under a collation; a type without characters stays as it is.
func (t Type) Collate(c Collation) Type {
	if t.HasCollation() {
		t.Collation = c
	}
	return t
}

// Folds says whether t's values are strings that a collation compares otherwise than by their bytes.
func (t Type) Folds() bool {
	return t.Collation != CollationBin && t.Kind >= KindChar && t.Kind <= KindText && !t.Collation.Bytewise()
}
