package parquet

import (
	"context"
	"fmt"
)

// SummedPage is a page with a checksum: what errors call it, and where in the file the bytes are that the sum is of.
type SummedPage struct {
	Position   string
	Begin, End int64
}

// SummedPages returns the pages of a file that have checksums.
func SummedPages(path string) (out []SummedPage, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for g := range f.footer.groups {
		for o := range f.leaves {
			r, err := f.openColumn(f.access(context.Background(), 1), g, o)
			if err != nil {
				return nil, err
			}
			for p := &r.(*cursor).pages; p.rest() > 0; {
				page, err := p.next()
				if err != nil {
					return nil, err
				}
				if page.summed && page.packed > 0 {
					position := fmt.Sprintf("row group %d, column '%s', page %d at byte %d", g, f.leaves[o].name, p.number, p.begin)
					out = append(out, SummedPage{position, p.at - int64(page.packed), p.at})
				}
			}
		}
	}
	return out, nil
}
