package tpch

import (
	"context"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Orders and their lines come from the same draws: an order's price and status follow from its lines. Each table
// is made for itself all the same, the orders by going through the five streams of lines that matter to them, so
// that any chunk of either can be made alone and has its full rows.

const (
	maxLines = 7 // of an order

	// Days since 1970-01-01 (clause 4.2.2.12).
	startDate   = 8035  // 1992-01-01
	currentDate = 9298  // 1995-06-17
	endDate     = 10591 // 1998-12-31
)

var (
	linesOfOrder = between(1, maxLines)
	// An order's lines are shipped, at most 121 days after it, and received, 30 days later, before the last day.
	orderDates      = between(startDate, endDate-151)
	shippedAfter    = between(1, 121)
	committedAfter  = between(30, 90)
	receivedAfter   = between(1, 30)
	quantities      = between(1, 50)
	discounts       = between(0, 10) // percent
	taxes           = between(0, 8)  // percent
	supplierIndices = between(0, suppliersOfPart-1)
)

// smallPowers[k] is 16807^k: it skips the draws that a row leaves unused.
var smallPowers = func() (powers [2*maxLines + 1]state) {
	for k := range powers {
		powers[k] = lehmerPower(int64(k))
	}
	return powers
}()

// orderKey spreads order numbers, which count from 1, so that of each 32 keys the first 8 are used (clause 4.2.3).
func orderKey(number int64) int64 { return number>>3<<5 | number&7 }

// orders makes the table orders (clause 4.2.3).
func (g *generator) orders(first int64, rows int) []Column {
	keys := make([]int64, rows)
	for i := range keys {
		keys[i] = orderKey(first + 1 + int64(i))
	}
	dates := make([]int64, rows)
	draw(dates, orderDate.row(first), orderDates)
	clerks := make([]uint32, rows)
	clerk, allClerks := orderClerk.row(first), between(0, int64(len(g.clerk))-1)
	for i := range clerks {
		clerk = clerk.next()
		clerks[i] = uint32(allClerks.at(clerk))
	}
	status, price := g.orderSums(first, dates)
	return []Column{
		{Ints: keys},
		{Ints: g.orderCustomers(first, rows)},
		{Codes: status, Dict: orderStatuses},
		{Ints: price},
		{Ints: dates},
		priorities.column(orderPriority.row(first), rows),
		{Codes: clerks, Dict: g.clerk},
		{Ints: make([]int64, rows)},
		g.text.comments(orderComment.row(first), rows, orderCommentLengths),
	}
}

// orderCustomers draws o_custkey. A third of the customers, those with a number that 3 divides, has no orders: a
// draw of one goes to the next, or at the end of the table to the one before.
func (g *generator) orderCustomers(first int64, rows int) []int64 {
	customers := make([]int64, rows)
	draw(customers, orderCustomer.row(first), between(1, g.customerCount))
	for i, c := range customers {
		if c%3 != 0 {
			continue
		}
		if c < g.customerCount {
			customers[i] = c + 1
		} else {
			customers[i] = c - 1
		}
	}
	return customers
}

var orderStatuses = []string{"F", "O", "P"}

// orderSums returns the code of o_orderstatus and o_totalprice of the orders with these dates.
func (g *generator) orderSums(first int64, dates []int64) (status []uint32, price []int64) {
	const (
		allShipped  = 0
		noneShipped = 1
		someShipped = 2
	)
	status, price = make([]uint32, len(dates)), make([]int64, len(dates))
	parts := between(1, g.partCount)
	lines := orderLines.row(first)
	quantity, discount, tax := lineQuantity.row(first), lineDiscount.row(first), lineTax.row(first)
	part, ship := linePart.row(first), lineShipDate.row(first)
	for i, date := range dates {
		lines = lines.next()
		n := linesOfOrder.at(lines)
		var total, shipped int64
		for range n {
			quantity, discount, tax, part, ship = quantity.next(), discount.next(), tax.next(), part.next(), ship.next()
			extended := quantities.at(quantity) * retailPrice(parts.at(part))
			total += extended * (100 - discounts.at(discount)) / 100 * (100 + taxes.at(tax)) / 100
			if date+shippedAfter.at(ship) <= currentDate {
				shipped++
			}
		}
		price[i] = total
		switch shipped {
		case n:
			status[i] = allShipped
		case 0:
			status[i] = noneShipped
		default:
			status[i] = someShipped
		}
		unused := smallPowers[maxLines-n]
		quantity, discount, tax = mulMod(quantity, unused), mulMod(discount, unused), mulMod(tax, unused)
		part, ship = mulMod(part, unused), mulMod(ship, unused)
	}
	return status, price
}

// lineCounts says where lines begin: for each block of orders, the number of its first line, and at the end the
// number of all lines.
type lineCounts struct{ starts []int64 }

// blockOrders is the orders of a block.
const blockOrders = 32 << 10

// countLines goes through the orders' line counts.
func countLines(ctx context.Context, orderCount int64, workers int) (*lineCounts, error) {
	blocks := int((orderCount + blockOrders - 1) / blockOrders)
	starts := make([]int64, blocks+1)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for b := range blocks {
		group.Go(func() error {
			return sqlerr.Guard(func() error {
				first := int64(b) * blockOrders
				s := orderLines.row(first)
				for range min(blockOrders, orderCount-first) {
					s = s.next()
					starts[b+1] += linesOfOrder.at(s)
				}
				return ctx.Err()
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for b := range blocks {
		starts[b+1] += starts[b]
	}
	return &lineCounts{starts}, nil
}

func (c *lineCounts) total() int64 { return c.starts[len(c.starts)-1] }

// locate returns the order, counted from 0, that a line belongs to, and the line's position in it.
func (c *lineCounts) locate(line int64) (order, position int64) {
	block := sort.Search(len(c.starts), func(b int) bool { return c.starts[b] > line }) - 1
	order = int64(block) * blockOrders
	position = line - c.starts[block]
	s := orderLines.row(order)
	for {
		s = s.next()
		n := linesOfOrder.at(s)
		if position < n {
			return order, position
		}
		position -= n
		order++
	}
}
