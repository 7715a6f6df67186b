package join

// direct stores the payload at the slot of a unique key, and a bit that says whether there is one.
var direct = &Algorithm{
	Name:      "payload by key",
	explained: "dense",
	how:       "a bit and the columns of a row for each key",
	applies: func(d *demand) bool {
		return d.build.Unique && !d.build.KeepUnmatched && !d.hasMarks && d.domain()*d.width() <= max(d.arrays.Always, d.arrays.PerRow*d.build.EstRows)
	},
	byKey:   true,
	hasBits: true,
	memory:  func(m *Memory, f *Form) { m.addBits(f) },
	link:    func(b *buildText) { b.setBit(b.WriteValues) },
}
