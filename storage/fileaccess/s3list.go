package fileaccess

import (
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// The bounds of what is read of a bucket's list. They are variables for tests.
var (
	maxListPages   = 10_000    // of at most 1,000 objects each
	maxListedBytes = 100 << 20 // of names that match
)

// maxListPage bounds a page: a key has at most 1,024 bytes, each escaped by three.
const maxListPage = 16 << 20

// isPattern says whether a part of a key stands for several.
func isPattern(part string) bool { return strings.ContainsAny(part, "*[") }

// s3Pattern takes a pattern of keys apart and returns how its bucket is asked, if the policy allows to read what all of them begin with.
func (p *Policy) s3Pattern(pattern string) (*prefix, *remoteFile, error) {
	x, err := parseS3(pattern)
	if err != nil {
		return nil, nil, err
	}
	for _, part := range x.segments {
		if _, err := path.Match(literally.Replace(part), ""); err != nil {
			return nil, nil, sqlerr.New(sqlerr.CodeFileNotFound, sqlerr.User, "'%s' is no valid pattern of keys", Shown(pattern))
		}
	}
	literal := slices.IndexFunc(append(slices.Clip(x.segments), "*"), isPattern)
	if !p.reaches(&prefix{scheme: x.scheme, host: x.host, segments: x.segments[:literal]}) {
		return nil, nil, p.unreachable("reading '" + Shown(pattern) + "'")
	}
	u, signer, err := s3Object(&prefix{host: x.host}, Shown(pattern))
	return x, &remoteFile{look: &look{}, policy: p, name: Shown(pattern), url: u, signer: signer}, err
}

// literally has the characters stand for themselves that do so in patterns of keys, and not in those of path.
var literally = strings.NewReplacer("?", `\?`, `\`, `\\`)

// keyMatches says whether the parts of a key are those of a pattern, in which ** stands for any number of folders, none included.
func keyMatches(pattern, key []string) bool {
	again, from := -1, 0 // where the last ** and what it stands for ended
	p, k := 0, 0
	for k < len(key) || p < len(pattern) {
		if p < len(pattern)-1 && pattern[p] == "**" {
			p++
			again, from = p, k
			continue
		}
		if p < len(pattern) && k < len(key) {
			if ok, err := path.Match(literally.Replace(pattern[p]), key[k]); ok && err == nil && key[k] != "" {
				p, k = p+1, k+1
				continue
			}
		}
		if again < 0 || from == len(key) {
			return false
		}
		from++
		p, k = again, from
	}
	return true
}

// list is a page of a bucket's list.
type list struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Truncated bool     `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Encoding  string   `xml:"EncodingType"`
	Objects   []struct {
		Key      string
		Size     int64
		ETag     string
		Modified string `xml:"LastModified"`
	} `xml:"Contents"`
}

// globS3 returns the addresses of the objects that match a pattern, sorted. What the list says of them is what is known of them, until the server says another thing.
func (p *Policy) globS3(ctx context.Context, pattern string) ([]string, error) {
	seen := looksOf(ctx)
	if names, ok := seen.listed(pattern); ok {
		return names, nil
	}
	x, f, err := p.s3Pattern(pattern)
	if err != nil {
		return nil, err
	}
	f.ctx = ctx
	key := strings.Join(x.segments, "/")
	begin := key[:strings.IndexAny(key+"*", "*[")]
	query := map[string]string{"list-type": "2", "encoding-type": "url", "prefix": begin}
	if !strings.Contains(key[len(begin):], "/") {
		query["delimiter"] = "/" // what lies in folders does not match
	}
	var names []string
	bytes := 0
	for pages := 0; ; pages++ {
		if pages == maxListPages {
			return nil, f.failed("more objects have keys with '%s' at their beginning than a pattern may look through", begin)
		}
		page, err := f.page(query)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Objects {
			if strings.HasSuffix(o.Key, "/") || !strings.HasPrefix(o.Key, begin) || o.Key != key && !keyMatches(x.segments, strings.Split(o.Key, "/")) {
				continue
			}
			name := s3Scheme + "://" + x.host + "/" + o.Key
			if bytes += len(name); bytes > maxListedBytes {
				return nil, f.failed("too many objects match")
			}
			names = append(names, name)
			if seen == nil || o.ETag == "" {
				continue
			}
			if at, _, err := p.remote(name); err == nil { // else whoever opens it says what is wrong
				of := &look{state: State{Size: o.Size, tag: o.ETag}, strong: o.ETag}
				of.time, _ = time.Parse(time.RFC3339, o.Modified) // which only tells people
				seen.offer(at.String(), of)
			}
		}
		switch {
		case !page.Truncated:
			slices.Sort(names)
			seen.keepList(pattern, names)
			return names, nil
		case page.Next == "" || page.Next == query["continuation-token"]:
			return nil, f.failed("the server's list does not go on")
		}
		query["continuation-token"] = page.Next
	}
}

// page asks for a page of a bucket's list.
func (f *remoteFile) page(query map[string]string) (page *list, err error) {
	bucket := *f.url
	f.url = &bucket
	f.url.RawQuery = s3Query(query)
	err = f.try(func() error {
		a, err := f.exchange(nil)
		if err != nil {
			return err
		}
		defer a.Body.Close()
		if a.StatusCode != http.StatusOK {
			return f.answer(a.Response)
		}
		text, err := io.ReadAll(io.LimitReader(a.Body, maxListPage))
		if err != nil {
			return err
		}
		page = &list{}
		if err := xml.Unmarshal(text, page); err != nil {
			return f.failed("the server's list of objects is malformed")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range page.Objects {
		o := &page.Objects[i]
		if page.Encoding == "url" {
			if o.Key, err = url.QueryUnescape(o.Key); err != nil {
				return nil, f.failed("the server's list of objects has a key that is not escaped as it says")
			}
		}
		if o.ETag != "" && !strings.HasSuffix(o.ETag, `"`) {
			o.ETag = `"` + o.ETag + `"`
		}
	}
	return page, nil
}

// s3Query returns a query as it is signed and sent: sorted, all but letters, digits and -._~ as %2F.
func s3Query(values map[string]string) string {
	var parts []string
	for name, value := range values {
		parts = append(parts, name+"="+strings.ReplaceAll(s3Escaped(value), "/", "%2F"))
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}
