package main

import (
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Marks that a terminal puts round what is pasted.
const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// What is pasted waits for Enter and is run as it stands, tabs included: none completes a word, and one in a string stays.
func TestShellPaste(t *testing.T) {
	s := startShell(t)
	s.do("CREATE TABLE z (id INT);", "OK")
	s.write(pasteBegins + "SELECT 5 AS\tx;\r\nSELECT id\tFROM z\r\n\tWHERE id\tIS NULL;\r\nSELECT HEX('\t') AS\ttab, 'SEL" + "\t" + "' s;\r" + pasteEnds)
	s.expect("SELECT HEX(")
	s.write("\r")
	s.expect("    5 |")
	s.expect("0 rows")
	s.expect("| 09 ")
	s.expect(defaultPrompt)
	s.write("SELE\t")
	s.expect("SELECT")
	s.write(ctrlC + ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// .edit gives the last statement to the editor, all its lines, and runs what comes back; so it does again.
func TestShellEdit(t *testing.T) {
	s := startShell(t, "VISUAL=", `EDITOR=sed -i -e 's/20/40/' -e 's/2;/3;/'`)
	s.write("SELECT 20\r + 2;\r")
	s.expect(" 22 |")
	s.expect(defaultPrompt)
	s.write(".edit\r")
	s.expect("SELECT 40\r\n + 3;\r\n")
	s.expect(" 43 |")
	s.expect(defaultPrompt)
	s.write("\\e\r")
	s.expect(" 43 |")
	s.expect(defaultPrompt)
	s.write(ctrlD)
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if _, stderr, code := runRadish(t, ".edit\n"); code != exitFailed || !strings.Contains(stderr, ".edit is for the shell") {
		t.Errorf("in a script: exit %d, %s", code, stderr)
	}
}

// TestShellEditLines goes back to lines of a statement that were entered, changes them, and runs the whole from where the cursor is.
func TestShellEditLines(t *testing.T) {
	const home, end, left, right, down, backspace = "\x1b[H", "\x1b[F", "\x1b[D", "\x1b[C", "\x1b[B", "\x7f"
	s := startShell(t)
	s.write("SELECT 3 *\r2 AS answer\r")
	s.expect(promptMore + "2 AS answer\r\n" + promptMore)
	s.write(upKey + upKey + end + left + left + backspace + "21")
	s.expect("SELECT 21 *")
	s.do(down+end+";", " 42 |")
	s.do("SELEC 6\r* 7\rAS n;"+upKey+upKey+home+strings.Repeat(right, 5)+"T", " 42 |")
	s.do("SELECT 40\r+ 3;"+home+backspace+backspace, " 7 |") // SELECT 4+ 3
	s.do(`SELECT 'a`+"\r"+`b' AS s\G`, "s: a\r\nb\r\n")
}

// TestShellEditMeanwhile gives a statement that is not complete to the editor: by \e or .edit in its last line, or by Ctrl-X Ctrl-E. What comes
// back is run if it is complete, and typed on if not.
func TestShellEditMeanwhile(t *testing.T) {
	s := startShell(t, "VISUAL=", `EDITOR=sed -i -e s/20/40/ -e s/nothing/2\;/`)
	for _, ask := range []string{"\\e\r", "\r.edit\r", "\x18\x05"} {
		s.write("SELECT 20 +\rnothing" + ask)
		s.expect("SELECT 40 +\r\n2;\r\n")
		s.expect(" 42 |")
		s.expect(defaultPrompt)
		s.write("SELECT 20 +" + ask)
		s.expect("SELECT 40 +")
		s.do(" 4;", " 44 |")
	}
	s.do(upKey, " 44 |")     // the history has what has run
	s.write("SELECT '\\e\r") // not in a string
	s.expect(promptMore)
	s.write(ctrlC)
	s.expect(defaultPrompt)
	s.write("\x18\x05") // the last statement
	s.expect(" 44 |")
	s.expect(defaultPrompt)
	s = startShell(t, "VISUAL=", "EDITOR=false")
	s.write("SELECT 20 +\\e\r")
	s.expect("false: exit status 1")
	s.do(" 5;", " 25 |") // what was typed is not lost
}

// TestShellLong types and pastes a statement of 5,000 characters: what is written to the terminal does not grow with its square.
func TestShellLong(t *testing.T) {
	statement := "SELECT LENGTH('" + strings.Repeat("0123456789", 500) + "') AS n;"
	for _, keys := range []string{statement, pasteBegins + statement + pasteEnds} {
		s := startShell(t)
		start := time.Now()
		s.do(keys, "|   5000 |")
		s.mu.Lock()
		t.Logf("%v, %d bytes", time.Since(start), s.seen.Len())
		if s.seen.Len() > 100*len(statement) {
			t.Errorf("%d bytes are written for %d characters", s.seen.Len(), len(statement))
		}
		s.mu.Unlock()
	}
}

// TestShellPasteScript pastes commands among statements.
func TestShellPasteScript(t *testing.T) {
	s := startShell(t)
	s.write(pasteBegins + ".mode csv\nSELECT 1 AS\n  a;\n.mode json\nSELECT 2 AS a;\n" + pasteEnds)
	s.expect("SELECT 2 AS a;")
	s.write("\r")
	s.expect("a\r\n1\r\n")
	s.expect(`{"a":2}`)
	s.expect(defaultPrompt)
	s.write(upKey)
	s.expect("SELECT 2 AS a;")
	s.write(ctrlC)
	s.expect(defaultPrompt)
}

// TestShellLeavesKeys runs a program that reads the terminal: the keys are its own, after lines that were broken, deleted and searched for too.
func TestShellLeavesKeys(t *testing.T) {
	s := startShell(t)
	s.do("SELECT\rx"+"\x1b[D\x04\x1b[3~"+"6\r* 7;", " 42 |")
	s.write(ctrlR + "nosuch" + ctrlC + ctrlR + "7" + ctrlD + "\x15\x15" + ctrlC) // some keys stop the line editor from reading on, and some let it
	s.expect("^C")
	s.expect(defaultPrompt)
	for range 2 {
		s.write(".shell echo ask && read x && echo \"got $x\"\r")
		s.expect("ask\r\n")
		time.Sleep(50 * time.Millisecond)
		s.write("hello\n")
		s.expect("got hello")
		s.expect(defaultPrompt)
	}
}

// TestShellResizeTyping makes the terminal narrower while a statement is typed: it is drawn anew, cut to the new width, and goes on.
func TestShellResizeTyping(t *testing.T) {
	s := startShell(t)
	s.write("SELECT 'a wide line', 'that has to be cut',\r40 + ")
	s.expect(promptMore + "40 + ")
	if err := pty.Setsize(s.file, &pty.Winsize{Rows: 40, Cols: 30}); err != nil {
		t.Fatal(err)
	}
	s.expect("\x1b[J" + defaultPrompt + "SELECT 'a wide line', 'that has to be cut',\r\n" + promptMore + "40 + ")
	s.write(upKey + "\x1b[H" + strings.Repeat("\x1b[C", len("SELECT ")) + "1, ")
	s.expect("SELECT 1, 'a wide")
	s.do("\x1b[B\x1b[F2 AS n;", " 42 |")
}
