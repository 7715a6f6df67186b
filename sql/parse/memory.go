package parse

// What statements take, as measured with lists of a million values and with literals of megabytes.
const (
	longText      = 256 << 10 // bytes of text from which the memory of what is bound is counted
	treeBytes     = 400       // of the nodes that a value or name has in the tree
	boundBytes    = 200       // of those that it has in the bound statement and the plan
	treeTimes     = 2         // how often a tree holds a literal's text, the statement's own among them
	boundTimes    = 2         // how often binding and planning copy it
	statementTree = 1 << 10   // bytes of a statement's tree beside its values and names
)

// Kept is about what the trees of several statements take, in bytes.
func Kept(list []Statement) int64 {
	bytes := int64(0)
	for i := range list {
		bytes += list[i].Kept
	}
	return bytes
}

// countMemory sets Kept and Memory of a statement that is about to be parsed of p.
func (s *Statement) countMemory(p Piece) {
	values := int64(0)
	for _, t := range p.tokens {
		if t.kind != tokOp {
			values++
		}
	}
	text := int64(len(p.Text) - (p.rows.to - p.rows.from)) // comments are copied, too
	s.Kept = statementTree + values*treeBytes + text*treeTimes
	if text >= longText {
		s.Memory = values*boundBytes + text*boundTimes
	}
}
