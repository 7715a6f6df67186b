package tpch

import "fmt"

// Suppliers and customers: keys, names, addresses, phone numbers and balances.

// Balances lie between -999.99 and 9999.99.
var balances = between(-99_999, 999_999)

// supplier makes the table supplier (clause 4.2.3).
func (g *generator) supplier(first int64, rows int) []Column {
	nation := make([]int64, rows)
	draw(nation, supplierNation.row(first), nationKeys)
	balance := make([]int64, rows)
	draw(balance, supplierBalance.row(first), balances)
	comment := g.text.comments(supplierComment.row(first), rows, supplierCommentLengths)
	writeRemarks(&comment, first)
	return []Column{
		consecutive(first+1, rows),
		numberedNames("Supplier#", first+1, rows),
		addresses(supplierAddress.row(first), rows, g.edition),
		{Ints: nation},
		phones(supplierPhone.row(first), nation),
		{Ints: balance},
		comment,
	}
}

// customer makes the table customer (clause 4.2.3).
func (g *generator) customer(first int64, rows int) []Column {
	nation := make([]int64, rows)
	draw(nation, customerNation.row(first), nationKeys)
	balance := make([]int64, rows)
	draw(balance, customerBalance.row(first), balances)
	return []Column{
		consecutive(first+1, rows),
		numberedNames("Customer#", first+1, rows),
		addresses(customerAddress.row(first), rows, g.edition),
		{Ints: nation},
		phones(customerPhone.row(first), nation),
		{Ints: balance},
		segments.column(customerSegment.row(first), rows),
		g.text.comments(customerComment.row(first), rows, customerCommentLengths),
	}
}

var nationKeys = between(0, int64(len(nations))-1)

// writeRemarks overwrites parts of some suppliers' comments with "Customer", some text, and "Complaints" or
// "Recommends": 10 of 10,000 suppliers have a remark, half of them a complaint.
func writeRemarks(comment *Column, first int64) {
	const (
		subject      = "Customer "
		complaint    = "Complaints"
		praise       = "Recommends"
		remarkLength = len(subject) + len(complaint)
	)
	chosen, kind := supplierRemark.row(first), supplierRemarkType.row(first)
	gap, offset := supplierRemarkGap.row(first), supplierRemarkOffset.row(first)
	for i := range len(comment.Offsets) - 1 {
		chosen, kind, gap, offset = chosen.next(), kind.next(), gap.next(), offset.next()
		if between(1, 10_000).at(chosen) > 10 {
			continue
		}
		text := comment.Bytes[comment.Offsets[i]:comment.Offsets[i+1]]
		free := int64(len(text) - remarkLength)
		skipped := between(0, free).at(gap)
		text = text[between(0, free-skipped).at(offset):]
		copy(text, subject)
		text = text[len(subject)+int(skipped):]
		if between(0, 100).at(kind) < 50 {
			copy(text, complaint)
		} else {
			copy(text, praise)
		}
	}
}

// numberWidth is the digits of the number in "Supplier#000000001".
const numberWidth = 9

// numberedNames makes a column of strings of a prefix and consecutive numbers.
func numberedNames(prefix string, first int64, rows int) Column {
	c := Column{Offsets: make([]uint32, rows+1), Bytes: make([]byte, 0, rows*(len(prefix)+numberWidth))}
	for i := range rows {
		c.Bytes = appendNumber(append(c.Bytes, prefix...), first+int64(i), numberWidth)
		c.Offsets[i+1] = uint32(len(c.Bytes))
	}
	return c
}

// numbered makes a dictionary of a prefix and the numbers 1 to n.
func numbered(prefix string, n int64) []string {
	dict := make([]string, n)
	for i := range dict {
		dict[i] = fmt.Sprintf("%s%0*d", prefix, numberWidth, i+1)
	}
	return dict
}

// appendNumber appends v in decimal with at least width digits.
func appendNumber(b []byte, v int64, width int) []byte {
	var digits [20]byte
	at := len(digits)
	for ; v > 0 || width > 0; width-- {
		at--
		digits[at] = byte('0' + v%10)
		v /= 10
	}
	return append(b, digits[at:]...)
}

// addressLengths bound an address: 0.4 and 1.6 times an average of 25 characters.
var addressLengths = between(10, 40)

// addressAlphabet has 64 characters: six bits of a draw choose one.
const addressAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,"

// addresses makes random character strings (clause 4.2.2.7). One draw gives the length, and one each five
// characters; the row owns nine draws, and what it does not use is skipped.
func addresses(s state, rows int, e Edition) Column {
	const (
		draws    = 9
		perDraw  = 5
		charBits = 6
	)
	bits := e.addressBits()
	c := Column{Offsets: make([]uint32, rows+1), Bytes: make([]byte, 0, rows*25)}
	for i := range rows {
		s = s.next()
		used := 1
		length := int(addressLengths.at(s))
		var chars int64
		for k := range length {
			if k%perDraw == 0 {
				s = s.next()
				used++
				chars = bits.at(s)
			}
			c.Bytes = append(c.Bytes, addressAlphabet[chars&(1<<charBits-1)])
			chars >>= charBits
		}
		c.Offsets[i+1] = uint32(len(c.Bytes))
		s = mulMod(s, smallPowers[draws-used])
	}
	return c
}

// phones makes phone numbers (clause 4.2.2.9): the nation's code and three drawn numbers.
func phones(s state, nation []int64) Column {
	three, four := between(100, 999), between(1000, 9999)
	const width = len("27-918-335-1736")
	c := Column{Offsets: make([]uint32, len(nation)+1), Bytes: make([]byte, 0, len(nation)*width)}
	for i, n := range nation {
		area := s.next()
		exchange := area.next()
		s = exchange.next()
		c.Bytes = appendNumber(c.Bytes, 10+n, 2)
		c.Bytes = appendNumber(append(c.Bytes, '-'), three.at(area), 3)
		c.Bytes = appendNumber(append(c.Bytes, '-'), three.at(exchange), 3)
		c.Bytes = appendNumber(append(c.Bytes, '-'), four.at(s), 4)
		c.Offsets[i+1] = uint32(len(c.Bytes))
	}
	return c
}
