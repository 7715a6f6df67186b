package fileaccess

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Policy says which files may be opened, and what may be read from a network. It is immutable. The zero value refuses all.
type Policy struct {
	text   string
	grants []grant
}

// grant allows the files in a folder, all there are, or to read what addresses on a network begin with.
type grant struct {
	all      bool    // every file; the folder means nothing
	remote   *prefix // of addresses; nil: it is of files
	folder   string
	real     string // folder without symbolic links in it
	within   *grant // what the folder was narrowed from; nil: the folder is given by the program
	below    string // the folder, seen from that of within
	canWrite bool
}

// The words for policies that are no lists of folders.
const (
	full     = "full"
	readOnly = "read"
	none     = "none"
)

// readPrefix marks a folder whose files can be read only.
const readPrefix = "read:"

// Full is the policy that allows what the process may do with files. It allows nothing on a network.
func Full() *Policy { return &Policy{text: full, grants: []grant{{all: true, canWrite: true}}} }

// Parse reads a policy: items with commas between. The first may be full, read or none, which goes for all files. Other items are folders, which have to
// exist and may begin with "read:", or beginnings of addresses: https://host/folder/, https://host or https://. Without addresses nothing is read from a
// network.
func Parse(text string) (*Policy, error) {
	all := Full()
	all.grants = append(all.grants, grant{remote: &prefix{}})
	return all.Narrow(text)
}

// Narrow returns the policy that text describes if it allows nothing that p refuses.
func (p *Policy) Narrow(text string) (*Policy, error) {
	next := &Policy{}
	var texts []string
	word := ""
	for i, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		first := strings.ToLower(item)
		var g *grant
		var err error
		switch {
		case IsRemote(item):
			g, err = p.remoteGrant(item)
		case i == 0 && (first == full || first == readOnly || first == none):
			word, item = first, first
			if word == none {
				break
			}
			if g = (&grant{all: true, canWrite: word == full}); !p.allowsAll(g.canWrite) {
				err = p.wider(item)
			}
		case word != "":
			err = sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "file_access has '%s' behind %s, which is of all files", Shown(item), word).
				WithHint("behind full, read and none stand only addresses, as in full,https://HOST/FOLDER/; a folder of such a name is ./%s", word)
		default:
			if g, err = p.folderGrant(item); err == nil {
				item = g.folder
				if !g.canWrite {
					item = readPrefix + item
				}
			}
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, item)
		if g != nil {
			next.grants = append(next.grants, *g)
		}
	}
	next.text = strings.Join(texts, ",")
	return next, nil
}

// folderGrant reads one folder of a list.
func (p *Policy) folderGrant(item string) (*grant, error) {
	name, reading := strings.CutPrefix(item, readPrefix)
	if name == "" {
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "file_access has an empty name of a folder").
			WithHint("write full, read, none, or folders with commas between, as /data/in,read:/data/out; and addresses, as https://HOST/FOLDER/")
	}
	folder, err := filepath.Abs(name)
	if err != nil {
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "file_access names the folder '%s': %v", name, err)
	}
	g := &grant{folder: folder, canWrite: !reading}
	if !p.allowsAll(!reading) {
		within, below := p.find(folder, !reading)
		if within == nil {
			return nil, p.wider(item)
		}
		g.within, g.below = within, below
	}
	root, err := g.open()
	if err != nil {
		return nil, sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "file_access names the folder '%s', which cannot be opened: %v", name, Reason(err)).
			WithHint("write full, read, none, or folders with commas between, as /data/in,read:/data/out; and addresses, as https://HOST/FOLDER/")
	}
	_ = root.Close() // it was opened to be looked at
	g.real = folder
	if g.within == nil {
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			g.real = real
		}
	}
	return g, nil
}

func (p *Policy) wider(text string) error {
	return sqlerr.New(sqlerr.CodeWrongArguments, sqlerr.User, "file_access cannot become '%s': it is '%s', and a session can only narrow it", Shown(text), p).
		WithHint("the program that opens the database says what its sessions may do")
}

// String is the policy as [Parse] reads it. It has the folders in full.
func (p *Policy) String() string {
	if p.text == "" {
		return none
	}
	return p.text
}

// allowsAll says whether every file may be read, or written too.
func (p *Policy) allowsAll(write bool) bool {
	for i := range p.grants {
		if g := &p.grants[i]; g.all && (g.canWrite || !write) {
			return true
		}
	}
	return false
}

// Unrestricted says whether all is allowed that the process may do.
func (p *Policy) Unrestricted() bool { return p.allowsAll(true) }

// ReadsAll says whether every file may be read, so that a path tells nothing that could not be found out.
func (p *Policy) ReadsAll() bool { return p.allowsAll(false) }

// AllowsAny says whether there are files that may be read, or written too.
func (p *Policy) AllowsAny(write bool) bool {
	return slices.ContainsFunc(p.grants, func(g grant) bool { return g.canWrite || !write })
}

// find returns the grant that allows an absolute name, and the name below its folder. nil: none does.
func (p *Policy) find(absolute string, write bool) (*grant, string) {
	for i := range p.grants {
		g := &p.grants[i]
		if g.all || g.remote != nil || write && !g.canWrite {
			continue
		}
		for _, folder := range []string{g.folder, g.real} {
			if below, err := filepath.Rel(folder, absolute); err == nil && filepath.IsLocal(below) {
				return g, below
			}
		}
	}
	return nil, ""
}

// open opens the grant's folder. What is opened below it cannot leave it, whatever symbolic links there are.
func (g *grant) open() (*os.Root, error) {
	if g.within == nil {
		return os.OpenRoot(g.folder)
	}
	outer, err := g.within.open()
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	return outer.OpenRoot(g.below)
}

// Check returns an error for a name that the policy refuses for reading, whatever there is of that name. It does not look.
func (p *Policy) Check(name string) error { return p.check(name, false) }

// CheckWriting is Check for writing.
func (p *Policy) CheckWriting(name string) error { return p.check(name, true) }

func (p *Policy) check(name string, write bool) error {
	switch {
	case write:
	case IsPattern(name):
		_, _, err := p.s3Pattern(name)
		return err
	case IsRemote(name):
		_, _, err := p.remote(name)
		return err
	}
	if err := notRemote(name, write); err != nil || p.allowsAll(write) {
		return err
	}
	absolute, err := filepath.Abs(name)
	if err == nil {
		if g, _ := p.find(absolute, write); g != nil {
			return nil
		}
	}
	return p.refused(name, write)
}

// location is where a name that a policy allows is to be looked for: below root, or anywhere if that is nil.
type location struct {
	policy   *Policy
	as       string // the name as it was written, for messages
	root     *os.Root
	name     string
	canWrite bool
}

// at returns the location of a name. The caller closes it.
func (p *Policy) at(name string, write bool) (*location, error) {
	if err := notRemote(name, write); err != nil {
		return nil, err
	}
	if p.allowsAll(write) {
		return &location{policy: p, as: name, name: name, canWrite: write}, nil
	}
	absolute, err := filepath.Abs(name)
	if err != nil { // the folder in which the program runs is gone
		return nil, p.refused(name, write)
	}
	g, below := p.find(absolute, write)
	if g == nil {
		return nil, p.refused(name, write)
	}
	root, err := g.open()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: Reason(err)}
	}
	return &location{policy: p, as: name, root: root, name: below, canWrite: write}, nil
}

func (l *location) close() {
	if l.root != nil {
		_ = l.root.Close() // nothing was written through it
	}
}

// failed turns the error of a name that leaves its folder, by a symbolic link, into the one of names outside of it.
func (l *location) failed(err error) error {
	if err == nil || l.root == nil {
		return err
	}
	_, leaves := l.root.Lstat("..") // package os has the error of names that lead out, and no name for it
	if errors.Is(err, Reason(leaves)) {
		return l.policy.refused(l.as, l.canWrite)
	}
	return err
}

// refused is the error for all names that the policy does not allow, whether there is such a file or not.
func (p *Policy) refused(name string, write bool) error {
	what := "reading"
	if write {
		what = "writing"
	}
	return p.Refuse(what + " '" + name + "'")
}

// Refuse is the error for something that the policy does not allow.
func (p *Policy) Refuse(what string) error { return p.refusal(what) }

func (p *Policy) refusal(what string) *sqlerr.Error {
	return sqlerr.New(sqlerr.CodeOptionPrevents, sqlerr.User, "%s is refused: file_access is '%s'", what, p).
		WithHint("the program that opens the database says which files its statements may use")
}

// Refused says whether an error is that of a name which a policy does not allow.
func Refused(err error) bool { return errors.Is(err, sqlerr.CodeOptionPrevents) }

// Reason returns what an error of a file system operation says besides the names.
func Reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
