package tpch

import "fmt"

// suppliersOfPart is the rows of partsupp for each part.
const suppliersOfPart = 4

// retailPrice is p_retailprice of a part (clause 4.2.3), in cents.
func retailPrice(part int64) int64 {
	return 90_000 + part/10%20_001 + part%1000*100
}

// supplierOf is ps_suppkey (clause 4.2.3): the supplier with index 0 to 3 of a part. It spreads a part's suppliers
// over the whole table.
func (g *generator) supplierOf(part, index int64) int64 {
	n := g.supplierCount
	return (part+index*(n/suppliersOfPart+(part-1)/n))%n + 1
}

const (
	manufacturers = 5
	brandsOfEach  = 5
)

var (
	manufacturerNames = listNames(manufacturers, func(i int) string { return fmt.Sprintf("Manufacturer#%d", i+1) })
	brandNames        = listNames(manufacturers*brandsOfEach, func(i int) string {
		return fmt.Sprintf("Brand#%d%d", i/brandsOfEach+1, i%brandsOfEach+1)
	})
)

func listNames(n int, name func(int) string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = name(i)
	}
	return list
}

// part makes the table part (clause 4.2.3).
func (g *generator) part(first int64, rows int) []Column {
	manufacturer, brand := make([]uint32, rows), make([]uint32, rows)
	m, b := partManufacturer.row(first), partBrand.row(first)
	for i := range rows {
		m, b = m.next(), b.next()
		manufacturer[i] = uint32(between(0, manufacturers-1).at(m))
		brand[i] = manufacturer[i]*brandsOfEach + uint32(between(0, brandsOfEach-1).at(b))
	}
	size := make([]int64, rows)
	draw(size, partSize.row(first), between(1, 50))
	price := make([]int64, rows)
	for i := range price {
		price[i] = retailPrice(first + 1 + int64(i))
	}
	return []Column{
		consecutive(first+1, rows),
		colorNames(partName.row(first), rows),
		{Codes: manufacturer, Dict: manufacturerNames},
		{Codes: brand, Dict: brandNames},
		partTypes.column(partType.row(first), rows),
		{Ints: size},
		containers.column(partContainer.row(first), rows),
		{Ints: price},
		g.text.comments(partComment.row(first), rows, partCommentLengths),
	}
}

// colorNames makes p_name: the first five colors of a shuffle of all. The shuffle (Fisher and Yates, 1938) is final
// at its first positions after as many steps, so the others' draws are skipped.
func colorNames(s state, rows int) Column {
	const wordsOfName = 5
	var inOrder [colorCount]uint8
	var spans [wordsOfName]span
	for i := range inOrder {
		inOrder[i] = uint8(i)
	}
	for i := range spans {
		spans[i] = between(int64(i), colorCount-1)
	}
	rest := lehmerPower(colorCount - wordsOfName)
	c := Column{Offsets: make([]uint32, rows+1), Bytes: make([]byte, 0, rows*34)}
	for i := range rows {
		shuffled := inOrder
		for k, from := range spans {
			s = s.next()
			at := from.at(s)
			shuffled[k], shuffled[at] = shuffled[at], shuffled[k]
			if k > 0 {
				c.Bytes = append(c.Bytes, ' ')
			}
			c.Bytes = append(c.Bytes, colors[shuffled[k]]...)
		}
		c.Offsets[i+1] = uint32(len(c.Bytes))
		s = mulMod(s, rest)
	}
	return c
}

// partSupp makes the table partsupp (clause 4.2.3): four rows a part.
func (g *generator) partSupp(first int64, rows int) []Column {
	part, supplier := make([]int64, rows), make([]int64, rows)
	for i := range rows {
		row := first + int64(i)
		part[i] = row/suppliersOfPart + 1
		supplier[i] = g.supplierOf(part[i], row%suppliersOfPart)
	}
	quantity := make([]int64, rows)
	draw(quantity, partSuppQuantity.row(first), between(1, 9999))
	cost := make([]int64, rows)
	draw(cost, partSuppCost.row(first), between(100, 100_000))
	comment := Column{}
	if !g.without["ps_comment"] {
		comment = g.text.comments(partSuppComment.row(first), rows, partSuppCommentLengths)
	}
	return []Column{
		{Ints: part},
		{Ints: supplier},
		{Ints: quantity},
		{Ints: cost},
		comment,
	}
}
