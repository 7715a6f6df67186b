package join

// bitmap stores no rows, just which keys there are.
var bitmap = &Algorithm{
	Name:      "bitmap",
	explained: "dense",
	how:       "a bit for each key",
	applies: func(d *demand) bool {
		return len(d.build.Payload) == 0 && d.once && !d.build.KeepUnmatched && !d.marks && !d.filter
	},
	byKey:   true,
	hasBits: true,
	memory:  func(m *Memory, f *Form) { m.addBits(f) },
	link:    func(b *buildText) { b.setBit(nil) },
}
