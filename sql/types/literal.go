package types

import "fmt"

// Literals as the Reference Manual 11.1 writes them. An integer literal is a BIGINT, or BIGINT UNSIGNED, or a DECIMAL
// where it is too long; 1.50 is a DECIMAL(3,2); 1.5e0 is a DOUBLE. Hexadecimal and bit literals are binary strings.

// NumberLiteral returns the value of a number as SQL writes it, without a sign.
func NumberLiteral(text string) (Value, error) {
	n, ok := scanNumber(text)
	if !ok || n.end != len(text) {
		return Value{}, fmt.Errorf("%q is not a number", text)
	}
	for i := 0; i < len(text); i++ {
		if text[i]|0x20 == 'e' {
			f, status := ParseFloatPrefix(text)
			if status != ConvertOK {
				return Value{}, fmt.Errorf("%s is %s for a DOUBLE", text, status)
			}
			return FloatValue(f), nil
		}
	}
	if n.integer {
		v, ok := ParseInt128(text)
		if i, fits := v.Int64(); ok && fits {
			return IntValue(i), nil
		}
		if u, fits := v.Uint64(); ok && fits {
			return UintValue(u), nil
		}
	}
	v, scale, status := ParseDecimal(text)
	if status != ConvertOK {
		return Value{}, fmt.Errorf("%s has more digits than the %d that a DECIMAL holds (at most %d behind the point)",
			text, MaxDecimalPrecision, MaxDecimalScale)
	}
	return DecimalValue(Decimal(max(DecimalDigits(v), scale), scale), v), nil
}

// HexLiteral returns the bytes of 0x41 or X'41' (also x'41'), a VARBINARY. X'...' needs an even number of digits, 0x...
// takes an odd one as if a 0 stood before it.
func HexLiteral(text string) (Value, error) {
	digits, quoted, ok := literalDigits(text, 'x')
	if !ok || quoted && len(digits)%2 != 0 {
		return Value{}, fmt.Errorf("%s is not a hexadecimal literal", text)
	}
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	b := make([]byte, len(digits)/2)
	for i := 0; i < len(digits); i++ {
		d := hexDigit(digits[i])
		if d > 15 {
			return Value{}, fmt.Errorf("%s is not a hexadecimal literal: %q is no digit", text, digits[i])
		}
		b[i/2] = b[i/2]<<4 | d
	}
	return BytesValue(string(b)), nil
}

// BitLiteral returns the bytes of b'01', B'01' or 0b01, a VARBINARY, with zero bits before them to fill the first byte.
func BitLiteral(text string) (Value, error) {
	digits, _, ok := literalDigits(text, 'b')
	if !ok {
		return Value{}, fmt.Errorf("%s is not a bit literal", text)
	}
	b := make([]byte, (len(digits)+7)/8)
	for i := 0; i < len(digits); i++ {
		if digits[i]-'0' > 1 {
			return Value{}, fmt.Errorf("%s is not a bit literal: %q is no bit", text, digits[i])
		}
		at := len(digits) - 1 - i
		b[len(b)-1-at/8] |= (digits[i] - '0') << (at % 8)
	}
	return BytesValue(string(b)), nil
}

// literalDigits takes off 0x or x'...'. Only the quoted form may be empty.
func literalDigits(text string, prefix byte) (digits string, quoted, ok bool) {
	switch {
	case len(text) > 2 && text[0] == '0' && text[1] == prefix:
		return text[2:], false, true
	case len(text) >= 3 && text[0]|0x20 == prefix && text[1] == '\'' && text[len(text)-1] == '\'':
		return text[2 : len(text)-1], true, true
	}
	return "", false, false
}

func hexDigit(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	if c |= 0x20; c >= 'a' && c <= 'f' {
		return c - 'a' + 10
	}
	return 255
}

// BytesValue returns a VARBINARY as long as s.
func BytesValue(s string) Value {
	return Value{Type: Type{Kind: KindVarbinary, Length: int32(len(s))}, S: s}
}

// BinaryNumber is the value of a hexadecimal or bit literal in numeric context: its bytes as a big-endian BIGINT
// UNSIGNED. Beyond eight bytes the result is the largest with ConvertOutOfRange.
func BinaryNumber(s string) (u uint64, status ConvertStatus) {
	for len(s) > 8 && s[0] == 0 {
		s = s[1:]
	}
	if len(s) > 8 {
		return 1<<64 - 1, ConvertOutOfRange
	}
	for i := 0; i < len(s); i++ {
		u = u<<8 | uint64(s[i])
	}
	return u, ConvertOK
}
