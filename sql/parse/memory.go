package parse

// What long statements take, as measured with lists of a million values and with literals of megabytes.
const (
	longText     = 256 << 10 // bytes of text from which memory is counted
	valueBytes   = 600       // of the nodes that a value or name has in the tree, the bound statement and the plan
	literalTimes = 5         // how often a literal's text is copied on that way
)

// treeBytes returns about how much memory the tree of a statement takes, and what is bound of it; 0 for a short one.
func treeBytes(p Piece) int64 {
	if len(p.Text) < longText {
		return 0
	}
	bytes := int64(0)
	for _, t := range p.tokens {
		if t.kind == tokOp {
			continue
		}
		bytes += valueBytes + literalTimes*int64(t.end-t.start)
	}
	return bytes
}
