package fileaccess

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// The bounds of an exchange with a server. They are variables for tests.
var (
	patience = 30 * time.Second       // how long a server may send nothing
	pause    = 100 * time.Millisecond // before the second try; three times as long before each further one
)

const (
	tries        = 4       // of one request
	maxRedirects = 5       // that one request follows
	progress     = 1 << 20 // bytes after which a stream may break off as often again
	smallRead    = 16 << 10
	blockSize    = 64 << 10 // read at once where less than smallRead is wanted
)

// transport keeps the connections of all files.
var transport = &http.Transport{
	Proxy:                  http.ProxyFromEnvironment,
	DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	ForceAttemptHTTP2:      true,
	MaxIdleConns:           64,
	MaxIdleConnsPerHost:    16,
	IdleConnTimeout:        30 * time.Second,
	TLSHandshakeTimeout:    10 * time.Second,
	MaxResponseHeaderBytes: 256 << 10,
	DisableCompression:     true, // the bytes that are asked for are those of the file
}

// remoteFile is a file that is read by HTTP, a range at a time, in one of its states.
type remoteFile struct {
	*look
	ctx    context.Context
	policy *Policy
	url    *url.URL
	name   string    // for messages
	signer *s3Access // of requests; nil: they are not signed

	other keptBlock // what was read last for a small read that is not at the end
}

// block is a part of a file in memory.
type block struct {
	at    int64
	bytes []byte
}

func (b *block) holds(at int64, n int) bool {
	return b.bytes != nil && at >= b.at && at+int64(n) <= b.at+int64(len(b.bytes))
}

// keptBlock is a block that is read when it is first wanted.
type keptBlock struct {
	mu sync.Mutex
	block
}

// changed is the error for a file of which the server has another state than the one that is read.
func (f *remoteFile) changed() error {
	looksOf(f.ctx).forget(f.url.String(), f.look)
	return Changed(f.name)
}

// openRemote finds out how large a file is, and in which state.
func (p *Policy) openRemote(ctx context.Context, name string) (*remoteFile, error) {
	u, signer, err := p.remote(name)
	if err != nil {
		return nil, err
	}
	f := &remoteFile{ctx: ctx, policy: p, url: u, name: Shown(name), signer: signer}
	seen := looksOf(ctx)
	if f.look = seen.find(u.String()); f.look != nil {
		return f, nil
	}
	f.look = &look{}
	err = f.try(func() error {
		res, err := f.ask(0, 1)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		return f.describe(res.Response)
	})
	if err == nil {
		seen.keep(u.String(), f.look)
	}
	return f, err
}

// describe takes over what the answer to a request for the first byte says of the file.
func (f *remoteFile) describe(res *http.Response) error {
	switch {
	case res.StatusCode == http.StatusPartialContent:
		r, err := rangeOf(res)
		if err != nil {
			return f.failed("%s", err)
		}
		if r.from != 0 || r.to != 1 {
			return f.failed("the server sends bytes %d to %d where the first was asked for", r.from, r.to-1)
		}
		f.state.Size = r.size
	case res.StatusCode == http.StatusRequestedRangeNotSatisfiable && strings.TrimSpace(res.Header.Get("Content-Range")) == "bytes */0", res.StatusCode == http.StatusOK && res.ContentLength == 0:
		// it is empty
	default:
		return f.answer(res)
	}
	tag, modified := res.Header.Get("Etag"), res.Header.Get("Last-Modified")
	if tag == "" && modified == "" {
		return sqlerr.NotSupportedf("'"+f.name+"': a file without ETag and Last-Modified", "the server does not say when it changes, so that nobody could tell whether it did while it was read; fetch it first, for example with curl -O")
	}
	f.state.tag = f.tagOf(res)
	if tag != "" && !strings.HasPrefix(tag, "W/") {
		f.strong = tag
	}
	f.time, _ = http.ParseTime(modified) // which only tells people
	return nil
}

// tagOf returns what an answer calls the file's state. Of an object of S3 it is the entity tag, which lists have as well.
func (f *remoteFile) tagOf(res *http.Response) string {
	tag := res.Header.Get("Etag")
	if f.signer != nil && tag != "" {
		return tag
	}
	return tag + " " + res.Header.Get("Last-Modified")
}

// contentRange is which bytes of a file an answer has.
type contentRange struct{ from, to, size int64 }

func rangeOf(res *http.Response) (r contentRange, err error) {
	text := res.Header.Get("Content-Range")
	wrong := fmt.Errorf("the server says 'Content-Range: %.80s', which is none of bytes", text)
	rest, ok := strings.CutPrefix(text, "bytes ")
	span, size, two := strings.Cut(rest, "/")
	from, to, three := strings.Cut(span, "-")
	if !ok || !two || !three {
		return r, wrong
	}
	for _, n := range []struct {
		text string
		to   *int64
	}{{from, &r.from}, {to, &r.to}, {size, &r.size}} {
		if *n.to, err = strconv.ParseInt(strings.TrimSpace(n.text), 10, 64); err != nil || *n.to < 0 {
			return r, wrong
		}
	}
	if r.to++; r.from >= r.to || r.to > r.size {
		return r, wrong
	}
	return r, nil
}

// transient is an error after which a request may be tried again.
type transient struct{ error }

// try calls f until it succeeds, or fails for good.
func (f *remoteFile) try(once func() error) error {
	wait := pause
	for i := 1; ; i++ {
		err := once()
		var again transient
		switch {
		case err == nil:
			return nil
		case f.ctx.Err() != nil:
			return sqlerr.Interrupted(context.Cause(f.ctx))
		case !errors.As(err, &again):
			return err
		case i == tries:
			return f.failed("%s, and %d times so", again.error, tries)
		}
		select {
		case <-time.After(wait):
		case <-f.ctx.Done():
		}
		wait *= 3
	}
}

// failed is an error that names the file.
func (f *remoteFile) failed(format string, args ...any) error {
	return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.Resource, "cannot read '%s': %s", f.name, fmt.Sprintf(format, args...))
}

// answered is a server's answer whose body is read while the server sends something.
type answered struct {
	*http.Response
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// errSilent is why an exchange ends in which nothing comes.
var errSilent = errors.New("the server sends nothing")

// ask sends a request for bytes from .. to-1.
func (f *remoteFile) ask(from, to int64) (*answered, error) {
	headers := http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to-1)}}
	if f.strong != "" {
		headers.Set("If-Match", f.strong)
	}
	return f.exchange(headers)
}

// exchange sends a request with some headers.
func (f *remoteFile) exchange(headers http.Header) (*answered, error) {
	ctx, cancel := context.WithCancelCause(f.ctx)
	a := &answered{cancel: cancel, timer: time.AfterFunc(patience, func() { cancel(errSilent) })}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url.String(), nil)
	if err != nil {
		a.end()
		return nil, f.failed("its address is malformed")
	}
	maps.Copy(req.Header, headers)
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "radish")
	if f.signer != nil {
		f.signer.sign(req, time.Now())
	}
	client := http.Client{Transport: transport, CheckRedirect: f.follow}
	if a.Response, err = client.Do(req); err != nil {
		a.end()
		return nil, f.broken(ctx, err)
	}
	a.timer.Stop()
	if encoding := a.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		_ = a.Body.Close() // nothing of it matters
		a.end()
		return nil, f.failed("the server sends it as %.40q, though it was asked for the bytes as they are", encoding)
	}
	a.Body = a.watched(ctx, f, a.Body)
	return a, nil
}

func (a *answered) end() {
	a.timer.Stop()
	a.cancel(nil)
}

// follow says whether a request may be sent on to another address. It tells nobody of the one that it comes from, which may hold a signature.
func (f *remoteFile) follow(req *http.Request, via []*http.Request) error {
	if f.signer != nil { // which signs for one server
		return http.ErrUseLastResponse
	}
	req.Header.Del("Referer")
	if len(via) > maxRedirects {
		return f.failed("the server sends the request on more than %d times", maxRedirects)
	}
	to := req.URL.String()
	if !isHTTP(to) {
		return f.failed("the server sends the request on to '%s'", Shown(to))
	}
	_, x, err := parseAddress(to)
	if err == nil && !f.policy.reaches(x) {
		err = f.policy.unreachable("reading '" + f.name + "', which the server sends on to '" + Shown(to) + "',")
	}
	return err
}

// watchedBody is a body whose reading ends when the server is silent for too long.
type watchedBody struct {
	io.ReadCloser
	ctx context.Context
	a   *answered
	f   *remoteFile
}

func (a *answered) watched(ctx context.Context, f *remoteFile, body io.ReadCloser) io.ReadCloser {
	return &watchedBody{body, ctx, a, f}
}

func (w *watchedBody) Read(p []byte) (int, error) {
	w.a.timer.Reset(patience)
	n, err := w.ReadCloser.Read(p)
	w.a.timer.Stop()
	if err != nil && err != io.EOF {
		err = w.f.broken(w.ctx, err)
	}
	return n, err
}

func (w *watchedBody) Close() error {
	if w.a.ContentLength >= 0 && w.a.ContentLength <= 4<<10 {
		_, _ = io.Copy(io.Discard, w) // so that the connection serves again
	}
	err := w.ReadCloser.Close()
	w.a.end()
	return err
}

// broken says why an exchange ended, in words without the address's secrets, and whether it may be tried again.
func (f *remoteFile) broken(ctx context.Context, err error) error {
	var (
		known  *sqlerr.Error
		whole  *url.Error
		lookup *net.DNSError
		cert   *tls.CertificateVerificationError
		op     *net.OpError
		slow   net.Error
	)
	switch {
	case f.ctx.Err() != nil:
		return sqlerr.Interrupted(context.Cause(f.ctx))
	case errors.As(err, &known):
		return known
	case context.Cause(ctx) == errSilent:
		return transient{fmt.Errorf("the server sends nothing for %s", patience)}
	}
	if errors.As(err, &whole) {
		err = whole.Err
	}
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return f.failed("there is no host '%s'", f.url.Hostname())
	case errors.As(err, &lookup):
		return transient{fmt.Errorf("the host '%s' cannot be looked up", f.url.Hostname())}
	case errors.As(err, &cert):
		return f.failed("the server's certificate: %s", cert.Err)
	case errors.As(err, &slow) && slow.Timeout():
		return transient{errors.New("the server does not answer in time")}
	case errors.As(err, &op):
		return transient{op.Err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return transient{errors.New("the server breaks off")}
	case strings.Contains(err.Error(), "Location"):
		return f.failed("the server sends the request on to no valid address")
	}
	return transient{errors.New(Shown(err.Error()))}
}

// answer is the error of an answer without the bytes that were asked for.
func (f *remoteFile) answer(res *http.Response) error {
	if f.signer != nil {
		if err := f.signer.refused(f, res); err != nil {
			return err
		}
	}
	status := fmt.Sprintf("the server answers %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		return sqlerr.NotSupportedf("'"+f.name+"': a server that does not send parts of files", "it ignores the header Range; fetch the file first, for example with curl -O")
	case code == http.StatusPreconditionFailed, code == http.StatusRequestedRangeNotSatisfiable && f.state.Size > 0:
		return f.changed()
	case code == http.StatusNotFound, code == http.StatusGone:
		return sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "cannot read '%s': %s", f.name, status)
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusProxyAuthRequired:
		return sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "cannot read '%s': %s", f.name, status).
			WithHint("an address may have a user and a password, https://USER:PASSWORD@HOST/PATH, or a signature, as S3 and its like make them")
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return transient{errors.New(status)}
	}
	return f.failed("%s", status)
}

// get sends a request for bytes from .. to-1 and returns an answer that has them, of the state that the file was opened in.
func (f *remoteFile) get(from, to int64) (*answered, error) {
	a, err := f.ask(from, to)
	if err != nil {
		return nil, err
	}
	if err = f.check(a.Response, from, to); err != nil {
		a.Body.Close()
		return nil, err
	}
	return a, nil
}

func (f *remoteFile) check(res *http.Response, from, to int64) error {
	if res.StatusCode != http.StatusPartialContent {
		return f.answer(res)
	}
	r, err := rangeOf(res)
	switch {
	case err != nil:
		return f.failed("%s", err)
	case r.size != f.state.Size || f.tagOf(res) != f.state.tag:
		return f.changed()
	case r.from != from || r.to != to:
		return f.failed("the server sends bytes %d to %d where %d to %d were asked for", r.from, r.to-1, from, to-1)
	case res.ContentLength >= 0 && res.ContentLength != to-from:
		return f.failed("the server says that it sends %d bytes, and that they are bytes %d to %d", res.ContentLength, from, to-1)
	}
	return nil
}

// read reads a range, in one request if nothing goes wrong. What has come is not asked for again.
func (f *remoteFile) read(p []byte, at int64) error {
	done := 0
	return f.try(func() error {
		a, err := f.get(at+int64(done), at+int64(len(p)))
		if err != nil {
			return err
		}
		defer a.Body.Close()
		n, err := io.ReadFull(a.Body, p[done:])
		done += n
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return transient{fmt.Errorf("the server ends behind %d of %d bytes", done, len(p))}
		case err != nil:
			return err
		}
		if n, _ := a.Body.Read(make([]byte, 1)); n > 0 { // else they are all there, whatever comes after them
			return f.failed("the server sends more than the bytes that were asked for")
		}
		return nil
	})
}

// ReadAt implements io.ReaderAt. Few bytes come with those behind them, or those at the file's end with those before, as more of them are likely to be wanted soon.
func (f *remoteFile) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at >= f.state.Size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.state.Size-at))
	if n > 0 {
		if err := f.readInto(p[:n], at); err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *remoteFile) readInto(p []byte, at int64) error {
	if len(p) >= smallRead {
		return f.read(p, at)
	}
	kept, from := &f.other, at
	if end := max(0, f.state.Size-blockSize); at >= end {
		kept, from = &f.tail, end
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if !kept.holds(at, len(p)) {
		b := block{from, make([]byte, min(blockSize, f.state.Size-from))}
		if err := f.read(b.bytes, from); err != nil {
			return err
		}
		kept.block = b
	}
	copy(p, kept.bytes[at-kept.at:])
	return nil
}

func (f *remoteFile) State() (State, error) { return f.state, nil }

func (f *remoteFile) IsRemote() bool { return true }

func (f *remoteFile) Close() error { return nil }

func (f *remoteFile) Stream() io.ReadCloser { return &remoteStream{file: f} }

// remoteStream reads a file from its start on. Where the server breaks off it goes on from there.
type remoteStream struct {
	file *remoteFile
	at   int64
	body io.ReadCloser // of the answer that is read; nil: there is none
	from int64         // where breaks began to count
	cuts int           // breaks since then
}

func (s *remoteStream) Read(p []byte) (n int, err error) {
	if s.at == s.file.state.Size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p = p[:min(int64(len(p)), s.file.state.Size-s.at)]
	err = s.file.try(func() error {
		if s.body == nil {
			a, err := s.file.get(s.at, s.file.state.Size)
			if err != nil {
				return err
			}
			s.body = a.Body
		}
		var err error
		if n, err = s.body.Read(p); n > 0 {
			return nil // an error comes again
		}
		s.end()
		if err == nil || err == io.EOF {
			err = transient{fmt.Errorf("the server ends behind %d of %d bytes", s.at, s.file.state.Size)}
		}
		if s.at-s.from >= progress {
			s.from, s.cuts = s.at, 0
		}
		if s.cuts++; s.cuts > tries {
			return s.file.failed("%s, and breaks off again and again", err)
		}
		return err
	})
	s.at += int64(n)
	return n, err
}

func (s *remoteStream) end() {
	if s.body != nil {
		_ = s.body.Close() // what matters was read
		s.body = nil
	}
}

func (s *remoteStream) Close() error {
	s.end()
	return nil
}

// remoteInfo describes a file on a network.
type remoteInfo struct{ *remoteFile }

func (i remoteInfo) Name() string       { return path.Base(PathOf(i.name)) }
func (i remoteInfo) Size() int64        { return i.state.Size }
func (i remoteInfo) Mode() fs.FileMode  { return 0o444 }
func (i remoteInfo) ModTime() time.Time { return i.time }
func (i remoteInfo) IsDir() bool        { return false }
func (i remoteInfo) Sys() any           { return nil }
