package hashlab

import "slices"

// Functions are all of them.
func Functions() []*Function { return slices.Concat(family(), fnv(), published(), radish()) }

// Find returns the function of a name, nil if there is none.
func Find(name string) *Function {
	for _, f := range Functions() {
		if f.Name == name {
			return f
		}
	}
	return nil
}
