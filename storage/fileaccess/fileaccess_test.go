//go:build unix

package fileaccess_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// tree makes a folder in/ with files and links that lead out of it, and out/ beside it.
func tree(t *testing.T) (in, out string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in, out = filepath.Join(top, "in"), filepath.Join(top, "out")
	for _, dir := range []string{in, out, filepath.Join(in, "sub"), filepath.Join(top, "inside")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"in/a.csv", "in/b.csv", "in/sub/c.csv", "out/secret.csv", "inside/near.csv"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("x\n1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"in/out": "../out", "in/absolute": out, "in/secret": "../out/secret.csv", "in/nothing": "../out/nothing.csv", "in/up": "..",
		"in/good": "sub/c.csv", "in/roundabout": "sub/../a.csv", "link": "in",
	} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	return in, out
}

func parse(t *testing.T, text string) *fileaccess.Policy {
	t.Helper()
	p, err := fileaccess.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every way to a name, under every policy: what may be read can be read, and what may not gives one error for all that there is and is not.
func TestPolicies(t *testing.T) {
	in, out := tree(t)
	t.Chdir(in)
	top := filepath.Dir(in)
	names := map[string]bool{ // whether the name is one below in
		in + "/a.csv": true, "a.csv": true, "./sub/c.csv": true, "sub/../a.csv": true, in + "/good": true, "roundabout": true, top + "/in/./a.csv": true,
		in + "/none.csv": true, in + "/sub/none/x.csv": true,
		out + "/secret.csv": false, out + "/nothing.csv": false, "../out/secret.csv": false, "../out/nothing.csv": false, in + "/../out/secret.csv": false,
		"out/secret.csv": false, "out/nothing.csv": false, "absolute/secret.csv": false, "absolute/nothing.csv": false, "secret": false, "nothing": false,
		"up/out/secret.csv": false, "up/out/nothing.csv": false, top + "/inside/near.csv": false, top + "/inside/none.csv": false, "/etc/passwd": false,
		"/etc/nothing": false, "up/in/a.csv": false, "../../../../../../../../etc/passwd": false, "..": false, "/": false, "": true,
	}
	for _, tc := range []struct {
		policy       string
		reads        func(inside bool) bool
		writes       func(inside bool) bool
		unrestricted bool
	}{
		{"full", func(bool) bool { return true }, func(bool) bool { return true }, true},
		{"READ", func(bool) bool { return true }, func(bool) bool { return false }, false},
		{"none", func(bool) bool { return false }, func(bool) bool { return false }, false},
		{in, func(i bool) bool { return i }, func(i bool) bool { return i }, false},
		{top + "/link", func(i bool) bool { return i }, func(i bool) bool { return i }, false},
		{" read:" + in + "/ , read:" + in + "/sub", func(i bool) bool { return i }, func(bool) bool { return false }, false},
		{".", func(i bool) bool { return i }, func(i bool) bool { return i }, false},
	} {
		p := parse(t, tc.policy)
		if p.Unrestricted() != tc.unrestricted {
			t.Errorf("%s: unrestricted is %v", tc.policy, p.Unrestricted())
		}
		for name, inside := range names {
			want := "refused"
			if tc.reads(inside) {
				want = "by the system"
				if _, err := os.Stat(name); err == nil {
					want = "read"
				}
			}
			f, err := p.Open(context.Background(), name)
			got := outcome(p, name, "reading", err)
			if f != nil {
				f.Close()
			}
			if info, statErr := os.Stat(name); statErr == nil && info.IsDir() && want == "read" {
				want = "by the system" // a folder
			}
			if got != want {
				t.Errorf("%s: open %q: %s (%v), want %s", tc.policy, name, got, err, want)
			}
			_, err = p.Stat(context.Background(), name)
			if got := outcome(p, name, "reading", err); (got == "refused") != (want == "refused") {
				t.Errorf("%s: stat %q: %s (%v)", tc.policy, name, got, err)
			}
			_, err = p.OpenStream(context.Background(), name)
			if got := outcome(p, name, "reading", err); (got == "refused") != (want == "refused") {
				t.Errorf("%s: open stream %q: %s (%v)", tc.policy, name, got, err)
			}
		}
		// A new file in each folder: the links lead where they may not write.
		for folder, inside := range map[string]bool{in: true, ".": true, "sub": true, out: false, "out": false, "absolute": false, "up": false, "..": false, top + "/inside": false} {
			name := filepath.Join(folder, "new.csv")
			if folder == "." {
				name = "new.csv"
			}
			f, err := p.Create(name)
			want := "refused"
			if tc.writes(inside) {
				want = "read"
			}
			if got := outcome(p, name, "writing", err); got != want {
				t.Errorf("%s: create %q: %s (%v), want %s", tc.policy, name, got, err, want)
			}
			if err == nil {
				f.Discard()
			}
		}
	}
	left := 0
	_ = filepath.WalkDir(top, func(path string, _ fs.DirEntry, _ error) error {
		if strings.Contains(path, "new.csv") || strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left", path)
		}
		left++
		return nil
	})
	if left < 10 {
		t.Errorf("only %d files were looked at", left)
	}
}

// outcome checks that a refusal says nothing of what there is.
func outcome(p *fileaccess.Policy, name, what string, err error) string {
	switch {
	case err == nil:
		return "read"
	case fileaccess.Refused(err):
		if want := fmt.Sprintf("%s '%s' is refused: file_access is '%s'", what, name, p); sqlerr.From(err).Message != want {
			return "refused with other words"
		}
		return "refused"
	}
	return "by the system"
}

func TestGlob(t *testing.T) {
	in, out := tree(t)
	t.Chdir(filepath.Dir(in))
	p := parse(t, in)
	for pattern, want := range map[string]string{
		in + "/*.csv": in + "/a.csv " + in + "/b.csv", "in/*.csv": "in/a.csv in/b.csv", "./in/[ab].csv": "in/a.csv in/b.csv", "in/*/c.csv": "in/sub/c.csv",
		"in/none*": "", "in/out/*": "refused", "in/up/*/*.csv": "refused", "in/absolute/*.csv": "refused", "in/o*/*.csv": "",
		"*/a.csv": "refused", "i*/a.csv": "refused", out + "/*": "refused", "/etc/*": "refused", "/e*/passwd": "refused", "in/../out/*": "refused", "in/sub/../*.csv": "in/a.csv in/b.csv",
	} {
		list, err := p.Glob(context.Background(), pattern)
		got := strings.Join(list, " ")
		if fileaccess.Refused(err) {
			got = "refused"
		} else if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if strings.HasPrefix(want, "refused") && got == "" { // a link that leads out matches nothing
			got = want
		}
		if got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s tells of %s", pattern, got)
		}
		all, err := fileaccess.Full().Glob(context.Background(), pattern)
		if theirs, _ := filepath.Glob(pattern); err != nil || !slices.Equal(all, theirs) && len(all)+len(theirs) > 0 {
			t.Errorf("%s without limits: %v %v", pattern, all, err)
		}
		if _, err := parse(t, "none").Glob(context.Background(), pattern); !fileaccess.Refused(err) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if list, err := p.ReadDir("in/sub"); err != nil || len(list) != 1 || list[0].Name() != "c.csv" {
		t.Errorf("in/sub: %v %v", list, err)
	}
	for _, name := range []string{"out", "in/out", "in/up", ".", "nothing"} {
		if _, err := p.ReadDir(name); !fileaccess.Refused(err) {
			t.Errorf("list %s: %v", name, err)
		}
	}
}

// A policy that is made from another allows only what that allows: random policies, random names.
func TestNarrow(t *testing.T) {
	in, out := tree(t)
	texts := []string{"full", "read", "none", in, "read:" + in, in + "/sub", "read:" + in + "/sub", out, in + "," + out, "read:" + in + "," + out, in + "/out", in + "/up", in + "/absolute"}
	names := []string{in + "/a.csv", in + "/sub/c.csv", out + "/secret.csv", in + "/secret", in + "/good", "/etc/passwd", in + "/sub/../../out/secret.csv"}
	narrowed, wider := 0, 0
	r := rand.New(rand.NewPCG(20260101, 1))
	for range 2000 {
		p := parse(t, texts[r.IntN(len(texts))])
		for range 3 {
			text := texts[r.IntN(len(texts))]
			q, err := p.Narrow(text)
			if err != nil {
				wider++
				continue
			}
			narrowed++
			for _, name := range names {
				for _, open := range []func(p *fileaccess.Policy) (io.Closer, error){
					func(p *fileaccess.Policy) (io.Closer, error) { return p.Open(context.Background(), name) },
					func(p *fileaccess.Policy) (io.Closer, error) {
						f, err := p.Create(name + ".new")
						if err == nil {
							f.Discard()
						}
						return nil, err
					},
				} {
					_, before := open(p)
					_, after := open(q)
					if before != nil && after == nil {
						t.Fatalf("%s became %s (%s), which allows %s", p, q, text, name)
					}
				}
			}
			p = q
		}
	}
	if narrowed < 500 || wider < 500 {
		t.Errorf("%d narrower, %d wider", narrowed, wider)
	}
	for before, after := range map[string]string{"none": "read", "read": "full", in: "read", "read:" + in: in, in + "/sub": in, "read:" + in + "/sub": "none," + in} {
		if q, err := parse(t, before).Narrow(after); err == nil {
			t.Errorf("%s became %s", before, q)
		}
	}
	// The folder that a session names may be a link to somewhere else.
	for _, folder := range []string{"/up", "/out", "/absolute"} {
		if q, err := parse(t, in).Narrow(in + folder); err == nil {
			t.Errorf("%s became %s", in, q)
		}
	}
	for _, text := range []string{"", " ", ",", in + ",", "read:", in + "/none", in + "/a.csv", "nosuch", "ful"} {
		if p, err := fileaccess.Parse(text); err == nil {
			t.Errorf("%q is %s", text, p)
		}
	}
	if _, err := new(fileaccess.Policy).Open(context.Background(), in+"/a.csv"); !fileaccess.Refused(err) {
		t.Errorf("a policy of nothing: %v", err)
	}
}

// What is no regular file is refused at once, named what it is.
func TestOnlyRegularFiles(t *testing.T) {
	in, _ := tree(t)
	if err := syscall.Mkfifo(in+"/fifo.csv", 0o644); err != nil {
		t.Skip(err)
	}
	listener, err := net.Listen("unix", in+"/socket.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, policy := range []string{"full", "read", in + ",/dev"} {
		p := parse(t, policy)
		for name, want := range map[string]string{in + "/fifo.csv": "a pipe", in + "/socket.csv": "a socket", in + "/sub": "a directory", "/dev/zero": "a device", "/dev/tty": "a device"} {
			begin := time.Now()
			f, err := p.Open(context.Background(), name)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v %v, want it to say %s", name, f, err, want)
			}
			if _, err := p.Stamp(context.Background(), name); err == nil {
				t.Errorf("%s has a stamp", name)
			}
			if want != "a pipe" {
				if _, err := p.OpenStream(context.Background(), name); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s as a stream: %v", name, err)
				}
			}
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("%s took %s", name, took)
			}
		}
	}
}

// A pipe is read to its end. Opening it and reading it end with the context.
func TestPipes(t *testing.T) {
	in, _ := tree(t)
	fifo := in + "/fifo"
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	for _, policy := range []string{"full", "read:" + in} {
		p := parse(t, policy)
		go func() {
			if w, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
				fmt.Fprint(w, "some text")
				w.Close()
			}
		}()
		f, err := p.OpenStream(context.Background(), fifo)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "some text" {
			t.Errorf("%q %v", text, err)
		}
		f.Close()
		for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} { // nobody writes
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(after, cancel)
			begin := time.Now()
			_, err := p.OpenStream(ctx, fifo)
			if !errors.Is(err, sqlerr.Cancelled) || time.Since(begin) > 20*time.Second {
				t.Errorf("%s: open: %v after %s", policy, err, time.Since(begin))
			}
		}
		// A writer that says nothing.
		w := make(chan *os.File)
		go func() {
			f, _ := os.OpenFile(fifo, os.O_WRONLY, 0)
			w <- f
		}()
		ctx, cancel := context.WithCancel(context.Background())
		if f, err = p.OpenStream(ctx, fifo); err != nil {
			t.Fatal(err)
		}
		writer := <-w
		time.AfterFunc(20*time.Millisecond, cancel)
		begin := time.Now()
		if _, err := f.Read(make([]byte, 1)); !errors.Is(err, sqlerr.Cancelled) || time.Since(begin) > 20*time.Second {
			t.Errorf("%s: read: %v after %s", policy, err, time.Since(begin))
		}
		f.Close()
		writer.Close()
	}
}

// A file has no name before it is whole, and an existing one stays what it was.
func TestCreate(t *testing.T) {
	in, _ := tree(t)
	for _, policy := range []string{"full", in} {
		p := parse(t, policy)
		name := in + "/new-" + fmt.Sprint(len(policy))
		list := func() string {
			found, _ := filepath.Glob(in + "/*new-*")
			hidden, _ := filepath.Glob(in + "/.radish-*")
			return strings.Join(append(found, hidden...), " ")
		}
		f, err := p.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, "part")
		if strings.Contains(list(), name) || !strings.Contains(list(), "/.radish-") {
			t.Errorf("while it is written there is %s", list())
		}
		f.Discard()
		if left := list(); strings.Contains(left, name) || strings.Contains(left, "/.radish-") {
			t.Errorf("left: %s", left)
		}
		if f, err = p.Create(name); err != nil {
			t.Fatal(err)
		}
		other, err := p.Create(name) // whoever is first has the name
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, "whole")
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := other.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("the second: %v", err)
		}
		if _, err := p.Create(name); !errors.Is(err, fs.ErrExist) {
			t.Errorf("once more: %v", err)
		}
		if text, _ := os.ReadFile(name); string(text) != "whole" || strings.Contains(list(), "/.radish-") {
			t.Errorf("%q; %s", text, list())
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err = p.Replace(name); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, "another")
		if text, _ := os.ReadFile(name); string(text) != "whole" {
			t.Errorf("while it is replaced: %q", text)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(name); string(text) != "another" {
			t.Errorf("replaced: %q", text)
		}
		if info, _ := os.Stat(name); info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %s", info.Mode())
		}
		for _, taken := range []string{in, in + "/sub", in + "/good", in + "/nothing", in + "/"} { // a link to nothing is a file, too
			if _, err := p.Create(taken); err == nil {
				t.Errorf("%s was made", taken)
			}
		}
		if _, err := p.Create(in + "/nowhere/x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("in no folder: %v", err)
		}
		if err := os.Mkdir(in+"/d"+fmt.Sprint(len(policy)), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Replace(in + "/sub"); err == nil {
			t.Error("a folder was replaced")
		}
	}
}

// A stamp tells a file from one that took its place with the same size and times.
func TestStamp(t *testing.T) {
	in, _ := tree(t)
	p := parse(t, in)
	stamp := func() string {
		t.Helper()
		s, err := p.Stamp(context.Background(), in+"/a.csv", in+"/b.csv")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := stamp()
	if before != stamp() {
		t.Error("two stamps of the same files")
	}
	info, err := os.Stat(in + "/b.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in+"/other", []byte("x\n2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(in+"/other", info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(in+"/other", in+"/b.csv"); err != nil {
		t.Fatal(err)
	}
	if before == stamp() {
		t.Error("another file of the same size and time has the same stamp")
	}
}

// A pipe where a folder might be is passed over: to open it would wait for a writer.
func TestGlobPassesPipes(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "x", "a.csv")
	if err := os.Mkdir(filepath.Dir(want), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "p")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	restricted, err := fileaccess.Parse("read:" + dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []*fileaccess.Policy{fileaccess.Full(), restricted} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for _, pattern := range []string{"*/a.csv", "**/a.csv", "*/*.csv", "*/a*"} {
				if got, err := policy.Glob(context.Background(), filepath.Join(dir, pattern)); err != nil || !slices.Equal(got, []string{want}) {
					t.Errorf("%s with %s: %v, %v", pattern, policy, got, err)
				}
			}
			if got, err := policy.Glob(context.Background(), filepath.Join(pipe, "*.csv")); err != nil || len(got) > 0 {
				t.Errorf("below a pipe with %s: %v, %v", policy, got, err)
			}
			if list, err := policy.ReadDir(pipe); err == nil {
				t.Errorf("a pipe's files with %s: %v", policy, list)
			}
			if list, err := policy.ReadDir(dir); err != nil || len(list) != 2 || list[0].Name() != "p" {
				t.Errorf("the folder's files with %s: %v, %v", policy, list, err)
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s waits for a pipe", policy)
		}
	}
}
