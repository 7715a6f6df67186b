package stringfn

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/automaton"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/sqlerr"
	"github.com/radish-sql/radish/sql/types"
)

// Regular expressions (Reference Manual 14.8.2) are those of Go's package regexp: guaranteed linear time, no backreferences and no
// look-around in patterns, where MySQL has ICU's. Matching is case-sensitive unless the
// match type or the operands' collation says otherwise.

// compiled is a pattern. It belongs to one worker.
type compiled struct {
	*regexp.Regexp
	auto *automaton.Regexp // the same, faster, for strings of up to interrupt.PieceBytes where groups do not matter; nil: there is none
	at   [2]int            // a match that is handed on
	used bool              // by a row before
}

// longestAutomaton is the length of patterns up to which an automaton is made.
const longestAutomaton = 1000

// speedUp makes the automaton for the second row, so that patterns of single rows do without.
func (r *compiled) speedUp() {
	if !r.used && len(r.String()) <= longestAutomaton {
		r.auto = automaton.Compile(r.String())
	}
	r.used = true
}

// matches says whether c matches some part of a short string.
func (r *compiled) matches(s string) bool {
	if r.auto != nil {
		if found, ok := r.auto.Match(s); ok {
			return found
		}
		r.auto = nil
	}
	return r.MatchString(s)
}

// find returns the first match of a short string at or after byte from; -1: there is none. ok is false if package regexp has to look.
func (r *compiled) find(s string, from int) (start, end int, ok bool) {
	if r.auto == nil {
		return 0, 0, false
	}
	start, end, ok = r.auto.Find(s, from)
	if !ok {
		r.auto = nil
	}
	return start, end, ok
}

// regexpFunctions are the regular expressions.
func regexpFunctions() []*expr.Function {
	const category = "Regular expressions"
	fn := func(name, syntax, doc string, minArgs, maxArgs int, result types.Type, eval expr.Kernel, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Prepares: 2, Category: category, Syntax: syntax, Doc: doc, MinArgs: minArgs, MaxArgs: maxArgs,
			ByDictionary: true, Resolve: resolveRegexp(name, result), Eval: eval}
	}
	return []*expr.Function{
		fn("regexp_like", "REGEXP_LIKE(s, pattern [, match_type]), s REGEXP pattern, s RLIKE pattern",
			"Whether some part of s matches. Patterns are Go's (RE2); match types are c, i, m, n and u.", 2, 3, types.Bool, evalRegexpLike, "regexp", "rlike").ComparedUnder(2, regexpUnder),
		fn("regexp_instr", "REGEXP_INSTR(s, pattern [, pos [, occurrence [, return_option [, match_type]]]])",
			"The position of a match (return_option 1: of the character after it); 0 if there is none.", 2, 6, types.Int64, evalRegexpInstr).ComparedUnder(2, regexpUnder),
		fn("regexp_substr", "REGEXP_SUBSTR(s, pattern [, pos [, occurrence [, match_type]]])",
			"The part of s that matches; NULL if there is none.", 2, 5, types.Text, evalRegexpSubstr).WithCollationOf(expr.FirstOperand).ComparedUnder(2, regexpUnder),
		fn("regexp_replace", "REGEXP_REPLACE(s, pattern, repl [, pos [, occurrence [, match_type]]])",
			"s with the matches (occurrence 0: all) replaced; $1 stands for the first group.", 3, 6, types.Text, evalRegexpReplace).WithCollationOf(expr.AllOperands).ComparedUnder(2, regexpUnder),
	}
}

// resolveRegexp: strings first, then integers, then the match type.
func resolveRegexp(name string, result types.Type) func(args []expr.Expr) (expr.Signature, error) {
	stringsFirst, ints := 2, map[string]int{"regexp_instr": 3, "regexp_substr": 2, "regexp_replace": 2}[name]
	if name == "regexp_replace" {
		stringsFirst = 3
	}
	return func(args []expr.Expr) (expr.Signature, error) {
		sig := expr.Signature{Result: result, Nullable: name == "regexp_substr"}
		for i, a := range args {
			if i >= stringsFirst && i < stringsFirst+ints {
				sig.Args = append(sig.Args, types.Int64)
				continue
			}
			sig.Args = append(sig.Args, expr.CastToString(a))
		}
		return sig, nil
	}
}

// regexpMemo is the expression that a call compiled last.
type regexpMemo struct {
	pattern, flags string
	re             *compiled
}

// matcher gives the compiled pattern of each row; a constant pattern is compiled once.
type matcher struct {
	c              *expr.Context
	pattern, flags expr.StringReader
	memo           *regexpMemo
}

func newMatcher(c *expr.Context, call *expr.Call, args []*column.Vector, flagsAt int) *matcher {
	m := &matcher{c: c, pattern: expr.Strings(args[1]), flags: expr.StringReader{V: []string{""}}}
	if len(args) > flagsAt {
		m.flags = expr.Strings(args[flagsAt])
	}
	if m.memo, _ = c.Memo(call).(*regexpMemo); m.memo == nil {
		m.memo = &regexpMemo{}
		c.Remember(call, m.memo)
	}
	return m
}

// What compiling takes for a byte of a pattern, and what of it stays, both at most about: for ab* and the like.
const (
	compilingBytes = 270
	compiledBytes  = 125
)

func (m *matcher) at(i int) (*compiled, error) {
	p, f := m.pattern.At(i), m.flags.At(i)
	if m.memo.re != nil && m.memo.pattern == p && m.memo.flags == f {
		m.memo.re.speedUp()
		return m.memo.re, nil
	}
	var re *compiled
	before := len(m.memo.pattern)
	*m.memo = regexpMemo{}
	err := m.c.Keep(-int64(compiledBytes * before))
	if err == nil {
		err = m.c.Scratch(compilingBytes*len(p), func() (err error) {
			re, err = compileRegexp(p, f)
			return err
		})
	}
	if err == nil {
		err = m.c.Keep(int64(compiledBytes * len(p)))
	}
	if err != nil {
		return nil, err
	}
	*m.memo = regexpMemo{strings.Clone(p), strings.Clone(f), re}
	return re, nil
}

func compileRegexp(pattern, flags string) (*compiled, error) {
	if pattern == "" {
		return nil, sqlerr.New(sqlerr.CodeRegexp, sqlerr.User, "Got error 'empty (sub)expression' from regexp")
	}
	fold, multi, dot := false, false, false
	for _, f := range flags {
		switch f {
		case 'c':
			fold = false
		case 'i':
			fold = true
		case 'm':
			multi = true
		case 'n':
			dot = true
		case 'u': // only \n ends a line: Go knows no other
		default:
			return nil, sqlerr.WrongArguments("regexp_like: match type '" + flags[:min(len(flags), 64)] + "'")
		}
	}
	prefix := ""
	for _, f := range []struct {
		on bool
		c  string
	}{{fold, "i"}, {multi, "m"}, {dot, "s"}} {
		if f.on {
			prefix += f.c
		}
	}
	if prefix != "" {
		pattern = "(?" + prefix + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, sqlerr.New(sqlerr.CodeRegexp, sqlerr.User, "Got error '%s' from regexp", strings.TrimPrefix(err.Error(), "error parsing regexp: ")).
			WithHint("patterns follow Go's package regexp: no backreferences, no look-around")
	}
	return &compiled{Regexp: re}, nil
}

func evalRegexpLike(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	m, s := newMatcher(c, call, args, 2), expr.Strings(args[0])
	for _, i := range expr.Positions(sel, n) {
		re, err := m.at(int(i))
		if err != nil {
			return err
		}
		if out.I64[i], err = matches(c, re, s.At(int(i))); err != nil {
			return err
		}
	}
	return nil
}

// matches says whether re matches some part of s. In a long string it may take seconds, and ends with the statement.
func matches(c *expr.Context, re *compiled, s string) (int64, error) {
	if len(s) < interrupt.ReadBytes {
		return int64(expr.BoolToInt(re.matches(s))), nil
	}
	found := re.MatchReader(interrupt.NewReader(c, s))
	if found {
		return 1, nil
	}
	return 0, c.Interrupted()
}

// eachMatch calls f with the matches in s, with those of their groups if withGroups is set, from left to right until f says that it has enough.
// In a long string it goes from match to match and ends with the statement, unless the pattern asks what stands before a match:
// package regexp has no way to do that but to find all.
func eachMatch(c *expr.Context, re *compiled, s string, withGroups bool, f func(at []int) (enough bool)) error {
	done, passed := false, 0
	if len(s) < interrupt.PieceBytes && !withGroups {
		if passed, done = eachShortMatch(re, s, f); done {
			return nil
		}
	}
	if len(s) < interrupt.PieceBytes || looksBehind(re.Regexp) {
		find := re.FindAllStringIndex
		if withGroups {
			find = re.FindAllStringSubmatchIndex
		}
		for _, at := range find(s, -1) {
			if at[0] >= passed && f(at) {
				break
			}
		}
		return nil
	}
	for from, last := 0, -1; from <= len(s); {
		r := interrupt.NewReader(c, s[from:])
		at := re.FindReaderSubmatchIndex(r)
		if at == nil || r.Err != nil { // which the expression takes for the end of the text
			return r.Err
		}
		for i := range at {
			if at[i] >= 0 {
				at[i] += from
			}
		}
		// An empty match right behind another one does not count, as in FindAll.
		if (at[1] > at[0] || at[0] != last) && f(at) {
			return nil
		}
		if last = at[1]; at[1] > from {
			from = at[1]
			continue
		}
		_, size := utf8.DecodeRuneInString(s[from:])
		from += max(size, 1)
	}
	return nil
}

// eachShortMatch is eachMatch by the automaton. It returns from where on package regexp has to look; done: nowhere.
func eachShortMatch(re *compiled, s string, f func(at []int) (enough bool)) (from int, done bool) {
	last := -1
	for from <= len(s) {
		start, end, ok := re.find(s, from)
		if !ok {
			return from, false
		}
		if start < 0 {
			return from, true
		}
		// An empty match right behind another one does not count, as in FindAll.
		if re.at = [2]int{start, end}; (end > start || start != last) && f(re.at[:]) {
			return from, true
		}
		last = end
		if from = end; end == start {
			_, size := utf8.DecodeRuneInString(s[end:])
			from += max(size, 1)
		}
	}
	return from, true
}

// looksBehind says whether a match depends on what stands before it.
func looksBehind(re *regexp.Regexp) bool {
	var visit func(e *syntax.Regexp) bool
	visit = func(e *syntax.Regexp) bool {
		switch e.Op {
		case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
			return true
		}
		return slices.ContainsFunc(e.Sub, visit)
	}
	e, err := syntax.Parse(re.String(), syntax.Perl)
	return err != nil || visit(e)
}

// findFrom returns the bytes of match number occurrence (from 1) of s at or after character pos, or nil.
func findFrom(c *expr.Context, call *expr.Call, re *compiled, s string, pos, occurrence int64) ([]int, error) {
	if pos < 1 || pos > int64(utf8.RuneCountInString(s))+1 {
		return nil, sqlerr.New(3686, sqlerr.User, "Index out of bounds in regular expression search in '%s'", expr.Spelled(call))
	}
	// Matches are found in the whole text, so that ^ and \b see what stands before pos.
	start := charOffset(s, int(pos-1), false)
	occurrence = max(occurrence, 1)
	var found []int
	err := eachMatch(c, re, s, false, func(at []int) bool {
		if at[0] < start {
			return false
		}
		if occurrence--; occurrence == 0 {
			found = at
		}
		return occurrence == 0
	})
	return found, err
}

func evalRegexpInstr(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	m, s := newMatcher(c, call, args, 5), expr.Strings(args[0])
	pos, occurrence, option := expr.Optional(args, 2, 1), expr.Optional(args, 3, 1), expr.Optional(args, 4, 0)
	for _, i := range expr.Positions(sel, n) {
		re, err := m.at(int(i))
		if err != nil {
			return err
		}
		x := s.At(int(i))
		at, err := findFrom(c, call, re, x, pos.At(int(i)), occurrence.At(int(i)))
		if err != nil {
			return err
		}
		out.I64[i] = 0
		if at != nil {
			k := at[0]
			if option.At(int(i)) == 1 {
				k = at[1]
			}
			out.I64[i] = int64(utf8.RuneCountInString(x[:k])) + 1
		}
	}
	return nil
}

func evalRegexpSubstr(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	m, s := newMatcher(c, call, args, 4), expr.Strings(args[0])
	pos, occurrence := expr.Optional(args, 2, 1), expr.Optional(args, 3, 1)
	for _, i := range expr.Positions(sel, n) {
		re, err := m.at(int(i))
		if err != nil {
			return err
		}
		x := s.At(int(i))
		at, err := findFrom(c, call, re, x, pos.At(int(i)), occurrence.At(int(i)))
		if err != nil {
			return err
		}
		if at == nil {
			out.SetNull(int(i), n)
			continue
		}
		out.Str[i] = x[at[0]:at[1]]
	}
	return nil
}

func evalRegexpReplace(c *expr.Context, call *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	m, s, repl := newMatcher(c, call, args, 5), expr.Strings(args[0]), expr.Strings(args[2])
	pos, occurrence := expr.Optional(args, 3, 1), expr.Optional(args, 4, 0)
	for _, i := range expr.Positions(sel, n) {
		re, err := m.at(int(i))
		if err != nil {
			return err
		}
		x := s.At(int(i))
		p := pos.At(int(i))
		if p < 1 || p > int64(utf8.RuneCountInString(x))+1 {
			return sqlerr.New(3686, sqlerr.User, "Index out of bounds in regular expression search in '%s'", expr.Spelled(call))
		}
		template, err := goTemplate(c, repl.At(int(i)))
		if err != nil {
			return err
		}
		out.Str[i], err = replaceMatches(c, re, x, template, charOffset(x, int(p-1), false), occurrence.At(int(i)))
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceMatches replaces match number occurrence (0: all) of those at or after byte start.
func replaceMatches(c *expr.Context, re *compiled, s, template string, start int, occurrence int64) (string, error) {
	b := c.Builder()
	end, k := 0, int64(0)
	withGroups := strings.Contains(template, "$")
	err := eachMatch(c, re, s, withGroups, func(at []int) bool {
		if at[0] < start {
			return false
		}
		if k++; occurrence != 0 && k != occurrence {
			return k > occurrence
		}
		b.WriteString(s[end:at[0]])
		end = at[1]
		if !withGroups {
			b.WriteString(template)
			return b.Err() != nil
		}
		b.Extend(expandedBytes(template, at), func(dst []byte) []byte { return re.ExpandString(dst, template, s, at) })
		return b.Err() != nil
	})
	if err != nil {
		return "", err
	}
	b.WriteString(s[end:])
	return c.Built(b)
}

// expandedBytes is how many bytes a template of goTemplate takes at most with the groups of a match.
func expandedBytes(template string, at []int) int {
	n := len(template)
	for {
		i := strings.Index(template, "${")
		if i < 0 {
			return n
		}
		group := 0
		for template = template[i+2:]; template != "" && template[0] >= '0' && template[0] <= '9'; template = template[1:] {
			group = min(group*10+int(template[0]-'0'), len(at))
		}
		if 2*group+1 < len(at) {
			n += at[2*group+1] - at[2*group]
		}
	}
}

// goTemplate turns ICU's replacement text ($1, \$) into Go's (${1}, $$).
func goTemplate(c *expr.Context, repl string) (string, error) {
	if !strings.ContainsAny(repl, `$\`) {
		return repl, nil
	}
	b := c.Builder()
	for i := 0; i < len(repl); i++ {
		switch char := repl[i]; {
		case char == '\\' && i+1 < len(repl):
			i++
			if repl[i] == '$' {
				b.WriteChar('$')
			}
			b.WriteChar(repl[i])
		case char == '$':
			j := i + 1
			for j < len(repl) && repl[j] >= '0' && repl[j] <= '9' {
				j++
			}
			if j == i+1 {
				b.WriteString("$$")
				break
			}
			b.WriteString("${")
			b.WriteString(repl[i+1 : j])
			b.WriteChar('}')
			i = j - 1
		default:
			b.WriteChar(char)
		}
	}
	return c.Built(b)
}

// regexpUnder lets a pattern ignore case where the collation does, unless the match type says otherwise.
func regexpUnder(fn *expr.Function, args []expr.Expr, c types.Collation) (expr.Expr, error) {
	if !c.IgnoresCase() {
		return nil, nil
	}
	flags := fn.MaxArgs - 1
	own := slices.Clone(args)
	own[0], own[1] = expr.AsString(own[0]), expr.AsString(own[1])
	ignoring := expr.Expr(&expr.Const{Value: types.StringValue("i")})
	if len(own) > flags {
		joined, err := expr.NewCall("concat", ignoring, own[flags])
		if err != nil {
			return nil, err
		}
		own[flags] = joined
	} else {
		for len(own) < flags {
			own = append(own, &expr.Const{Value: types.IntValue(regexpDefaults[fn.Name][len(own)])})
		}
		own = append(own, ignoring)
	}
	sig, err := fn.Resolve(own)
	if err != nil {
		return nil, err
	}
	if sig.Result, err = expr.ResultCollation(fn, args, sig.Result); err != nil {
		return nil, err
	}
	return expr.BuildCall(fn, sig, own), nil
}

// regexpDefaults are the operands before the match type where a call leaves them out, by their position.
var regexpDefaults = map[string][]int64{"regexp_instr": {0, 0, 1, 1, 0}, "regexp_substr": {0, 0, 1, 1}, "regexp_replace": {0, 0, 0, 1, 0}}
