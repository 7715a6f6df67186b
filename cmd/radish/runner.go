package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/sqlerr"
)

// runner runs statements in one session and prints their rows.
type runner struct {
	conn   *radish.Conn
	format render.Format
	out    *bufio.Writer
	err    io.Writer
}

// outcome is what a statement did.
type outcome struct {
	ran      bool // it could be parsed
	warned   bool // its rows were the session's warnings
	hasRows  bool
	rows     int64
	affected int64
}

// run runs a statement and prints its rows, which are on standard output when it returns.
func (r *runner) run(ctx context.Context, text string) (o outcome, err error) {
	stmt, err := r.conn.Parse(text)
	if err != nil {
		return o, err
	}
	o.ran, o.warned = true, stmt.ShowsWarnings()
	rows, err := stmt.Query(ctx)
	if err != nil {
		return o, err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
		o.affected = rows.RowsAffected()
		if e := r.out.Flush(); err == nil {
			err = e
		}
	}()
	if rows.Columns() == nil {
		return o, nil
	}
	o.hasRows = true
	format := r.format
	if format == render.Table && stmt.Explains() {
		format = render.Lines
	}
	o.rows, err = render.Rows(r.out, format, rows)
	return o, err
}

// maxWarnings is how many warnings of a statement are shown; SHOW WARNINGS has them all.
const maxWarnings = 5

// warn prints the warnings of the last statement, which came from st.
func (r *runner) warn(name string, st scriptStatement, o outcome) {
	if !o.ran || o.warned {
		return // the session has those of the statement before
	}
	list := r.conn.Warnings()
	for i, w := range list {
		if i == maxWarnings {
			fmt.Fprintf(r.err, "... and %d more\n", len(list)-i)
			return
		}
		prefix := ""
		if name != "" {
			prefix = fmt.Sprintf("%s:%d: ", name, st.line)
		}
		fmt.Fprintf(r.err, "%s%s %d: %s\n", prefix, w.Level, w.Code, w.Message)
	}
}

// describe renders an error of a statement with its source's name, its place in the source and the line with a caret.
// An error without a place gets the statement's.
func describe(name string, st scriptStatement, err error) string {
	var e *radish.Error
	if !errors.As(err, &e) {
		return "radish: " + err.Error()
	}
	placed := *e
	switch {
	case !e.Pos.Known():
		placed.Pos = st.position(0)
	case e.Text == "" || e.Text == st.text:
		placed.Pos = st.position(e.Pos.Offset)
	default: // a place in some other text, as that of a view
		return prefixed(name, e.Render())
	}
	placed.Text = st.context
	if e.Kind == sqlerr.Cancelled {
		placed.Text = "" // the place tells which statement it was; there is nothing to point at
	}
	return prefixed(name, placed.Render())
}

func prefixed(name, text string) string {
	if name == "" {
		return text
	}
	return name + ": " + text
}
