package bit_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/functions/bit"
	"github.com/radish-sql/radish/sql/functions/exprtest"
)

// Reference Manual 14.12.
func TestBitExamples(t *testing.T) {
	exprtest.RunExamples(t, bit.Functions(), []exprtest.Example{
		{"bitand", []any{29, 15}, "13"},
		{"bitor", []any{29, 15}, "31"},
		{"bitxor", []any{11, 3}, "8"},
		{"bitnot", []any{5}, "18446744073709551610"},
		{"shl", []any{1, 2}, "4"},
		{"shl", []any{1, 64}, "0"},
		{"shr", []any{4, 2}, "1"},
		{"shr", []any{-1, 63}, "1"},
		{"bit_count", []any{64}, "1"},
		{"bit_count", []any{29}, "4"},
	})
}
