package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/radish-sql/radish"
	"github.com/radish-sql/radish/cmd/radish/internal/render"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/storage/fileaccess"
)

// runner runs statements and commands in one session and prints what they give.
type runner struct {
	db     *radish.DB
	conn   *radish.Conn
	config openConfig

	settings render.Settings
	chosen   render.Format // the format that --format or .mode named; "": none did
	streams  streams

	interactive   bool
	showsTimes    bool
	echo          bool
	bail          bool // the first failure ends a script
	showsProfiles bool // print what each query cost
	maxRows       int64
	showsTypes    bool // tables on the terminal name the columns' types
	prompt        string
	last          string // what was typed last and is no command: what .edit edits

	// running returns the context of a statement, and what is to be called at its end.
	running func() (context.Context, func())

	scripts  scriptState
	checking *checked // statements are only checked; nil: they run
	origin   origin   // of the command that runs
	quitCode *int     // what .quit named
}

// streams are where a runner writes.
type streams struct {
	out     *bufio.Writer // results: standard output or the file of .output
	printed *bufio.Writer // where the last result went
	file    *sink         // of .output and .once; nil: standard output
	once    bool          // the file is for one statement
	err     io.Writer     // errors and warnings
	notes   io.Writer     // counts, times and the like; nil: they are not printed
}

// scriptState is how far scripts have come.
type scriptState struct {
	failed        bool  // a statement or command has
	ran           int   // statements and commands
	inTransaction bool  // a file runs in one
	committed     int   // the line of a statement that committed it; 0: none has
	depth         int   // of .read within .read
	reading       int64 // bytes of the statement that is read, as the session counts them
}

// openConfig is how databases are opened.
type openConfig struct {
	threads     int
	memoryLimit int64
	gpuLimit    int64
	device      string
	fileAccess  string // as radish.WithFileAccess has it; "": full
}

// policy is what the shell's own commands may do with files: what the session's statements may.
func (r *runner) policy() *fileaccess.Policy { return r.conn.FileAccess() }

// programs is nil where commands of the system may be run: they could open any file.
func (r *runner) programs(what string) error {
	if p := r.policy(); !p.Unrestricted() {
		return plainly(p.Refuse(what))
	}
	return nil
}

// plainly is an error without its number, for commands that are no SQL.
func plainly(err error) error {
	var e *radish.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Hint == "":
		return errors.New(e.Message)
	}
	return fmt.Errorf("%s (%s)", e.Message, e.Hint)
}

// open makes another database the current one.
func (r *runner) open(name string) error {
	options := []radish.Option{radish.WithThreads(r.config.threads), radish.WithDevice(r.config.device), radish.WithTimeZone("SYSTEM")}
	if r.db != nil { // a session that has narrowed what it may do does not get it back
		r.config.fileAccess = r.policy().String()
	}
	if r.config.fileAccess != "" {
		options = append(options, radish.WithFileAccess(r.config.fileAccess))
	}
	if r.config.memoryLimit > 0 {
		options = append(options, radish.WithMemoryLimit(r.config.memoryLimit))
	}
	if r.config.gpuLimit > 0 {
		options = append(options, radish.WithGPUMemoryLimit(r.config.gpuLimit))
	}
	db, err := radish.Open(name, options...)
	if err != nil {
		return r.atStart(err)
	}
	conn, err := db.Conn()
	if err != nil {
		db.Close()
		return r.atStart(err)
	}
	if r.db != nil {
		r.conn.Close()
		r.db.Close()
	}
	r.db, r.conn = db, conn
	if _, err := conn.Exec(context.Background(), "SET explain_format = 'tree'"); err != nil { // people read it
		return err
	}
	return r.strict(!r.interactive)
}

// atStart gives an error of the first session, where no statement can be typed yet, the flag as its remedy.
func (r *runner) atStart(err error) error {
	var e *radish.Error
	if r.db == nil && errors.As(err, &e) && strings.HasPrefix(e.Message, "radish_device =") {
		return e.WithHint("--device auto goes on with the CPU")
	}
	return err
}

// strict says whether a user variable that nothing has set is an error: in scripts, whose --var may have been forgotten.
func (r *runner) strict(on bool) error {
	value := "null"
	if on {
		value = "error"
	}
	_, err := r.conn.Exec(context.Background(), "SET radish_unset_variables = '"+value+"'")
	return err
}

// newRunner opens a private database and a session that prints to standard output.
func newRunner(config openConfig, format render.Format) (*runner, error) {
	r := &runner{
		config: config, settings: render.Settings{Format: format}, streams: streams{out: bufio.NewWriterSize(os.Stdout, 1<<16), err: os.Stderr}, bail: true,
		prompt:  defaultPrompt,
		running: func() (context.Context, func()) { return context.Background(), func() {} },
	}
	return r, r.open(":memory:")
}

// outcome is what a statement did.
type outcome struct {
	ran      bool // it could be parsed
	warned   bool // its rows were the session's warnings
	hasRows  bool
	written  render.Written
	affected int64
	device   string // where its plan ran; empty: it has none
	profiles []radish.Profile
}

// took says how long a statement took, and on which device if that is not the CPU alone.
func (o *outcome) took(d time.Duration) string {
	text := fmt.Sprintf("%.3f s", d.Seconds())
	if strings.Contains(o.device, "gpu") {
		text += " on " + o.device
	}
	return text
}

// run runs a statement and prints its rows, which are on standard output when it returns.
func (r *runner) run(ctx context.Context, text string, settings render.Settings) (o outcome, err error) {
	stmt, err := r.conn.Parse(text)
	if err != nil {
		return o, err
	}
	defer stmt.Close()
	o.ran, o.warned = true, stmt.ShowsWarnings()
	if r.showsProfiles {
		ctx = radish.WithProfile(ctx, func(p radish.Profile) { o.profiles = append(o.profiles, p) })
	}
	ctx, progress := r.watch(ctx)
	defer progress.stop()
	rows, err := stmt.Query(ctx)
	if err != nil {
		return o, err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
		o.affected = rows.RowsAffected()
		if e := r.streams.out.Flush(); err == nil {
			err = e
		}
	}()
	if rows.Columns() == nil {
		return o, nil
	}
	o.hasRows, o.device = true, rows.Device()
	settings.Begin = progress.stop
	settings.Follows, r.streams.printed = r.streams.printed == r.streams.out, r.streams.out
	if (settings.Format == render.Table || settings.Format == render.Box) && stmt.Explains() {
		settings.Format = render.Lines
	}
	settings.ShowsTypes = settings.ShowsTypes && asksForRows(text)
	if r.streams.file != nil && r.streams.file.isData {
		o.written, err = r.streams.file.result(rows, settings, r.config.memoryLimit, func(bytes int64) error {
			return r.conn.HoldMemory("writing "+r.streams.file.name, r.scripts.reading+bytes)
		})
		_ = r.conn.HoldMemory("reading a statement", r.scripts.reading) // which is less than before
		return o, err
	}
	before := r.textBytes()
	o.written, err = render.Rows(r.streams.out, settings, rows)
	if r.streams.file != nil && err != nil && r.textBytes() > before {
		r.streams.file.torn = true
	}
	return o, err
}

// asksForRows says whether a statement is a query, and not SHOW or the like, whose types nobody wonders about.
func asksForRows(text string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(text, "( "), " ")
	switch strings.ToUpper(strings.TrimSpace(first)) {
	case "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "CALL":
		return false
	}
	return true
}

// textBytes counts what was printed to the file of .output.
func (r *runner) textBytes() int64 {
	if r.streams.file == nil || r.streams.file.isData {
		return 0
	}
	return r.streams.file.bytes + int64(r.streams.out.Buffered())
}

// look returns the settings for the next result: a terminal bounds the width and the rows of tables.
func (r *runner) look() render.Settings {
	s := r.settings
	if r.streams.file != nil && r.streams.file.look != "" {
		s.Format = r.streams.file.look
	}
	if r.interactive && r.streams.file == nil && term.IsTerminal(int(os.Stdout.Fd())) {
		s.MaxRows, s.ShowsTypes = r.maxRows, r.showsTypes
		if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			s.Columns = width
		}
	}
	return s
}

// script runs the statements and commands of a text. name is the file that it comes from. quit says that a command asked for the
// end. After a failure it goes on, unless the first is to end it.
func (r *runner) script(name string, text io.Reader) (quit bool) {
	s := newScript(text, func() scriptMode { return r.conn.ParseMode() })
	s.hold = func(bytes int64) error {
		r.scripts.reading = bytes
		return r.conn.HoldMemory("reading a statement", bytes)
	}
	defer func() { _ = s.hold(0) }() // which takes nothing
	for {
		st, ok, err := s.next()
		if err != nil {
			var e *radish.Error
			if errors.As(err, &e) {
				err = e.WithHint("statements that are shorter, LOAD DATA or a file in FROM `...` take less; --memory-limit raises the limit")
			}
			fmt.Fprintf(r.streams.err, "radish: %s: line %d: %v\n", name, s.line, err)
			r.scripts.failed = true
			return false
		}
		if !ok {
			return false
		}
		good := true
		r.scripts.ran++
		if r.checking != nil {
			r.checking.statements++
		}
		if st.isCommand {
			good, quit = r.commandLine(name, st)
		} else {
			good = r.statement(name, st, r.look())
		}
		if r.checking != nil && !good {
			r.checking.wrong++
		}
		if quit || !good && (r.bail || r.interrupted()) {
			return quit
		}
	}
}

// interrupted says whether the script was.
func (r *runner) interrupted() bool {
	ctx, done := r.running()
	defer done()
	return !r.interactive && ctx.Err() != nil
}

// statement runs one statement of a script and prints all that belongs to it. It returns false if it failed.
func (r *runner) statement(name string, st scriptStatement, settings render.Settings) bool {
	if st.tall {
		settings.Format = render.Vertical
	}
	if r.echo {
		fmt.Fprintln(r.streams.out, st.text+";")
		r.streams.out.Flush()
	}
	start := time.Now()
	ctx, done := r.running()
	var o outcome
	var err error
	if r.checking != nil {
		err = r.check(ctx, st.text)
	} else {
		o, err = r.run(ctx, st.text, settings)
	}
	done()
	took := time.Since(start)
	if r.streams.file != nil && err != nil {
		r.streams.file.failed = true
	}
	if r.streams.once {
		if e := r.endOnce(err); err == nil {
			err = e
		}
	}
	r.warn(name, st, o)
	if r.scripts.inTransaction && !r.conn.InTransaction() { // DDL commits, as in MySQL
		r.scripts.committed = st.line
		if !r.quiet("START TRANSACTION") {
			return false
		}
	}
	if err != nil {
		fmt.Fprintln(r.streams.err, r.emphasize(describe(name, st, err)))
		r.scripts.failed = true
		return false
	}
	r.summary(o, took)
	return true
}

// summary prints what a statement did besides its rows.
func (r *runner) summary(o outcome, took time.Duration) {
	for _, p := range o.profiles {
		printProfile(r.notesOr(r.streams.err), p)
	}
	if r.streams.notes == nil {
		if r.showsTimes {
			fmt.Fprintln(r.streams.err, o.took(took))
		}
		return
	}
	line := "OK"
	switch {
	case o.hasRows:
		line = counted(o.written.Rows, "row")
		if left := o.written.Rows - o.written.Shown; left > 0 {
			line += fmt.Sprintf(", the first %d and the last %d shown; .maxrows 0 shows all", (o.written.Shown+1)/2, o.written.Shown/2)
		}
		left := counted(int64(o.written.Left), "column") + " left out; .mode vertical shows all"
		switch {
		case o.written.WasCut && o.written.Left > 0:
			line += ", strings cut and " + left
		case o.written.WasCut:
			line += ", values cut to fit; .mode vertical shows them whole"
		case o.written.Left > 0:
			line += ", " + left
		}
	case o.affected > 0:
		line = "OK, " + counted(o.affected, "row") + " affected"
	}
	if r.showsTimes {
		line += " (" + o.took(took) + ")"
	}
	fmt.Fprintln(r.streams.notes, line)
}

func (r *runner) notesOr(w io.Writer) io.Writer {
	if r.streams.notes != nil {
		return r.streams.notes
	}
	return w
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// output sends results to a file or command; "": to standard output again.
func (r *runner) output(name string) (err error) {
	err = r.streams.out.Flush()
	if r.streams.file != nil {
		if e := r.streams.file.Close(); err == nil {
			err = e
		}
	}
	r.streams.file, r.streams.once = nil, false
	r.streams.out.Reset(os.Stdout)
	if err != nil || name == "" || name == "stdout" { // sqlite3's name
		return err
	}
	to, err := openSink(r.policy(), name, r.chosen)
	if err != nil {
		return err
	}
	r.streams.file = to
	if !to.isData { // else other than results is still for the person to see
		r.streams.out.Reset(to)
	}
	return nil
}

// endOnce closes the file of .once behind the one statement or command that it is for, which may have failed.
func (r *runner) endOnce(failed error) error {
	if failed == nil {
		return r.output("")
	}
	r.dropOutput()
	return nil
}

// dropOutput removes the file of --output, .output or .once.
func (r *runner) dropOutput() {
	if r.streams.file == nil {
		return
	}
	_ = r.streams.out.Flush() // into what is thrown away
	r.streams.file.discard()
	r.streams.file, r.streams.once = nil, false
	r.streams.out.Reset(os.Stdout)
}

// maxWarnings is how many warnings of a statement are shown; SHOW WARNINGS has them all.
const maxWarnings = 5

// warn prints the warnings of the last statement, which came from st.
func (r *runner) warn(name string, st scriptStatement, o outcome) {
	if !o.ran || o.warned {
		return // the session has those of the statement before
	}
	list := slices.DeleteFunc(r.conn.Warnings(), func(w sqlerr.Warning) bool { return w.Level == sqlerr.LevelError }) // which is printed by itself
	for i, w := range list {
		if i == maxWarnings {
			fmt.Fprintf(r.streams.err, "... and %d more\n", len(list)-i)
			return
		}
		fmt.Fprintf(r.streams.err, "%s%s %d: %s\n", atLine(name, st.line), w.Level, w.Code, w.Message)
	}
}

// describe renders an error of a statement with its source's name, its position in the source and the line with a caret.
// An error without a position gets the statement's.
func describe(name string, st scriptStatement, err error) string {
	var e *radish.Error
	if !errors.As(err, &e) {
		return "radish: " + err.Error()
	}
	placed := *e
	if st.made {
		placed.Pos, placed.Text = sqlerr.Position{}, ""
		return atLine(name, st.line) + placed.Render()
	}
	switch {
	case !e.Pos.Known():
		placed.Pos = st.position(0)
	case e.Text == "" || e.Text == st.text:
		placed.Pos = st.position(e.Pos.Offset)
	default: // a position in some other text, as that of a view or of PREPARE
		return atLine(name, st.line) + e.Render()
	}
	placed.Text = st.context
	if e.Kind == sqlerr.Cancelled {
		placed.Text = "" // the position tells which statement it was; there is nothing to point at
	}
	return prefixed(name, placed.Render())
}

// atLine names a line of a source; "" in the shell.
func atLine(name string, line int) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", name, line)
}

func prefixed(name, text string) string {
	if name == "" {
		return text
	}
	return name + ": " + text
}
