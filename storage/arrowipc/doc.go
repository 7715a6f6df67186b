// Package arrowipc reads and writes Arrow's own files: the file format (also called Feather V2) and the stream format.
//
// Reading takes the files apart itself, so that no file can do more than be refused: flatbuf.go reads the metadata, message.go finds the
// messages, batch.go makes arrays of their buffers. What the bytes claim (lengths, offsets, indices) is checked against what there is
// before memory is taken, and the memory itself against the context's meter (see [table.Scratch]). Whatever is wrong becomes an error that
// names the file and the position in it. arrow-go holds the arrays and writes the files (arrow/ipc); types map as [arrowconv] says.
package arrowipc
