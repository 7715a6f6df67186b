package fileaccess

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Objects of S3, and of what speaks its protocol, are read by HTTP as other files at addresses. Their addresses, s3://BUCKET/KEY, stand for those of a server, and each request is
// signed with the credentials of the program's environment (AWS Signature Version 4). Only requests without a body are, so that the signature is all there is to the protocol:
// a library for it would bring many more packages than this one file.

const s3Scheme = "s3"

// isS3 says whether a name is the address of an object of S3.
func isS3(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && strings.EqualFold(scheme, s3Scheme)
}

// s3Prefix takes the address of an object, or what addresses begin with, apart. The key stands there as it is: nothing in it is escaped.
func s3Prefix(name string) (x *prefix, wrong string) {
	bucket, key, _ := strings.Cut(name[len(s3Scheme+"://"):], "/")
	x = &prefix{scheme: s3Scheme, host: bucket}
	for _, c := range []byte(bucket) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
				return nil, "no bucket has such a name"
			}
		}
	}
	if key = strings.TrimSuffix(key, "/"); key == "" {
		return x, ""
	}
	x.segments = strings.Split(key, "/")
	switch {
	case strings.Contains(key, "\x00"):
		return nil, "its key has a NUL in it"
	case slices.Contains(x.segments, "."), slices.Contains(x.segments, ".."):
		return nil, "its path has '.' or '..' in it"
	}
	return x, ""
}

// NoQuery is the remedy where the key of an object ends with what other addresses have as a query.
const NoQuery = "the address of an object has no query: ? and what follows are part of its key; the environment has the credentials and the region"

// parseS3 takes the address of an object apart.
func parseS3(name string) (*prefix, error) {
	x, why := s3Prefix(name)
	if why == "" && (x.host == "" || len(x.segments) == 0) {
		why = "it has no bucket or no key"
	}
	if why != "" {
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "'%s' is no address of an object: %s", Shown(name), why).
			WithHint("write s3://BUCKET/KEY; the environment has the credentials, and no address")
	}
	return x, nil
}

// The variables of the environment that say where objects lie and who reads them, as the programs of AWS have them. Of several the first that is set counts.
var (
	s3KeyVariable       = "AWS_ACCESS_KEY_ID"
	s3SecretVariable    = "AWS_SECRET_ACCESS_KEY"
	s3TokenVariable     = "AWS_SESSION_TOKEN"
	s3RegionVariables   = []string{"AWS_REGION", "AWS_DEFAULT_REGION"}
	s3EndpointVariables = []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}
)

// s3Region is the region where none is named.
const s3Region = "us-east-1"

// s3Access signs requests for objects.
type s3Access struct{ key, secret, token, region string }

// firstSet returns the value of the first variable that is set.
func firstSet(names []string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// s3Object returns the address of the server's that stands for an object, or for the bucket if x has no segments, and what signs requests for it.
func s3Object(x *prefix, name string) (*url.URL, *s3Access, error) {
	a := &s3Access{key: os.Getenv(s3KeyVariable), secret: os.Getenv(s3SecretVariable), token: os.Getenv(s3TokenVariable), region: firstSet(s3RegionVariables)}
	if a.region == "" {
		a.region = s3Region
	}
	if a.key == "" || a.secret == "" {
		return nil, nil, sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "cannot read '%s': the environment has no credentials", name).
			WithHint("set %s and %s (and %s if they are temporary) before the program starts; an object that all may read has an address https://BUCKET.s3.REGION.amazonaws.com/KEY", s3KeyVariable, s3SecretVariable, s3TokenVariable)
	}
	key := "/" + strings.Join(x.segments, "/")
	u := &url.URL{Scheme: "https", Host: x.host + ".s3." + a.region + ".amazonaws.com", Path: key}
	if strings.Contains(x.host, ".") { // for which the server's certificate does not hold
		u.Host, u.Path = "s3."+a.region+".amazonaws.com", "/"+x.host+key
	}
	if endpoint := firstSet(s3EndpointVariables); endpoint != "" {
		at, err := url.Parse(endpoint)
		if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || at.RawQuery != "" {
			return nil, nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "%s is no address of a server", s3EndpointVariables[0]).WithHint("write it as https://HOST:PORT")
		}
		u.Scheme, u.Host, u.Path = at.Scheme, at.Host, strings.TrimSuffix(at.Path, "/")+"/"+x.host+key
	}
	u.RawPath = s3Escaped(u.Path)
	return u, a, nil
}

// s3Escaped returns a path as it is signed and sent: all but letters, digits and -._~/ as %2F.
func s3Escaped(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// emptyBody is the SHA-256 of no bytes.
const emptyBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign adds the headers to a request without a body that prove who sends it. Its query is one of [s3Query].
func (a *s3Access) sign(req *http.Request, now time.Time) {
	moment := now.UTC().Format("20060102T150405Z")
	req.Header.Set("X-Amz-Date", moment)
	req.Header.Set("X-Amz-Content-Sha256", emptyBody)
	if a.token != "" {
		req.Header.Set("X-Amz-Security-Token", a.token)
	}
	names, headers := []string{"host"}, "host:"+req.URL.Host+"\n"
	for _, name := range []string{"range", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} { // in this order
		if value := req.Header.Get(name); value != "" {
			names, headers = append(names, name), headers+name+":"+strings.TrimSpace(value)+"\n"
		}
	}
	signed := strings.Join(names, ";")
	request := strings.Join([]string{req.Method, req.URL.EscapedPath(), req.URL.RawQuery, headers, signed, emptyBody}, "\n")
	hash := sha256.Sum256([]byte(request))
	scope := moment[:8] + "/" + a.region + "/s3/aws4_request"
	key := []byte("AWS4" + a.secret)
	for _, part := range []string{moment[:8], a.region, "s3", "aws4_request", "AWS4-HMAC-SHA256\n" + moment + "\n" + scope + "\n" + hex.EncodeToString(hash[:])} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+a.key+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(key))
}

// refused returns what an answer other than the object means, nil if that is what it means of any file.
func (a *s3Access) refused(f *remoteFile, res *http.Response) error {
	status := fmt.Sprintf("the server answers %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	wrong := sqlerr.New(sqlerr.CodeErrorOnRead, sqlerr.User, "cannot read '%s': %s", f.name, status)
	right := "read it"
	if f.url.RawQuery != "" {
		right = "list the bucket (s3:ListBucket)"
	}
	switch region := res.Header.Get("X-Amz-Bucket-Region"); {
	case region != "" && region != a.region:
		return wrong.WithHint("the bucket is in the region %.40q: set %s to that", region, s3RegionVariables[0])
	case res.StatusCode == http.StatusNotFound && likeQuery.MatchString(f.url.Path):
		return wrong.WithHint("%s", NoQuery)
	case res.StatusCode == http.StatusForbidden, res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusBadRequest:
		return wrong.WithHint("%s and %s may not %s, %s is missing or has expired, %s (here %s) is not that of the bucket, or the clock is wrong", s3KeyVariable, s3SecretVariable, right, s3TokenVariable, s3RegionVariables[0], a.region)
	}
	return nil
}
