package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/radish-sql/radish/storage/fileaccess"
)

// sessionCommands are those about the shell itself.
func sessionCommands() []dotCommand {
	return []dotCommand{
		{"help", "[WORD]", "show this, or the commands that have to do with a word", (*runner).help},
		{"quit", "[CODE]", "leave, as Ctrl-D does, with an exit status", func(r *runner, arg string) error {
			if arg != "" {
				code, err := strconv.Atoi(arg)
				if err != nil || code < 0 || code > 255 {
					return fmt.Errorf("usage: .quit [CODE], a number up to 255")
				}
				r.quitCode = &code
			}
			return errQuit
		}},
		{"read", "FILE", "run the statements and commands of a file", func(r *runner, arg string) error {
			name, err := oneWord(arg, ".read FILE")
			if err == nil && name == "" {
				err = fmt.Errorf("usage: .read FILE")
			}
			if err != nil {
				return err
			}
			return r.readFile(name)
		}},
		{"edit", "", "edit what is typed, or the last statement, in $VISUAL or $EDITOR, and run what comes of it", (*runner).edit},
		{"bail", "[on|off]", "the first failure ends a script", onOff("bail", func(r *runner) *bool { return &r.bail })},
		{"cd", "FOLDER", "change the folder in which files are named", func(r *runner, arg string) error {
			name, err := oneWord(arg, ".cd FOLDER")
			if err != nil {
				return err
			}
			if name == "" {
				if name, err = os.UserHomeDir(); err != nil {
					return err
				}
			}
			if _, err = r.policy().Stat(context.Background(), name); err == nil {
				err = os.Chdir(name)
			}
			if fileaccess.Refused(err) {
				return plainly(err)
			}
			if err != nil {
				return fmt.Errorf("cannot go to %s: %v", name, reason(err))
			}
			return nil
		}},
		{"shell", "COMMAND", "run a command of the system", func(r *runner, arg string) error {
			r.streams.out.Flush()
			ctx, done := r.running()
			defer done()
			c := systemShell(ctx, arg)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
			if !r.interactive {
				c.Stdin = nil // which holds the script
			}
			return c.Run()
		}},
	}
}

// readFile runs the statements and commands of a file.
func (r *runner) readFile(name string) error {
	f, err := openScript(r.policy(), name)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.scripts.depth >= maxReads {
		return fmt.Errorf("files read each other more than %d deep", maxReads)
	}
	failed := r.scripts.failed
	r.scripts.failed = false
	r.scripts.depth++
	quit := r.script(name, f)
	r.scripts.depth--
	bad := r.scripts.failed
	r.scripts.failed = r.scripts.failed || failed
	switch {
	case quit:
		return errQuit
	case bad && !r.interactive && r.checking == nil:
		return fmt.Errorf(".read %s failed", name)
	}
	return nil
}

// maxReads is how deep .read may nest.
const maxReads = 16

// read runs a file as .read does; quit says that a command in it asked for the end.
func (r *runner) read(file string) (quit bool) {
	_, quit = r.commandLine("", scriptStatement{isCommand: true, text: ".read '" + file + "'", line: 1})
	return quit
}

// edit runs the person's editor on the last statement, which may have many lines, and then what it has become.
func (r *runner) edit(string) error {
	if !r.interactive {
		return fmt.Errorf(".edit is for the shell")
	}
	text, err := r.fromEditor(r.last)
	if err != nil || text == "" {
		return err
	}
	r.last = text
	fmt.Fprintln(r.notesOr(r.streams.out), text)
	if r.script("", strings.NewReader(text)) {
		return errQuit
	}
	return nil
}

// fromEditor returns what the person's editor makes of a text, without the space around it.
func (r *runner) fromEditor(text string) (string, error) {
	if err := r.programs("an editor"); err != nil {
		return "", err
	}
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	f, err := os.CreateTemp("", "radish-*.sql")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if text != "" {
		text += "\n"
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", err
	}
	c := systemShell(context.Background(), editor+" '"+strings.ReplaceAll(f.Name(), "'", `'\''`)+"'") // the variable may have arguments
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", editor, err)
	}
	edited, err := os.ReadFile(f.Name())
	return strings.TrimSpace(string(edited)), err
}
