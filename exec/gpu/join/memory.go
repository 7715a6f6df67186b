package join

// Memory is what a build of so many rows needs.
func (f *Form) Memory(rows int64) *Memory {
	m := &Memory{Rows: rows, Words: map[any]uint64{}}
	if f.Algorithm.memory != nil {
		f.Algorithm.memory(m, f)
	}
	if f.nullChain {
		m.addFilled(NullHeadWord{of{f.build}}, 1, 4, noRow)
	}
	if f.build.KeepUnmatched && f.Radix == nil {
		m.addFilled(MatchedWord{of{f.build}}, rows, 1, 0)
	}
	for i, x := range f.filters {
		if x != nil {
			m.addFilled(FilterWord{of{f.build}, i}, x.bytes()/8, 8, 0)
		}
	}
	return m
}
