package tpch

// Edition says whose dbgen the strings follow. The two editions agree in every key, number, date and
// low-cardinality string; they differ in comments and addresses, and so in the answers that print or search
// these (Q2, Q10, Q13, Q15, Q20).
type Edition uint8

const (
	// EditionDuckDB is the dbgen that DuckDB contains: a text pool of 10 MiB, and addresses from draws over
	// [0, 2^31). The answers in ../shared/tpch are of this edition, which is therefore the default.
	EditionDuckDB Edition = iota
	// EditionTPC is the dbgen that the TPC distributes: a text pool of 300 MiB, and addresses from draws whose
	// range overflows a 32-bit integer to -2^31.
	EditionTPC

	editions = iota
)

// poolBytes is the size of the text pool.
func (e Edition) poolBytes() int {
	if e == EditionTPC {
		return 300 << 20
	}
	return 10 << 20
}

// addressBits is the range of a draw that gives five characters of an address.
func (e Edition) addressBits() span {
	if e == EditionTPC {
		return span{width: -1 << 31}
	}
	return span{width: 1 << 31}
}
