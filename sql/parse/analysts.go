package parse

import (
	"strconv"
	"strings"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// What analysts write and MySQL's grammar does not have: QUALIFY, FILTER (WHERE ...), GROUP BY ALL, ORDER BY ALL, * EXCLUDE, MODE(a),
// generate_series(1, 10), SUMMARIZE and TABLESAMPLE 10%. All are found among the tokens and taken out of the text, or replaced by what is as long; what was
// taken out is parsed by itself and put into the tree.

// Names of functions that the tree calls where it stands for what MySQL lacks. The binder knows them at these positions.
const (
	AllItems      = "group_by_all" // the only item of GROUP BY or ORDER BY: ALL
	QualifyCall   = "qualify"      // the condition of HAVING: its operands are that of HAVING itself and that of QUALIFY
	StarExcept    = "star_exclude" // the expression of a wildcard: its operands are the names of columns that it leaves out
	modeInText    = "m\xc5\x8dd"   // what the parser sees for MODE, which is a keyword
	allInText     = "'\x04'"
	seriesKeyword = "GENERATE_SERIES"
)

// extension is what was found of one statement.
type extension struct {
	filters   []filterClause
	qualifies []qualifyClause
	stars     []starClause
	series    []seriesCall
	summaries []summaryClause
	edits     [][2]int // where the piece differs from what was written, of names of columns
}

type filterClause struct {
	call  int    // where the aggregate stands in the piece
	cond  [2]int // where its condition does
	whole [2]int // where FILTER ( ... ) does
	at    int    // the token FILTER
}

type qualifyClause struct {
	query int    // where its SELECT stands
	cond  [2]int // where its condition does
	whole [2]int // the same with QUALIFY
	at    int    // the token QUALIFY
}

type starClause struct {
	field   int // where the field with the star stands
	columns []string
	at      int // the token EXCLUDE
}

type seriesCall struct{ first, at int } // where its first operand and the call stand

type summaryClause struct {
	code    string // the string that the parser sees
	query   [2]int // where what is summarised stands
	whole   [2]int // the same with SUMMARIZE
	at      int    // the token SUMMARIZE
	isTable bool   // it is a name, not a query
}

// extensionOf takes out of a piece what is described above. It returns the piece as it is and nil if there is none.
func extensionOf(text, piece string, p Piece) (replaced string, x *extension, err *sqlerr.Error) {
	if !mayExtend(text, p.tokens) {
		return piece, nil, nil
	}
	r := &extensionReader{text: text, p: p, out: []byte(piece), x: &extension{}}
	for i := range p.tokens {
		if err := r.read(i); err != nil {
			return "", nil, err
		}
	}
	return string(r.out), r.x, nil
}

// mayExtend says whether one of the words is among the tokens.
func mayExtend(text string, tokens []token) bool {
	for _, t := range tokens {
		if t.kind != tokWord || t.key != kwNone && t.key != kwExcept {
			continue
		}
		switch word := text[t.start:t.end]; len(word) {
		case 3:
			if strings.EqualFold(word, "ALL") {
				return true
			}
		case 4:
			if strings.EqualFold(word, "MODE") {
				return true
			}
		case 6:
			if strings.EqualFold(word, "FILTER") || strings.EqualFold(word, "EXCEPT") {
				return true
			}
		case 7:
			if strings.EqualFold(word, "QUALIFY") || strings.EqualFold(word, "EXCLUDE") {
				return true
			}
		case 9:
			if strings.EqualFold(word, "SUMMARIZE") {
				return true
			}
		case len("TABLESAMPLE"):
			if strings.EqualFold(word, "TABLESAMPLE") {
				return true
			}
		case len(seriesKeyword):
			if strings.EqualFold(word, seriesKeyword) {
				return true
			}
		}
	}
	return false
}

type extensionReader struct {
	text    string
	p       Piece
	out     []byte
	x       *extension
	isQuery bool // a SELECT stands before
}

func (r *extensionReader) word(i int, want string) bool {
	return i >= 0 && i < len(r.p.tokens) && r.p.tokens[i].isWord(r.text, want)
}

func (r *extensionReader) start(i int) int { return int(r.p.tokens[i].start) - r.p.Offset }
func (r *extensionReader) end(i int) int   { return int(r.p.tokens[i].end) - r.p.Offset }

// read looks at a token.
func (r *extensionReader) read(i int) *sqlerr.Error {
	tokens := r.p.tokens
	t := tokens[i]
	if t.kind != tokWord || opIs(tokens, i-1, '.') {
		return nil
	}
	switch {
	case t.key == kwSelect:
		r.isQuery = true
	case t.key == kwExcept, r.word(i, "EXCLUDE"):
		r.star(i)
	case t.key != kwNone:
	case r.word(i, "ALL"):
		r.all(i)
	case r.word(i, "MODE"):
		if r.isQuery && opIs(tokens, i+1, '(') && !endsTable(tokens, i-1) && tokens[i-1].key != kwFrom && tokens[i-1].key != kwJoin {
			copy(r.out[r.start(i):], modeInText)
			r.x.edits = append(r.x.edits, [2]int{r.start(i), r.end(i)})
		}
	case r.word(i, "FILTER"):
		r.filter(i)
	case r.word(i, "QUALIFY"):
		return r.qualify(i)
	case r.word(i, "SUMMARIZE"):
		return r.summarize(i)
	case r.word(i, "TABLESAMPLE"):
		r.sample(i)
	case r.word(i, seriesKeyword):
		r.generate(i)
	}
	return nil
}

// all reads GROUP BY ALL and ORDER BY ALL.
func (r *extensionReader) all(i int) {
	tokens := r.p.tokens
	if !wordIs(tokens, i-1, kwBy) || !wordIs(tokens, i-2, kwGroup) && !wordIs(tokens, i-2, kwOrder) || !r.isQuery {
		return
	}
	if i+1 < len(tokens) {
		if next := tokens[i+1]; next.kind != tokWord && !next.isOp(')') { // ALL(...) or a list
			return
		}
	}
	copy(r.out[r.start(i):], allInText)
}

// star reads * EXCLUDE (a, b), * EXCLUDE a, and EXCEPT with parentheses.
func (r *extensionReader) star(i int) {
	tokens := r.p.tokens
	if !opIs(tokens, i-1, '*') || i < 2 {
		return
	}
	field := i - 1
	switch before := tokens[i-2]; {
	case before.key == kwSelect, before.key == kwDistinct, before.isOp(','), r.word(i-2, "ALL"):
	case before.isOp('.'):
		field = i - 3
		if opIs(tokens, i-4, '.') {
			field = i - 5
		}
	default:
		return
	}
	if field < 1 {
		return
	}
	c := starClause{field: r.start(field), at: i}
	end := i + 1
	if opIs(tokens, i+1, '(') {
		if c.columns, end = namesAt(r.text, tokens, i+1); c.columns == nil {
			return
		}
	} else {
		name, ok := nameAt(r.text, tokens, i+1)
		if !ok || isKeyword(tokens[i+1]) || tokens[i].key == kwExcept {
			return
		}
		c.columns = []string{name}
	}
	blank(r.out[r.start(i):r.end(end)])
	r.x.stars = append(r.x.stars, c)
}

// filter reads FILTER (WHERE condition) behind a call.
func (r *extensionReader) filter(i int) {
	tokens := r.p.tokens
	if !opIs(tokens, i-1, ')') || !opIs(tokens, i+1, '(') || !wordIs(tokens, i+2, kwWhere) {
		return
	}
	open := opening(tokens, i-1)
	end := closing(tokens, i+1)
	if open < 1 || end < i+4 || tokens[open-1].kind != tokWord {
		return
	}
	r.x.filters = append(r.x.filters, filterClause{r.start(open - 1), [2]int{r.start(i + 3), r.start(end)}, [2]int{r.start(i), r.end(end)}, i})
	r.x.edits = append(r.x.edits, [2]int{r.start(i), r.end(end)})
}

// opening returns the token that opens the parenthesis which token i closes; -1: there is none.
func opening(tokens []token, i int) int {
	for depth := 0; i >= 0; i-- {
		switch {
		case tokens[i].isOp(')'):
			depth++
		case tokens[i].isOp('('):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// qualify reads QUALIFY condition, up to what may stand behind it.
func (r *extensionReader) qualify(i int) *sqlerr.Error {
	tokens := r.p.tokens
	if !endsTable(tokens, i-1) || !r.begins(i+1) {
		return nil
	}
	query, depth := i-1, 0
	for ; query >= 0 && (depth > 0 || tokens[query].key != kwSelect); query-- {
		switch t := tokens[query]; {
		case t.isOp(')'):
			depth++
		case t.isOp('('):
			if depth--; depth < 0 {
				return nil
			}
		case depth == 0 && (t.key == kwUnion || t.key == kwIntersect || t.key == kwExcept):
			return nil
		}
	}
	if query < 0 {
		return nil
	}
	end := i + 1
	for depth := 0; end < len(tokens); end++ {
		t := tokens[end]
		if t.isOp('(') {
			depth++
		} else if t.isOp(')') {
			if depth--; depth < 0 {
				break
			}
		}
		if depth == 0 && end > i+1 && t.kind == tokWord && !opIs(tokens, end-1, '.') && r.endsCondition(t) {
			break
		}
	}
	for _, q := range r.x.qualifies {
		if q.query == r.start(query) {
			return sqlerr.ParseError("syntax error: a second QUALIFY").AtOffset(r.text, int(tokens[i].start))
		}
	}
	r.x.qualifies = append(r.x.qualifies, qualifyClause{r.start(query), [2]int{r.start(i + 1), r.end(end - 1)}, [2]int{r.start(i), r.end(end - 1)}, i})
	return nil
}

// begins says whether a condition may begin with token i.
func (r *extensionReader) begins(i int) bool {
	if i >= len(r.p.tokens) {
		return false
	}
	t := r.p.tokens[i]
	if t.kind != tokWord {
		return !(t.kind == tokOp && !t.isOp('(') && !t.isOp('-') && !t.isOp('!')) && t.kind != tokHint
	}
	switch t.key {
	case kwNone, kwNot, kwCase, kwBinary, kwMod, kwLeft, kwRight:
		return !r.endsCondition(t) && !r.word(i, "USE") && !r.word(i, "FORCE") && !r.word(i, "IGNORE") && !r.word(i, "TABLESAMPLE")
	}
	return false
}

// endsCondition says whether a word begins a clause behind QUALIFY.
func (r *extensionReader) endsCondition(t token) bool {
	switch t.key {
	case kwOrder, kwLimit, kwUnion, kwIntersect, kwExcept, kwInto:
		return true
	case kwNone:
		return t.isWord(r.text, "WINDOW") || t.isWord(r.text, "FOR") || t.isWord(r.text, "LOCK") || t.isWord(r.text, "FETCH")
	}
	return false
}

// generate reads generate_series(...) in FROM, which becomes a query of its operands.
func (r *extensionReader) generate(i int) {
	tokens := r.p.tokens
	if !opIs(tokens, i+1, '(') || !tableMayStand(tokens, i) || i+2 >= len(tokens) {
		return
	}
	begin := r.start(i)
	blank(r.out[begin:r.end(i+1)])
	copy(r.out[begin:], "(SELECT ")
	r.x.series = append(r.x.series, seriesCall{r.start(i + 2), i})
}

// sample turns TABLESAMPLE 10% and TABLESAMPLE reservoir(10%) into what the parser knows.
func (r *extensionReader) sample(i int) {
	tokens := r.p.tokens
	i++
	if i >= len(tokens) {
		return
	}
	if r.word(i, "RESERVOIR") {
		blank(r.out[r.start(i):r.end(i)])
		copy(r.out[r.start(i):], "SYSTEM")
	}
	if tokens[i].kind == tokWord {
		i++
	}
	switch {
	case opIs(tokens, i, '('):
		if end := closing(tokens, i); end > i+1 && opIs(tokens, end-1, '%') {
			r.out[r.start(end-1)] = ' '
		}
	case i < len(tokens) && tokens[i].kind == tokNumber && r.start(i) > r.end(i-1):
		last := i + 1
		if !opIs(tokens, last, '%') && !r.word(last, "PERCENT") {
			return
		}
		r.out[r.start(i)-1] = '('
		blank(r.out[r.start(last):r.end(last)])
		r.out[r.start(last)] = ')'
	}
}

// summarize reads SUMMARIZE at the statement's beginning, or in parentheses in FROM.
func (r *extensionReader) summarize(i int) *sqlerr.Error {
	tokens := r.p.tokens
	c := summaryClause{code: "\x05" + strconv.FormatInt(int64(len(r.x.summaries)), 36), at: i}
	end := len(tokens)
	switch {
	case i == 0, i == 1 && r.word(0, "EXPLAIN"), i == 2 && r.word(0, "EXPLAIN") && r.word(1, "ANALYZE"): // the whole statement
	case opIs(tokens, i-1, '(') && tableMayStand(tokens, i-1):
		if end = closing(tokens, i-1); end < 0 {
			return nil
		}
	default:
		return nil
	}
	if i+1 >= end || opIs(tokens, i+1, '.') || opIs(tokens, i+1, ',') {
		return nil
	}
	c.query = [2]int{r.start(i + 1), r.end(end - 1)}
	first := tokens[i+1]
	c.isTable = first.key != kwSelect && first.key != kwTable && !first.isOp('(') && !r.word(i+1, "WITH") && !r.word(i+1, "VALUES")
	c.whole = [2]int{r.start(i), c.query[1]}
	if c.whole[1]-c.whole[0] < len("SELECT''")+len(c.code) {
		return sqlerr.NotSupportedf("so many SUMMARIZE", "write several statements").AtOffset(r.text, int(tokens[i].start))
	}
	r.x.summaries = append(r.x.summaries, c)
	return nil
}

// without returns a piece without what is parsed by itself, as far as it lies between two offsets.
func (x *extension) without(piece string, within [2]int) string {
	out := []byte(piece)
	lies := func(span [2]int) bool { return within[0] <= span[0] && span[1] <= within[1] }
	for _, f := range x.filters {
		if lies(f.whole) {
			blank(out[f.whole[0]:f.whole[1]])
		}
	}
	for _, q := range x.qualifies {
		if lies(q.whole) {
			blank(out[q.whole[0]:q.whole[1]])
		}
	}
	for _, s := range x.summaries {
		if lies(s.whole) {
			blank(out[s.whole[0]:s.whole[1]])
			copy(out[s.whole[0]:], "SELECT'"+s.code+"'")
		}
	}
	return string(out)
}
