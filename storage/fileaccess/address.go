package fileaccess

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// address matches what is somewhere on a network: a scheme, a user with a password, the rest, and a query or a fragment.
var address = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+://)([^/?#]*@)?([^?#]*)(.*)`)

// inText matches the same inside of quotes or behind a space.
var inText = regexp.MustCompile("([A-Za-z][A-Za-z0-9+.-]+://)([^/?#'\"`\\s]*@)?([^?#'\"`\\s]*)([?#][^'\"`\\s]*)?")

// likeQuery matches what looks like a query in the key of an object.
var likeQuery = regexp.MustCompile(`\?[A-Za-z][\w.-]*=`)

// HasQuery says whether the key of an object has what looks like a query, as servers of other files know it.
func HasQuery(name string) bool { return isS3(name) && likeQuery.MatchString(name) }

// IsPattern says whether the address of an object stands for all whose keys match.
func IsPattern(name string) bool { return isS3(name) && isPattern(PathOf(name)) }

// IsRemote says whether a name is the address of a file that is read by HTTP, objects of S3 included.
func IsRemote(name string) bool {
	return isHTTP(name) || isS3(name)
}

func isHTTP(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Shown returns a name, or a text with names in quotes, as messages have it: addresses without users and queries, which may hold passwords and signatures. Of the key of an object it leaves out
// what looks like a query.
func Shown(name string) string {
	if !strings.Contains(name, "://") {
		return name
	}
	return inText.ReplaceAllStringFunc(name, func(address string) string {
		parts := inText.FindStringSubmatch(address)
		if isS3(address) { // whose key may have ? and #
			key := parts[3] + parts[4]
			if at := likeQuery.FindStringIndex(key); at != nil {
				key = key[:at[0]]
			}
			return parts[1] + key
		}
		return parts[1] + parts[3]
	})
}

// PathOf returns the part of a name that says where the file lies and what it is: of an address the path, else all of it.
func PathOf(name string) string {
	if !IsRemote(name) {
		return name
	}
	if isS3(name) { // whose keys are not escaped
		_, key, found := strings.Cut(name[len(s3Scheme+"://"):], "/")
		if !found {
			return ""
		}
		return "/" + key
	}
	path := address.FindStringSubmatch(name)[3]
	if slash := strings.IndexByte(path, '/'); slash >= 0 {
		return path[slash:]
	}
	return ""
}

// NotRemote returns an error for an address on a network, which is not to be taken for the name of a file to read.
func NotRemote(name string) error { return notRemote(name, false) }

// notRemote is NotRemote, or for a file to write.
func notRemote(name string, write bool) error {
	parts := address.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	scheme := strings.ToLower(parts[1])
	remedy := "fetch it first, for example with curl -O"
	switch {
	case scheme == "file://":
		remedy = "leave out file:// before the name"
	case write:
		remedy = "write a file and upload that"
	case scheme == "s3://":
		remedy = "fetch it first, for example with aws s3 cp"
	case scheme != "http://" && scheme != "https://" && scheme != "ftp://":
		remedy = "fetch it first with a program for " + scheme
	}
	return sqlerr.NotSupportedf("'"+Shown(name)+"': an address", "%s", remedy)
}

// Readable returns an error for an address that is none of a file which can be read by HTTP.
func Readable(name string) error {
	if !IsRemote(name) {
		return NotRemote(name)
	}
	if isS3(name) {
		_, err := parseS3(name)
		return err
	}
	if isPattern(PathOf(name)) {
		return sqlerr.NotSupportedf("'"+Shown(name)+"': a pattern of addresses", "servers have no list of their files; name each of them, as in SELECT ... UNION ALL SELECT ..., and write %%2A for *, %%5B for [ in a name")
	}
	return nil
}

// prefix is what addresses begin with: a scheme, a host with its port, and whole segments of a path. What is empty says nothing.
type prefix struct {
	scheme, host string
	segments     []string
}

// holds says whether all addresses that begin with q begin with x.
func (x *prefix) holds(q *prefix) bool {
	return (x.scheme == "" || x.scheme == q.scheme) && (x.host == "" || x.host == q.host) &&
		len(x.segments) <= len(q.segments) && slices.Equal(x.segments, q.segments[:len(x.segments)])
}

// prefixOf returns all of an address but its user, query and fragment. An error says what is wrong with the path, which has to mean to each server what it
// says here.
func prefixOf(u *url.URL) (*prefix, string) {
	x := &prefix{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname())}
	if x.host != "" {
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[x.scheme]
		}
		x.host += ":" + port
	}
	path := strings.TrimSuffix(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if path == "" {
		return x, ""
	}
	for _, segment := range strings.Split(path, "/") {
		plain, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return nil, "its path is not escaped as addresses are"
		case plain == "." || plain == "..":
			return nil, "its path has '" + plain + "' in it"
		case strings.ContainsAny(plain, "/\\\x00"):
			return nil, "its path has an escaped slash, a backslash or a NUL in it"
		}
		x.segments = append(x.segments, plain)
	}
	return x, ""
}

// parseAddress takes an address apart.
func parseAddress(name string) (*url.URL, *prefix, error) {
	wrong := func(why string) error {
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "'%s' is no address of a file: %s", Shown(name), why).
			WithHint("write https://HOST/PATH, with characters such as space as %%20")
	}
	u, err := url.Parse(name)
	if err != nil {
		return nil, nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "an address that begins with %s is malformed", strings.ToLower(name[:strings.Index(name, "://")+3])).
			WithHint("write https://HOST/PATH, with characters such as space, and @ and / of a password, as %%20, %%40 and %%2F")
	}
	if u.Hostname() == "" || u.Opaque != "" {
		return nil, nil, wrong("it has no host")
	}
	x, why := prefixOf(u)
	if why != "" {
		return nil, nil, wrong(why)
	}
	return u, x, nil
}

// remoteGrant reads the beginning of addresses in a policy: https://host/path, https://host or https://.
func (p *Policy) remoteGrant(item string) (*grant, error) {
	wrong := func(why string) error {
		return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "file_access names the address '%s': %s", Shown(item), why).
			WithHint("write what addresses begin with, as https://HOST/FOLDER/, https://HOST, https://, s3://BUCKET/FOLDER/ or s3://")
	}
	if isS3(item) {
		x, why := s3Prefix(item)
		switch {
		case why != "":
			return nil, wrong(why)
		case x.host == "" && len(x.segments) > 0:
			return nil, wrong("it has no bucket")
		case !p.reaches(x):
			return nil, p.wider(item)
		}
		return &grant{remote: x}, nil
	}
	u, err := url.Parse(item)
	switch {
	case err != nil:
		return nil, wrong("it is malformed")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return nil, wrong("it has a user, a query or a fragment")
	case u.Hostname() == "" && (u.Host != "" || strings.Trim(u.Path, "/") != ""):
		return nil, wrong("it has no host")
	}
	x, why := prefixOf(u)
	if why != "" {
		return nil, wrong(why)
	}
	if !p.reaches(x) {
		return nil, p.wider(item)
	}
	return &grant{remote: x}, nil
}

// reaches says whether the policy allows to read what begins so.
func (p *Policy) reaches(x *prefix) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return g.remote != nil && g.remote.holds(x) })
}

// remote returns the address that a name stands for, if the policy allows to read it. Of an object of S3 it is the server's, and signer signs requests for it; nil: they are not signed.
func (p *Policy) remote(name string) (u *url.URL, signer *s3Access, err error) {
	if err := Readable(name); err != nil {
		return nil, nil, err
	}
	var x *prefix
	if isS3(name) {
		x, err = parseS3(name)
	} else {
		u, x, err = parseAddress(name)
	}
	if err == nil && !p.reaches(x) {
		err = p.unreachable("reading '" + Shown(name) + "'")
	}
	if err == nil && isS3(name) {
		u, signer, err = s3Object(x, Shown(name))
	}
	return u, signer, err
}

// unreachable is the error for what is on a network and not allowed.
func (p *Policy) unreachable(what string) error {
	return p.refusal(what).WithHint("file_access names what may be read from a network, as in file_access=full,https://HOST/FOLDER/ or full,s3://BUCKET/FOLDER/; or fetch the file first, for example with curl -O")
}
