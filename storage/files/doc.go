// Package files reads tables from files whose format their names tell: what stands in backticks in FROM, and what the shell
// is told to open.
//
//	.csv .tsv .psv .txt            text, see storage/csv; .tsv is delimited by tabs, .psv by bars
//	.jsonl .ndjson                 JSON objects on lines, see storage/jsonlines
//	.json                          an array of JSON objects, or objects one behind the other
//	.parquet .pq                   Parquet
//	.arrow .feather .ipc .arrows   Arrow file or stream; the content tells which
//
// Text and JSON may be compressed: .csv.gz, .csv.zst and so on. The list is in formats.go; footed.go and texts.go have what the formats of each kind share.
//
// A name may be a pattern (`data/*.parquet`): the files that match, in the order of their names, make one table.
package files
