package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestShellPipes reads and writes pipes that nobody has open at the other end: each command waits, and Ctrl-C ends it. What has a reader gets the results.
func TestShellPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startShell(t)
	for command, want := range map[string]string{
		".once ":   "cannot write " + path + ": no program has this pipe open for reading; start that program, or use .once |COMMAND",
		".output ": "cannot write " + path + ": no program has this pipe open for reading; start that program, or use .once |COMMAND",
		".read ":   "Query execution was interrupted",
	} {
		s.write(command + path + "\r")
		s.expect(path)
		time.Sleep(50 * time.Millisecond)
		s.interrupt(want)
		s.do("SELECT 6 * 7;", "42 |")
	}
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte(err.Error())
		}
		read <- string(text)
	}()
	s.write(".mode csv\r.once " + path + "\rSELECT 1 AS a, 'x' AS b;\r")
	if got := strings.TrimSpace(<-read); got != "a,b\n1,x" {
		t.Errorf("%q", got)
	}
	// A reader that takes nothing.
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.write(".once " + path + "\rSELECT REPEAT('x', 300000);\r")
	s.expect("300000")
	time.Sleep(200 * time.Millisecond)
	s.interrupt("interrupted while its reader took nothing")
	s.do(".mode table", "")
	s.do("SELECT 6 * 7;", "42 |")
}
