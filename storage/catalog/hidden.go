package catalog

import "strings"

// hidden begins the names of databases that are not listed: those of sessions' temporary tables.
const hidden = "#temporary-"

// HiddenName returns the name of a database that is not listed.
func HiddenName(name string) string { return hidden + name }

// IsHidden says whether a name is one that only HiddenName gives.
func IsHidden(name string) bool { return strings.HasPrefix(fold(name), hidden) }
