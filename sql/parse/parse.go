package parse

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/pingcap/errors"
	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/terror"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver" // the value nodes; types/parser_driver would pull in TiDB

	"github.com/radish-sql/radish/sql/sqlerr"
)

// Statement is one parsed statement.
type Statement struct {
	Node    ast.StmtNode
	Text    string                    // without the semicolon and the space and comments around it; positions in Node count in it, but see Locate
	Offset  int                       // where Text starts in the text given to Parse, in bytes
	Line    int                       // the line where Text starts, from 1
	Params  []*driver.ParamMarkerExpr // in the order of the text; Order and Offset are set
	Alias   *RowAlias                 // of the rows of INSERT ... VALUES ... AS alias; nil: none
	Into    []string                  // the variables of SELECT ... INTO @a, @b, without their @
	Check   CheckOption               // of CREATE and ALTER VIEW
	IsAlter bool                      // of a CREATE VIEW: it was ALTER VIEW

	Outfile Outfile // of INTO OUTFILE
	Rows    *Rows   // of a long INSERT ... VALUES: those that Node leaves out; nil: none

	Warnings []sqlerr.Warning
	Kept     int64      // about what its tree takes, in bytes: who keeps the statement counts it
	Memory   int64      // about what is bound of it takes besides while it runs; 0 where that is little
	source   string     // the text given to Parse
	short    *shortened // what Node's positions count in; nil: Text
}

// Locate gives an error the position of a byte offset such as a node's OriginTextPosition. The position then counts in the whole text that was
// parsed. An error that has a position keeps it.
func (s *Statement) Locate(e *sqlerr.Error, offset int) *sqlerr.Error {
	if s.short != nil {
		return e.AtOffset(s.short.whole, s.short.offset(offset))
	}
	return e.AtOffset(s.source, s.Offset+offset)
}

// locateText gives an error the position of a byte offset of s.Text.
func (s *Statement) locateText(e *sqlerr.Error, offset int) *sqlerr.Error {
	if s.Rows != nil { // Text is whole
		return e.AtOffset(s.source, s.Offset+offset)
	}
	return s.Locate(e, offset)
}

// ParseWithin parses all statements of text. Empty statements are left out. The error, if any, is an *sqlerr.Error with its
// position; then no statement is returned. Before parsing takes much memory it calls reserve with more and more bytes, of which all are
// free again when the trees are. An error of reserve ends it.
func ParseWithin(text string, mode Mode, reserve func(bytes int64) error) ([]Statement, error) {
	if len(text) > math.MaxInt32 {
		return nil, sqlerr.New(sqlerr.CodePacketTooLarge, sqlerr.User, "a text of %s is longer than 2 GiB", sqlerr.FormatBytes(int64(len(text))))
	}
	w := workers.Get().(*worker)
	var list []Statement
	var err error
	asked := int64(0) // that reserve has not been asked for
	c := cutter{text: text, mode: mode, skips: true, grow: reserve, tokens: w.tokens}
	failed := c.each(func(p Piece) bool {
		var s, count Statement
		count.countMemory(p)
		if asked += count.Kept + count.Memory; asked >= reservedAtOnce {
			if err = reserve(asked); err != nil {
				return false
			}
			asked = 0
		}
		if p.rows.to > 0 {
			s, err = w.parseLong(text, p, mode)
		} else {
			s, err = w.parse(text, p, mode)
		}
		if err != nil {
			return false
		}
		if s.Node != nil {
			s.Kept, s.Memory = count.Kept, count.Memory
			list = append(list, s)
		}
		return true
	})
	w.tokens = c.tokens
	if err == nil {
		err = failed
	}
	// A worker that met a panic may be inconsistent, one that parsed a long text holds its tree.
	if len(text) < longestPooled && (err == nil || sqlerr.From(err).Kind != sqlerr.Internal) {
		workers.Put(w)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

const (
	reservedAtOnce = 256 << 10 // bytes of trees for which ParseWithin asks together
	longestPooled  = 64 << 10  // bytes of text
)

// One parses a text that has to be a single statement.
func One(text string, mode Mode) (Statement, error) {
	return OneWithin(text, mode, func(int64) error { return nil })
}

// OneWithin is One that asks for memory as ParseWithin does.
func OneWithin(text string, mode Mode, reserve func(bytes int64) error) (Statement, error) {
	list, err := ParseWithin(text, mode, reserve)
	switch {
	case err != nil:
		return Statement{}, err
	case len(list) == 0:
		return Statement{}, sqlerr.New(sqlerr.CodeEmptyQuery, sqlerr.User, "Query was empty")
	case len(list) > 1:
		return Statement{}, sqlerr.ParseError("one statement is expected here, and another follows").AtOffset(text, list[1].Offset)
	}
	return list[0], nil
}

// worker is a parser, which is not safe for concurrent use, and its companions.
type worker struct {
	parser *parser.Parser
	guard  guard
	tokens []token
}

var workers = sync.Pool{New: func() any { return &worker{parser: parser.New()} }}

// parse parses one piece of text. A statement without a Node is an empty one.
func (w *worker) parse(text string, p Piece, mode Mode) (s Statement, err error) {
	// A panic of the parser is a bug that must not take the program with it; the parser is dropped then.
	defer func() {
		if r := recover(); r != nil {
			s, err = Statement{}, sqlerr.Bug("the parser failed: %v", r).AtOffset(text, p.Offset)
		}
	}()
	if e := w.inspect(text, p); e != nil {
		return s, e
	}
	full, e := fullJoins(text, p.tokens)
	if e != nil {
		return s, e
	}
	s = Statement{Text: p.Text, Offset: p.Offset, Line: p.Line, source: text}
	t, e := takeOut(text, p, &s)
	if e != nil {
		return Statement{}, e
	}
	w.parser.SetSQLMode(mode)
	node, warnings, err := w.node(text, t.piece, p, full)
	if err != nil {
		return Statement{}, err
	}
	if node == nil {
		if t.head != nil {
			return Statement{}, sqlerr.ParseError("syntax error: a query is missing behind AS").AtOffset(text, p.Offset+len(p.Text))
		}
		return s, nil
	}
	s.Node = node
	if err := w.putBack(text, p, t, &s); err != nil {
		return Statement{}, err
	}
	if s.Params, err = markers(s.Node, p, text); err != nil {
		return Statement{}, err
	}
	for _, warning := range warnings {
		s.Warnings = append(s.Warnings, convertWarning(warning))
	}
	if !mode.HasPipesAsConcatMode() {
		s.Warnings = append(s.Warnings, pipesWarning(p.tokens)...)
	}
	return s, nil
}

// inspect refuses what the parser would misread, or what nests too deeply for it.
func (w *worker) inspect(text string, p Piece) error {
	if n := len(p.tokens); n > 0 && p.tokens[n-1].kind == tokUnclosed {
		return unclosed(text, p.tokens[n-1])
	}
	if offset, e := w.guard.check(p.tokens); e != nil {
		return e.AtOffset(text, int(offset))
	}
	if offset, e := refuse(text, p.tokens); e != nil {
		return e.AtOffset(text, int(offset))
	}
	return nil
}

// taken is what was taken out of a piece of text because the parser does not know it, and has to be put back into the tree.
type taken struct {
	piece    string // what is left, as long as before
	lists    []columnList
	clauses  []valueClause
	tables   []tableCall
	head     *viewHead
	defaults [][2]int
	more     *extension
	before   string // the piece before more was taken out
}

// takeOut takes out of a piece what the parser does not know. What belongs to the statement as a whole is noted there.
func takeOut(text string, p Piece, s *Statement) (t taken, err *sqlerr.Error) {
	t.piece, s.Into = intoVariables(text, explainTree(text, p), p)
	if t.piece, t.lists, err = derivedColumns(text, t.piece, p); err != nil {
		return t, err
	}
	if t.piece, t.tables, err = tableCalls(text, t.piece, p); err != nil {
		return t, err
	}
	t.piece, s.Alias = rowAlias(text, t.piece, p)
	t.piece, s.Check = checkOption(text, t.piece, p)
	if t.piece, t.clauses, err = valueClauses(text, t.piece, p); err != nil {
		return t, err
	}
	t.piece, t.head = alterView(text, t.piece, p)
	t.piece = withoutWork(text, t.piece, p)
	t.piece = barePoints(text, t.piece, p)
	t.piece, s.Outfile = outfile(text, t.piece, p)
	t.piece, t.defaults = defaultExpressions(text, t.piece, p)
	if t.before, t.more, err = extensionOf(text, t.piece, p); err != nil || t.more == nil {
		return t, err
	}
	t.piece = t.more.without(t.before, [2]int{0, len(t.before)})
	return t, nil
}

// node returns the tree of what is left of a piece, with its full joins; nil: it is empty.
func (w *worker) node(text, piece string, p Piece, full []int32) (ast.StmtNode, []error, error) {
	groups := joinGroups(text, p.tokens)
	nodes, warnings, perr := w.parseTree(piece, p, full, "LEFT", groups)
	if perr != nil {
		e := sqlerr.From(convertError(text, p, perr))
		if len(full) > 0 && e.Hint == "" {
			e = e.WithHint("FULL JOIN needs ON or USING; if FULL is the table's alias, write AS FULL")
		}
		return nil, nil, e
	}
	if len(full) > 0 && len(nodes) == 1 {
		nodes, warnings = slices.Clone(nodes), slices.Clone(warnings)
		twin, _, perr := w.parseTree(piece, p, full, "RIGHT", groups)
		if perr != nil || len(twin) != 1 {
			return nil, nil, sqlerr.Bug("FULL JOIN parses one way only: %v", perr).AtOffset(text, p.Offset)
		}
		if e := markFullJoins(nodes[0], twin[0], len(full)); e != nil {
			return nil, nil, e.AtOffset(text, p.Offset)
		}
	}
	switch len(nodes) {
	case 0:
		return nil, warnings, nil
	case 1:
		return nodes[0], warnings, nil
	}
	return nil, nil, sqlerr.ParseError("a semicolon inside /*! ... */").AtOffset(text, p.Offset)
}

// putBack puts what was taken out of the text into the tree.
func (w *worker) putBack(text string, p Piece, t taken, s *Statement) (err error) {
	if t.more != nil {
		if err := w.putExtensionBack(text, t.before, t.piece, p, s, t.more); err != nil {
			return err
		}
	}
	if t.lists != nil {
		restoreAliases(s.Node, t.lists)
	}
	if t.defaults != nil {
		if err := w.restoreDefaults(text, p, s.Node, t.defaults); err != nil {
			return err
		}
	}
	if t.clauses != nil {
		if err := w.restoreClauses(text, t.piece, p, s.Node, t.clauses); err != nil {
			return err
		}
	}
	if t.tables != nil {
		if err := w.restoreTables(text, t.piece, p, s, t.tables); err != nil {
			return err
		}
	}
	if t.head != nil {
		s.Node, err = w.defineView(text, p, t.head, s.Node)
		s.IsAlter = true
	}
	return err
}

// explainFormats are the formats that the parser knows as strings only.
var explainFormats = []string{"TREE", "PIPELINES", "LOGICAL", "KERNELS"}

// explainTree returns the text of a piece with the word behind EXPLAIN FORMAT = replaced by a string that is as long: its first letter. ExplainFormat
// says what that means.
func explainTree(text string, p Piece) string {
	word := func(i int) string {
		if i >= len(p.tokens) || p.tokens[i].kind != tokWord {
			return ""
		}
		return strings.ToUpper(text[p.tokens[i].start:p.tokens[i].end])
	}
	switch word(0) {
	case "EXPLAIN", "DESCRIBE", "DESC":
	default:
		return p.Text
	}
	i := 1
	if word(i) == "ANALYZE" {
		i++
	}
	if word(i) != "FORMAT" || !opIs(p.tokens, i+1, '=') || !slices.Contains(explainFormats, word(i+2)) {
		return p.Text
	}
	from, to := int(p.tokens[i+2].start)-p.Offset, int(p.tokens[i+2].end)-p.Offset
	return p.Text[:from] + "'" + p.Text[from:from+1] + "'" + strings.Repeat(" ", to-from-3) + p.Text[to:]
}

// ExplainFormat returns the format of an EXPLAIN, in lower case.
func ExplainFormat(format string) string {
	format = strings.ToLower(format)
	if len(format) == 1 {
		for _, f := range explainFormats {
			if f = strings.ToLower(f); f[0] == format[0] {
				return f
			}
		}
	}
	return format
}

// withoutWork blanks out the WORK of BEGIN, COMMIT and ROLLBACK WORK, which means nothing and which the parser does not know.
func withoutWork(text, piece string, p Piece) string {
	if len(p.tokens) < 2 || !p.tokens[1].isWord(text, "WORK") {
		return piece
	}
	switch first := p.tokens[0]; {
	case first.isWord(text, "BEGIN"), first.isWord(text, "COMMIT"), first.isWord(text, "ROLLBACK"):
		at := int(p.tokens[1].start) - p.Offset
		return piece[:at] + "    " + piece[at+len("WORK"):]
	}
	return piece
}

func unclosed(text string, t token) error {
	what := "comment"
	switch text[t.start] {
	case '\'', '"':
		what = "string"
	case '`':
		what = "quoted name"
	case '@':
		what = "variable's name"
	}
	return sqlerr.ParseError("syntax error: the %s that starts here has no end", what).AtOffset(text, int(t.start))
}

// convertError gives an error of the parser its position and words.
func convertError(text string, p Piece, err error) error {
	cause := errors.Cause(err)
	if e, ok := cause.(*terror.Error); ok {
		sql := terror.ToSQLError(e)
		code := sqlerr.Code(sql.Code)
		if code == 0 || code == sqlerr.CodeUnknownError {
			code = sqlerr.CodeParseError
		}
		return sqlerr.New(code, sqlerr.User, "%s", sql.Message).AtOffset(text, p.Offset)
	}
	message := cause.Error()
	at, ok := rejected(p, message)
	if !ok {
		return sqlerr.ParseError("%s", message).AtOffset(text, p.Offset)
	}
	if at < len(p.tokens) && text[p.tokens[at].start] == 0 {
		return sqlerr.ParseError("syntax error: a NUL byte").WithHint("is the text binary, or no UTF-8?").AtOffset(text, int(p.tokens[at].start))
	}
	offset, e := explain(text, p.tokens, at)
	if e.Kind == sqlerr.User && at < len(p.tokens) {
		e.Message += detail(text[p.tokens[at].start:p.Offset+len(p.Text)], message)
	}
	return e.AtOffset(text, offset)
}

// rejected finds the token that the parser rejected. Its message starts with "line L column C near", and that position is
// where it had read to: the token's end. Columns count bytes, from 0 in the first line and from 1 in the others.
func rejected(p Piece, message string) (at int, ok bool) {
	var line, column int
	if n, _ := fmt.Sscanf(message, "line %d column %d near", &line, &column); n != 2 {
		return 0, false
	}
	end := 0
	for l := 1; l < line; l++ {
		for end < len(p.Text) && p.Text[end] != '\n' {
			end++
		}
		end++
	}
	if line > 1 {
		column--
	}
	end += column + p.Offset
	// The token that holds the byte before end; none if what the parser met is the end of the text.
	at = sort.Search(len(p.tokens), func(i int) bool { return int(p.tokens[i].end) >= end })
	if strings.HasSuffix(message, `near "" `) && strings.HasPrefix(message[strings.Index(message, "near"):], `near "" `) {
		at = len(p.tokens)
	}
	return at, true
}

// detail returns what the parser's message says behind the quoted text, which begins with the rejected token and is cut
// after 2,048 bytes: "hex literal: invalid hexadecimal format", for instance. Most syntax errors have nothing there.
func detail(rejected, message string) string {
	_, rest, _ := strings.Cut(message, `near "`)
	rest, ok := strings.CutPrefix(rest, rejected[:min(len(rejected), 2048)]+`"`)
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "(total length")
	if rest = strings.TrimSpace(rest); rest == "" {
		return ""
	}
	return ": " + rest
}

// convertWarning keeps number and words of a parser's warning.
func convertWarning(warning error) sqlerr.Warning {
	w := sqlerr.Warning{Level: sqlerr.LevelWarning, Code: sqlerr.CodeParseError, Message: warning.Error()}
	if e, ok := errors.Cause(warning).(*terror.Error); ok {
		sql := terror.ToSQLError(e)
		w.Code, w.Message = sqlerr.Code(sql.Code), strings.ReplaceAll(sql.Message, " by TiDB", "")
	}
	if _, clause, ok := strings.Cut(w.Message, `"The `); ok { // line 1 column 32 near ""The ... clause is parsed but ignored ...
		w.Code, w.Message = sqlerr.CodeNotSupported, "The "+strings.TrimSpace(clause)
	}
	return w
}

// codeDeprecated is MySQL's ER_WARN_DEPRECATED_SYNTAX.
const codeDeprecated sqlerr.Code = 1287

// pipesWarning warns, as MySQL does, that || is read as OR: who comes from another engine means concatenation.
func pipesWarning(tokens []token) []sqlerr.Warning {
	for _, t := range tokens {
		if t.kind == tokOp && t.op == '|' && t.op2 == '|' {
			return []sqlerr.Warning{{Level: sqlerr.LevelWarning, Code: codeDeprecated,
				Message: "'||' is read as OR unless sql_mode has PIPES_AS_CONCAT; write CONCAT(...) to join strings, OR for the condition"}}
		}
	}
	return nil
}

// markers returns the parameter markers of a statement in the order of the text, and numbers them.
func markers(node ast.StmtNode, p Piece, text string) ([]*driver.ParamMarkerExpr, error) {
	count, first := 0, 0
	for _, t := range p.tokens {
		if t.kind == tokParam {
			if count++; count == 1 {
				first = int(t.start)
			}
		}
	}
	if count == 0 {
		return nil, nil
	}
	c := markerCollector{list: make([]*driver.ParamMarkerExpr, 0, count)}
	node.Accept(&c)
	if len(c.list) != count {
		return nil, sqlerr.NotSupportedf("a parameter here", "").AtOffset(text, first)
	}
	// The parser gives a marker its own offset or, in window frames, its right neighbour's: good enough to sort by.
	sort.Slice(c.list, func(i, j int) bool { return c.list[i].Offset < c.list[j].Offset })
	i := 0
	for _, t := range p.tokens {
		if t.kind == tokParam {
			c.list[i].Offset = int(t.start) - p.Offset
			c.list[i].SetOrder(i)
			i++
		}
	}
	return c.list, nil
}

type markerCollector struct{ list []*driver.ParamMarkerExpr }

// Enter is part of ast.Visitor.
func (c *markerCollector) Enter(n ast.Node) (ast.Node, bool) {
	if m, ok := n.(*driver.ParamMarkerExpr); ok {
		c.list = append(c.list, m)
	}
	return n, false
}

// Leave is part of ast.Visitor.
func (c *markerCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }
