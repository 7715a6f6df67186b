package jsondoc

import (
	"strconv"

	"github.com/radish-sql/radish/sql/types"
)

// Scalar returns the value as SQL has it, to be converted to a type, which is not JSON. JSON's null is NULL. ok is false for arrays and objects, which are
// of no other type than JSON.
func (v *Value) Scalar(to types.Type) (x types.Value, ok bool) {
	switch {
	case v.Kind == Null:
		return types.NullOf(to), true
	case v.Kind == Array || v.Kind == Object:
		return types.NullOf(to), false
	case to.IsString() || v.Kind == String || v.Kind == Decimal:
		return types.StringValue(v.Text), true
	case v.Kind == Bool:
		truth := int64(0)
		if v.Text == "true" {
			truth = 1
		}
		return types.IntValue(truth), true
	case v.Kind == Integer:
		i, _ := strconv.ParseInt(v.Text, 10, 64)
		return types.IntValue(i), true
	case v.Kind == Unsigned:
		u, _ := strconv.ParseUint(v.Text, 10, 64)
		return types.UintValue(u), true
	}
	f, _ := types.ParseFloat(v.Text)
	return types.FloatValue(f), true
}
