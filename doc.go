// Package radish is an in-memory columnar SQL engine in MySQL's dialect, to be linked into a program.
//
// It is where a statement enters and where its rows leave. There are two ways in:
//
//   - database/sql, with the driver name "radish": sql.Open("radish", ":memory:"). See [Driver].
//   - [Open], for programs that want Arrow record batches ([DB.QueryArrow]), query their own Arrow data
//     ([DB.RegisterArrow]), or read columns without database/sql in between ([DB.Query]).
//
// Both speak to the same databases: a name means one database in the whole program.
//
// # Names and options
//
// A data source name is a database's name and options, as in a URL:
//
//	sales?threads=4&memory_limit=2GB&time_zone=Europe/Berlin
//
// The name ":memory:", or none, is a private database: every Open makes a new one. Any other name is one database in
// memory, shared by all that open it and dropped when the last of them is closed. It is never written to disk.
//
//	threads       workers of a query; default: the CPUs that the program may use
//	memory_limit  what all queries may hold at once, as bytes or with KB, MB, GB; 0, the default: no limit
//	gpu_memory_limit
//	              the same of a GPU's memory, columns that are kept there included. See [WithGPUMemoryLimit].
//	device        where queries run: auto (default), cpu, gpu, gpu_strict. See [WithDevice].
//	time_zone     SYSTEM, +hh:mm or a name such as Europe/Berlin; default UTC. DATE, DATETIME and TIMESTAMP are read as
//	              times in this zone, and a time.Time that is passed as an argument is converted to it.
//	sql_mode      as MySQL's variable
//	file_access   which files statements may use: full (default), read, none, or folders with commas between, of which
//	              read:FOLDER can be read only; and addresses that may be read. See [WithFileAccess].
//
// An unknown option is an error.
//
// # Values
//
// Arguments of ? markers, and the values that rows give:
//
//	Go argument                              SQL value
//	nil, a nil pointer, a nil []byte         NULL
//	bool                                     BOOLEAN
//	integers of all widths                   BIGINT; BIGINT UNSIGNED above 2^63-1
//	float32, float64                         DOUBLE
//	string and kinds of it                   text
//	Decimal                                  DECIMAL, exact
//	json.RawMessage                          text
//	[]byte and kinds of it                   bytes
//	time.Time                                DATETIME(6), in the session's time zone
//	time.Duration                            TIME(6)
//	driver.Valuer, pointers                  what they give
//	sql.Named("x", v)                        v, as the user variable @x
//
//	SQL value                                Go value
//	NULL                                     nil
//	integers, BOOLEAN, YEAR                  int64; uint64 of BIGINT UNSIGNED
//	FLOAT, DOUBLE                            float64 (of FLOAT the shortest decimal: 1.1)
//	DECIMAL                                  string, exact; scans into Decimal and float64 too
//	DATE, DATETIME, TIMESTAMP                time.Time, in the session's time zone
//	TIME                                     string, since it reaches from -838:59:59 to 838:59:59
//	CHAR, VARCHAR, TEXT, ENUM                string
//	BINARY, VARBINARY, BLOB                  []byte
//	JSON                                     []byte, so that it scans into json.RawMessage; a string takes it too
//
// # Errors
//
// Every error of a statement is, or wraps, an [*Error], with MySQL's number, the position in the text and a hint where one
// is known. A context that ends gives one for which errors.Is(err, context.Canceled), or DeadlineExceeded, holds.
package radish
