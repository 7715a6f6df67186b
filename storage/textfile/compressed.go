package textfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
	"github.com/radish-sql/radish/storage/table"
)

// maxWindow bounds what unpacking zstd keeps of the text behind it: what the zstd program takes without --long, and more.
const maxWindow = 128 << 20

// usualWindow is what files need that were packed without --long.
const usualWindow = 8 << 20

// Trim returns a file's name without the ending that says that it is compressed: .gz or .zst; of an address the path.
func Trim(name string) string {
	if compression(name) == "" {
		return name
	}
	name = fileaccess.PathOf(name)
	return name[:len(name)-len(filepath.Ext(name))]
}

// compression returns "gzip", "zstd" or "" by a name's ending.
func compression(name string) string {
	switch strings.ToLower(filepath.Ext(fileaccess.PathOf(name))) {
	case ".gz":
		return "gzip"
	case ".zst":
		return "zstd"
	}
	return ""
}

// Open opens a file that a policy allows for reading. Of a regular file it reads what the file has now; reading a pipe ends with ctx. Names that end in .gz
// or .zst are unpacked while they are read. If such a file is damaged or cut short, an error follows all text that could be unpacked.
func Open(ctx context.Context, policy *fileaccess.Policy, path string) (io.ReadCloser, error) {
	f, err := policy.OpenStream(ctx, path)
	if err != nil {
		return nil, err
	}
	return unpack(ctx, f, path)
}

// Detect returns the text in a file, and the text's first bytes as far as they have come. It unpacks gzip and zstd by how the file begins, whatever its
// name. Of a pipe it waits for the first byte only, unless gzip or zstd could begin with that. Closing the text closes the file.
func Detect(f io.ReadCloser, path string) (text io.ReadCloser, head []byte, err error) {
	text = f
	for kind := "?"; kind != ""; {
		in := bufio.NewReaderSize(text, 1<<16)
		begins := func(magic string) bool {
			b, _ := in.Peek(1)
			if len(b) == 0 || b[0] != magic[0] {
				return false
			}
			b, _ = in.Peek(len(magic))
			return string(b) == magic
		}
		switch {
		case kind != "?": // what is unpacked is the text
			kind = ""
		case begins("\x1f\x8b"):
			kind = "gzip"
		case begins("\x28\xb5\x2f\xfd"):
			kind = "zstd"
		default:
			kind = ""
		}
		text = &buffered{in, text}
		if kind != "" {
			if text, err = unpackAs(context.Background(), kind, text, path); err != nil {
				return nil, nil, err
			}
			continue
		}
		_, _ = in.Peek(1) // an error comes again when it is read
		head, _ = in.Peek(in.Buffered())
	}
	return text, head, nil
}

// buffered is a file of which some has been read already.
type buffered struct {
	*bufio.Reader
	io.Closer
}

// unpack returns the text in a file that it closes. The context's [table.Scratch] counts what unpacking keeps of the text.
func unpack(ctx context.Context, f io.ReadCloser, path string) (text io.ReadCloser, err error) {
	kind := compression(path)
	if kind == "" {
		return f, nil
	}
	return unpackAs(ctx, kind, f, path)
}

func unpackAs(ctx context.Context, kind string, f io.ReadCloser, path string) (text io.ReadCloser, err error) {
	u := &unpacker{file: f, name: fileaccess.Shown(path), kind: kind, memory: table.ScratchOf(ctx)}
	packed := bufio.NewReaderSize(&counter{r: f, n: &u.packed}, 1<<18)
	if kind == "gzip" {
		var z *gzip.Reader
		if z, err = gzip.NewReader(packed); err == nil {
			u.text, u.close = z, func() { _ = z.Close() } // which has nothing to say that Read did not
		}
	} else {
		var z *zstd.Decoder
		if u.window, err = windowOf(packed, u.memory); err == nil {
			u.held = u.window
			z, err = zstd.NewReader(packed, zstd.WithDecoderMaxWindow(uint64(u.window)), zstd.WithDecoderLowmem(u.window > usualWindow))
		}
		if err == nil {
			u.text, u.close = z, z.Close
		}
	}
	if err != nil {
		err = u.failed(err)
		u.memory.Free(u.held)
		_ = f.Close() // the error that matters is err
		return nil, err
	}
	return u, nil
}

// windowOf returns how much of the text unpacking zstd may keep, for which memory is asked: as much as the format may need if that may be taken, else what the file's
// beginning says. Few files need more later on.
func windowOf(packed *bufio.Reader, memory *table.Scratch) (bytes int64, err error) {
	if memory.Add(maxWindow) == nil {
		return maxWindow, nil
	}
	bytes = usualWindow
	for at := 0; ; {
		var h zstd.Header
		b, _ := packed.Peek(at + zstd.HeaderMaxSize)
		if len(b) <= at || h.Decode(b[at:]) != nil {
			break // reading it says what is wrong
		}
		if !h.Skippable {
			bytes = min(max(bytes, int64(min(h.WindowSize, maxWindow))), maxWindow)
			break
		}
		const head = 8
		if at += head + int(h.SkippableSize); at > packed.Size()-zstd.HeaderMaxSize {
			break
		}
	}
	return bytes, memory.Add(bytes)
}

// unpacker reads the text in a compressed file.
type unpacker struct {
	file   io.Closer
	name   string
	kind   string
	text   io.Reader
	close  func()
	memory *table.Scratch
	held   int64        // bytes that it knows of
	window int64        // of zstd
	packed atomic.Int64 // bytes of the file that were read, maybe by a goroutine of the unpacking
	done   int64        // bytes of text that came out
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.text.Read(p)
	u.done += int64(n)
	if err != nil && err != io.EOF {
		err = u.failed(err)
	}
	return n, err
}

func (u *unpacker) Close() error {
	u.close()
	u.memory.Free(u.held)
	u.held = 0
	return u.file.Close()
}

// failed says how far unpacking came. It hides io.ErrUnexpectedEOF from readers who would take it for the end.
func (u *unpacker) failed(err error) error {
	what := "is damaged: " + strings.TrimPrefix(err.Error(), u.kind+": ")
	class := sqlerr.User
	var pathErr *os.PathError
	if known := (*sqlerr.Error)(nil); errors.As(err, &known) {
		return err
	}
	switch {
	case errors.As(err, &pathErr):
		what, class = "can't be read: "+pathErr.Err.Error(), sqlerr.Resource
	case u.packed.Load() == 0:
		what = "is empty"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		what = "is cut short"
	case errors.Is(err, gzip.ErrHeader) && u.done == 0, errors.Is(err, zstd.ErrMagicMismatch) && u.done == 0:
		what = "is no " + u.kind + " file, as its name says"
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		what = fmt.Sprintf("needs a window of more than %d MB to be unpacked (zstd --long), which is all that there is memory for", u.window>>20)
		if u.window == maxWindow {
			what = "needs a window of more than 128 MB to be unpacked (zstd --long)"
		}
	}
	return sqlerr.New(sqlerr.CodeErrorOnRead, class, "'%s' %s, behind %d bytes of text", u.name, what, u.done)
}

// counter counts the bytes that were read.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// NewWriter returns a writer that packs what is written to w as the ending of name says. Close finishes what it packs and does not
// close w. Without such an ending it is w itself.
func NewWriter(w io.Writer, name string) (io.WriteCloser, error) {
	switch compression(name) {
	case "gzip":
		return gzip.NewWriter(w), nil
	case "zstd":
		return zstd.NewWriter(w)
	}
	return plain{w}, nil
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }
