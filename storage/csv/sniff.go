package csv

import "github.com/radish-sql/radish/storage/textfile"

// delimiters are those that are looked for, the likeliest first.
var delimiters = []byte{',', ';', '\t', '|'}

// sniffRecords is how many records are looked at for the delimiter.
const sniffRecords = 1000

// sniff returns the delimiter of a text that begins with a block. Of those that suit its records (see suits), it is the one that takes most of
// them apart into as many fields as the first, at least two. Among equals it is the one that makes the most fields. A text that none of them suits has
// one column, or is malformed, and is read with commas.
func sniff(opts Options, b *textfile.Block) byte {
	best, bestSame, bestFields := byte(','), 0, 0
	for _, d := range delimiters {
		if !opts.NoQuote && d == opts.quote() {
			continue
		}
		opts.Delimiter = d
		fields, same, records := shapeOf(newScanner(opts, b), opts.PadsNulls)
		if fields < 2 || !opts.suits(same, records) {
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

// suits says whether a delimiter may be a text's, which takes so many records apart into as many fields as the first, itself included. One bad record, or one in ten, does not
// decide. Where the options say what becomes of bad records, most of the others have to be good.
func (o *Options) suits(same, records int) bool {
	if o.IgnoresErrors || o.PadsNulls {
		return same*2 > records
	}
	return records-same <= max(records/10, 1) && (same > 2 || same == records)
}

// shapeOf returns how many fields the first record has, how many of the first records have as many, and how many there are. A record that lacks fields
// has as many, too, if they are padded. A malformed one has not, and is passed over; no fields if it is the first.
func shapeOf(s *scanner, pads bool) (fields, same, records int) {
	for ; records < sniffRecords && s.more(true); records++ {
		begin, n := s.at, 0
		var err error
		for last := false; !last && err == nil; n++ {
			_, last, err = s.next()
		}
		switch {
		case err != nil && records == 0:
			return 0, 0, 0
		case err != nil:
			s.at = lineEnd(s.Text, begin)
			continue
		case records == 0:
			fields = n
		}
		if n == fields || pads && n < fields {
			same++
		}
	}
	return fields, same, records
}
