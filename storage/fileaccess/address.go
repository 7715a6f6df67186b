package fileaccess

import (
	"regexp"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// address matches what is somewhere on a network: a scheme, a user with a password, the rest, and a query or a fragment.
var address = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+://)([^/?#]*@)?([^?#]*)(.*)`)

// NotRemote returns an error for an address on a network, which is not to be taken for the name of a file to read.
func NotRemote(name string) error { return notRemote(name, false) }

// notRemote is NotRemote, or for a file to write. The error leaves out an address's user and query: they may hold passwords and signatures.
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
	case scheme != "http://" && scheme != "https://" && scheme != "ftp://":
		remedy = "fetch it first with a program for " + scheme
	}
	return sqlerr.NotSupportedf("'"+parts[1]+parts[3]+"': an address", "Radish reads and writes files only; %s", remedy)
}
