package arrowconv

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
	"github.com/radish-sql/radish/storage/encoding"
)

// FinishInts turns d.Ints, which hold values of an Arrow type as Arrow keeps them, in place into what the SQL type keeps:
// it changes units, and it checks decimals and moments, whose ranges are narrower.
func FinishInts(d *encoding.Data, dt arrow.DataType) error {
	switch t := dt.(type) {
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		for i, v := range d.Ints {
			d.Ints[i] = int64(uint32(v)) // Parquet keeps them in signed 32 bits
		}
	case *arrow.Date32Type:
		return checkDates(d, t)
	case *arrow.Date64Type:
		scale(d.Ints, 1, 86_400_000)
		return checkDates(d, t)
	case *arrow.Time32Type:
		mul, div := microseconds(t.Unit)
		scale(d.Ints, mul, div)
	case *arrow.Time64Type:
		mul, div := microseconds(t.Unit)
		scale(d.Ints, mul, div)
	case *arrow.TimestampType:
		return finishTimestamps(d, t)
	case *arrow.Decimal128Type:
		bound := types.Pow10(int(d.Type.Precision))
		if within(d.Ints, 1-bound, bound-1) {
			return nil
		}
		for i, v := range d.Ints {
			if v >= bound || v <= -bound {
				if valid(d, i) {
					return TooManyDigits(d.Type)
				}
				d.Ints[i] = 0
			}
		}
	}
	return nil
}

// CheckWide checks that the values of a DECIMAL of more than 18 digits have no more than its type.
func CheckWide(d *encoding.Data) error {
	for i, v := range d.Wide {
		if !types.FitsDecimal(v, int(d.Type.Precision)) {
			if valid(d, i) {
				return TooManyDigits(d.Type)
			}
			d.Wide[i] = types.Int128{}
		}
	}
	return nil
}

// within says whether all values lie between two bounds, 0 among them. Most columns have no negative values, and none near the upper bound: then the union of their bits tells it.
func within(values []int64, lo, hi int64) bool {
	union := int64(0)
	rest := values
	for ; len(rest) >= 8; rest = rest[8:] {
		v := (*[8]int64)(rest)
		union |= v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]
	}
	for _, v := range rest {
		union |= v
	}
	if union >= 0 && bits.Len64(uint64(union)) < bits.Len64(uint64(hi)) {
		return true
	}
	for _, v := range values {
		if v < lo || v > hi {
			return false
		}
	}
	return true
}

func valid(d *encoding.Data, i int) bool { return d.Valid == nil || d.Valid.Get(i) }

// decimals fills d with the values that value gives.
func decimals(d *encoding.Data, value func(int) types.Int128) error {
	if d.Type.Phys() == types.PhysInt128 {
		d.Wide = make([]types.Int128, d.Rows)
		for i := range d.Wide {
			d.Wide[i] = value(i)
		}
		return CheckWide(d)
	}
	d.Ints = make([]int64, d.Rows)
	for i := range d.Ints {
		v := value(i)
		if !types.FitsDecimal(v, int(d.Type.Precision)) {
			if valid(d, i) {
				return TooManyDigits(d.Type)
			}
			continue
		}
		d.Ints[i] = int64(v.Lo)
	}
	return nil
}

// TooManyDigits is the error for a decimal that its type cannot hold.
func TooManyDigits(t types.Type) error {
	return sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "a value has more digits than its type %s", t)
}

func finishTimestamps(d *encoding.Data, t *arrow.TimestampType) error {
	mul, div := microseconds(t.Unit)
	if mul > 1 {
		limit := int64(1<<63-1) / mul
		for i, v := range d.Ints {
			// The years 0 to 9999 are far inside; a product that overflows would come back as some other year.
			if (v > limit || v < -limit) && valid(d, i) {
				return outOfRange(i, t)
			}
		}
	}
	scale(d.Ints, mul, div)
	if within(d.Ints, types.MinDatetime, types.MaxDatetime) {
		return nil
	}
	for i, v := range d.Ints {
		if !types.ValidDatetime(v) && valid(d, i) {
			return outOfRange(i, t)
		}
	}
	return nil
}

// checkDates refuses days before the year 0 or behind 9999, and the infinite dates of other engines.
func checkDates(d *encoding.Data, dt arrow.DataType) error {
	if within(d.Ints, types.MinDate, types.MaxDate) {
		return nil
	}
	for i, v := range d.Ints {
		if !types.ValidDate(v) && valid(d, i) {
			return outOfRange(i, dt)
		}
	}
	return nil
}

func outOfRange(i int, dt arrow.DataType) error {
	return sqlerr.New(sqlerr.CodeWrongValueForType, sqlerr.User, "the value of type %s at position %d of a batch is out of range", dt, i+1)
}

// scale makes values * mul / div of values, rounded down.
func scale(values []int64, mul, div int64) {
	if mul == 1 && div == 1 {
		return
	}
	for i, x := range values {
		v := x * mul
		values[i] = v / div
		if v%div < 0 {
			values[i]--
		}
	}
}

// microseconds returns what values of a unit are multiplied and divided by to become microseconds.
func microseconds(u arrow.TimeUnit) (mul, div int64) {
	switch u {
	case arrow.Second:
		return 1_000_000, 1
	case arrow.Millisecond:
		return 1000, 1
	case arrow.Microsecond:
		return 1, 1
	}
	return 1, 1000
}
