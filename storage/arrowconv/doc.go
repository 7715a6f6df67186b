// Package arrowconv converts between Arrow arrays and Radish's columns.
//
// It is the seam between the store and everything that speaks Arrow: package radish's result batches and registered
// tables, and the Parquet and Arrow IPC files of storage/parquet and storage/arrowipc. Where the layouts agree (64-bit
// integers, doubles, offsets and bytes of strings) nothing is copied.
//
// # Types
//
//	Arrow                                      becomes              becomes again
//	bool                                       BOOL                 int8 (MySQL's BOOL holds any TINYINT)
//	int8, int16, int32, int64                  TINYINT ... BIGINT   the same; MEDIUMINT int32
//	uint8, uint16, uint32, uint64              ... UNSIGNED         the same; MEDIUMINT UNSIGNED uint32; YEAR uint16
//	float16, float32                           FLOAT                float32
//	float64                                    DOUBLE               the same
//	decimal128(p,s), decimal256(p,s)           DECIMAL(p,s)         decimal128(p,s); needs p <= 38, 0 <= s <= 30
//	date32, date64                             DATE                 date32
//	timestamp(s|ms|us|ns) without a zone       DATETIME(0|3|6|6)    timestamp(s|ms|us) by fractional digits
//	timestamp with a zone                      TIMESTAMP(...)       timestamp in UTC
//	time32, time64                             TIME(...)            time32(s|ms), time64(us); needs 0 <= t < 24:00
//	utf8, large_utf8, utf8_view                TEXT                 utf8, as CHAR, VARCHAR, JSON and ENUM
//	binary, large_binary, binary_view          BLOB                 binary, as VARBINARY
//	fixed_size_binary(n)                       BINARY(n)            binary
//	dictionary                                 its values' type     -
//	null                                       BIGINT, all NULL     null, from a bare NULL
//	lists, struct, map, unions                 JSON                 utf8
//	intervals, duration                        TEXT                 utf8
//
// Nanoseconds are cut to microseconds. Run-end encoded columns have their values' type. Columns of other types (wider decimals, and what has them inside)
// have none: they are there, and queries that name them are refused (see [table.ColumnDef]).
package arrowconv
