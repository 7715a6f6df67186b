package parse

import (
	"slices"

	"github.com/radish-sql/radish/sql/sqlerr"
)

// What is nested deeper is refused before it is parsed: the parser's own stack is on the heap, but its trees are walked
// by recursion, and Go ends the whole process when a stack outgrows 1 GiB.
const (
	// MaxNesting bounds parentheses (so also function calls and subqueries) and CASEs inside each other.
	MaxNesting = 1000
	// MaxDepth bounds the height of an expression, of a chain of joins and of a chain of set operations: in
	// a + b + c each operator is one level.
	MaxDepth = 5000
)

// The binding classes of operators, loosest first. An operator of one class ends what tighter classes have built.
const (
	bindSet  = iota // UNION, INTERSECT, EXCEPT
	bindJoin        // JOIN, and commas in FROM
	bindOr
	bindAnd
	bindCompare
	bindArith
	bindOperand // a single operand
	bindClasses
)

// level is one open parenthesis or CASE. height[c] is the height of the tree that operators of class c have built so
// far, base the greatest height of the finished items before the last separator.
type level struct {
	height       [bindClasses]int32
	base         int32
	prefix       int32 // prefix operators whose operand has not come
	wantsOperand bool  // an operand has to come next
	inCase       bool
	fromList     bool // a comma separates tables
}

// fold returns the height of what classes from c on have built, as one tree.
func (l *level) fold(c int) int32 {
	h := l.height[bindOperand]
	for k := bindArith; k >= c; k-- {
		if l.height[k] > 0 {
			h = max(l.height[k], h+1)
		}
	}
	return h
}

func (l *level) operand(height int32) {
	l.height[bindOperand] = max(l.height[bindOperand], height+l.prefix)
	l.prefix, l.wantsOperand = 0, false
}

// operator takes an infix operator of class c, or a prefix one if no operand stands before it.
func (l *level) operator(c int) {
	if l.wantsOperand && c >= bindAnd {
		l.prefix++
		return
	}
	l.height[c] = l.fold(c) + 1
	clear(l.height[c+1:])
	l.wantsOperand = true
}

// separate ends an item: a list's element or a clause.
func (l *level) separate() {
	l.base = max(l.base, l.fold(bindJoin)+l.prefix)
	clear(l.height[bindJoin:])
	l.prefix, l.wantsOperand = 0, true
}

func (l *level) setOperator() {
	l.separate()
	l.height[bindSet] = max(l.height[bindSet], l.base) + 1
	l.base = 0
}

func (l *level) total() int32 { return max(l.base, l.fold(bindSet)) + l.prefix }

// tooLong is the error of a level on which something is higher than MaxDepth.
func (l *level) tooLong() *sqlerr.Error {
	what, instead := "operators", "write x IN (...) for x = 1 OR x = 2, or put parts of the chain into parentheses"
	switch {
	case l.height[bindSet] > MaxDepth:
		what, instead = "UNION, INTERSECT and EXCEPT", "put the rows into VALUES ROW(...), ROW(...), or insert them into a table"
	case l.height[bindJoin] > MaxDepth:
		what, instead = "joins and commas of a FROM", "join some of the tables in derived tables"
	}
	return sqlerr.New(sqlerr.CodeTooDeep, sqlerr.User, "more than %d %s in a chain", MaxDepth, what).WithHint("%s", instead)
}

// guard measures one statement. It is reused, for its stack.
type guard struct{ levels []level }

// check returns an error if the statement's tokens nest too deeply, and the offset of the token that went too far. It
// is an upper bound within a small factor (the number of classes), not a parse.
func (g *guard) check(tokens []token) (offset int32, err *sqlerr.Error) {
	g.levels = append(g.levels[:0], level{wantsOperand: true, fromList: len(tokens) > 0 && tokens[0].key == kwUpdate})
	l := &g.levels[0]
	cases := 0
	for i, t := range tokens {
		push, pop := false, false
		switch t.kind {
		case tokOp:
			push, pop = t.op == '(', t.op == ')' && len(g.levels) > 1
			l.sign(t)
		case tokWord:
			if i > 0 && tokens[i-1].isOp('.') {
				l.operand(0)
				break
			}
			push, pop = t.key == kwCase, t.key == kwEnd && l.inCase
			if push {
				cases++
			}
			l.word(t.key)
		default:
			l.operand(0)
		}
		switch {
		case push:
			// END is also a column's name, so that a hostile text can close CASEs that are open: their number is
			// bounded as well.
			if len(g.levels) >= MaxNesting || cases > 10*MaxNesting {
				return t.start, sqlerr.TooDeep("parentheses, calls or CASE", MaxNesting)
			}
			g.levels = append(g.levels, level{wantsOperand: true, inCase: t.key == kwCase})
			l = &g.levels[len(g.levels)-1]
		case pop:
			h := l.total() + 1
			g.levels = g.levels[:len(g.levels)-1]
			l = &g.levels[len(g.levels)-1]
			l.operand(h)
		}
		if l.prefix > MaxDepth || slices.Max(l.height[:]) > MaxDepth {
			return t.start, l.tooLong()
		}
	}
	return 0, nil
}

// sign takes in a token of punctuation; parentheses are the caller's.
func (l *level) sign(t token) {
	switch t.op {
	case '(', ')', 0, '.', ':', ';', '[', ']', '{', '}':
	case ',':
		if l.fromList {
			l.operator(bindJoin)
		} else {
			l.separate()
		}
	case '=', '<', '>', '!':
		if t.op == t.op2 {
			l.operator(bindArith)
		} else {
			l.operator(bindCompare)
		}
	case '|', '&':
		switch {
		case t.op2 == 0:
			l.operator(bindArith)
		case t.op == '|':
			l.operator(bindOr)
		default:
			l.operator(bindAnd)
		}
	default:
		l.operator(bindArith)
	}
}

// word takes in a word; CASE and END are the caller's.
func (l *level) word(key keyword) {
	switch key {
	case kwOr, kwXor:
		l.operator(bindOr)
	case kwAnd:
		l.operator(bindAnd)
	case kwNot, kwIs, kwLike, kwIn, kwBetween, kwRegexp:
		l.operator(bindCompare)
	case kwDiv, kwMod, kwCollate, kwBinary:
		l.operator(bindArith)
	case kwJoin, kwStraightJoin:
		l.operator(bindJoin)
	case kwUnion, kwIntersect, kwExcept:
		l.setOperator()
		l.fromList = false
	case kwFrom:
		l.separate()
		l.fromList = true
	case kwSelect, kwWhere, kwGroup, kwHaving, kwOrder, kwLimit, kwSet:
		l.separate()
		l.fromList = false
	case kwCase, kwEnd:
	case kwWhen, kwThen, kwElse:
		if l.inCase {
			l.separate()
		}
	default:
		l.operand(0)
	}
}
