package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"
	ptypes "github.com/pingcap/tidb/pkg/parser/types"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// ColumnType returns the type that a column definition names. What Radish has no type for is refused by name.
func ColumnType(ft *ptypes.FieldType) (types.Type, error) {
	isBinary := ft.GetCharset() == "binary" || mysql.HasBinaryFlag(ft.GetFlag()) && ft.GetCharset() == ""
	flen, dec := ft.GetFlen(), ft.GetDecimal()
	switch ft.GetType() {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLonglong:
		return integerType(ft), nil
	case mysql.TypeFloat:
		if flen > 24 && dec <= 0 {
			return types.Double, nil
		}
		return types.Float, nil
	case mysql.TypeDouble:
		return types.Double, nil
	case mysql.TypeNewDecimal:
		if flen < 0 {
			flen = 10
		}
		return decimalType(flen, max(dec, 0))
	case mysql.TypeDate, mysql.TypeNewDate:
		return types.Date, nil
	case mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeDuration:
		return temporalType(ft.GetType(), max(dec, 0))
	case mysql.TypeYear:
		return types.Year, nil
	case mysql.TypeString:
		if flen < 0 {
			flen = 1
		}
		if flen > maxChar {
			return types.Type{}, tooLong(flen, maxChar, "VARCHAR or TEXT")
		}
		if isBinary {
			return types.Type{Kind: types.KindBinary, Length: declared(flen)}, nil
		}
		return types.Char(int(declared(flen))), nil
	case mysql.TypeVarchar, mysql.TypeVarString:
		if flen > maxVarchar {
			return types.Type{}, tooLong(flen, maxVarchar, "TEXT or BLOB")
		}
		if isBinary {
			return types.Type{Kind: types.KindVarbinary, Length: declared(flen)}, nil
		}
		return types.Varchar(int(declared(flen))), nil
	case mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob, mysql.TypeBlob:
		if isBinary {
			return types.Blob, nil
		}
		return types.Text, nil
	case mysql.TypeEnum:
		names := slices.Clone(ft.GetElems())
		for i := range names {
			names[i] = strings.Clone(names[i]) // not the statement that it is a piece of
		}
		return types.Type{Kind: types.KindEnum, Enum: &types.EnumMembers{Names: names}}, nil
	case mysql.TypeJSON:
		return types.JSON, nil
	case mysql.TypeBit:
		return types.Type{}, sqlerr.NotSupportedf("a BIT column", "use BIGINT UNSIGNED, or BOOLEAN for one bit")
	case mysql.TypeSet:
		return types.Type{}, sqlerr.NotSupportedf("a SET column", "use VARCHAR, or a BOOLEAN column for each member")
	case mysql.TypeGeometry:
		return types.Type{}, sqlerr.NotSupportedf("a spatial column", "keep coordinates in DOUBLE columns")
	}
	return types.Type{}, sqlerr.NotSupportedf("this column type", "%s", ft.String())
}

// integerType is the type of an integer column. TINYINT(1) is BOOLEAN.
func integerType(ft *ptypes.FieldType) types.Type {
	unsigned := mysql.HasUnsignedFlag(ft.GetFlag())
	pick := func(signed, uns types.Type) types.Type {
		if unsigned {
			return uns
		}
		return signed
	}
	switch ft.GetType() {
	case mysql.TypeTiny:
		if ft.GetFlen() == 1 && !unsigned {
			return types.Bool
		}
		return pick(types.Int8, types.Uint8)
	case mysql.TypeShort:
		return pick(types.Int16, types.Uint16)
	case mysql.TypeInt24:
		return pick(types.Int24, types.Uint24)
	case mysql.TypeLong:
		return pick(types.Int32, types.Uint32)
	}
	return pick(types.Int64, types.Uint64)
}

// MySQL's limits of declared lengths: of CHAR and BINARY, and of VARCHAR and VARBINARY where characters have one byte.
const (
	maxChar    = 255
	maxVarchar = 65535
)

func tooLong(length, most int, instead string) error {
	return sqlerr.New(sqlerr.CodeTooBigFieldLength, sqlerr.User, "Column length too big (%d, max = %d); use %s instead", length, most, instead)
}

// temporalType is DATETIME, TIMESTAMP or TIME with so many digits of a second.
func temporalType(kind byte, digits int) (types.Type, error) {
	t := types.Datetime
	switch kind {
	case mysql.TypeTimestamp:
		t.Kind = types.KindTimestamp
	case mysql.TypeDuration:
		t.Kind = types.KindTime
	}
	if digits > types.MaxFsp {
		return types.Type{}, sqlerr.TooBigPrecision(digits, t.String(), types.MaxFsp)
	}
	t.Scale = uint8(digits)
	return t, nil
}

func decimalType(precision, scale int) (types.Type, error) {
	switch {
	case precision > types.MaxDecimalPrecision:
		return types.Type{}, sqlerr.TooBigPrecision(precision, "DECIMAL", types.MaxDecimalPrecision)
	case scale > types.MaxDecimalScale:
		return types.Type{}, sqlerr.TooBigScale(scale, "DECIMAL", types.MaxDecimalScale)
	case scale > precision:
		return types.Type{}, sqlerr.New(sqlerr.CodeScaleAbovePrecision, sqlerr.User, "For DECIMAL(M,D), M must be >= D (M is %d, D is %d)", precision, scale)
	}
	return types.Decimal(precision, scale), nil
}

// declared returns the Length of a type that is declared with a length.
func declared(length int) int32 {
	if length == 0 {
		return types.NoLength
	}
	return int32(length)
}

// castType returns the type that CAST or CONVERT names, for an operand of type from.
func castType(ft *ptypes.FieldType, from types.Type) (types.Type, error) {
	flen, dec := ft.GetFlen(), ft.GetDecimal()
	switch ft.GetType() {
	case mysql.TypeLonglong:
		if mysql.HasUnsignedFlag(ft.GetFlag()) {
			return types.Uint64, nil
		}
		return types.Int64, nil
	case mysql.TypeNewDecimal:
		if flen <= 0 {
			flen, dec = 10, 0
		}
		return decimalType(flen, max(dec, 0))
	case mysql.TypeString, mysql.TypeVarString, mysql.TypeVarchar:
		isBinary := strings.EqualFold(ft.GetCharset(), "binary")
		switch {
		case flen < 0 && isBinary:
			return types.Blob, nil
		case flen < 0:
			return types.Text, nil
		case isBinary:
			return types.Type{Kind: types.KindBinary, Length: declared(flen)}, nil
		}
		return types.Varchar(int(declared(flen))), nil
	case mysql.TypeYear:
		return types.Year, nil
	}
	return ColumnType(ft)
}
