// Package fileaccess opens the files that SQL and the shell's commands name, and decides which of them may be opened.
//
// A [Policy] is what the program that opened a database allows: every file, reading only, none, or the files in some folders. It also says what addresses on a network begin with
// that may be read by HTTP, objects of S3 among them. Whoever opens, writes, lists or only looks for a file that a statement names asks a Policy for it; nothing else in the module opens such files, and
// a test holds it to that. A file that a Policy refuses is not looked at: the error is the same whether it exists or not.
//
// The files:
//
//   - policy.go: what is allowed. address.go: addresses on a network, and how messages show them.
//   - file.go, read.go, readfull.go, stream.go: reading at any offset and once; identity_linux.go (elsewhere identity_other.go): whether a file has changed.
//   - write.go, folder.go: files and folders that get their names when they are whole.
//   - remote.go, s3.go, s3list.go: HTTP, objects of S3, and patterns of their names. looks.go: what a statement has seen of them.
package fileaccess
