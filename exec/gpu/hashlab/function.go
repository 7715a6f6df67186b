package hashlab

import (
	"fmt"
	"slices"
)

// Function is a hash function.
type Function struct {
	Name   string
	About  string
	Widths []int // of its hashes, in bits

	takes func(bytes int) bool // the lengths of keys; nil: any
	write func(b *builder, width int) Value
}

// Takes says whether the function makes hashes of a width from keys of a length.
func (f *Function) Takes(bytes, width int) bool {
	return slices.Contains(f.Widths, width) && (f.takes == nil || f.takes(bytes))
}

// Program writes the function for keys of one length, which it takes.
func (f *Function) Program(bytes, width int) *Program {
	b := &builder{bytes: bytes, known: map[operation]Value{}}
	result := f.write(b, width)
	if b.width(result) != width {
		panic(fmt.Sprintf("%s makes %d bits, not %d", f.Name, b.width(result), width))
	}
	p := &Program{Bytes: bytes, Width: width}
	p.operations, p.result = b.needed(result)
	return p
}
