package tpch

// region makes the table region (clause 4.2.3).
func (g *generator) region(first int64, rows int) []Column {
	return []Column{
		consecutive(first, rows),
		names(regionNames, first, rows),
		g.text.comments(regionComment.row(first), rows, nationCommentLengths),
	}
}

// nation makes the table nation (clause 4.2.3).
func (g *generator) nation(first int64, rows int) []Column {
	var all []string
	regions := make([]int64, 0, rows)
	for i, n := range nations {
		all = append(all, n.name)
		if int64(i) >= first && len(regions) < rows {
			regions = append(regions, n.region)
		}
	}
	return []Column{
		consecutive(first, rows),
		names(all, first, rows),
		{Ints: regions},
		g.text.comments(nationComment.row(first), rows, nationCommentLengths),
	}
}

// names takes a run of a list, coded by the whole list's dictionary.
func names(all []string, first int64, rows int) Column {
	d := newDictionary(all)
	return Column{Codes: d.rank[first : first+int64(rows)], Dict: d.sorted}
}

// consecutive is a key that counts from first.
func consecutive(first int64, rows int) Column {
	keys := make([]int64, rows)
	for i := range keys {
		keys[i] = first + int64(i)
	}
	return Column{Ints: keys}
}
