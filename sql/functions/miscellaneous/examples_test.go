package miscellaneous_test

import (
	"testing"

	"github.com/radish-sql/radish/sql/functions/exprtest"
	"github.com/radish-sql/radish/sql/functions/miscellaneous"
)

// Reference Manual 14.22, 14.23.
func TestMiscellaneousExamples(t *testing.T) {
	// UUID and UUID_SHORT have other values each time: see TestUUID and TestShortIDs.
	exprtest.RunExamples(t, miscellaneous.Functions(), []exprtest.Example{
		{"inet_aton", []any{"10.0.5.9"}, "167773449"},
		{"inet_aton", []any{"127.1"}, "2130706433"},
		{"inet_aton", []any{"1.2.3.400"}, nil},
		{"inet_ntoa", []any{167773449}, "10.0.5.9"},
		{"inet_ntoa", []any{-1}, nil},
		{"inet6_aton", []any{"10.0.5.9"}, "\x0a\x00\x05\x09"},
		{"inet6_aton", []any{"fdfe::5a55:caff:fefa:9089"}, "\xfd\xfe\x00\x00\x00\x00\x00\x00\x5a\x55\xca\xff\xfe\xfa\x90\x89"},
		{"inet6_ntoa", []any{exprtest.BinaryValue("\x0a\x00\x05\x09")}, "10.0.5.9"},
		{"inet6_ntoa", []any{exprtest.BinaryValue("\x0a")}, nil},
		{"is_ipv4", []any{"10.0.5.9"}, "1"},
		{"is_ipv4", []any{"10.0.5.256"}, "0"},
		{"is_ipv6", []any{"::1"}, "1"},
		{"is_ipv6", []any{"10.0.5.9"}, "0"},
		{"is_uuid", []any{"6ccd780c-baba-1026-9564-5b8c656024db"}, "1"},
		{"is_uuid", []any{"{6ccd780c-baba-1026-9564-5b8c656024db}"}, "1"},
		{"is_uuid", []any{"6ccd780c-baba-1026-9564-5b8c6560"}, "0"},
		{"uuid_to_bin", []any{"6ccd780c-baba-1026-9564-5b8c656024db"}, "\x6c\xcd\x78\x0c\xba\xba\x10\x26\x95\x64\x5b\x8c\x65\x60\x24\xdb"},
		{"uuid_to_bin", []any{"6ccd780c-baba-1026-9564-5b8c656024db", 1}, "\x10\x26\xba\xba\x6c\xcd\x78\x0c\x95\x64\x5b\x8c\x65\x60\x24\xdb"},
		{"bin_to_uuid", []any{exprtest.BinaryValue("\x10\x26\xba\xba\x6c\xcd\x78\x0c\x95\x64\x5b\x8c\x65\x60\x24\xdb"), 1}, "6ccd780c-baba-1026-9564-5b8c656024db"},
		{"format_bytes", []any{512}, " 512 bytes"},
		{"format_bytes", []any{uint64(18446744073709551615)}, "16.00 EiB"},
		{"format_bytes", []any{1536}, "1.50 KiB"},
		{"format_bytes", []any{nil}, nil},
		{"format_pico_time", []any{3501}, "3.50 ns"},
		{"format_pico_time", []any{188732396662000}, "3.15 min"},
		{"format_pico_time", []any{7}, "  7 ps"},
		{"sleep", []any{0}, "0"},
	}, "uuid", "uuid_short")
}
