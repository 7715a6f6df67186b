// Package files reads tables from files whose format their names tell: what stands in backticks in FROM, and what the shell
// is told to open.
//
//	.csv .tsv .psv .txt            text, see storage/csv; .tsv is delimited by tabs, .psv by bars
//	.jsonl .ndjson                 JSON objects on lines, see storage/jsonlines
//	.json                          an array of JSON objects, or objects one behind the other
//	.parquet .pq                   Parquet
//	.arrow .feather .ipc .arrows   Arrow file or stream; the content tells which
//
// Text and JSON may be compressed: .csv.gz, .csv.zst and so on.
//
// A name may be a pattern (`data/*.parquet`): the files that match, in the order of their names, make one table.
//
//	names        name.go, options.go     what stands in backticks: a pattern or a call; files.go: options that endings tell
//	formats      formats.go              the list; footed.go and texts.go: what formats with footers, and texts, have in common
//	sets         set.go, match.go        the files of a name, and their columns; partitions.go, keyedtext.go: columns that folders tell
//	scans        stream.go               parquetstream.go, arrowstream.go, textstream.go: row groups that are read while a query runs
//	estimates    estimates.go            what footers suggest about columns, for the planner
//	changes      state.go                files that change while they are read
//	writing      write.go                one file; partitioned.go: folders that values name
package files
