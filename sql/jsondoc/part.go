package jsondoc

import "strings"

// What can be told of a value from its text, which is valid and has no space around it, as [Find] gives it. ok is false where only the tree tells.

// KindOf returns the kind of a value.
func KindOf(part string) (k Kind, ok bool) {
	switch part[0] {
	case '{':
		return Object, true
	case '[':
		return Array, true
	case '"':
		return String, true
	case 't', 'f':
		return Bool, true
	case 'n':
		return Null, true
	}
	return Integer, IsWritten(part)
}

// comparedKeys is how many keys of an object are compared with each other.
const comparedKeys = 16

// Length returns how many members an object has, or elements an array; 1 for a scalar.
func Length(part string) (n int, ok bool) {
	if part[0] != '[' && part[0] != '{' {
		return 1, true
	}
	isObject := part[0] == '{'
	var keys [comparedKeys]string
	ordered, unique, before := true, true, ""
	ok = eachItem(part, func(key, _ string) bool {
		if isObject {
			ordered = ordered && (n == 0 || compareKeys(before, key) < 0)
			if !ordered && n >= comparedKeys {
				unique = false
				return false
			}
			for i := 0; !ordered && i < n; i++ {
				unique = unique && keys[i] != key // of a key that stands there twice the last counts
			}
			if n < comparedKeys {
				keys[n] = key
			}
			before = key
		}
		n++
		return unique
	})
	return n, ok && unique
}

// ContainsScalar is [Contains] of a candidate that [IsWritten] as it stands.
func ContainsScalar(part, candidate string) (found, ok bool) {
	switch c := part[0]; {
	case c == '[':
		told := true
		ok = eachItem(part, func(_, item string) bool {
			found, told = ContainsScalar(item, candidate)
			return told && !found
		})
		return found, ok && told
	case c == '"' && candidate[0] == '"':
		return part == candidate, strings.IndexByte(part, '\\') < 0
	case c == '-' || c >= '0' && c <= '9':
		return part == candidate, candidate[0] == '"' || IsWritten(part)
	}
	return false, true
}
