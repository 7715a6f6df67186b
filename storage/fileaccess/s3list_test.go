package fileaccess

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// The example of a request for a bucket's list in the documentation of Amazon S3, "Signature Calculations for the Authorization Header".
func TestS3PublishedListSignature(t *testing.T) {
	a := s3Access{key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	req, err := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/?"+s3Query(map[string]string{"prefix": "J", "max-keys": "2"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.sign(req, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, ",Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") {
		t.Error(got)
	}
}

// listed is an object in a list.
type listed struct {
	Key, ETag, LastModified string
	Size                    int
}

// bucket serves the lists of a bucket, a thousand keys at a time, and its objects.
type bucket struct {
	t     *testing.T
	keys  []string // sorted
	plain bool     // keys are not escaped, and entity tags have no quotes
	lists atomic.Int32
	looks atomic.Int32
	with  func(w http.ResponseWriter, r *http.Request) bool // answers instead, if it says so
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := checkSignature(r, "secret", s3Region); err != nil {
		b.t.Error(err)
	}
	if b.with != nil && b.with(w, r) {
		return
	}
	if r.URL.RawQuery == "" {
		b.looks.Add(1)
		w.Header().Set("Etag", `"tag"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader(r.URL.Path))
		return
	}
	b.lists.Add(1)
	q := r.URL.Query()
	if r.URL.Path != "/bucket/" || q.Get("list-type") != "2" || q.Get("encoding-type") != "url" {
		b.t.Errorf("asked for %s", r.URL)
	}
	var list struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		EncodingType          string `xml:",omitempty"`
		Contents              []listed
		CommonPrefixes        []struct{ Prefix string }
	}
	at, _ := slices.BinarySearch(b.keys, q.Get("prefix"))
	if token := q.Get("continuation-token"); token != "" {
		if _, err := fmt.Sscanf(token, "+/%d=", &at); err != nil {
			b.t.Error(err)
		}
	}
	given := 0
	for ; at < len(b.keys) && strings.HasPrefix(b.keys[at], q.Get("prefix")); at++ {
		if given == 1000 {
			list.IsTruncated, list.NextContinuationToken = true, fmt.Sprintf("+/%d=", at)
			break
		}
		given++
		key := b.keys[at]
		if i := strings.Index(key[len(q.Get("prefix")):], "/"); i >= 0 && q.Get("delimiter") == "/" {
			list.CommonPrefixes = append(list.CommonPrefixes, struct{ Prefix string }{key[:len(q.Get("prefix"))+i+1]})
			continue
		}
		o := listed{Key: key, ETag: "tag", Size: len("/bucket/" + key)}
		if !b.plain {
			list.EncodingType = "url"
			o.Key, o.ETag, o.LastModified = strings.ReplaceAll(url.QueryEscape(key), "%2F", "/"), `"tag"`, "2001-09-09T01:46:40.000Z"
		}
		list.Contents = append(list.Contents, o)
	}
	if err := xml.NewEncoder(w).Encode(list); err != nil {
		b.t.Error(err)
	}
}

func serveBucket(t *testing.T, keys ...string) *bucket {
	slices.Sort(keys)
	b := &bucket{t: t, keys: keys}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	withCredentials(t, "key", "secret")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	return b
}

// Patterns stand for the objects whose keys match, whichever characters those have, on as many pages as it takes. What the list says is not asked again.
func TestS3Patterns(t *testing.T) {
	keys := []string{"a.csv", "d/", "d/a.csv", "d/b.txt", "d/é x+y&=~%41.csv", "d/x[1].csv", "d/s*.csv", "d/year=2024/m=01/a.csv", "d/year=2024/m=02/b.csv", "d/year=2025/a.csv", "e/<a>.csv", "e/c\x01.csv", "f/a1.csv", "f/a?.csv", "f/a#.csv", `f/b\c.csv`, "f?/#/a 1+%2F.csv", "fx/#/a.csv", "other"}
	b := serveBucket(t, keys...)
	policy := func(text string) *Policy {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := policy("none,s3://bucket")
	for _, plain := range []bool{false, true} {
		b.plain = plain
		for pattern, want := range map[string][]string{
			"*.csv": {"a.csv"}, "d/*.csv": {"d/a.csv", "d/s*.csv", "d/x[1].csv", "d/é x+y&=~%41.csv"}, "d/x[1].csv": {"d/x[1].csv"}, "d/[a-b].*": {"d/a.csv", "d/b.txt"}, "d/*": {"d/a.csv", "d/b.txt", "d/s*.csv", "d/x[1].csv", "d/é x+y&=~%41.csv"},
			"d/**/*.csv": {"d/a.csv", "d/s*.csv", "d/x[1].csv", "d/year=2024/m=01/a.csv", "d/year=2024/m=02/b.csv", "d/year=2025/a.csv", "d/é x+y&=~%41.csv"}, "d/year=*/*/*.csv": {"d/year=2024/m=01/a.csv", "d/year=2024/m=02/b.csv"},
			"**/a.csv": {"a.csv", "d/a.csv", "d/year=2024/m=01/a.csv", "d/year=2025/a.csv", "fx/#/a.csv"}, "**/m=*/**/*.csv": {"d/year=2024/m=01/a.csv", "d/year=2024/m=02/b.csv"}, "d/year=2024/**/b.csv": {"d/year=2024/m=02/b.csv"}, "z/*": nil, "*/*.txt": {"d/b.txt"}, "e/<*": {"e/<a>.csv"},
			"f/[ab]?.*": {"f/a?.csv"}, "f/a[?#].csv": {"f/a#.csv", "f/a?.csv"}, "f/a#.*": {"f/a#.csv"}, `f/b\*.csv`: {`f/b\c.csv`}, "f?/**/*.csv": {"f?/#/a 1+%2F.csv"}, "*/#/a*.csv": {"f?/#/a 1+%2F.csv", "fx/#/a.csv"},
		} {
			for i, k := range want {
				want[i] = "s3://bucket/" + strings.TrimPrefix(k, "s3://bucket/")
			}
			got, err := p.Glob(LookOnce(context.Background()), "S3://bucket/"+pattern)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v, want %q", pattern, got, err, want)
			}
		}
	}
	b.plain = false
	if got, err := p.Glob(context.Background(), "s3://bucket/e/c*"); err != nil || !slices.Equal(got, []string{"s3://bucket/e/c\x01.csv"}) {
		t.Errorf("%q, %v", got, err)
	}
	for i := range 1100 {
		b.keys = append(b.keys, fmt.Sprintf("many/%04d.csv", i), fmt.Sprintf("many/below/%04d.csv", i))
	}
	slices.Sort(b.keys)
	b.lists.Store(0)
	ctx := LookOnce(context.Background())
	got, err := p.Glob(ctx, "s3://bucket/many/*.csv")
	if err != nil || len(got) != 1100 || got[1099] != "s3://bucket/many/1099.csv" || b.lists.Load() != 3 {
		t.Errorf("%d names, %d lists, %v", len(got), b.lists.Load(), err)
	}
	if again, err := p.Glob(ctx, "s3://bucket/many/*.csv"); err != nil || !slices.Equal(again, got) || b.lists.Load() != 3 {
		t.Errorf("%d names again, %d lists, %v", len(again), b.lists.Load(), err)
	}
	info, err := p.Stat(ctx, got[7])
	if err != nil || info.Size() != int64(len("/bucket/many/0007.csv")) || info.ModTime().Unix() != 1e9 || b.looks.Load() != 0 {
		t.Errorf("%v, %v, %d looks", info, err, b.looks.Load())
	}
	f, err := p.Open(ctx, got[7])
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, info.Size())
	if _, err := f.ReadAt(text, 0); err != nil || string(text) != "/bucket/many/0007.csv" || b.looks.Load() != 1 {
		t.Errorf("%q, %v, %d looks", text, err, b.looks.Load())
	}
	for _, key := range []string{"d/s*.csv", "d/x[1].csv", "d/é x+y&=~%41.csv", "f/a?.csv", "f?/#/a 1+%2F.csv"} { // as a name, not as a pattern
		if got, err := whole(p, "s3://bucket/"+key); err != nil || string(got) != "/bucket/"+key {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	for _, c := range []struct{ policy, pattern, want string }{
		{"none,s3://bucket/d", "s3://bucket/d/*.csv", ""}, {"none,s3://bucket/d/", "s3://bucket/d/**/*.csv", ""}, {"none,s3://bucket/d", "s3://bucket/d*/a.csv", "is refused"}, {"none,s3://bucket/d", "s3://bucket/*/a.csv", "is refused"}, {"none,s3://bucket/*", "s3://bucket/*/a.csv", "is refused"},
		{"full", "s3://bucket/d/*.csv", "is refused"}, {"full,s3://other", "s3://bucket/d/*.csv", "is refused"}, {"full,s3://", "s3://buck*/d/a.csv", "no bucket has such a name"}, {"full,s3://", "s3://bucket/d/[a.csv", "no valid pattern"}, {"full,s3://", "s3://bucket/../*.csv", "'..'"},
	} {
		q := policy(c.policy)
		_, err := q.Glob(context.Background(), c.pattern)
		checked := q.Check(c.pattern)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || checked == nil || checked.Error() != err.Error()) {
			t.Errorf("%s with %s: %v, %v, want %q", c.pattern, c.policy, err, checked, c.want)
		}
	}
}

// What goes wrong with a list is an error with a remedy, or tried again.
func TestS3ListsThatFail(t *testing.T) {
	impatient(t)
	b := serveBucket(t, "a.csv", "b.csv")
	p, err := Parse("none,s3://")
	if err != nil {
		t.Fatal(err)
	}
	answer := func(status int, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
			return true
		}
	}
	turn := 0
	for _, c := range []struct {
		name, want string
		with       func(http.ResponseWriter, *http.Request) bool
	}{
		{"denied", "may not list the bucket", answer(403, "<Error><Code>AccessDenied</Code></Error>")}, {"no bucket", "404", answer(404, "<Error><Code>NoSuchBucket</Code></Error>")}, {"another document", "malformed", answer(200, "<html><body>Welcome</body></html>")}, {"cut", "malformed", answer(200, "<ListBucketResult><Contents><Key>a.c")},
		{"endless", "does not go on", answer(200, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>")}, {"no token", "does not go on", answer(200, "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>")},
		{"keys", "not escaped", answer(200, "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%zz.csv</Key></Contents></ListBucketResult>")}, {"busy", "503", answer(503, "")},
		{"busy once", "", func(w http.ResponseWriter, r *http.Request) bool {
			if turn++; turn == 1 {
				w.WriteHeader(503)
			}
			return turn == 1
		}},
		{"other keys", "", answer(200, "<ListBucketResult><Contents><Key>../c.csv</Key></Contents></ListBucketResult>")},
	} {
		b.with = c.with
		names, err := p.Glob(context.Background(), "s3://bucket/[a-b]*.csv")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error()+sqlerr.From(err).Hint, c.want) {
			t.Errorf("%s: %v, %v, want %q", c.name, names, err, c.want)
		}
	}
	b.with = nil
	pages, bytes := maxListPages, maxListedBytes
	t.Cleanup(func() { maxListPages, maxListedBytes = pages, bytes })
	maxListedBytes = 20
	if _, err := p.Glob(context.Background(), "s3://bucket/*.csv"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Error(err)
	}
	maxListPages = 0
	if _, err := p.Glob(context.Background(), "s3://bucket/*.csv"); err == nil || !strings.Contains(err.Error(), "more objects") {
		t.Error(err)
	}
	// An object that changed since it was listed is asked for again.
	maxListPages, maxListedBytes = pages, bytes
	ctx := LookOnce(context.Background())
	if _, err := p.Glob(ctx, "s3://bucket/*.csv"); err != nil {
		t.Fatal(err)
	}
	b.with = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RawQuery != "" {
			return false
		}
		w.Header().Set("Etag", `"another"`)
		http.ServeContent(w, r, "", time.Unix(2e9, 0), strings.NewReader("another"))
		return true
	}
	for i := range 2 {
		f, err := p.Open(ctx, "s3://bucket/a.csv")
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 7)
		if _, err = f.ReadAt(text, 0); i == 0 && (err == nil || !strings.Contains(err.Error(), "changes")) || i == 1 && (err != nil || string(text) != "another") {
			t.Errorf("%q, %v", text, err)
		}
		if _, err := p.Glob(ctx, "s3://bucket/*.csv"); err != nil { // which lists again
			t.Fatal(err)
		}
	}
}
