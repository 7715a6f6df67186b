package kernel

// Memory is what something needs on the device: arrays and numbers, for which kernels ask by keys (Text.Word). The runner knows no more of them.
type Memory struct {
	Arrays   []Array // in the order in which they are laid out
	Words    map[any]uint64
	Counters map[any]CounterWord // that are 0 at first
}

// Array is an array whose address kernels ask for by a key.
type Array struct {
	Key    any
	From   int64 // its first item that there is memory for: kernels reach none before
	Items  int64 // from there on
	Unit   int   // bytes of an item
	Filled int64 // so many items are Fill at first; the others may be anything
	Fill   uint64
	// Spared is the key of a word that is made 0 if there is no memory for the array, which is no error then; nil: it is one.
	Spared any
}

// Add asks for an array that may hold anything.
func (m *Memory) Add(key any, items int64, unit int) {
	m.Arrays = append(m.Arrays, Array{Key: key, Items: items, Unit: unit})
}

// AddFilled asks for an array of items that are the same at first.
func (m *Memory) AddFilled(key any, items int64, unit int, fill uint64) {
	m.Arrays = append(m.Arrays, Array{Key: key, Items: items, Unit: unit, Filled: items, Fill: fill})
}

// Number says what a number is that kernels ask for by a key.
func (m *Memory) Number(key any, word uint64) {
	if m.Words == nil {
		m.Words = map[any]uint64{}
	}
	m.Words[key] = word
}

// Count asks for a counter whose address kernels ask for by a key.
func (m *Memory) Count(key any, w CounterWord) {
	if m.Counters == nil {
		m.Counters = map[any]CounterWord{}
	}
	m.Counters[key] = w
}

// AddSlots asks for an array over slots, and over others behind these, each of some bytes: only the first have a value from the beginning on.
func (m *Memory) AddSlots(key any, slots, behind, width int64, unit int, fill uint64) {
	of := width / int64(unit)
	m.Arrays = append(m.Arrays, Array{Key: key, Items: (slots + behind) * of, Unit: unit, Filled: slots * of, Fill: fill})
}
