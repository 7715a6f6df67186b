package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/radish-sql/radish/cmd/radish/internal/prompt"
)

// terminal is a shell that runs on a pseudo-terminal.
type terminal struct {
	t    *testing.T
	file *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex
	seen strings.Builder
	from int // what expect has passed
}

func startShell(t *testing.T, env ...string) *terminal {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir()), env...)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Skipf("there is no pseudo-terminal here: %v", err)
	}
	s := &terminal{t: t, file: file, cmd: cmd}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := file.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		file.Close()
	})
	s.expect(defaultPrompt)
	return s
}

func (s *terminal) write(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.file, keys); err != nil {
		s.t.Fatal(err)
	}
}

// pasteMarks removes what asks a terminal to mark what is pasted, and shows nothing.
var pasteMarks = strings.NewReplacer(prompt.AskForPasteMarks, "", prompt.NoPasteMarks, "")

// expect waits for text behind what it waited for before.
func (s *terminal) expect(text string) {
	s.t.Helper()
	if shown, ok := s.comes(text, time.Minute); !ok {
		s.t.Fatalf("%q does not come; the terminal shows %q", text, shown)
	}
}

// comes says whether text comes within a time behind what was waited for before, and what is shown there.
func (s *terminal) comes(text string, within time.Duration) (shown string, ok bool) {
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		seen := pasteMarks.Replace(s.seen.String())
		s.mu.Unlock()
		if i := strings.Index(seen[s.from:], text); i >= 0 {
			s.from += i + len(text)
			return "", true
		}
		if time.Now().After(deadline) {
			return seen[s.from:], false
		}
	}
}

// interrupt presses Ctrl-C until text comes. What is pressed before the command runs ends nothing.
func (s *terminal) interrupt(text string) {
	s.t.Helper()
	for range 60 {
		s.write(ctrlC)
		if _, ok := s.comes(text, time.Second); ok {
			return
		}
	}
	s.expect(text)
}

// leave waits for the end of the shell and returns its exit code.
func (s *terminal) leave() int {
	s.t.Helper()
	timer := time.AfterFunc(time.Minute, func() { s.cmd.Process.Kill() })
	defer timer.Stop()
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// TestShellInterrupt cancels a query with Ctrl-C, clears typed text with it, and leaves with Ctrl-D.
func TestShellInterrupt(t *testing.T) {
	s := startShell(t)
	s.write("CALL tpch_generate(0.01);\r")
	s.expect(" s)")
	s.expect(defaultPrompt)
	s.write("SELECT COUNT(*) FROM lineitem a JOIN lineitem b ON a.l_extendedprice + b.l_discount < b.l_extendedprice * a.l_tax;\r")
	s.expect(" rows/s on cpu, part ") // its progress
	start := time.Now()
	s.write(ctrlC)
	s.expect("Query execution was interrupted")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("Ctrl-C took %v", took)
	}
	s.expect(defaultPrompt)
	s.write("SELECT nonsense\r")
	s.expect(promptMore)
	s.write("more nonsense" + ctrlC)
	s.expect(defaultPrompt)
	s.write("SELECT 6 * 7\r;\r")
	s.expect("|     42 |")
	s.expect("1 row (")
	s.expect(defaultPrompt)
	s.write(ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestShellCommands walks through the dot commands; a statement that fails leaves the shell running.
func TestShellCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.sql")
	if err := os.WriteFile(file, []byte("CREATE TABLE fromfile (a INT);\nINSERT INTO fromfile VALUES (1), (2);\nSELECT nosuch FROM fromfile;"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startShell(t)
	for _, step := range []struct{ keys, want string }{
		{".help\r", ".schema [TABLE]"},
		{"help;\r", ".schema [TABLE]"},
		{".read " + file + "\r", "x.sql: ERROR 1054 (42S22) at line 3, column 8"},
		{".tables\r", "fromfile"},
		{".schema fromfile\r", "CREATE TABLE `fromfile` (\r\n  `a` INT\r\n);\r\n"},
		{"CREATE TABLE `o``dd` (b INT);\r", "OK"},
		{".schema\r", "CREATE TABLE `fromfile` (\r\n  `a` INT\r\n);\r\nCREATE TABLE `o``dd` ("},
		{".schema nosuch\r", "Table 'main.nosuch' doesn't exist"},
		{".read nosuch\r", "cannot read nosuch: no such file"},
		{".mode csv\r", defaultPrompt},
		{"SELECT a, NULL FROM fromfile;\r", "a,NULL\r\n1,\r\n2,\r\n2 rows ("},
		{".mode jsn\r", "did you mean json?"},
		{".timer off\r", defaultPrompt},
		{"INSERT INTO fromfile VALUES (3);\r", "OK, 1 row affected\r\n"},
		{".tabels\r", "did you mean .tables?"},
		{"SELECT 6 * 7 AS x\\G\r", "1. row ***************************\r\nx: 42\r\n1 row"},
		{"SELECT '\\G\r", promptMore},
		{"' AS x;\r", "x\r\n\"G\r\n\"\r\n1 row"}, // as text, and in the format as before
		{"SELECT 1/0;\r", "Warning 1365"},
		{"SELEC 1;\r", "SELEC 1;\r\nERROR 1064"}, // without the warning again
		{"quit;\r", ""},
	} {
		s.write(step.keys)
		s.expect(step.want)
		if step.want != "" && step.want != defaultPrompt && step.want != promptMore {
			s.expect(defaultPrompt)
		}
	}
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// TestShellHistory recalls a statement of several lines, with its lines, in the same shell and in a later one, where it is changed.
func TestShellHistory(t *testing.T) {
	state := "XDG_STATE_HOME=" + t.TempDir()
	const up = "\x1b[A"
	s := startShell(t, state)
	s.write("SELECT\r40 +\r2;\r")
	s.expect("1 row")
	s.expect(defaultPrompt)
	s.write(up + "\r")
	s.expect("SELECT\r\n" + promptMore + "40 +\r\n" + promptMore + "2;")
	s.expect("42 |")
	s.expect(defaultPrompt)
	s.write(ctrlD)
	s.leave()
	s = startShell(t, state)
	s.write(up + up + "1\r")
	s.expect(promptMore + "401 +")
	s.expect("403 |")
}
