package csv

import "github.com/radish-sql/radish/storage/textfile"

// delimiters are those that are looked for, the likeliest first.
var delimiters = []byte{',', ';', '\t', '|'}

// sniffRecords is how many records are looked at for the delimiter.
const sniffRecords = 1000

// sniff returns the delimiter of a text that begins with a block: of those that take nine of ten records apart into as many
// fields as the first one, at least two, the one that does so most often, then the one that makes the most fields. A text
// that none of them suits has one column, or is malformed, and is read with commas.
func sniff(opts Options, b *textfile.Block) byte {
	best, bestSame, bestFields := byte(','), 0, 0
	for _, d := range delimiters {
		if !opts.NoQuote && d == opts.quote() {
			continue
		}
		opts.Delimiter = d
		fields, same, records := shapeOf(newScanner(opts, b))
		if fields < 2 || same*10 < records*9 {
			continue
		}
		// Of equal records, compare shares; all delimiters see the same records unless quotes come to mean something else.
		same = same * sniffRecords / records
		if same > bestSame || same == bestSame && fields > bestFields {
			best, bestSame, bestFields = d, same, fields
		}
	}
	return best
}

// shapeOf returns how many fields the first record has, how many of the first records have as many, and how many there are;
// no fields if the text is malformed with this delimiter.
func shapeOf(s *scanner) (fields, same, records int) {
	for ; records < sniffRecords && s.more(true); records++ {
		n := 0
		for last := false; !last; n++ {
			var err error
			if _, last, err = s.next(); err != nil {
				return 0, 0, 0
			}
		}
		if records == 0 {
			fields = n
		}
		if n == fields {
			same++
		}
	}
	return fields, same, records
}
