package fileaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// impatient makes waits short for a test.
func impatient(t *testing.T) {
	t.Helper()
	before, wait := patience, pause
	patience, pause = 300*time.Millisecond, time.Millisecond
	t.Cleanup(func() { patience, pause = before, wait })
}

// content returns bytes that are not all alike.
func content(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// serve returns the address of a file on a server that answers as the standard library does.
func serve(t *testing.T, handler http.HandlerFunc) (p *Policy, url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p, err := Parse("none," + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return p, server.URL + "/x.bin"
}

func honest(text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"one"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(text))
	}
}

// whole reads a file in every way, which all give the same.
func whole(p *Policy, url string) ([]byte, error) {
	ctx := context.Background()
	stream, err := p.OpenStream(ctx, url)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	text, err := io.ReadAll(stream)
	if err != nil {
		return nil, err
	}
	f, err := p.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	again := make([]byte, len(text))
	if n, err := f.ReadAt(again, 0); n != len(text) || err != nil && len(text) > 0 {
		return nil, err
	}
	if !bytes.Equal(text, again) {
		return nil, errors.New("the stream is another one than the file")
	}
	return text, nil
}

func TestRemoteReads(t *testing.T) {
	for _, n := range []int{0, 1, 100, smallRead, blockSize - 1, blockSize, blockSize + 1, 1 << 20} {
		text := content(n)
		p, url := serve(t, honest(text))
		if got, err := whole(p, url); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%d bytes: %d, %v", n, len(got), err)
		}
		info, err := p.Stat(context.Background(), url+"?x=y")
		if err != nil || info.Size() != int64(n) || !info.Mode().IsRegular() || info.Name() != "x.bin" || !info.ModTime().Equal(time.Unix(1e9, 0)) {
			t.Errorf("%v %v", info, err)
		}
		f, err := p.Open(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, uint64(n)))
		for range 100 {
			at, size := r.Int64N(int64(n)+10), r.IntN(2*smallRead)
			want := text[min(at, int64(n)):min(at+int64(size), int64(n))]
			buf := make([]byte, size)
			got, err := f.ReadAt(buf, at)
			if !bytes.Equal(buf[:got], want) || (err == io.EOF) != (got < size || at >= int64(n)) || err != nil && err != io.EOF {
				t.Fatalf("%d bytes at %d of %d: %d, %v", size, at, n, got, err)
			}
		}
	}
}

// What is read together comes in one request.
func TestRemoteRequests(t *testing.T) {
	text := content(1 << 20)
	var requests atomic.Int64
	var asked atomic.Value
	p, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		asked.Store(r.Header.Get("Range"))
		honest(text)(w, r)
	})
	f, err := p.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range []struct {
		at       int64
		n        int
		requests int64
		last     string
	}{
		{1<<20 - 8, 8, 2, "bytes=983040-1048575"}, {1<<20 - 5000, 4992, 2, ""}, {100, 1, 3, "bytes=100-65635"}, {200, 1000, 3, ""}, {1<<20 - 100, 100, 3, ""}, {300, 500000, 4, "bytes=300-500299"},
	} {
		if _, err := f.ReadAt(make([]byte, read.n), read.at); err != nil {
			t.Fatal(err)
		}
		if got := requests.Load(); got != read.requests || read.last != "" && asked.Load() != read.last {
			t.Errorf("%d bytes at %d: %d requests, the last for %v; want %d, %s", read.n, read.at, got, asked.Load(), read.requests, read.last)
		}
	}
}

// Servers that do what they should not: no bytes of another file, no hang, and an error that says what is wrong.
func TestDishonestServers(t *testing.T) {
	impatient(t)
	text := content(300_000)
	head := func(w http.ResponseWriter, etag string, span string, status int) {
		w.Header().Set("Etag", etag)
		w.Header().Set("Last-Modified", time.Unix(1e9, 0).UTC().Format(http.TimeFormat))
		if span != "" {
			w.Header().Set("Content-Range", span)
		}
		w.WriteHeader(status)
	}
	for name, c := range map[string]struct {
		handler func(w http.ResponseWriter, r *http.Request, request int64)
		want    string
	}{
		"ignores ranges": {func(w http.ResponseWriter, r *http.Request, _ int64) { r.Header.Del("Range"); honest(text)(w, r) }, "does not send parts of files"},
		"ignores later": {func(w http.ResponseWriter, r *http.Request, n int64) {
			if n > 1 {
				r.Header.Del("Range")
			}
			honest(text)(w, r)
		}, "does not send parts of files"},
		"no state": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		}, "without ETag and Last-Modified"},
		"no range":     {func(w http.ResponseWriter, r *http.Request, _ int64) { head(w, `"a"`, "", 206) }, "Content-Range"},
		"unknown size": {func(w http.ResponseWriter, r *http.Request, _ int64) { head(w, `"a"`, "bytes 0-0/*", 206) }, "Content-Range"},
		"negative":     {func(w http.ResponseWriter, r *http.Request, _ int64) { head(w, `"a"`, "bytes 0-0/-5", 206) }, "Content-Range"},
		"too large": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			head(w, `"a"`, "bytes 0-0/99999999999999999999999", 206)
		}, "Content-Range"},
		"another range": {func(w http.ResponseWriter, r *http.Request, n int64) {
			if n > 1 {
				r.Header.Set("Range", "bytes=7-300")
			}
			honest(text)(w, r)
		}, "were asked for"},
		"grows": {func(w http.ResponseWriter, r *http.Request, n int64) { honest(append(text, make([]byte, n)...))(w, r) }, "it changes while it is read"},
		"changes": {func(w http.ResponseWriter, r *http.Request, n int64) {
			r.Header.Del("If-Match")
			head := fmt.Sprintf(`"%d"`, n)
			w.Header().Set("Etag", head)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		}, "it changes while it is read"},
		"changes, keeps rule": {func(w http.ResponseWriter, r *http.Request, n int64) {
			w.Header().Set("Etag", fmt.Sprintf(`"%d"`, n))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
		}, "it changes while it is read"},
		"changes by time": {func(w http.ResponseWriter, r *http.Request, n int64) {
			http.ServeContent(w, r, "", time.Unix(1e9+n, 0), bytes.NewReader(text))
		}, "it changes while it is read"},
		"claims more": {func(w http.ResponseWriter, r *http.Request, n int64) {
			var from, to int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			head(w, `"a"`, fmt.Sprintf("bytes %d-%d/400000", from, to), 206)
			w.(http.Flusher).Flush() // so that no length is known
			_, _ = w.Write(text[min(from, len(text)):min(to+1, len(text))])
		}, "behind 300000 of 400000 bytes"},
		"cuts the body": {func(w http.ResponseWriter, r *http.Request, n int64) {
			if n == 1 {
				honest(text)(w, r)
				return
			}
			var from, to int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
			w.Header().Set("Content-Length", fmt.Sprint(to+1-from))
			head(w, `"one"`, fmt.Sprintf("bytes %d-%d/%d", from, to, len(text)), 206)
			_, _ = w.Write(text[from : from+100])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "breaks off"},
		"compresses": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			w.Header().Set("Content-Encoding", "gzip")
			honest(text)(w, r)
		}, `as "gzip"`},
		"not there":   {func(w http.ResponseWriter, r *http.Request, _ int64) { http.NotFound(w, r) }, "404 Not Found"},
		"forbidden":   {func(w http.ResponseWriter, r *http.Request, _ int64) { w.WriteHeader(403) }, "403 Forbidden"},
		"teapot":      {func(w http.ResponseWriter, r *http.Request, _ int64) { w.WriteHeader(418) }, "418"},
		"always busy": {func(w http.ResponseWriter, r *http.Request, _ int64) { w.WriteHeader(503) }, "503 Service Unavailable, and 4 times so"},
		"no answer":   {func(w http.ResponseWriter, r *http.Request, _ int64) { <-r.Context().Done() }, "sends nothing for 300ms"},
		"stops": {func(w http.ResponseWriter, r *http.Request, n int64) {
			if n == 1 {
				honest(text)(w, r)
				return
			}
			w.Header().Set("Content-Length", "300000")
			head(w, `"one"`, "bytes 0-299999/300000", 206)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "sends nothing for 300ms"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			http.Redirect(w, r, "http://elsewhere.invalid/secret?secret", http.StatusFound)
		}, "file_access is"},
		"to a file": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "sends the request on to 'file:///etc/passwd'"},
		"round and round": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			http.Redirect(w, r, r.URL.Path+"?secret", http.StatusFound)
		}, "more than 5 times"},
		"to no address": {func(w http.ResponseWriter, r *http.Request, _ int64) {
			w.Header().Set("Location", "http://%zz?secret")
			w.WriteHeader(http.StatusFound)
		}, "no valid address"},
		"endless redirects": {func(w http.ResponseWriter, r *http.Request, n int64) {
			http.Redirect(w, r, fmt.Sprintf("/%d", n), http.StatusTemporaryRedirect)
		}, "more than 5 times"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			p, url := serve(t, func(w http.ResponseWriter, r *http.Request) { c.handler(w, r, requests.Add(1)) })
			url = strings.Replace(url, "http://", "http://user:secret@", 1) + "?secret#secret"
			begin := time.Now()
			got, err := whole(p, url)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d bytes, %v; want an error with %q", len(got), err, c.want)
			}
			if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(strings.ReplaceAll(text, "elsewhere.invalid/secret'", ""), "secret") {
				t.Errorf("the error tells a secret: %v", err)
			}
			if took := time.Since(begin); took > 20*time.Second || requests.Load() > 60 {
				t.Errorf("%d requests, %s", requests.Load(), took)
			}
		})
	}
}

// Servers that fail for a while only: all bytes come.
func TestRemoteRetries(t *testing.T) {
	impatient(t)
	text := content(3 << 20)
	for name, fails := range map[string]func(w http.ResponseWriter, r *http.Request){
		"busy": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) },
		"cut": func(w http.ResponseWriter, r *http.Request) {
			honest(text)(&cutter{w, 1_000_000}, r)
		},
		"gone":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"silent": func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			p, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1)%2 == 0 {
					fails(w, r)
					return
				}
				honest(text)(w, r)
			})
			if got, err := whole(p, url); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// cutter writes some bytes and breaks off.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// A context ends whatever goes on within 100 ms. Other programs may delay that, but not each time.
func TestRemoteEnds(t *testing.T) {
	text := content(300_000)
	for _, slow := range []int64{1, 2} { // the opening, and reading
		var requests atomic.Int64
		p, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) == slow {
				<-r.Context().Done()
				return
			}
			honest(text)(w, r)
		})
		for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
			const most = 100 * time.Millisecond
			took := most + 1
			for try := 0; try < 10 && took > most; try++ {
				requests.Store(0)
				ctx, cancel := context.WithCancelCause(context.Background())
				ended := make(chan time.Time, 1)
				time.AfterFunc(50*time.Millisecond, func() { ended <- time.Now(); cancel(cause) })
				f, err := p.Open(ctx, url)
				if err == nil {
					_, err = f.ReadAt(make([]byte, 200_000), 0)
				}
				took = time.Since(<-ended)
				if !errors.Is(err, sqlerr.Cancelled) {
					t.Errorf("request %d: %v", slow, err)
				}
			}
			if took > most {
				t.Errorf("request %d: ended after %s, and so each time before", slow, took)
			}
		}
	}
}

// Requests say which state they want, who asks, and tell other servers nothing.
func TestRemoteHeaders(t *testing.T) {
	text := content(100_000)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Authorization") != "" || r.URL.RawQuery != "" {
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		honest(text)(w, r)
	}))
	defer other.Close()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if asked++; user != "user" || password != "se/cret" || r.URL.RawQuery != "key=1" || r.Header.Get("Range") != "bytes=0-0" && r.Header.Get("If-Match") != `"one"` || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("request %d: %s %s, %v", asked, user, password, r.Header)
		}
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, http.StatusFound)
	}))
	defer server.Close()
	p, err := Parse(server.URL + "/a,read," + strings.Replace(other.URL, "127.0.0.1", "localhost", 1))
	if err == nil {
		t.Errorf("read behind an address is %s", p)
	}
	if p, err = Parse("read," + server.URL + "/a," + strings.Replace(other.URL, "127.0.0.1", "localhost", 1)); err != nil {
		t.Fatal(err)
	}
	got, err := whole(p, strings.Replace(server.URL, "http://", "http://user:se%2Fcret@", 1)+"/a/b?key=1")
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// Which addresses a policy allows.
func TestPoliciesOfAddresses(t *testing.T) {
	for _, c := range []struct {
		policy, name string
		want         string // "": allowed
	}{
		{"full", "https://host/x.csv", "is refused"}, {"read", "http://host/x.csv", "is refused"}, {"none", "http://host/x.csv", "is refused"},
		{"full,https://host/data", "https://host/data/x.csv", ""}, {"full,https://host/data/", "https://HOST:443/data/sub/x.csv?v=1#f", ""}, {"none,https://host/data/x.csv", "HTTPS://host/data/x.csv", ""},
		{"full,https://host/data", "https://host/database/x.csv", "is refused"}, {"full,https://host/data", "http://host/data/x.csv", "is refused"}, {"full,https://host/data", "https://host:8443/data/x.csv", "is refused"},
		{"full,https://host/data", "https://host.evil.com/data/x.csv", "is refused"}, {"full,https://host/data", "https://host@evil.com/data/x.csv", "is refused"}, {"full,https://host/data", "https://evil.com/data/x.csv?https://host/data", "is refused"},
		{"full,https://host/data", "https://host/data/../secret/x.csv", "'..'"}, {"full,https://host/data", "https://host/data/%2e%2e/x.csv", "'..'"}, {"full,https://host/data", "https://host/data/%2E./x.csv", "'..'"}, {"full,https://host/data", "https://host/data/..%2fx.csv", "escaped slash"},
		{"full,https://host/data", "https://host/data%2fx.csv", "escaped slash"}, {"full,https://host/data", `https://host/data\..\x.csv`, "backslash"}, {"full,https://host/data", "https://host//data/x.csv", "is refused"}, {"full,https://host/a%20b", "https://host/a b/x.csv", ""}, {"full,https://host/a b", "https://host/a%20b/x.csv", ""},
		{"full,https://host", "https://host/x.csv", ""}, {"full,https://", "https://any/x.csv", ""}, {"full,https://", "http://any/x.csv", "is refused"}, {"http://[::1]:8080/", "http://[::1]:8080/x.csv", ""}, {"http://host:80", "http://host/x.csv", ""},
		{"full,https://host", "https://host/*.csv", "a pattern of addresses"}, {"full,https://host", "https://host/[ab].csv", "a pattern of addresses"}, {"full,https://host", "https:///x.csv", "no host"}, {"full,https://host", "https://user:secret/x@host/x.csv", "malformed"},
		{"full,https://host", "ftp://host/x.csv", "an address is not supported"}, {"full,https://host", "s3://host/x.csv", "is refused"},
	} {
		p, err := Parse(c.policy)
		if err != nil {
			t.Errorf("%s: %v", c.policy, err)
			continue
		}
		if q, err := Parse(p.String()); err != nil || q.String() != p.String() {
			t.Errorf("%s is %s, and that is %v, %v", c.policy, p, q, err)
		}
		if err := p.Check(c.name); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err != nil && strings.Contains(err.Error(), "secret") && !strings.Contains(c.name, "/secret/") {
			t.Errorf("%s, %s: %v, want %q", c.policy, c.name, err, c.want)
		}
		if err := p.CheckWriting(c.name); err == nil || !strings.Contains(err.Error(), "an address is not supported") || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s, writing %s: %v", c.policy, c.name, err)
		}
		if _, err := p.Create(c.name); err == nil {
			t.Errorf("%s is created", c.name)
		}
		if _, err := p.ReadDir(c.name); err == nil {
			t.Errorf("%s is listed", c.name)
		}
	}
	for _, text := range []string{"https://user@host/", "https://host/?x", "https://host/#x", "https://host/../x", "https://:80/x", "full,none", "full,/tmp", "none,/tmp", "https:///x", "full,https://host/%zz"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%s is %s", text, p)
		}
	}
}

// A session can narrow what addresses it may read, and never widen it.
func TestNarrowAddresses(t *testing.T) {
	for _, c := range []struct {
		before, after string
		ok            bool
	}{
		{"full", "full,https://host/", false}, {"full,https://host/", "full", true}, {"full,https://host/", "none", true}, {"full,https://host/", "none,https://host/a", true}, {"full,https://host/a", "full,https://host/", false}, {"full,https://host/a", "full,https://host/ab", false},
		{"full,https://", "full,https://host/a", true}, {"full,https://host", "full,https://", false}, {"full,https://host", "full,http://host", false}, {"none,https://host/a", "https://host/a/b", true}, {"none,https://host/a", "full,https://host/a/b", false}, {"read,https://host/a", "full,https://host/a", false},
		{"full,https://host/a", "/tmp,https://host/a/b/", true}, {"read,https://host/a", "/tmp", false}, {"read,https://host/a", "read:/tmp,https://host/a", true}, {"/tmp,https://host/a", "https://host/a", true}, {"https://host/a", "read", false}, {"https://host/a", "/tmp", false},
	} {
		p, err := Parse(c.before)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := p.Narrow(c.after); (err == nil) != c.ok {
			t.Errorf("%s to %s: %v, %v", c.before, c.after, q, err)
		}
	}
	if _, err := Full().Narrow("full,https://"); err == nil {
		t.Error("full becomes the network")
	}
}

func TestShown(t *testing.T) {
	for name, want := range map[string]string{
		"x?.csv": "x?.csv", "https://user:secret@host/x.csv?secret#secret": "https://host/x.csv", "read_csv('https://u:secret@host/x.csv?secret', header = true)": "read_csv('https://host/x.csv', header = true)",
		`parse "https://host/x?secret": bad`: `parse "https://host/x": bad`, "https://host?secret": "https://host", "dir/a@b?.csv": "dir/a@b?.csv",
		"s3://b/what?#1.csv": "s3://b/what?#1.csv", "s3://b/x.csv?s3_secret_access_key=secret": "s3://b/x.csv", "s3://b/a?/year=2024/x.csv": "s3://b/a?/year=2024/x.csv", "'s3://u:secret@b/x?y.csv': bad": "'s3://b/x?y.csv': bad",
	} {
		if got := Shown(name); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"https://host/a/x.csv.gz?q=/y.txt": "/a/x.csv.gz", "a/x.csv": "a/x.csv", "https://u@host": "", "https://host/x#y.csv": "/x", "s3://b/a?#/é %41+x.csv": "/a?#/é %41+x.csv", "s3://b": ""} {
		if got := PathOf(name); got != want {
			t.Errorf("the path of %s is %s, want %s", name, got, want)
		}
	}
}

// With LookOnce a file is looked at once, and its end is read once, until reading finds that it has changed.
func TestRemoteLooksOnce(t *testing.T) {
	text, tag := content(200_000), `"one"`
	var requests atomic.Int64
	p, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Etag", tag)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(text))
	})
	ctx := LookOnce(context.Background())
	end := func() (string, error) {
		f, err := p.Open(ctx, url)
		if err != nil {
			return "", err
		}
		buf := make([]byte, 8)
		_, err = f.ReadAt(buf, int64(len(text)-8))
		return string(buf), err
	}
	for range 3 {
		got, err := end()
		if err != nil || got != string(text[len(text)-8:]) {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := p.Stamp(ctx, url); err != nil {
			t.Fatal(err)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want one look and one for the end", n)
	}
	before, err := p.Stamp(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	tag = `"two"`
	f, err := p.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 8), 0); err == nil || !strings.Contains(err.Error(), "changes while it is read") {
		t.Fatalf("a part of another state was read: %v", err)
	}
	if after, err := p.Stamp(ctx, url); err != nil || after == before {
		t.Errorf("the state is still %q, %v", after, err)
	}
	// Another policy, which refuses the address, profits from no look.
	none, err := Parse("none")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Open(ctx, url); !Refused(err) {
		t.Errorf("opened against the policy: %v", err)
	}
}
