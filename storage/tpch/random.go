package tpch

// dbgen draws every column from a stream of its own, a Lehmer generator (Park and Miller, "Random number
// generators: good ones are hard to find", 1988): x' = 16807 x mod 2^31-1. Each row of a table owns a fixed
// number of draws of a stream, used or not, so row r starts draws*r steps after the stream's seed, and that
// state is found by modular exponentiation instead of by walking there.
const (
	lehmerModulus    = 1<<31 - 1
	lehmerMultiplier = 16807
)

// state is the state of one Lehmer generator: the last number drawn, in [1, 2^31-2].
type state uint64

// next steps the generator.
func (s state) next() state { return mulMod(s, lehmerMultiplier) }

// skip steps the generator n times.
func (s state) skip(n int64) state { return mulMod(s, lehmerPower(n)) }

// mulMod returns a*b mod 2^31-1. The modulus is a Mersenne prime, so the division is a fold of the product's
// high bits onto its low ones: both summands are below 2^31, and one conditional subtraction ends it.
func mulMod(a, b state) state {
	p := a * b
	x := p&lehmerModulus + p>>31
	if x >= lehmerModulus {
		x -= lehmerModulus
	}
	return x
}

// lehmerPower returns 16807^n mod 2^31-1.
func lehmerPower(n int64) state {
	result, square := state(1), state(lehmerMultiplier)
	for e := uint64(n); e != 0; e >>= 1 {
		if e&1 == 1 {
			result = mulMod(result, square)
		}
		square = mulMod(square, square)
	}
	return result
}

// span is a range of integers to draw from. dbgen scales the state by a double, whose rounding is part of the
// data, so the scaling takes the same two operations in the same order.
type span struct {
	low   int64
	width float64 // high - low + 1
}

func between(low, high int64) span { return span{low: low, width: float64(high - low + 1)} }

// at maps a state that was just drawn to the span.
func (r span) at(s state) int64 {
	return r.low + int64(float64(int64(s))/lehmerModulus*r.width)
}

// stream is the source of one column: its seed, and the draws that a row owns.
type stream struct {
	seed  state
	draws int64
}

// row returns the state before the draws of a row, which counts from 0.
func (s stream) row(n int64) state { return s.seed.skip(n * s.draws) }

// draw fills dst with consecutive draws, one a row.
func draw(dst []int64, s state, r span) {
	for i := range dst {
		s = s.next()
		dst[i] = r.at(s)
	}
}

// The streams, by table. An order owns the draws of seven lines in each stream of lineitem.
var (
	partManufacturer = stream{1, 1}
	partBrand        = stream{46831694, 1}
	partType         = stream{1841581359, 1}
	partSize         = stream{1193163244, 1}
	partContainer    = stream{727633698, 1}
	partComment      = stream{804159733, 2}
	partName         = stream{709314158, 92}

	partSuppQuantity = stream{1671059989, 1}
	partSuppCost     = stream{1051288424, 1}
	partSuppComment  = stream{1961692154, 2}

	supplierAddress      = stream{706178559, 9}
	supplierNation       = stream{110356601, 1}
	supplierPhone        = stream{884434366, 3}
	supplierBalance      = stream{962338209, 1}
	supplierComment      = stream{1341315363, 2}
	supplierRemark       = stream{202794285, 1}
	supplierRemarkType   = stream{753643799, 1}
	supplierRemarkGap    = stream{263032577, 1}
	supplierRemarkOffset = stream{715851524, 1}

	customerAddress = stream{881155353, 9}
	customerNation  = stream{1489529863, 1}
	customerPhone   = stream{1521138112, 3}
	customerBalance = stream{298370230, 1}
	customerSegment = stream{1140279430, 1}
	customerComment = stream{1335826707, 2}

	orderCustomer = stream{851767375, 1}
	orderDate     = stream{1066728069, 1}
	orderPriority = stream{591449447, 1}
	orderClerk    = stream{1171034773, 1}
	orderComment  = stream{276090261, 2}
	orderLines    = stream{1434868289, 1}

	lineQuantity    = stream{209208115, maxLines}
	lineDiscount    = stream{554590007, maxLines}
	lineTax         = stream{721958466, maxLines}
	lineInstruction = stream{1371272478, maxLines}
	lineShipMode    = stream{675466456, maxLines}
	lineComment     = stream{1095462486, 2 * maxLines}
	linePart        = stream{1808217256, maxLines}
	lineSupplier    = stream{2095021727, maxLines}
	lineShipDate    = stream{1769349045, maxLines}
	lineCommitDate  = stream{904914315, maxLines}
	lineReceiptDate = stream{373135028, maxLines}
	lineReturnFlag  = stream{717419739, maxLines}

	nationComment = stream{606179079, 2}
	regionComment = stream{1500869201, 2}

	textWords = state(933588178) // of the text pool
)
