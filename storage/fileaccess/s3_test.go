package fileaccess

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// withCredentials sets the environment's credentials for a test, and no more of its kind.
func withCredentials(t *testing.T, key, secret string) {
	t.Helper()
	for _, name := range append(append([]string{s3KeyVariable, s3SecretVariable, s3TokenVariable}, s3RegionVariables...), s3EndpointVariables...) {
		t.Setenv(name, "")
	}
	t.Setenv(s3KeyVariable, key)
	t.Setenv(s3SecretVariable, secret)
}

// The example of a request for an object's first bytes in the documentation of Amazon S3, "Signature Calculations for the Authorization Header".
func TestS3PublishedSignature(t *testing.T) {
	a := s3Access{key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	req, err := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Range", "bytes=0-9")
	a.sign(req, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	const want = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := req.Header.Get("Authorization"); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// checkSignature says what is wrong with a request's signature, made by secret, as the protocol's description has it.
func checkSignature(r *http.Request, secret, region string) error {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return fmt.Errorf("no signature but %q", r.Header.Get("Authorization"))
	}
	fields := map[string]string{}
	for _, part := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	moment, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(moment).Abs() > 15*time.Minute {
		return fmt.Errorf("the time is %v, %v", moment, err)
	}
	day := moment.Format("20060102")
	if want := "key/" + day + "/" + region + "/s3/aws4_request"; fields["Credential"] != want {
		return fmt.Errorf("the credential is %q, want %q", fields["Credential"], want)
	}
	var canonical bytes.Buffer
	plain, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	fmt.Fprintf(&canonical, "%s\n%s\n%s\n", r.Method, strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(plain), "%2F", "/"), "+", "%20"), r.URL.RawQuery)
	for _, name := range strings.Split(fields["SignedHeaders"], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, value)
	}
	fmt.Fprintf(&canonical, "\n%s\n%s", fields["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256"))
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	hash := sha256.Sum256(canonical.Bytes())
	key := mac(mac(mac(mac([]byte("AWS4"+secret), day), region), "s3"), "aws4_request")
	text := fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s/%s/s3/aws4_request\n%x", r.Header.Get("X-Amz-Date"), day, region, hash)
	if got := hex.EncodeToString(mac(key, text)); got != fields["Signature"] {
		return fmt.Errorf("the signature of %q is %s, want %s", canonical.String(), fields["Signature"], got)
	}
	return nil
}

// Objects are read by ranges, each request signed; a wrong secret, region or key is an error with what helps.
func TestS3Objects(t *testing.T) {
	text := content(200_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkSignature(r, "secret", "eu-west-1"); err != nil {
			t.Log(err)
			http.Error(w, "<Error><Code>SignatureDoesNotMatch</Code></Error>", http.StatusForbidden)
			return
		}
		if want := "token"; r.Header.Get("X-Amz-Security-Token") != want || !strings.Contains(r.Header.Get("Authorization"), "x-amz-security-token") {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		switch r.URL.Path {
		case "/store/bucket.a/data/at=10%3A00/é x+y&=~.bin":
			honest(text)(w, r)
		case "/store/bucket.a/q? #&/50%+a//b\\c\n=?#x'`;.bin", "/store/bucket.a//?":
			honest(text)(w, r)
		case "/store/moved/x.bin":
			w.Header().Set("X-Amz-Bucket-Region", "ap-south-1")
			w.WriteHeader(http.StatusMovedPermanently)
		case "/store/sent/x.bin":
			http.Redirect(w, r, "/store/bucket.a/data/at=10%253A00/%C3%A9%20x+y&=~.bin", http.StatusTemporaryRedirect)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p, err := Parse("none,s3://")
	if err != nil {
		t.Fatal(err)
	}
	withCredentials(t, "key", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "token")
	t.Setenv("AWS_DEFAULT_REGION", "us-west-2")
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL+"/store/")
	const name = "S3://bucket.a/data/at=10%3A00/é x+y&=~.bin"
	if got, err := whole(p, name); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for _, key := range []string{"q? #&/50%+a//b\\c\n=?#x'`;.bin", "/?"} {
		if got, err := whole(p, "s3://bucket.a/"+key); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%q: %d bytes, %v", key, len(got), err)
		}
	}
	for _, c := range []struct{ address, want string }{
		{"s3://bucket.a/none.bin", "404"}, {"s3://moved/x.bin", "set AWS_REGION to that"}, {"s3://sent/x.bin", "307"},
		{"s3://bucket.a/../x.bin", "'..'"}, {"s3://user:hidden@bucket/x.bin", "no bucket has such a name"}, {"s3://bucket", "no key"}, {"s3:///x", "no bucket"}, {"s3://bucket.a/x?versionId=1", "has no query"}, {"s3://bucket.a/x\x00", "a NUL"},
	} {
		_, err := p.Open(context.Background(), c.address)
		if err == nil || !strings.Contains(err.Error()+sqlerr.From(err).Hint, c.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %s", c.address, err, c.want)
		}
	}
	for _, c := range []struct{ variable, value, want string }{
		{"AWS_SECRET_ACCESS_KEY", "hidden", "may not read it"}, {"AWS_REGION", "eu-west-2", "here eu-west-2"}, {"AWS_ACCESS_KEY_ID", "", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"}, {"AWS_SECRET_ACCESS_KEY", "", "no credentials"}, {"AWS_ENDPOINT_URL_S3", "host:80", "AWS_ENDPOINT_URL_S3 is no address"},
	} {
		t.Run(c.variable+"="+c.value, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			if _, err := p.Open(context.Background(), name); err == nil || !strings.Contains(err.Error()+sqlerr.From(err).Hint, c.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestS3Retries: a server that is busy, breaks off or answers in part is asked again for what is missing, each time with a signature of its own.
func TestS3Retries(t *testing.T) {
	impatient(t)
	text := content(3_000_000)
	var mu sync.Mutex
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkSignature(r, "secret", s3Region); err != nil {
			t.Error(err)
		}
		mu.Lock()
		asked++
		turn := asked % 3
		mu.Unlock()
		switch turn {
		case 1:
			http.Error(w, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
		case 2:
			honest(text)(&brokenOff{ResponseWriter: w, left: 100_000}, r)
		default:
			honest(text)(w, r)
		}
	}))
	t.Cleanup(server.Close)
	p, err := Parse("none,s3://")
	if err != nil {
		t.Fatal(err)
	}
	withCredentials(t, "key", "secret")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	if got, err := whole(p, "s3://bucket/x.bin"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if asked < 4 {
		t.Errorf("asked %d times", asked)
	}
}

// brokenOff ends the connection behind some bytes of an answer.
type brokenOff struct {
	http.ResponseWriter
	left int
}

func (b *brokenOff) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

// Without an address of another server objects lie at AWS.
func TestS3Addresses(t *testing.T) {
	withCredentials(t, "key", "secret")
	for _, c := range []struct{ address, region, want string }{
		{"s3://bucket/a b/c.parquet", "", "https://bucket.s3.us-east-1.amazonaws.com/a%20b/c.parquet"},
		{"s3://my.bucket/c.parquet", "eu-central-1", "https://s3.eu-central-1.amazonaws.com/my.bucket/c.parquet"},
	} {
		t.Setenv("AWS_REGION", c.region)
		x, err := parseS3(c.address)
		if err != nil {
			t.Fatal(err)
		}
		if u, _, err := s3Object(x, c.address); err != nil || u.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.address, u, err, c.want)
		}
	}
	for _, c := range []struct{ policy, address, want string }{
		{"full,s3://bucket/data", "s3://bucket/data/x.csv", ""}, {"full,s3://bucket/data/", "S3://bucket/data/sub/x.csv", ""}, {"none,s3://", "s3://any/x.csv", ""}, {"full,s3://bucket", "s3://bucket/x.csv", ""},
		{"full,s3://bucket/data", "s3://bucket/database/x.csv", "is refused"}, {"full,s3://bucket/data", "s3://bucket/x.csv", "is refused"}, {"full,s3://bucket", "s3://other/x.csv", "is refused"}, {"full,s3://bucket", "s3://Bucket/x.csv", "is refused"},
		{"full", "s3://bucket/x.csv", "is refused"}, {"full,https://bucket", "s3://bucket/x.csv", "is refused"}, {"full,s3://bucket", "https://bucket/x.csv", "is refused"},
	} {
		p, err := Parse(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Parse(p.String()); err != nil || q.String() != p.String() {
			t.Errorf("%s is %s, and that is %v, %v", c.policy, p, q, err)
		}
		if err := p.Check(c.address); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.policy, c.address, err, c.want)
		}
		if err := p.CheckWriting(c.address); err == nil || !strings.Contains(err.Error(), "an address is not supported") {
			t.Errorf("%s, writing %s: %v", c.policy, c.address, err)
		}
	}
	for _, text := range []string{"s3:///x", "s3://a/../b", "s3://user@bucket/", "s3://bucket/\x00"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%s is %s", text, p)
		}
	}
	narrow, err := Parse("none,s3://bucket/data")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := narrow.Narrow("none,s3://bucket"); err == nil {
		t.Errorf("widened to %s", p)
	}
}
