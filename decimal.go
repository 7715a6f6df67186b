package radish

import (
	"database/sql/driver"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/radish-sql/radish/sql/types"
)

// Decimal is an exact number of up to 38 digits, as DECIMAL columns hold. Scan a DECIMAL into a *Decimal, or where it may be
// NULL into a *sql.Null[Decimal], and pass Decimals as arguments. The zero value is 0. Two Decimals are == if they have the same
// value and the same number of digits behind the point; Cmp compares values.
type Decimal struct {
	unscaled types.Int128
	scale    uint8
}

// ParseDecimal reads a number such as -12.50 or 1.5e3.
func ParseDecimal(s string) (Decimal, error) {
	v, scale, status := types.ParseDecimal(s)
	if status != types.ConvertOK {
		return Decimal{}, fmt.Errorf("%q is no decimal number of up to 38 digits", s)
	}
	return Decimal{v, uint8(scale)}, nil
}

// NewDecimal returns unscaled / 10^scale; scale is between 0 and 30.
func NewDecimal(unscaled int64, scale int) (Decimal, error) {
	if scale < 0 || scale > 30 {
		return Decimal{}, fmt.Errorf("a decimal cannot have %d digits behind the point", scale)
	}
	return Decimal{types.Int128FromInt64(unscaled), uint8(scale)}, nil
}

// String writes all digits: -12.50.
func (d Decimal) String() string { return types.FormatDecimal(d.unscaled, int(d.scale)) }

// Float64 returns the nearest float64.
func (d Decimal) Float64() float64 { return types.DecimalToFloat(d.unscaled, int(d.scale)) }

// Scale returns the number of digits behind the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Rat returns the exact value.
func (d Decimal) Rat() *big.Rat {
	r, _ := new(big.Rat).SetString(d.String())
	return r
}

// Cmp returns -1, 0 or 1 as d is less than, equal to or greater than other.
func (d Decimal) Cmp(other Decimal) int {
	return types.CompareDecimal(d.unscaled, int(d.scale), other.unscaled, int(other.scale))
}

// Scan takes a column's value; it is a sql.Scanner.
func (d *Decimal) Scan(src any) (err error) {
	switch x := src.(type) {
	case string:
		*d, err = ParseDecimal(x)
	case []byte:
		*d, err = ParseDecimal(string(x))
	case int64:
		*d = Decimal{unscaled: types.Int128FromInt64(x)}
	case uint64:
		*d = Decimal{unscaled: types.Int128FromUint64(x)}
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Errorf("%v is no decimal number", x)
		}
		*d, err = ParseDecimal(strconv.FormatFloat(x, 'f', -1, 64))
	case nil:
		err = fmt.Errorf("NULL cannot be scanned into a radish.Decimal; a sql.Null[radish.Decimal] takes it")
	default:
		err = fmt.Errorf("a %T cannot be scanned into a radish.Decimal", src)
	}
	return err
}

// Value passes the exact digits on; it is a driver.Valuer.
func (d Decimal) Value() (driver.Value, error) { return d.String(), nil }

// MarshalText writes String.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDecimal does.
func (d *Decimal) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDecimal(string(text))
	return err
}

// sqlDecimal returns d as a DECIMAL.
func sqlDecimal(d Decimal) types.Value {
	digits := max(types.DecimalDigits(d.unscaled), int(d.scale), 1)
	t := types.Decimal(digits, int(d.scale))
	if t.Phys() == types.PhysInt64 {
		v, _ := d.unscaled.Int64()
		return types.Value{Type: t, I: v}
	}
	return types.Value{Type: t, D: d.unscaled}
}
