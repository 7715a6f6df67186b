package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// dotCommand is a command of the shell itself, typed behind a dot.
type dotCommand struct {
	name, args, help string
	run              func(s *terminalShell, arg string) (quit bool)
}

// dotCommands is set by init, since .help reads it.
var dotCommands []dotCommand

func init() {
	dotCommands = []dotCommand{
		{"help", "", "show this", (*terminalShell).help},
		{"quit", "", "leave, as Ctrl-D does", func(*terminalShell, string) bool { return true }},
		{"tables", "[DATABASE]", "list the tables", func(s *terminalShell, arg string) bool {
			query := "SHOW TABLES;"
			if arg != "" {
				query = "SHOW TABLES FROM " + quoteName(arg) + ";"
			}
			return s.statement(query)
		}},
		{"schema", "[TABLE]", "print the statement that makes a table, or those of all", (*terminalShell).schema},
		{"read", "FILE", "run the statements of a file", (*terminalShell).readFile},
		{"mode", "[FORMAT]", "print results as " + strings.Join(render.Formats(), ", "), (*terminalShell).mode},
		{"timer", "[on|off]", "show how long statements take", (*terminalShell).setTimer},
	}
}

// command runs a dot command. quit says that the shell is to end.
func (s *terminalShell) command(line string) (quit bool) {
	name, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(arg), ";"))
	if name == "exit" {
		name = "quit"
	}
	var names []string
	for _, c := range dotCommands {
		if c.name == name {
			return c.run(s, arg)
		}
		names = append(names, c.name)
	}
	if near := sqlerr.Suggest(name, names); near != "" {
		return s.complain("there is no command .%s; did you mean .%s?", name, near)
	}
	return s.complain("there is no command .%s; .help lists them", name)
}

func (s *terminalShell) complain(format string, args ...any) (quit bool) {
	fmt.Fprintf(s.err, format+"\n", args...)
	return false
}

func (s *terminalShell) statement(sql string) (quit bool) {
	s.runScript("", strings.NewReader(sql))
	return false
}

func (s *terminalShell) help(string) (quit bool) {
	for _, c := range dotCommands {
		fmt.Fprintf(s.notes, "  %-20s %s\n", "."+c.name+" "+c.args, c.help)
	}
	fmt.Fprint(s.notes, `
Statements end with ; and may take several lines; \G in place of the ; prints the rows vertically.
Ctrl-C clears what is typed or cancels the statement that runs. Ctrl-D leaves.
EXPLAIN shows how a query is run, EXPLAIN ANALYZE what it costs.
CALL tpch_generate(0.01); makes tables to try things on.
`)
	return false
}

func (s *terminalShell) schema(arg string) (quit bool) {
	tables := []string{quoteName(arg)}
	if arg == "" {
		names, err := s.lastColumn("SHOW TABLES")
		if err != nil {
			return s.complain("%v", err)
		}
		for i, name := range names {
			names[i] = "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
		tables = names
	}
	for _, t := range tables {
		query := "SHOW CREATE TABLE " + t
		text, err := s.lastColumn(query)
		if err != nil {
			return s.complain("%s", describe("", scriptStatement{text: query, context: query, line: 1}, err))
		}
		for _, create := range text {
			fmt.Fprintln(s.notes, create+";")
		}
	}
	return false
}

// lastColumn runs a query and returns the texts of its last column.
func (s *terminalShell) lastColumn(query string) (out []string, err error) {
	rows, err := s.conn.Query(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		values := rows.Values()
		out = append(out, fmt.Sprint(values[len(values)-1]))
	}
	return out, rows.Err()
}

func (s *terminalShell) readFile(arg string) (quit bool) {
	f, err := os.Open(strings.Trim(arg, `'"`))
	if err != nil {
		return s.complain("cannot read %s: %v", arg, reason(err))
	}
	defer f.Close()
	s.runScript(arg, f)
	return false
}

func (s *terminalShell) mode(arg string) (quit bool) {
	if arg == "" {
		fmt.Fprintln(s.notes, s.format)
		return false
	}
	format, err := render.ParseFormat(arg)
	if err != nil {
		return s.complain("%v", err)
	}
	s.format = format
	return false
}

func (s *terminalShell) setTimer(arg string) (quit bool) {
	switch arg {
	case "":
		s.timer = !s.timer
	case "on", "off":
		s.timer = arg == "on"
	default:
		return s.complain("usage: .timer on or .timer off")
	}
	return false
}

// quoteName quotes a name, or a database's and a table's with a dot between, unless it is quoted already.
func quoteName(name string) string {
	if strings.HasPrefix(name, "`") {
		return name
	}
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}
