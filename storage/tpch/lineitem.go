package tpch

// lineRun is a run of whole orders that contains the lines of a chunk. A chunk may begin and end within an order;
// lines are made for the whole run, because in one stream (return flags) a line's draw depends on the lines before
// it, and the chunk is cut out.
type lineRun struct {
	first  int64   // order, counted from 0
	counts []int64 // lines of each order
	lines  int     // of all of them
	skip   int     // lines of the run before the chunk
	rows   int     // lines of the chunk
}

// newLineRun finds the orders of a chunk of lines.
func (g *generator) newLineRun(firstLine int64, rows int) *lineRun {
	order, position := g.lines.locate(firstLine)
	r := &lineRun{first: order, skip: int(position), rows: rows, counts: make([]int64, 0, rows/4+maxLines)}
	s := orderLines.row(order)
	for r.lines < r.skip+rows {
		s = s.next()
		n := linesOfOrder.at(s)
		r.counts = append(r.counts, n)
		r.lines += int(n)
	}
	return r
}

// ints makes memory for one integer a line of the run, and the chunk's part of it.
func (r *lineRun) ints() (run []int64, column Column) {
	run = make([]int64, r.lines)
	return run, Column{Ints: run[r.skip : r.skip+r.rows : r.skip+r.rows]}
}

// codes does the same for codes of strings.
func (r *lineRun) codes(dict []string) (run []uint32, column Column) {
	run = make([]uint32, r.lines)
	return run, Column{Codes: run[r.skip : r.skip+r.rows : r.skip+r.rows], Dict: dict}
}

// lineItem makes the table lineitem (clause 4.2.3).
func (g *generator) lineItem(first int64, rows int) []Column {
	r := g.newLineRun(first, rows)
	order, number := r.orderKeys()
	part, supplier, quantity, price := g.linePrices(r)
	discount, tax := r.rates()
	flag, status, shipped, committed, received := r.dates()
	instruction, mode := r.shipping()
	comment := Column{}
	if !g.without["l_comment"] {
		comment = r.comments(g.text)
	}
	return []Column{
		order, part, supplier, number, quantity, price, discount, tax, flag, status, shipped, committed, received,
		instruction, mode, comment,
	}
}

func (r *lineRun) orderKeys() (key, number Column) {
	keys, key := r.ints()
	numbers, number := r.ints()
	at := 0
	for i, n := range r.counts {
		k := orderKey(r.first + int64(i) + 1)
		for line := range n {
			keys[at], numbers[at] = k, line+1
			at++
		}
	}
	return key, number
}

// linePrices makes the part, one of its suppliers, the quantity and the price of that quantity.
func (g *generator) linePrices(r *lineRun) (part, supplier, quantity, price Column) {
	parts, part := r.ints()
	suppliers, supplier := r.ints()
	amounts, quantity := r.ints()
	prices, price := r.ints()
	allParts := between(1, g.partCount)
	p, s, q := linePart.row(r.first), lineSupplier.row(r.first), lineQuantity.row(r.first)
	at := 0
	for _, n := range r.counts {
		for range n {
			p, s, q = p.next(), s.next(), q.next()
			key, amount := allParts.at(p), quantities.at(q)
			parts[at] = key
			suppliers[at] = g.supplierOf(key, supplierIndices.at(s))
			amounts[at] = amount * 100
			prices[at] = amount * retailPrice(key)
			at++
		}
		unused := smallPowers[maxLines-n]
		p, s, q = mulMod(p, unused), mulMod(s, unused), mulMod(q, unused)
	}
	return part, supplier, quantity, price
}

func (r *lineRun) rates() (discount, tax Column) {
	percent, discount := r.ints()
	percentTax, tax := r.ints()
	d, t := lineDiscount.row(r.first), lineTax.row(r.first)
	at := 0
	for _, n := range r.counts {
		for range n {
			d, t = d.next(), t.next()
			percent[at], percentTax[at] = discounts.at(d), taxes.at(t)
			at++
		}
		unused := smallPowers[maxLines-n]
		d, t = mulMod(d, unused), mulMod(t, unused)
	}
	return discount, tax
}

var (
	lineStatuses    = []string{"F", "O"}
	returnFlagCodes = newDictionary(append(returnFlags.members, "N"))
)

// dates makes the three dates and the flags that follow from them: what was received by the current date was
// returned or accepted, which is drawn, and what was shipped by then is F.
func (r *lineRun) dates() (flag, status, shipped, committed, received Column) {
	flags, flag := r.codes(returnFlagCodes.sorted)
	statuses, status := r.codes(lineStatuses)
	ships, shipped := r.ints()
	commits, committed := r.ints()
	receipts, received := r.ints()
	pending := returnFlagCodes.rank[len(returnFlags.members)]
	o := orderDate.row(r.first)
	s, c, t, f := lineShipDate.row(r.first), lineCommitDate.row(r.first), lineReceiptDate.row(r.first), lineReturnFlag.row(r.first)
	at := 0
	for _, n := range r.counts {
		o = o.next()
		ordered := orderDates.at(o)
		flagDraws := int64(0)
		for range n {
			s, c, t = s.next(), c.next(), t.next()
			ship := ordered + shippedAfter.at(s)
			receipt := ship + receivedAfter.at(t)
			ships[at], commits[at], receipts[at] = ship, ordered+committedAfter.at(c), receipt
			if receipt <= currentDate {
				f = f.next()
				flagDraws++
				flags[at] = returnFlagCodes.rank[returnFlags.pick(f)]
			} else {
				flags[at] = pending
			}
			if ship > currentDate {
				statuses[at] = 1
			}
			at++
		}
		unused := smallPowers[maxLines-n]
		s, c, t = mulMod(s, unused), mulMod(c, unused), mulMod(t, unused)
		f = mulMod(f, smallPowers[maxLines-flagDraws])
	}
	return flag, status, shipped, committed, received
}

func (r *lineRun) shipping() (instruction, mode Column) {
	orders, instruction := r.codes(instructions.codes.sorted)
	modes, mode := r.codes(shipModes.codes.sorted)
	i, m := lineInstruction.row(r.first), lineShipMode.row(r.first)
	at := 0
	for _, n := range r.counts {
		for range n {
			i, m = i.next(), m.next()
			orders[at] = instructions.codes.rank[instructions.pick(i)]
			modes[at] = shipModes.codes.rank[shipModes.pick(m)]
			at++
		}
		unused := smallPowers[maxLines-n]
		i, m = mulMod(i, unused), mulMod(m, unused)
	}
	return instruction, mode
}

func (r *lineRun) comments(pool *textPool) Column {
	offset, length := pool.spans(lineCommentLengths)
	pieces := make([]piece, r.lines)
	s := lineComment.row(r.first)
	at := 0
	for _, n := range r.counts {
		for range n {
			s = s.next()
			from := offset.at(s)
			s = s.next()
			pieces[at] = piece{uint32(from), uint32(length.at(s))}
			at++
		}
		s = mulMod(s, smallPowers[2*(maxLines-n)])
	}
	return pool.column(pieces[r.skip : r.skip+r.rows])
}
