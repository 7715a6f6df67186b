package values

import (
	"github.com/radish-sql/radish/sql/types"
)

// VariableType is the type of a variable that is given a value of type t. Variables hold integers with or without a sign, decimals, doubles, strings and bytes
// (Reference Manual 11.4): a date or a time becomes a string of the connection's collation, an ENUM and JSON one of their own.
func VariableType(t types.Type, connection types.Collation) types.Type {
	switch {
	case t.Kind == types.KindNull, t.Kind == types.KindDecimal:
		return t
	case t.IsUnsigned():
		return types.Uint64
	case t.IsInteger():
		return types.Int64
	case t.IsFloat():
		return types.Double
	case t.IsBinaryString():
		return types.Blob
	case t.Kind == types.KindJSON:
		return types.Text
	case t.HasCollation():
		return types.Text.Collate(t.Collation)
	}
	return types.Text.Collate(connection)
}

// CommonVariableType is the type of a variable that holds values of two types, each that of a variable, within one query.
func CommonVariableType(a, b types.Type) types.Type {
	switch {
	case a == b || b.Kind == types.KindNull:
		return a
	case a.Kind == types.KindNull:
		if b.Kind == types.KindDecimal {
			return types.Type{Kind: types.KindDecimal, Precision: types.MaxDecimalPrecision, Scale: b.Scale}
		}
		return b
	case a.IsBinaryString() || b.IsBinaryString():
		return types.Blob
	case a.IsString() && b.IsString():
		return types.Text // of two collations: by code points
	case a.IsString():
		return a
	case b.IsString():
		return b
	case a.IsFloat() || b.IsFloat():
		return types.Double
	}
	return types.Type{Kind: types.KindDecimal, Precision: types.MaxDecimalPrecision, Scale: max(a.Scale, b.Scale)}
}
