package files

import (
	"context"

	"github.com/radish-sql/radish/storage/table"
)

// maxStreamed bounds the files that are open at once for one table.
const maxStreamed = 256

// CanStream says whether a table's rows can be read by scans, a row group at a time, instead of into memory.
func (s *Set) CanStream() bool {
	f := &formats[s.format]
	return len(s.paths) <= maxStreamed && f.stream != nil && (f.streams == nil || f.streams(s))
}

// Bytes returns about how much memory some columns of some row groups take (see Stream).
func (s *Set) Bytes(groups, ordinals []int) int64 {
	total := int64(0)
	if !s.zoned { // each column is assumed to take the same share
		all := s.size * int64(len(ordinals)) / int64(max(1, len(s.Columns)))
		if len(s.keys) > 0 && s.pieces > 0 {
			return all / s.pieces * int64(len(groups))
		}
		return all
	}
	for _, g := range groups {
		for _, o := range ordinals {
			if o >= 0 {
				total += s.zones[g].bytes[o]
			}
		}
	}
	return total
}

// Stream returns the table with row groups that scans read from the files until ctx ends, and what closes those. If the version is nil, scans cannot read these files. The context's meter counts
// what is known of the files and their row groups; what it was told of is given back when the caller closes its account.
func (s *Set) Stream(ctx context.Context, database, name string) (v *table.Version, close func(), err error) {
	if stream := formats[s.format].stream; stream != nil {
		return stream(s, table.WithScratch(ctx), database, name)
	}
	return nil, func() {}, nil
}
