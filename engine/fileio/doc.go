// Package fileio runs statements that read or write files: LOAD DATA (loaddata.go) and IMPORT INTO (importinto.go), which become an INSERT, and SELECT ... INTO
// OUTFILE, for a file (outfile.go) and for a folder of partitions (folder.go). textrules.go reads the clauses FIELDS and LINES.
package fileio
