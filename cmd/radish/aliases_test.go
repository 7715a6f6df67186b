package main

import (
	"strings"
	"testing"
)

// What people type who come from mysql and psql, at the prompt and in scripts: nothing of it begins a statement that swallows what follows.
func TestTypedAs(t *testing.T) {
	const SQL = "sql"
	for line, want := range map[string]string{
		"exit": ".quit", "QUIT;": ".quit", "quit ;": ".quit", `\q`: ".quit", "help": ".help", "help;": ".help", "help import": ".help import", "?": ".help", "? chart": ".help chart", `\?`: ".help", `\h`: ".help",
		"source f.sql": ".read f.sql", "source f.sql;": ".read f.sql", `\. f.sql`: ".read f.sql", `\i 'a b.sql'`: ".read 'a b.sql'", "system ls": ".shell ls", `\! ls`: ".shell ls",
		`\d`: ".tables", `\dt`: ".tables", `\dt+ x%`: ".tables x%", `\l`: ".databases", `\di t`: ".indexes t", `\d+ t`: ".schema t", `\timing on`: ".timer on", `\x`: ".expanded", `\o f.csv`: ".output f.csv", `\e`: ".edit", `\s`: ".show",
		`\d t`: "!DESCRIBE `t`", "use d": "!USE d", `\c d`: "!USE `d`", `\u d`: "!USE `d`", `\g`: "!", `\foo bar`: ".\\foo bar", ".exit": ".exit", ".print a;b": ".print a;b",
		"use d; SELECT 1": SQL, "use d;": SQL, "SELECT 1": SQL, "exit handler": SQL, "help 'SELECT'": SQL, "source": SQL, "sourceless x": SQL, "used d": SQL, "quitting": SQL, "": SQL,
	} {
		text, command, ok := typedAs(line)
		got := text
		switch {
		case !ok:
			got = SQL
		case !command:
			got = "!" + text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
		if want != SQL && want != "!" && line[0] != '.' && !mayBeCommand(line) {
			t.Errorf("%s is not looked at", line)
		}
	}
}

func TestForeignCommandsInScripts(t *testing.T) {
	file := writeFile(t, "in.sql", "SELECT 3 AS c;\n")
	for script, want := range map[string]string{
		"SELECT 1 AS a;\nexit\nSELECT 2 AS b;\n": "a\n1\n", "SELECT 1 AS a;\n\\q\nSELECT 2": "a\n1\n", "source " + file + "\nSELECT 1 AS a;": "c\n3\na\n1\n", "\\. " + file: "c\n3\n", "\\i " + file + ";\nquit": "c\n3\n",
		"CREATE DATABASE d;\nuse d\nSELECT DATABASE() AS d;": "d\nd\n", "CREATE DATABASE d; USE d; SELECT DATABASE() AS d; exit": "d\nd\n", "CREATE TABLE t (a INT);\n\\dt\n\\d t\n": "Tables_in_main\nt\nField,Type,Null,Key,Default,Extra\na,int,YES,\"\",,\"\"\n",
		"SELECT 1 AS a;\n\\x\nSELECT 2 AS b;\n\\x\n.mode csv\nSELECT 3 AS c\\g\n\\g\nSELECT 4 AS d;": "a\n1\n*************************** 1. row ***************************\nb: 2\nc\n3\nd\n4\n", "SELECT\n1 AS\nhelp;": "help\n1\n",
	} {
		if stdout, stderr, code := runRadish(t, script, "--format", "csv"); stdout != want || code != 0 || stderr != "" {
			t.Errorf("%q: exit %d, %q, %s", script, code, stdout, stderr)
		}
	}
	if _, stderr, code := runRadish(t, "\\copy t from 'x'\n"); code != 1 || !strings.Contains(stderr, `there is no command \copy`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestShellForeignCommands types them: a line that is a command does not become part of a statement that has not ended.
func TestShellForeignCommands(t *testing.T) {
	s := startShell(t)
	s.do("CREATE TABLE orchard (a INT);", "OK")
	s.do("\\dt", "orchard")
	s.do("\\d orchard", "| a     | int")
	s.do("\\l", "main")
	s.do("?", ".schema [TABLE]")
	s.do("\\nope", "there is no command \\nope")
	s.write("SELECT 6 * 7\r")
	s.expect(promptMore)
	for _, line := range []string{"exit", "quit", "help", ".tables", "\\dt"} {
		s.write(line + "\r")
		s.expect("The statement above " + line + " has not ended")
		s.expect("SELECT 6 * 7")
		s.expect(promptMore)
	}
	s.do(";", "42 |")
	s.write("SELECT 'one\rexit\r")
	s.expect(promptMore)
	s.do("two' AS x;", "one\\nexit\\ntwo")
	s.write("SELECT 1\r.exit\r")
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
